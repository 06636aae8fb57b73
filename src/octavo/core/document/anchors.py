"""Link targets in a document: their IDs on a page, and the target of each link.

Different tools derive different anchors from the same heading: ``Node.js & you`` becomes ``nodejs--you``,
``node.js-and``, ``Node_js``, or ``id-1.-intro``. Only this module assigns IDs, and it recognizes all of these
spellings.
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
"""Conditions of the surrounding blocks, outermost first: content is visible if all of them are met."""


class DocumentPlace(Struct, frozen=True):
    """Link target in a document, before its ID is made unique.

    ``name``: the preferred ID. ``fixed``: whether the author set it. ``include``: a reference to reusable content whose
    targets belong at this position. ``included``: whether the target comes from reusable content.
    """

    name: str = ""
    fixed: bool = False
    conditions: Conditions = ()
    include: str | None = None
    included: bool = False


def slug(title: str) -> str:
    """Return the anchor of a heading in GitHub's format: lowercase, punctuation dropped, spaces as hyphens."""
    return _DROP.sub("", title.strip().lower()).replace(" ", "-")


class Standing(Struct, frozen=True, gc=False):
    """Context of a node in a document: its conditions, and whether it comes from included reusable content."""

    conditions: Conditions = ()
    included: bool = False


_TOP = Standing()


def flow(document: Document) -> Iterator[tuple[Block | Inline, Standing]]:
    """Yield every block and inline node in reading order; footnotes follow the block that refers to them."""
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
    """Return the fragments of a table, row by row in display order."""
    order: dict[str, tuple[str, int]] = {}
    columns = {name: at for at, name in enumerate(object_of(table.data, "definition"))}
    for record in object_of(table.data, "records").values():
        if isinstance(record, dict):
            for column, value in object_of(record, "values").items():
                if isinstance(value, str):
                    order[value] = (str(record.get("orderIndex", "")), columns.get(column, 0))
    return sorted(table.fragments, key=lambda fragment: order.get(fragment.fragment, ("~", 0)))


def list_places(document: Document) -> list[tuple[Block | Inline, DocumentPlace]]:
    """Return the link targets of a document in reading order: headings, expandables, updates, ``<a name>``, and
    HTML elements with an ``id``."""
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
    failures.report()
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
        name = fixed or slug(inline_text(node)) or "section"
    elif node.type == "expandable":
        titles = (f for f in node.fragments if f.fragment == "expandable-title")
        name = (
            fixed
            or slug(" ".join(inline_text(block) for title in titles for block in title.nodes))
            or "section"
        )
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
    """Return the ID of an HTML element that has no node type. Links can use this ID."""
    tag = _OPENING.match(source) if isinstance(source, str) else None
    if tag is None:
        return None
    given = attributes(tag.string[tag.end() :].partition(">")[0])
    return given.get("id") or (given.get("name") if tag[1].lower() == "a" else None)


def inline_text(node: Any, *, mentions: bool = True) -> str:
    """Return the text of a block's inline nodes, without expressions. ``mentions``: whether to include the
    labels of mentions."""
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
    """Return a unique ID for each link target. If a name is already in use, a number is appended.

    The page's own targets get their names before the targets in included content, and unconditional targets before
    conditional targets. This way, IDs are the same for all visitors and don't reveal hidden content.
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
    """Return the ID of every link target on the page, by ``id(node)``."""
    return ids_in_flow(flow(document))


def ids_in_flow(nodes: Iterable[tuple[Block | Inline, Standing]]) -> dict[int, str]:
    """Return the ID of every link target among these nodes, by ``id(node)``. ``nodes``: nodes as ``flow`` yields
    them."""
    found = [(node, place) for node, place in _places_of(nodes) if place.include is None]
    names = name_places([place for _, place in found])
    return {id(node): name for (node, _), name in zip(found, names, strict=True)}


def mark_places(document: Document) -> list[str]:
    """Write the ID of every link target to its node, for rendering, and return all IDs. Don't write the marked document
    as Markdown, because the headings' IDs would count as set by the author."""
    found = places_by_id(document)
    for name, node in found.items():
        node.data["id"] = name
    return list(found)


def places_by_id(document: Document) -> dict[str, Block | Inline]:
    """Return the nodes that links can refer to, by their ID on the page."""
    found = [(node, place) for node, place in list_places(document) if place.include is None]
    names = name_places([place for _, place in found])
    return {name: node for (node, _), name in zip(found, names, strict=True)}


def cut_section(document: Document, places: Mapping[str, Block | Inline], wanted: str) -> Document | None:
    """Return the part of a document at one link target: a heading with all content up to the next heading of the same
    or a higher level, or the block itself. ``places``: the link targets of the whole page, by ID. ``wanted``: the
    target in the form that a link uses. Return None if the target no longer exists."""
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
    siblings, start = there[found]
    top = siblings[start]
    end = start + 1
    if top.type.startswith("heading-"):
        while end < len(siblings) and not _ends(siblings[end], top):
            end += 1
    return Document(siblings[start:end])


def _ends(node: Block, heading: Block) -> bool:
    """Return whether a block is a heading of the same or a higher level than ``heading``."""
    return node.type.startswith("heading-") and _level(node) <= _level(heading)


def _level(heading: Block) -> int:
    given = heading.data.get("level")
    return given if type(given) is int else int(heading.type[-1]) + 1


class Anchors:
    """Index of the IDs on a page, which finds an ID regardless of how a link spells it. ``title``: the page's title.
    Other tools treat the title as the first heading, but it has no ID in Octavo."""

    def __init__(self, names: Iterable[str], title: str = "") -> None:
        self._names = dict.fromkeys(names)
        self._title = _loose(title)
        self._loose: dict[str, str] = {}
        for name in self._names:
            self._loose.setdefault(_loose(name), name)
        for name in self._names:
            # GitBook spells out the "&" that is dropped here, which leaves two hyphens.
            if "--" in name:
                self._loose.setdefault(_loose(name.replace("--", "-and-")), name)

    def find(self, wanted: str) -> str | None:
        """Return the ID that a link refers to, ``""`` for the start of the page, or None if no ID matches."""
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
    """Return the IDs of these targets. ``holds``: a function that returns whether conditions are met. Only targets
    whose conditions are met are included. ``title``: the title of their page."""
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
    """Return a name in lowercase, without accents, spaces, and punctuation. A name without letters stays unchanged."""
    folded = unicodedata.normalize("NFC", _LATIN_ACCENTS.sub("", unicodedata.normalize("NFKD", name)))
    letters = _NUMBERED.sub("", _SIGNS.sub("", folded).casefold(), count=1) if name else ""
    return letters or name
