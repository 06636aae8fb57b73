"""Random structural edits: the saved Markdown always has the same words as the page in the editor.

`OCTAVO_TEST_SEED` repeats a run, and `OCTAVO_TEST_ROUNDS` sets the number of pages.
"""

from __future__ import annotations

import copy
import os
import random
from collections.abc import Callable
from typing import Any

import pytest
from prosemirror.model import Node

from octavo.content.live.documents import LivePages
from octavo.core.document.json import to_json
from octavo.core.document.page import split_page
from octavo.core.document.reader import read
from octavo.core.editor.schema import SCHEMA
from seeds import seed

from .writing import Client, Writing

PAGE = """# A

First stands here.

## Heading here

* item one
* item two
  * item inside
* item three

Middle of the page.

| First      | Second    |
| ---------- | --------- |
| cell one   | cell two  |
| cell three | cell four |

{% hint style="info" %}
Hint with words.

More of it.
{% endhint %}

{% tabs %}
{% tab title="One" %}
Tab with words.
{% endtab %}

{% tab title="Two" %}
Other tab.
{% endtab %}
{% endtabs %}

{% stepper %}
{% step %}
### Step here

Words below it.
{% endstep %}
{% endstepper %}

> Quoted words.

Last of all.
"""
RUNS = int(os.environ.get("OCTAVO_TEST_ROUNDS") or 3)
_WRAPPERS = ("hint", "blockquote")


class Page:
    """Page in the editor, edited at random: each edit is one step of a client."""

    def __init__(self, client: Client, seed: int) -> None:
        self.client, self.random = client, random.Random(seed)
        self.blocks: list[Any] = client.document["content"]
        self.words = 0
        self.done: list[str] = []

    def edit(self) -> None:
        """Make one random edit that fits the schema."""
        edits: list[Callable[[list[Any]], None]] = [
            *(self.type, self.type, self.type, self.split, self.join, self.delete),
            *(self.move, self.lift, self.lift, self.wrap, self.put_in),
        ]
        act = self.random.choice(edits)
        blocks = copy.deepcopy(self.blocks)
        act(blocks)
        if blocks == self.blocks or not blocks:
            return
        try:
            Node.from_json(SCHEMA, {"type": "doc", "content": blocks}).check()
        except ValueError:
            return
        self.done.append(act.__name__)
        self.send(blocks)

    def send(self, blocks: list[Any]) -> None:
        """Send the difference as one replacement of top-level blocks."""
        olds = self.blocks
        low = 0
        while low < min(len(olds), len(blocks)) and olds[low] == blocks[low]:
            low += 1
        high = 0
        while high < min(len(olds), len(blocks)) - low and olds[-1 - high] == blocks[-1 - high]:
            high += 1
        start = sum(size(block) for block in olds[:low])
        end = start + sum(size(block) for block in olds[low : len(olds) - high])
        content = blocks[low : len(blocks) - high]
        step = {"stepType": "replace", "from": start, "to": end, "slice": {"content": content}}
        self.client.send(step)
        self.blocks = blocks

    # --- edits ---

    def type(self, blocks: list[Any]) -> None:
        texts = list(text_blocks(blocks))
        word = f"q{self.words}z"
        self.words += 1
        content = self.random.choice(texts).setdefault("content", [])
        content.insert(self.random.choice((0, len(content))), {"type": "text", "text": f" {word} "})

    def split(self, blocks: list[Any]) -> None:
        among, at = self.place(blocks)
        content = among[at].get("content", [])
        if len(content) < 2:
            return
        cut = self.random.randrange(1, len(content))
        among[at : at + 1] = [
            {**among[at], "content": content[:cut]},
            {**copied(among[at]), "content": content[cut:]},
        ]

    def join(self, blocks: list[Any]) -> None:
        among, at = self.place(blocks)
        if at + 1 < len(among) and among[at]["type"] == among[at + 1]["type"]:
            among[at]["content"] = among[at].get("content", []) + among.pop(at + 1).get("content", [])

    def delete(self, blocks: list[Any]) -> None:
        among, at = self.place(blocks)
        if len(words(blocks)) > 12 and len(words([among[at]])) < 8:
            del among[at]

    def move(self, blocks: list[Any]) -> None:
        among, at = self.place(blocks)
        among.insert(self.random.randrange(len(among)), among.pop(at))

    def put_in(self, blocks: list[Any]) -> None:
        """Move a block into another place, and remove the containers that it leaves empty."""
        among, at = self.place(blocks)
        block = among.pop(at)
        remove_empty(blocks)
        if blocks:
            there, behind = self.place(blocks)
            there.insert(behind, block)

    def lift(self, blocks: list[Any]) -> None:
        """Move the children of a container, or one of them, out of it."""
        at = self.random.randrange(len(blocks))
        container = blocks[at]
        inner = container.get("content", [])
        if not inner or inner[0]["type"] == "text" or container["type"] == "table":
            return
        number = self.random.randrange(len(inner))
        child = inner[number]
        out = (
            child.get("content", [])
            if child["type"] in ("list_item", "tabs_item", "stepper_step")
            else [child]
        )
        before = [{**container, "content": inner[:number]}] if number else []
        rest = copied(container) if before else container
        behind = [{**rest, "content": inner[number + 1 :]}] if number + 1 < len(inner) else []
        blocks[at : at + 1] = [*before, *out, *behind]

    def wrap(self, blocks: list[Any]) -> None:
        at = self.random.randrange(len(blocks))
        end = min(len(blocks), at + self.random.choice((1, 2)))
        type = self.random.choice(_WRAPPERS)
        data = {"style": "info"} if type == "hint" else {}
        blocks[at:end] = [{"type": type, "attrs": {"key": None, "data": data}, "content": blocks[at:end]}]

    def place(self, blocks: list[Any]) -> tuple[list[Any], int]:
        """Return a random list of blocks with more than text, and an index in it."""
        found = [blocks]
        waiting = list(blocks)
        while waiting:
            content = waiting.pop().get("content", [])
            if content and content[0]["type"] not in ("text", "table_head"):
                found.append(content)
                waiting += content
        among = self.random.choice(found) if self.random.random() < 0.5 else blocks
        return among, self.random.randrange(len(among))


