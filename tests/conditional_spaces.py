"""Random spaces in which every word is unique, with a slow computation of which words a visitor may see
where.

The words are created together with the decision whether they are shown, while the text is written, so the
result doesn't depend on the code under test.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

WORD = re.compile(r"[zZ]q[a-z]{8}|ZQ[A-Z]{8}")
"""Words as they are written, in lowercase or capitals. In mixed case, an id might look like one."""
COMMON = "everywhere"
"""Word in every paragraph, visible or hidden."""

CONDITIONS = [
    ("space.vars.yes", True),
    ("space.vars.no", False),
    ("visitor.claims.beta", False),
    ("visitor.claims.plan == 'team'", False),
    ("!visitor.claims.beta", True),
    ("page.vars.on", True),
    ("page.vars.off", False),
    ('space.vars.plan === "team" && space.vars.yes', True),
    ("not an expression (", False),
]
PAGE_CONDITIONS = [("space.vars.yes", True), ("space.vars.no", False), ("visitor.claims.beta", False)]
DEPTH = 3


def words_of(text: str) -> set[str]:
    return {word.lower() for word in WORD.findall(text)}


@dataclass
class Included:
    """A reusable content: ``shown`` are the words visible to everyone who can see the page."""

    path: str
    shown: set[str] = field(default_factory=set)


@dataclass
class MadePage:
    """Page. ``word`` is in its title and path, ``about`` in its description. ``seen``: its conditions and
    those of its parents are met; ``listed``: it isn't hidden; ``indexed`` and ``told``: search and robots can
    find it. ``shown``: the words of its text that a visitor sees, ``own``: those in its own file, ``linked``:
    the words of pages that it links to."""

    word: str
    about: str
    path: str
    file: str
    parent: MadePage | None
    seen: bool
    listed: bool
    indexed: bool
    told: bool
    source: str = ""
    shown: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    linked: set[str] = field(default_factory=set)

    @property
    def above(self) -> list[MadePage]:
        return [*self.parent.above, self.parent] if self.parent else []


class ConditionalSpace:
    """``pages`` in reading order; ``files`` are what a repository of the space holds."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.words: set[str] = set()
        self.greeting, self.hushed = self.word(), self.word()
        self.includes: list[Included] = []
        self.files: dict[str, str] = {}
        for number in range(2):
            self._make_include(f".gitbook/includes/part-{number}.md")
        self.pages: list[MadePage] = [self._make_page(None, first=True)]
        for _ in range(random.randint(3, 6)):
            parent = random.choice([None, *(page for page in self.pages[1:] if len(page.above) < 2)])
            self.pages.append(self._make_page(parent, first=False))
        self.pages = list(self._in_order(None))
        for page in self.pages:
            self._write(page)
        self.files["SUMMARY.md"] = "".join(
            f"{'  ' * len(page.above)}* [{page.word}]({page.file})\n" for page in self.pages
        )
        self.files[".gitbook/vars.yaml"] = (
            f"yes: true\nno: false\nplan: team\ngreeting: {self.greeting}\nhushed: {self.hushed}\n"
        )

    def word(self) -> str:
        while (made := "zq" + "".join(self.random.choices("abcdefghijklmnoprstuvwxy", k=8))) in self.words:
            pass
        self.words.add(made)
        return made

    def _in_order(self, parent: MadePage | None) -> Iterable[MadePage]:
        for page in self.pages:
            if page.parent is parent:
                yield page
                yield from self._in_order(page)

    # --- pages ------------------------------------------------------------------------------------------

    def _make_page(self, parent: MadePage | None, *, first: bool) -> MadePage:
        random, word, about = self.random, self.word(), self.word()
        front = [
            f"description: About {about}",
            "vars:",
            "  on: true",
            "  off: false",
            f"  quiet: {self.word()}",
        ]
        condition = None if first or random.random() < 0.6 else random.choice(PAGE_CONDITIONS)
        hidden, no_index, no_robots = (not first and random.random() < 0.2 for _ in range(3))
        if condition is not None:
            front.append(f"if: {condition[0]}")
        front += [
            f"{key}: true"
            for key, on in (("hidden", hidden), ("noIndex", no_index), ("noRobotsIndex", no_robots))
            if on
        ]
        front += [f"owner: {self.word()}", f"# {self.word()}"]
        return MadePage(
            word=word,
            about=about,
            path="readme" if first else f"{parent.path}/{word}" if parent else word,
            file="README.md" if first else f"{word}.md",
            parent=parent,
            seen=(parent is None or parent.seen) and (condition is None or condition[1]),
            listed=(parent is None or parent.listed) and not hidden,
            indexed=(parent is None or parent.indexed) and not no_index,
            told=(parent is None or parent.told) and not no_robots,
            source="---\n" + "\n".join(front) + f"\n---\n\n# {word}\n\n",
        )

    def _make_include(self, path: str) -> None:
        made = Included(path)
        text = _Text(self, made.shown, None)
        self.files[path] = f"---\ntitle: Part\n---\n\n{text.blocks(2, True)}\n"
        self.includes.append(made)

    def _write(self, page: MadePage) -> None:
        text = _Text(self, page.own, page)
        page.source += text.blocks(DEPTH, True)
        if self.random.random() < 0.2:
            page.source += f"\n\n{{% if space.vars.no %}}\n\n{self.word()} {COMMON}\n"
        page.source += f"\n\n[//]: # ({self.word()})\n"
        page.source += "".join(f"\n{definition}\n" for definition in text.definitions)
        page.shown |= page.own
        self.files[page.file] = page.source


