"""Random states and edits for merge tests, fast enough for a million cases, and what must hold for each."""

from __future__ import annotations

import hashlib
from random import Random

from hypothesis import strategies as st
from msgspec.structs import replace

from octavo.content.revisions.item_versions import Item
from octavo.core.merge import MergeResult, Tree, Versions, merge
from octavo.core.pages import Page, rank_between

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu".split()
Pages = dict[str, Page]


def sentence(random: Random) -> str:
    return " ".join(random.choice(WORDS) for _ in range(random.randint(2, 5))) + "."


def block(random: Random) -> str:
    kind = random.randrange(8)
    if kind < 3:
        return sentence(random)
    if kind == 3:
        return f"## {sentence(random)}"
    if kind == 4:
        return "\n".join(f"* {sentence(random)}" for _ in range(random.randint(1, 4)))
    if kind == 5:
        rows = [f"| {random.choice(WORDS)} | {random.choice(WORDS)} |" for _ in range(random.randint(1, 3))]
        return "\n".join(["| a | b |", "| --- | --- |", *rows])
    if kind == 6:
        return f"```\n{sentence(random)}\n\n{sentence(random)}\n```"
    return f'{{% hint style="info" %}}\n{sentence(random)}\n\n{sentence(random)}\n{{% endhint %}}'


def text(random: Random) -> str:
    return "\n\n".join(block(random) for _ in range(random.randint(0, 5))) + random.choice(("", "\n"))


def edit_text(random: Random, source: str) -> str:
    """Make one to three edits: blocks removed, added, moved, or lines changed anywhere."""
    for _ in range(random.randint(1, 3)):
        blocks = source.split("\n\n")
        at = random.randrange(len(blocks))
        kind = random.randrange(5)
        if kind == 0:
            blocks.insert(at, block(random))
        elif kind == 1:
            del blocks[at]
        elif kind == 2:
            blocks.insert(random.randrange(len(blocks)), blocks.pop(at))
        else:
            lines = blocks[at].split("\n")
            n = random.randrange(len(lines))
            if kind == 3:
                lines[n] = lines[n].replace(random.choice(WORDS), random.choice(WORDS), 1)
            elif random.random() < 0.5:
                lines.insert(n, f"* {sentence(random)}")
            else:
                del lines[n]
            blocks[at] = "\n".join(lines)
        source = "\n\n".join(blocks)
    return source


def lines_of(source: str) -> set[str]:
    """Return lines by their content: the padding of tables is ignored, and a merged row is represented by its
    cells."""
    return {" ".join(line.split()) for line in source.splitlines()} - {""}


def lost_lines(base: str, side: str, held: set[str]) -> set[str]:
    """Return lines of a side that aren't in the base or in ``held``. Table rows are merged cell by cell, so
    only the new cells of a row count."""
    before = lines_of(base)
    known, old = _cells(held), _cells(before)
    missing = lines_of(side) - before - held
    return {line for line in missing if "|" not in line or not _cells({line}) - old <= known}


def _cells(rows: set[str]) -> set[str]:
    return {cell.strip() for row in rows if "|" in row for cell in row.split("|")}


class Library:
    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def digest(self, source: str) -> str:
        return hashlib.sha256(source.encode()).hexdigest()

    def put(self, source: str) -> str:
        key = self.digest(source)
        self.texts[key] = source
        return key


def is_tree(pages: Pages) -> bool:
    for page in pages.values():
        seen = set()
        here: Page | None = page
        while here is not None:
            if here.id in seen or (here.parent is not None and here.parent not in pages):
                return False
            seen.add(here.id)
            here = pages[here.parent] if here.parent else None
    slugs = [(page.parent, page.slug) for page in pages.values()]
    ranks = [(page.parent, page.rank) for page in pages.values()]
    paths = [page.file_path for page in pages.values() if page.file_path]
    return all(len(found) == len(set(found)) for found in (slugs, ranks, paths))


def _last_rank(pages: Pages, parent: str | None) -> str | None:
    return max((page.rank for page in pages.values() if page.parent == parent), default=None)


