"""The places of a document that links can name: the ids they have on a page, and which of them a link means.

Writers of links differ in what they make of a heading: ``Node.js & you`` is named ``nodejs--you``, ``node.js-and``,
``Node_js``, ``id-1.-intro``. An id is given here once, and every spelling is led to it here once.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ..free_names import free_name
from .containing import DEFECTS, Failures
from .inline import FIXED_ID, attributes
from .nodes import Block, Document, Fragment, Inline, Text, children, is_plain
from .parts import emoji, object_of

_DROP = re.compile(r"[^\w\- ]+")
_SIMPLE = re.compile(r"[\w.+%~:-]{1,200}")
_LONGEST_ID = 200
_OPENING = re.compile(r"<([A-Za-z][\w-]*)\s")
_SIGNS = re.compile(r"[\W_]+")
_LATIN_ACCENTS = re.compile("[\u0300-\u036f]")
_NAMED = ("heading-1", "heading-2", "heading-3", "expandable", "update")
_NUMBERED = re.compile(r"id(?=\d)")

Conditions = tuple[str, ...]
"""Expressions of the blocks around something, the outermost first: it is there for whom all of them hold."""


class DocumentPlace(Struct, frozen=True):
    """A place as its document has it, before it is told apart from others.

    ``name``: what it would be called; ``fixed``: by its writer. ``include``: the places of this reusable content (a
    reference as written) are here instead. ``included``: it comes from one.
    """

    name: str = ""
    fixed: bool = False
    conditions: Conditions = ()
    include: str | None = None
    included: bool = False


def slug(title: str) -> str:
    """The anchor of a heading, as GitHub makes it: lower case, punctuation dropped, spaces as hyphens."""
    return _DROP.sub("", title.strip().lower()).replace(" ", "-")


class Standing(Struct, frozen=True, gc=False):
    """Where a node is: under which conditions, and whether in a reusable content that the page includes."""

    conditions: Conditions = ()
    included: bool = False


_TOP = Standing()


def flow(document: Document) -> Iterator[tuple[Block | Inline, Standing]]:
    """Every block and inline node in reading order; footnotes follow the block that refers to them."""
    stack: list[tuple[Any, Standing]] = [(node, _TOP) for node in reversed(document.nodes)]
    while stack:
        node, standing = stack.pop()
        if type(node) is not Fragment:
            yield node, standing
            if is_plain(node):
                continue
        below = node.nodes if type(node) is Fragment else children(node) if node.fragments else node.nodes
        if type(node) is Block:
            if node.type == "if":
                conditions = (*standing.conditions, str(node.data.get("expression", "")))
                standing = Standing(conditions, standing.included)
            elif node.type == "reusable-content":
                standing = Standing(standing.conditions, True)
            elif node.type == "table":
                below = _cells(node)
        stack += [(child, standing) for child in reversed(below) if type(child) is not Text]


def _cells(table: Block) -> list[Fragment]:
    """The fragments of a table, row by row as they are shown."""
    order: dict[str, tuple[str, int]] = {}
    columns = {name: at for at, name in enumerate(object_of(table.data, "definition"))}
    for record in object_of(table.data, "records").values():
        if isinstance(record, dict):
            for column, value in object_of(record, "values").items():
                if isinstance(value, str):
                    order[value] = (str(record.get("orderIndex", "")), columns.get(column, 0))
    return sorted(table.fragments, key=lambda fragment: order.get(fragment.fragment, ("~", 0)))


def list_places(document: Document) -> list[tuple[Block | Inline, DocumentPlace]]:
    """The places of a document in reading order: headings, expandables, updates, ``<a name>``, and elements
    of HTML with an ``id``."""
    return _places_of(flow(document))


def _places_of(
    nodes: Iterable[tuple[Block | Inline, Standing]],
) -> list[tuple[Block | Inline, DocumentPlace]]:
    found: list[tuple[Block | Inline, DocumentPlace]] = []
    failures = Failures("places")
    for node, standing in nodes:
        try:
            place = _place(node, standing)
        except DEFECTS as error:
            failures.add(error)
            continue
        if place is not None:
            found.append((node, place))
    failures.tell()
    return found


def _place(node: Block | Inline, standing: Standing) -> DocumentPlace | None:
    if isinstance(node, Inline):
        if node.type not in ("unknown", "link"):
            return None
        return _element(_anchor(node), standing)
    if node.type == "unknown":
        return _element(_id_of_tag(node.data.get("source")), standing)
    if node.type == "reusable-content":
        url = node.data["ref"].get("url") if isinstance(node.data.get("ref"), dict) else None
        return DocumentPlace(conditions=standing.conditions, include=url) if isinstance(url, str) else None
    if node.type not in _NAMED:
        return None
    fixed = node.data.get("id")
    if not isinstance(fixed, str) or not fixed:
        fixed = ""
    elif FIXED_ID.fullmatch(fixed) is None or len(fixed) > _LONGEST_ID:
        fixed = slug(fixed)
    if node.type.startswith("heading-"):
        name = fixed or slug(said(node)) or "section"
    elif node.type == "expandable":
        titles = (f for f in node.fragments if f.fragment == "expandable-title")
        name = fixed or slug(" ".join(said(block) for title in titles for block in title.nodes)) or "section"
    else:
        name = fixed or slug(str(node.data.get("date") or "")) or "update"
    return DocumentPlace(name, bool(fixed), standing.conditions, None, standing.included)


def _element(name: str | None, standing: Standing) -> DocumentPlace | None:
    if name is None or _SIMPLE.fullmatch(name) is None:
        return None
    return DocumentPlace(name, True, standing.conditions, None, standing.included)


def _anchor(node: Inline) -> str | None:
    if isinstance(node.data.get("id"), str):
        return str(node.data["id"])
    if node.type == "link":
        given = node.data.get("attributes")
        name = given.get("id") if isinstance(given, dict) else None
        return name if isinstance(name, str) else None
    return _id_of_tag(node.data.get("source"))


def _id_of_tag(source: object) -> str | None:
    """The id of an element of HTML that has no node of its own; links have it as their name, too."""
    tag = _OPENING.match(source) if isinstance(source, str) else None
    if tag is None:
        return None
    given = attributes(tag.string[tag.end() :].partition(">")[0])
    return given.get("id") or (given.get("name") if tag[1].lower() == "a" else None)


def said(node: Any, *, mentions: bool = True) -> str:
    """The text of a block's inline nodes, expressions left out. ``mentions``: with the labels of what is mentioned."""
    if is_plain(node):
        leaves = node.nodes[0].leaves
        return leaves[0].text if len(leaves) == 1 else "".join([leaf.text for leaf in leaves])
    parts: list[str] = []
    stack = [child for child in reversed(node.nodes) if not isinstance(child, Block)]
    while stack:
        child = stack.pop()
        if isinstance(child, Text):
            parts.extend(leaf.text for leaf in child.leaves)
            continue
        if mentions or child.type != "mention":
            parts.append(_inline_text(child))
        stack.extend(reversed(child.nodes))
    return "".join(parts)


