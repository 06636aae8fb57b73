"""What a run made, merged into the space that follows as a change request is: what people wrote there stays.

Where both parted is what the last run made, so what differs from it in the space was changed by people. Where they and
the source changed the same, what people wrote stays and is reported; it is reported until they change it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from ..changes import Sides, merge_into_main
from ..content import (
    Changes,
    Item,
    KeptKeys,
    State,
    body_hash,
    find_items,
    find_pages,
    get_body,
    list_children,
    revision_state,
)
from ..core.merge import Conflict, Versions
from ..core.pages import Page
from ..core.problems import Problem
from ..kit.db import Transaction
from .learning import changed_by_people, changed_fields, texts_of
from .segments import readable
from .store import PartRow, TranslationRow

SHOWN = 120
"""Characters of a text that a problem shows."""


class Made(Struct):
    """What a run made so far. ``bodies``: texts to be stored. ``gone``: parts that the source has no more."""

    pages: dict[str, Page] = field(default_factory=dict)
    items: dict[str, Item] = field(default_factory=dict)
    bodies: list[str] = field(default_factory=list)
    parts: dict[str, PartRow] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    words: int = 0


class Merging(Struct, frozen=True):
    """What a revision of the space has to write, and the parts as they are to be kept."""

    changes: Changes
    bodies: list[str]
    keys: list[KeptKeys]
    parts: Sequence[PartRow]
    problems: Sequence[Problem]


def merge_made(
    tx: Transaction, row: TranslationRow, state: State, known: Mapping[str, PartRow], made: Made
) -> Merging:
    """``state``: the space as it is. ``known``: what the last run made. The texts of ``made`` are stored."""
    before = revision_state(tx, row.space_id, row.revision)
    page_ids, item_ids = [*made.pages, *made.gone], [*made.items, *made.gone]
    pages, items = find_pages(tx, state, page_ids), find_items(tx, state, item_ids)
    base = Versions(
        {**find_pages(tx, before, page_ids), **_pages_made(known, page_ids)},
        {**find_items(tx, before, item_ids), **_items_made(known, item_ids)},
    )
    # What is gone is either a page or an item, and may be neither in the space by now.
    page_ids = [id for id in page_ids if id in pages or id in base.pages or id in made.pages]
    item_ids = [id for id in item_ids if id in items or id in base.items or id in made.items]
    # None of an id means that it is not there; without an entry it would be untouched.
    ours = Versions({id: pages.get(id) for id in page_ids}, {id: items.get(id) for id in item_ids})
    theirs = Versions(
        {id: made.pages.get(id) for id in page_ids}, {id: made.items.get(id) for id in item_ids}
    )
    sides = _with_children_at_top(tx, state, Sides(base, theirs, ours), made.gone)
    merged = merge_into_main(tx, sides, state)
    after = Versions({**pages, **merged.changes.pages}, {**items, **merged.changes.items})
    texts = {body_hash(text): text for text in merged.bodies}
    parts: list[PartRow] = []
    problems = [_problem(conflict, sides) for conflict in merged.conflicts]
    for part in made.parts.values():
        old = known.get(part.part_id)
        outdated = _outdated(tx, part, old, after, texts) if old is not None else {}
        if old is not None:
            problems += [
                _kept(_name(part.part_id, after), text)
                for text, said in outdated.items()
                if old.written.outdated.get(text) == said
            ]
        parts.append(replace(part, written=replace(part.written, outdated=outdated)))
    return Merging(merged.changes, merged.bodies, merged.keys, parts, problems)


def _pages_made(known: Mapping[str, PartRow], ids: Sequence[str]) -> dict[str, Page]:
    """Pages as the last run made them."""
    return {
        id: replace(part.written.page, body=part.body)
        for id in ids
        if (part := known.get(id)) is not None and part.written.page is not None
    }


def _items_made(known: Mapping[str, PartRow], ids: Sequence[str]) -> dict[str, Item]:
    return {
        id: replace(part.written.item, content=part.body) if part.body else part.written.item
        for id in ids
        if (part := known.get(id)) is not None and part.written.item is not None
    }


def _with_children_at_top(tx: Transaction, state: State, sides: Sides, gone: Sequence[str]) -> Sides:
    """Pages that people added below one that the source has no more are at the top then."""
    children = [page for page in list_children(tx, state, gone) if page.id not in sides.main.pages]
    here = {page.id: page for page in children}
    moved = {page.id: replace(page, parent=None) for page in children}
    return Sides(
        replace(sides.base, pages={**sides.base.pages, **here}),
        replace(sides.change, pages={**sides.change.pages, **moved}),
        replace(sides.main, pages={**sides.main.pages, **here}),
    )


def _outdated(
    tx: Transaction, part: PartRow, old: PartRow, after: Versions, texts: Mapping[str, str]
) -> dict[str, str]:
    """By text of the source that was changed, what people wrote for the one before it, which stays."""
    found: dict[str, str] = {}
    page, item = after.pages.get(part.part_id), after.items.get(part.part_id)
    body = page.body if page is not None else item.content if item is not None else None
    known = set(old.written.source.values())
    if body and body != part.body and part.body and part.source_body:
        known |= set(texts_of(get_body(tx, old.source_body))) if old.source_body else set()
        merged = texts.get(body)
        found = changed_by_people(
            texts_of(get_body(tx, part.source_body)),
            texts_of(get_body(tx, part.body)),
            texts_of(merged if merged is not None else get_body(tx, body)),
        )
    if page is not None:
        found |= changed_fields(part, page)
    return {
        text: said
        for text, said in found.items()
        if text not in known or old.written.outdated.get(text) == said
    }


def _name(part_id: str, *sides: Versions) -> str:
    """What problems call a page or item."""
    for side in sides:
        if (page := side.pages.get(part_id)) is not None:
            return page.file_path or page.slug
        if (item := side.items.get(part_id)) is not None:
            return str(item.path or item.name)
    return part_id


def _kept(name: str, text: str) -> Problem:
    said = f"“{readable(text)[:SHOWN]}”: the source was changed; what people wrote for it before stays"
    return Problem(name, 0, "kept_by_people", said)


def _problem(conflict: Conflict, sides: Sides) -> Problem:
    """What is to be said of a place that people and the source both changed."""
    name = _name(conflict.id, sides.main, sides.change)
    if conflict.kind == "deleted":
        said = (
            "the source has this no more; it stays because people changed it"
            if conflict.theirs is None
            else "people removed this; it is there again because the source was changed"
        )
        return Problem(name, 0, "kept_by_people", said)
    if conflict.theirs is None:
        return Problem(
            name, 0, "kept_by_people", f"“{str(conflict.ours)[:SHOWN]}” is in the source no more; it stays"
        )
    if conflict.kept == "theirs":
        said = f"“{str(conflict.theirs)[:SHOWN]}”: people removed this; it is there again because the source was changed"
        return Problem(name, 0, "kept_by_people", said)
    return _kept(name, str(conflict.theirs))