def _free_slug(random: Random, pages: Pages, parent: str | None) -> str | None:
    slug = random.choice(WORDS[:4])
    return None if any(page.parent == parent and page.slug == slug for page in pages.values()) else slug


def add_page(random: Random, pages: Pages, library: Library, id: str) -> None:
    parent = random.choice([None, *pages])
    slug = _free_slug(random, pages, parent)
    if slug is None:
        return
    path = f"{random.choice(WORDS[:6])}.md"
    pages[id] = Page(
        id=id,
        parent=parent,
        rank=rank_between(_last_rank(pages, parent), None),
        slug=slug,
        title=random.choice(WORDS),
        body=library.put(text(random)),
        file_path=None if any(page.file_path == path for page in pages.values()) else path,
        tags=tuple(random.sample(WORDS[:4], random.randint(0, 2))),
        variables={name: random.choice(WORDS) for name in random.sample("xyz", random.randint(0, 2))},
    )


def _below(pages: Pages, id: str) -> set[str]:
    found = {id}
    while True:
        more = {page.id for page in pages.values() if page.parent in found} - found
        if not more:
            return found
        found |= more


def edit_pages(random: Random, pages: Pages, library: Library, prefix: str) -> Pages:
    """Another valid state, one to five changes away."""
    pages = dict(pages)
    for n in range(random.randint(1, 5)):
        kind = random.randrange(9)
        if kind == 0 or not pages:
            add_page(random, pages, library, f"{prefix}{n}")
            continue
        page = pages[random.choice(list(pages))]
        if kind == 1:
            for id in _below(pages, page.id):
                del pages[id]
        elif kind in (2, 3):
            parent = random.choice([None, *sorted(pages.keys() - _below(pages, page.id))])
            if not any(
                p.parent == parent and p.slug == page.slug and p.id != page.id for p in pages.values()
            ):
                rank = rank_between(_last_rank(pages, parent), None)
                pages[page.id] = replace(page, parent=parent, rank=rank)
        elif kind == 4:
            slug = _free_slug(random, pages, page.parent)
            if slug is not None:
                pages[page.id] = replace(page, slug=slug)
        elif kind == 5:
            pages[page.id] = replace(page, title=random.choice(WORDS))
        elif kind == 6:
            tags = tuple(random.sample(WORDS[:4], random.randint(0, 3)))
            variables = page.variables | {random.choice("xyz"): random.choice(WORDS)}
            pages[page.id] = replace(page, tags=tags, variables=variables)
        elif page.body is not None:
            source = edit_text(random, library.texts[page.body])
            pages[page.id] = replace(page, body=library.put(source))
    return pages


def touched(base: Pages, side: Pages) -> dict[str, Page | None]:
    return {id: side.get(id) for id in base.keys() | side.keys() if base.get(id) != side.get(id)}


class StateTree(Tree):
    """Answers from a whole state, and counts the questions."""

    def __init__(self, pages: Pages) -> None:
        self.pages = pages
        self.asked = 0

    def page(self, page_id):
        self.asked += 1
        return self.pages.get(page_id)

    def children(self, parents):
        self.asked += 1
        wanted = set(parents)
        return [page for page in self.pages.values() if page.parent in wanted]

    def with_slug(self, parent, slug):
        self.asked += 1
        return [page for page in self.pages.values() if page.parent == parent and page.slug == slug]

    def path_taken(self, path):
        self.asked += 1
        return any(page.file_path == path for page in self.pages.values())