def _inline_text(node: Inline) -> str:
    data = node.data
    if node.type == "emoji":
        return emoji(data.get("code"))
    if node.type == "inline-math":
        return str(data["formula"])
    if node.type in ("button", "mention"):
        return str(data.get("label", ""))
    if node.type == "inline-image":
        return str(data.get("alt", ""))
    return ""


# --- ids ----------------------------------------------------------------------------------------------


def name_places(places: Sequence[DocumentPlace]) -> list[str]:
    """The ids of places, each its own: a name that is taken gets a number.

    A page names its own places before those of what it includes, and what everybody sees before what is under
    a condition. So ids are the same for all visitors, and none names something that is not shown.
    """
    names = [""] * len(places)
    taken: set[str] = set()
    order = sorted(
        range(len(places)),
        key=lambda at: (places[at].included, bool(places[at].conditions), not places[at].fixed),
    )
    for at in order:
        names[at] = free_name(places[at].name, taken.__contains__)
        taken.add(names[at])
    return names


def place_ids(document: Document) -> dict[int, str]:
    """``id(node)`` of every place of a document to its id on the page."""
    return ids_in_flow(flow(document))


def ids_in_flow(nodes: Iterable[tuple[Block | Inline, Standing]]) -> dict[int, str]:
    """The same, of what ``flow`` gives of a document."""
    found = [(node, place) for node, place in _places_of(nodes) if place.include is None]
    names = name_places([place for _, place in found])
    return {id(node): name for (node, _), name in zip(found, names, strict=True)}


