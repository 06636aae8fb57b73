"""Random texts of blocks inside blocks, as trees whose leaves are words that occur once, and edits of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random

from msgspec import Struct

HOLDERS = ("quote", "list", "numbers", "hint", "tabs", "stepper", "details")
PARTS = {"list": "item", "numbers": "item", "tabs": "tab", "stepper": "step", "table": "row", "cells": "tr"}
"""What the children of these are; the children of all others are blocks."""
TAGS = {"hint": ' style="info"', "tabs": "", "tab": ' title="T"', "stepper": "", "step": ""}


class Block(Struct):
    kind: str
    children: list[Block] = []
    word: str = ""

    def render(self) -> str:
        """Return the Markdown of the block."""
        parts = [child.render() for child in self.children]
        inside = "\n\n".join(parts)
        match self.kind:
            case "text" | "cell":
                return self.word
            case "quote":
                return prefixed(inside, "> ", "> ")
            case "list" | "numbers":
                marks = [f"{at}. " if self.kind == "numbers" else "* " for at in range(1, len(parts) + 1)]
                items = [
                    prefixed(part, mark, " " * len(mark)) for mark, part in zip(marks, parts, strict=True)
                ]
                return "\n".join(items)
            case "details":
                return f"<details>\n\n<summary>S</summary>\n\n{inside}\n\n</details>"
            case "table":
                return "\n".join(["| a | b |", "| --- | --- |", *parts])
            case "row":
                return "| " + " | ".join(parts) + " |"
            case "cells":
                head = "<thead><tr><th>a</th><th>b</th></tr></thead>"
                return f"<table>{head}<tbody>{''.join(parts)}</tbody></table>"
            case "tr":
                return "<tr>" + "".join(f"<td>{part}</td>" for part in parts) + "</tr>"
            case "ul":
                return "<ul>" + "".join(f"<li>{part}</li>" for part in parts) + "</ul>"
        if self.kind in TAGS:
            return f"{{% {self.kind}{TAGS[self.kind]} %}}\n{inside}\n{{% end{self.kind} %}}"
        return inside

    def all(self) -> Iterator[Block]:
        yield self
        for child in self.children:
            yield from child.all()


def prefixed(text: str, first: str, rest: str) -> str:
    head, *tail = text.split("\n")
    return "\n".join([first + head, *((rest + line).rstrip() for line in tail)])


class Writer:
    """Makes blocks and edits them. No word is used twice."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.numbers = count()

    def word(self) -> str:
        return f"word{next(self.numbers):04}x"

    def leaf(self, kind: str = "text") -> Block:
        return Block(kind, word=self.word())

    def part(self, kind: str, depth: int) -> Block:
        """Return a new child for a block of this type."""
        if kind in ("row", "ul"):
            return self.leaf("cell")
        if kind == "table":
            return Block("row", [self.leaf("cell"), self.leaf("cell")])
        if kind == "cells":
            return Block("tr", [self.leaf("cell"), Block("ul", self.some("ul", depth))])
        if kind in PARTS:
            inside = PARTS[kind]
            return Block(inside, self.some(inside, depth))
        return self.block(depth)

    def some(self, kind: str, depth: int) -> list[Block]:
        return [self.part(kind, depth) for _ in range(self.random.randint(1, 3))]

    def block(self, depth: int) -> Block:
        kind = self.random.choice(("text", "text", "table", "cells", *HOLDERS))
        if not depth or kind == "text":
            return self.leaf()
        return Block(kind, self.some(kind, depth - 1))

    def page(self) -> Block:
        """Return a page that ends with a paragraph."""
        blocks: list[Block] = []
        for _ in range(self.random.randint(1, 4)):
            blocks += [self.block(3), self.leaf()]
        return apart(Block("page", blocks), self)

    def rewrite(self, words: set[str], page: Block) -> dict[str, str]:
        """New words for some of these leaves, written into the page."""
        new = {word: self.word() for word in words}
        for one in page.all():
            one.word = new.get(one.word, one.word)
        return new

    def edit(self, page: Block) -> None:
        """Rewrite a leaf, put in a child, or take one out."""
        blocks = list(page.all())
        choice = self.random.randrange(3)
        if choice == 0:
            self.random.choice([one for one in blocks if one.word]).word = self.word()
            return
        holders = [one for one in blocks if one.children and one.kind not in ("row", "tr")]
        holder = self.random.choice(holders)
        at = self.random.randrange(len(holder.children))
        if choice == 1:
            holder.children.insert(at, self.part(holder.kind, 0))
        elif len(holder.children) > 1:
            del holder.children[at]
            apart(page, self)


def apart(block: Block, writer: Writer) -> Block:
    """Put a paragraph between two adjacent blocks that would be parsed as one."""
    joined = ("quote", "list", "numbers", "table", "cells")
    found: list[Block] = []
    for child in block.children:
        if found and child.kind in joined and found[-1].kind in joined:
            found.append(writer.leaf())
        found.append(apart(child, writer))
    block.children = found
    return block


def words_of(page: Block) -> set[str]:
    return {one.word for one in page.all() if one.word}