class Case:
    """A base and two edited states of it."""

    def __init__(self, random: Random) -> None:
        self.library = Library()
        self.base: Pages = {}
        for n in range(random.randint(0, 7)):
            add_page(random, self.base, self.library, f"b{n}")
        self.ours = edit_pages(random, self.base, self.library, "o")
        self.theirs = edit_pages(random, self.base, self.library, "t")

    def merge(self, base: Pages, ours: Pages, theirs: Pages) -> tuple[MergeResult, Pages]:
        mine, yours = touched(base, ours), touched(base, theirs)
        result = merge(
            Versions({id: base.get(id) for id in mine.keys() | yours.keys()}),
            Versions(mine),
            Versions(yours),
            read=self.library.texts.__getitem__,
            digest=self.library.digest,
            tree=StateTree(ours),
        )
        merged = {id: page for id, page in (ours | result.pages).items() if page is not None}
        self.library.texts |= result.bodies
        return result, merged

    def check(self) -> None:
        """Check everything that a merge promises, for this case."""
        result, merged = self.merge(self.base, self.ours, self.theirs)
        assert is_tree(merged), "not a tree with unique slugs, ranks and paths"
        self.check_nothing_lost(result, merged)
        swapped, _ = self.merge(self.base, self.theirs, self.ours)
        assert swap(result) == swap(swapped, swapped=True), "conflicts depend on who is called ours"
        again, same = self.merge(self.base, self.ours, self.theirs)
        assert (again, same) == (result, merged), "not deterministic"
        assert self.merge(self.base, self.base, self.theirs)[1] == self.theirs
        assert self.merge(self.base, self.ours, self.base)[1] == self.ours
        assert self.merge(self.base, self.ours, self.ours)[1] == self.ours
        undone, state = self.merge(merged, merged, self.ours)
        assert state == self.ours and not undone.conflicts, "a merge that cannot be undone"

    def check_nothing_lost(self, result: MergeResult, merged: Pages) -> None:
        blocks: dict[str, set[str]] = {}
        deleted = {conflict.id for conflict in result.conflicts if conflict.kind == "deleted"}
        fields = {(conflict.id, conflict.field) for conflict in result.conflicts if conflict.kind == "field"}
        for conflict in result.conflicts:
            if conflict.kind == "block":
                told = (conflict.base, conflict.ours, conflict.theirs)
                blocks.setdefault(conflict.id, set()).update(*(lines_of(part) for part in told if part))
        for side in (self.ours, self.theirs):
            for id, page in side.items():
                base = self.base.get(id)
                if page == base:
                    continue
                if id not in merged:
                    minor = base is not None and replace(page, rank=base.rank) == base
                    assert minor or id in deleted, "an edited page is gone"
                    continue
                old = self.library.texts[base.body] if base and base.body else ""
                held = lines_of(self.library.texts[merged[id].body or ""]) | blocks.get(id, set())
                lost = lost_lines(old, self.library.texts[page.body or ""], held)
                assert not lost, f"lost {lost}"
                if base is not None and page.title != base.title:
                    assert merged[id].title == page.title or (id, "title") in fields
                for name, value in page.variables.items():
                    if base is None or base.variables.get(name) != value:
                        kept = merged[id].variables.get(name) == value
                        assert kept or (id, f"variables.{name}") in fields


def swap(result: MergeResult, *, swapped: bool = False) -> set[str]:
    told = set()
    for conflict in result.conflicts:
        sides = (conflict.ours, conflict.theirs)
        ours, theirs = sides[::-1] if swapped else sides
        told.add(
            repr((conflict.key, conflict.kind, conflict.id, conflict.field, conflict.base, ours, theirs))
        )
    return told


def variable(id: str, name: str, value: str) -> Item:
    return Item(id=id, kind="variable", name=name, content=value)


markdown = st.lists(
    st.sampled_from(
        [
            "a",
            "b",
            "# h",
            "* x",
            "  * y",
            "1. z",
            "",
            "",
            "```",
            "~~~",
            "{% hint %}",
            "{% endhint %}",
            "<details>",
            "</details>",
            "<table>",
            "</table>",
            "| a | b |",
            "| - | - |",
            "$$",
            "<!--",
            "-->",
            "> q",
            "    code",
            "***",
            "---",
            "===",
            "[^1]: n",
            "\r",
        ]
    ),
    max_size=14,
).map("\n".join)
"""Texts of lines that open and close every construct, well-formed or not."""
