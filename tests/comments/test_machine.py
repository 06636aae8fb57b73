"""Test of edits, merges, suggestions, and threads in random order: no thread ever points to text that it was
not about, and none is lost.

Each block contains a unique name that no edit removes, so that the target of a thread is known whatever
happens to the block: an edit adds words, moves the block, or deletes it.
"""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from changes.working import Space, update

from .talking import Talk, words

_NAME = re.compile(r"\bBLOCK\d+\b")


class Machine:
    """Space with one page, and change requests. ``threads``: for each comment its discussion, the name of
    its block, and its number of replies."""

    def __init__(self, space: Space, seed: int) -> None:
        self.space = space
        self.random = random.Random(seed)
        self.named = 0
        self.page = space.pages["A"]
        self.changes: list[str] = []
        self.merged: list[str] = []
        self.threads: dict[str, tuple[str | None, str, int]] = {}
        self.suggested: dict[str, str] = {}
        space.write(None, "A", self.text(6))

    # --- what there is ---

    def block(self) -> str:
        self.named += 1
        name = f"BLOCK{self.named}"
        kind = self.random.randrange(5)
        if kind == 0:
            return f"* an item\n* {name} item\n* more\n"
        if kind == 1:
            return f"| Name | Use |\n| ---- | --- |\n| {name} | here |\n"
        if kind == 2:
            return f'{{% hint style="info" %}}\n{name} in a hint.\n{{% endhint %}}\n'
        if kind == 3:
            return f"```\n{name}\nline\n```\n"
        return f"Words of {name} here.\n"

    def text(self, count: int) -> str:
        return "\n".join(self.block() for _ in range(count))

    def talk(self, place: str | None) -> Talk:
        path = self.space.path if place is None else f"{self.space.path}/change-requests/{place}"
        return Talk(self.space, path, place)

    def nodes(self, place: str | None) -> list[Any]:
        return list(self.space.page(self.page, place, "document")["document"]["nodes"])

    def place(self) -> str | None:
        return self.random.choice([None, *self.changes])

    # --- what may happen ---

    def begin(self) -> None:
        if len(self.changes) < 3:
            self.changes.append(self.space.create())

    def edit(self) -> None:
        place = self.place()
        nodes = self.nodes(place)
        change: dict[str, Any] = {"operation": "update_blocks", "page": self.page}
        kind = self.random.choice(["insert", "insert", "move", "delete", "whole", "whole"])
        at = self.random.randrange(len(nodes)) if nodes else 0
        if kind == "insert" or not nodes:
            where = {"after": nodes[at]["key"]} if nodes else {"into": None, "at": 0}
            change["insert"] = [{**where, "document": {"markdown": self.block()}}]
        elif kind == "move":
            other = self.random.choice(nodes)["key"]
            if other == nodes[at]["key"]:
                return
            change["move"] = [{"blocks": [nodes[at]["key"]], "after": other}]
        elif kind == "delete":
            change["delete"] = [nodes[at]["key"]]
        else:
            text = self.space.text(self.page, place)
            names = _NAME.findall(text)
            if not names:
                return
            name = self.random.choice(names)
            text = re.sub(rf"\b{name}\b", f"{name} again", text, count=1)
            change = update(self.page, document={"markdown": text})
        self.space.edit(place, change)

    def say(self) -> None:
        place = self.place()
        nodes = [node for node in self.nodes(place) if _NAME.search(words(node))]
        if not nodes:
            return
        node = self.random.choice(nodes)
        (name,) = _NAME.findall(words(node))
        talk = self.talk(place)
        if place is not None and self.random.random() < 0.3 and node["type"] == "paragraph":
            suggestion = {"markdown": f"{name} is suggested {len(self.threads)}."}
            made = talk.post("", page=self.page, node=node["key"], suggestion=suggestion)
            self.suggested[made["id"]] = place
        else:
            made = talk.post(f"About {name}.", page=self.page, node=node["key"])
        self.threads[made["id"]] = (place, name, 0)

    def answer(self) -> None:
        if not self.threads:
            return
        comment = self.random.choice(sorted(self.threads))
        place, name, replies = self.threads[comment]
        self.talk(place).reply(comment)
        self.threads[comment] = (place, name, replies + 1)

    def accept(self) -> None:
        waiting = sorted(comment for comment, place in self.suggested.items() if place in self.changes)
        if not waiting:
            return
        comment = self.random.choice(waiting)
        place = self.suggested.pop(comment)
        path = f"{self.space.path}/change-requests/{place}/comments/{comment}/suggestion"
        answer = self.space.world.call("editor", "PUT", path, json={"status": "accepted"})
        assert answer.status_code in (200, 409), answer.text
        if answer.status_code == 200 and self.random.random() < 0.5:
            again = self.space.world.call("editor", "PUT", path, json={"status": "open"})
            assert again.status_code == 200, again.text

    def bring_in(self) -> None:
        if self.changes:
            change = self.random.choice(self.changes)
            self.space.update(change)
            self.settle(change)

    def merge(self) -> None:
        if not self.changes:
            return
        change = self.random.choice(self.changes)
        while self.space.merge(change)["result"] == "conflicts":
            self.settle(change)
        self.changes.remove(change)
        self.merged.append(change)

    def settle(self, change: str) -> None:
        while conflicts := self.space.conflicts(change):
            choice = self.random.choice(["ours", "theirs"])
            self.space.resolve(change, conflicts[0]["id"], choice=choice)

    def step(self) -> None:
        what = [self.begin, self.edit, self.edit, self.edit, self.say, self.say, self.answer, self.accept]
        self.random.choice([*what, self.bring_in, self.merge])()

    # --- what holds ---

    def check(self) -> None:
        listed: dict[str, Any] = {}
        shown: dict[str | None, str] = {}
        for place in [None, *self.changes, *self.merged]:
            for one in self.talk(place).list(limit="1000")["items"]:
                listed[one["id"]] = one
            in_place = None if place in self.merged else place
            shown[place] = self.by_key(in_place)
        assert listed.keys() == self.threads.keys(), "none is lost, and none is there twice"
        for comment, (place, name, replies) in self.threads.items():
            told = listed[comment]
            assert told["replies"] == replies
            said = self.about(told, shown[place])
            assert name in _NAME.findall(said), f"{comment} was about {name}, and points at {said!r}"

    def by_key(self, place: str | None) -> Any:
        return {node["key"]: words(node) for node in self.nodes(place)}

    def about(self, told: Any, now: dict[str, str]) -> str:
        """Return the target of a thread: the current block or, if it was deleted, the former one."""
        key = told["target"]["node"]["id"]
        if not told["target"].get("gone"):
            return now[key]
        assert key not in now, "what is there is not gone"
        path = f"{self.space.path}/revisions/{told['target']['revision']}/page/{self.page}"
        found = self.space.world.get("reader", path, params={"format": "document"})
        return {node["key"]: words(node) for node in found["document"]["nodes"]}[key]


def _run(space: Space, seed: int, steps: int) -> None:
    machine = Machine(space, seed)
    for number in range(steps):
        machine.step()
        if number % 4 == 3:
            machine.check()
    machine.check()
    assert len(machine.threads) > steps / 12


@pytest.mark.sqlite_first
@pytest.mark.parametrize("seed", [1])
def test_threads_stay_with_their_words(space: Space, seed: int) -> None:
    _run(space, seed, 40)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 14))
def test_threads_stay_with_their_words_in_long_runs(space: Space, seed: int) -> None:
    _run(space, seed, 160)