class _Text:
    """Writes blocks, and notes which of their words are seen."""

    def __init__(self, space: ConditionalSpace, seen: set[str], page: MadePage | None) -> None:
        self.space, self.random, self.seen, self.page = space, space.random, seen, page
        self.definitions: list[str] = []

    def word(self, visible: bool) -> str:
        made = self.space.word()
        if visible:
            self.seen.add(made)
        return made

    def blocks(self, depth: int, visible: bool) -> str:
        kinds = [self.paragraph, self.heading, self.comment, self.listing, self.table, self.code, self.note]
        if depth:
            kinds += [self.condition, self.condition, self.condition, self.hint, self.tabs, self.expandable]
        if self.page is not None:
            kinds += [self.include, self.link, self.card, self.mention, self.expression]
        chosen = [self.random.choice(kinds) for _ in range(self.random.randint(2, 4))]
        return "\n\n".join(kind(depth - 1, visible) for kind in chosen)

    def paragraph(self, depth: int, visible: bool) -> str:
        return f"{COMMON} {self.word(visible)} <!-- {self.word(False)} > {COMMON} --> {self.word(visible)}."

    def heading(self, depth: int, visible: bool) -> str:
        return f"## {self.word(visible)}\n\n{COMMON} {self.word(visible)}."

    def comment(self, depth: int, visible: bool) -> str:
        return f"<!-- {COMMON} {self.word(False)}\n\n{self.word(False)} -->"

    def listing(self, depth: int, visible: bool) -> str:
        return f"* {self.word(visible)}\n  <!-- {self.word(False)} -->\n* {COMMON} {self.word(visible)}"

    def table(self, depth: int, visible: bool) -> str:
        return f"| A | B |\n| - | - |\n| {self.word(visible)} <!-- {self.word(False)} --> | {COMMON} |"

    def code(self, depth: int, visible: bool) -> str:
        return f"```\n{COMMON} {self.word(visible)}\n```"

    def note(self, depth: int, visible: bool) -> str:
        if self.page is None:
            return self.paragraph(depth, visible)
        label = f"n{len(self.definitions)}"
        self.definitions.append(f"[^{label}]: {self.word(visible)}")
        return f"{COMMON} {self.word(visible)}[^{label}]."

    def condition(self, depth: int, visible: bool) -> str:
        expression, holds = self.random.choice(CONDITIONS)
        if self.page is None and "page." in expression:
            expression, holds = CONDITIONS[1]
        return f"{{% if {expression} %}}\n{self.blocks(depth, visible and holds)}\n{{% endif %}}"

    def hint(self, depth: int, visible: bool) -> str:
        return f'{{% hint style="info" %}}\n{self.blocks(depth, visible)}\n{{% endhint %}}'

    def tabs(self, depth: int, visible: bool) -> str:
        title = self.word(visible)
        return (
            f'{{% tabs %}}\n{{% tab title="{title}" %}}\n{self.blocks(depth, visible)}\n{{% endtab %}}\n'
            f"{{% endtabs %}}"
        )

    def expandable(self, depth: int, visible: bool) -> str:
        return f"<details>\n\n<summary>{self.word(visible)}</summary>\n\n{self.blocks(depth, visible)}\n\n</details>"

    def include(self, depth: int, visible: bool) -> str:
        assert self.page is not None
        part = self.random.choice(self.space.includes)
        if visible:
            self.page.shown |= part.shown
        return f'{{% include "{part.path}" %}}'

    def expression(self, depth: int, visible: bool) -> str:
        assert self.page is not None
        if visible:
            self.page.shown.add(self.space.greeting)
        name = "greeting" if visible else self.random.choice(["greeting", "hushed"])
        return f'{COMMON} {self.word(visible)} <code class="expression">space.vars.{name}</code>.'

    def _other(self, visible: bool) -> MadePage:
        assert self.page is not None
        other = self.random.choice(self.space.pages)
        if visible and other.seen:
            self.page.linked |= {other.word, other.about} | {above.word for above in other.above}
        return other

    def link(self, depth: int, visible: bool) -> str:
        return f"{COMMON} [{self.word(visible)}]({self._other(visible).file})."

    def card(self, depth: int, visible: bool) -> str:
        other = self._other(visible)
        return f'{{% content-ref url="{other.file}" %}}\n[{other.word}]({other.file})\n{{% endcontent-ref %}}'

    def mention(self, depth: int, visible: bool) -> str:
        other = self._other(visible)
        return f'{COMMON} {self.word(visible)} [{other.word}]({other.file} "mention").'