def mark_places(document: Document) -> list[str]:
    """Writes the id of every place into its node, for those who draw the document, and gives all ids. Such a
    document is not to be written as Markdown again: a heading's id would become one that its writer fixed."""
    found = places_by_id(document)
    for name, node in found.items():
        node.data["id"] = name
    return list(found)


def places_by_id(document: Document) -> dict[str, Block | Inline]:
    """The nodes that links can name, each by its id on the page."""
    found = [(node, place) for node, place in list_places(document) if place.include is None]
    names = name_places([place for _, place in found])
    return {name: node for (node, _), name in zip(found, names, strict=True)}


def cut_section(document: Document, places: Mapping[str, Block | Inline], wanted: str) -> Document | None:
    """What is at one place of a document: a heading with what stands below it, down to the next one that is as high, or
    the block that the place is. ``places``: those of the whole page, by their ids; ``wanted``: as links spell it. None
    where there is no such place any more."""
    ids = {id(node): name for name, node in places.items()}
    inside: list[Any] = [document]
    there: dict[str, tuple[list[Any], int]] = {}
    while inside:
        here = inside.pop()
        for at, node in enumerate(here.nodes):
            if type(node) is Block and id(node) in ids:
                there[ids[id(node)]] = here.nodes, at
        inside += [child for child in children(here) if type(child) is not Text]
    found = Anchors(there).find(wanted)
    if not found:
        return None
    beside, start = there[found]
    top = beside[start]
    end = start + 1
    if top.type.startswith("heading-"):
        while end < len(beside) and not _ends(beside[end], top):
            end += 1
    return Document(beside[start:end])


def _ends(node: Block, heading: Block) -> bool:
    """Whether a block is a heading as high as another one, or higher."""
    return node.type.startswith("heading-") and _level(node) <= _level(heading)


def _level(heading: Block) -> int:
    given = heading.data.get("level")
    return given if type(given) is int else int(heading.type[-1]) + 1


class Anchors:
    """The ids of a page, found by however a link spells one. ``title``: that of the page, which is its own first
    heading elsewhere and has no id here."""

    def __init__(self, names: Iterable[str], title: str = "") -> None:
        self._names = dict.fromkeys(names)
        self._title = _loose(title)
        self._loose: dict[str, str] = {}
        for name in self._names:
            self._loose.setdefault(_loose(name), name)
        for name in self._names:
            # Hosted editors spell the "&" out that is dropped here, which leaves two hyphens.
            if "--" in name:
                self._loose.setdefault(_loose(name.replace("--", "-and-")), name)

    def find(self, wanted: str) -> str | None:
        """The id that a link means, ``""`` for the start of the page; None when there is none like it."""
        if wanted in self._names:
            return wanted
        loose = _loose(wanted) if wanted else None
        return (
            ""
            if loose and loose == self._title and loose not in self._loose
            else self._loose.get(loose or "")
        )


def anchors(
    places: Sequence[DocumentPlace], holds: Callable[[str], bool] | None = None, title: str = ""
) -> Anchors:
    """The ids of these places; with ``holds``, of those whose conditions hold. ``title``: of their page."""
    names = name_places(places)
    return Anchors(
        (
            name
            for name, place in zip(names, places, strict=True)
            if holds is None or all(map(holds, place.conditions))
        ),
        title,
    )


def _loose(name: str) -> str:
    """What remains of a name when case, accents, spaces and signs do not count; what has no letter stays."""
    folded = unicodedata.normalize("NFC", _LATIN_ACCENTS.sub("", unicodedata.normalize("NFKD", name)))
    letters = _NUMBERED.sub("", _SIGNS.sub("", folded).casefold(), count=1) if name else ""
    return letters or name