def copied(block: Any) -> Any:
    """Return a block as the second part of a split one."""
    return {**block, "attrs": {**block.get("attrs", {}), "key": None}}


def remove_empty(blocks: list[Any]) -> None:
    for block in blocks:
        remove_empty(block.get("content", []))
    blocks[:] = [block for block in blocks if block.get("content") != []]


def size(node: Any) -> int:
    found: int = Node.from_json(SCHEMA, node).node_size
    return found


def text_blocks(blocks: list[Any]) -> Any:
    for block in blocks:
        content = block.get("content", [])
        if block["type"] in ("paragraph", "heading_2", "heading_3"):
            yield block
        else:
            yield from text_blocks([child for child in content if child["type"] != "text"])


def words(blocks: Any) -> list[str]:
    """Return the words of blocks, either in the form of the editor or of the API."""
    found: list[str] = []

    def add(node: Any) -> None:
        if isinstance(node, list):
            for child in node:
                add(child)
        elif node.get("type") == "table_head":
            pass  # titles of columns are data of the table in the API
        elif "text" in node:
            found.append(node["text"])
        else:
            for name in ("content", "nodes", "leaves", "fragments"):
                add(node.get(name, []))
            found.append(" ")

    add(blocks)
    return "".join(found).split()


@pytest.mark.sqlite_first
def test_saved_markdown_has_the_words_of_the_page(world):
    live = Writing(world)
    for number in range(seed(), seed() + RUNS):
        # Edits through the API replace the blocks of the previous page, in whatever form they were saved.
        live.space.write(live.change, "A", PAGE)
        live.save()
        check_run(live, number)


def check_run(live: Writing, seed: int) -> None:
    page = Page(live.open(), seed)
    assert words(page.blocks) == words_of(PAGE), f"seed {seed}: blocks of the previous page are left"
    for _ in range(8):
        for _ in range(page.random.randrange(1, 5)):
            page.edit()
        if page.random.random() < 0.3:
            # Another process saves, which has none of the nodes of the last save.
            page.done.append("restart")
            live.world.context.db.caches.pop(LivePages, None)
        page.done.append("save")
        assert not live.save()["refused"]
        # Blocks get keys when the page is saved, and the next edits need them.
        page.client.load()
        page.blocks = page.client.document["content"]
        shown, text = words(page.blocks), live.markdown()
        assert words_of(text) == shown, f"seed {seed}: {page.done}\n{text}\n{shown}"


def words_of(markdown: str) -> list[str]:
    return words(to_json(read(split_page(markdown)[2]))["nodes"])
