"""Merge the result of a run into the translated space like a change request, so that people's edits are kept.

The common base is the result of the last run, so any differences from it in the space are edits by people. If
people and the source changed the same text, people's version is kept, and the conflict is reported until someone
edits the text again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from octavo.content.changes.comparing import Sides, merge_into_main
from octavo.content.revisions.bodies import body_hash, get_body
from octavo.content.revisions.item_versions import Item, find_items
from octavo.content.revisions.keys import KeptKeys
from octavo.content.revisions.page_versions import find_pages, list_children
from octavo.content.revisions.restrictions import find_rules
from octavo.content.revisions.states import State, revision_state
from octavo.content.revisions.store import Changes
from octavo.core.merge import MergeConflict, Versions
from octavo.core.pages import Page
from octavo.core.problems import Problem
from octavo.kit.db.database import Transaction

from .learning import changed_by_people, changed_fields, list_texts
from .segments import abbreviate_tags
from .store import TranslationPartRow, TranslationRow

SHOWN = 120
"""Maximum number of characters of a segment to show in a problem."""


class RunResult(Struct):
    """Result of a run so far. ``bodies``: the sources to store. ``gone``: the translated pages and items whose
    source was deleted."""

    pages: dict[str, Page] = field(default_factory=dict)
    items: dict[str, Item] = field(default_factory=dict)
    bodies: list[str] = field(default_factory=list)
    parts: dict[str, TranslationPartRow] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    words: int = 0


class Merging(Struct, frozen=True):
    """Result of a merge: the changes to commit to the space, and the parts to store."""

    changes: Changes
    bodies: list[str]
    keys: list[KeptKeys]
    parts: Sequence[TranslationPartRow]
    problems: Sequence[Problem]


def merge_result(
    tx: Transaction,
    row: TranslationRow,
    state: State,
    known: Mapping[str, TranslationPartRow],
    made: RunResult,
) -> Merging:
    """Merge the result of a run. ``state``: the current state of the space. ``known``: the result of the previous
    run. ``made``: the result of this run; its Markdown sources are already stored."""
    before = revision_state(tx, row.space_id, row.revision)
    page_ids, item_ids = [*made.pages, *made.gone], [*made.items, *made.gone]
    pages, items = find_pages(tx, state, page_ids), find_items(tx, state, item_ids)
    base = Versions(
        {**find_pages(tx, before, page_ids), **_pages_made(known, page_ids)},
        {**find_items(tx, before, item_ids), **_items_made(known, item_ids)},
    )
    # The ID of a deleted part doesn't show whether it is a page or an item, and the space may no longer
    # contain it.
    page_ids = [id for id in page_ids if id in pages or id in base.pages or id in made.pages]
    item_ids = [id for id in item_ids if id in items or id in base.items or id in made.items]
    # None marks a deleted part. Parts without an entry count as unchanged.
    ours = Versions({id: pages.get(id) for id in page_ids}, {id: items.get(id) for id in item_ids})
    theirs = Versions(
        {id: made.pages.get(id) for id in page_ids}, {id: made.items.get(id) for id in item_ids}
    )
    sides = _with_children_at_top(tx, state, Sides(base, theirs, ours), made.gone)
    merged = merge_into_main(tx, sides, state)
    after = Versions({**pages, **merged.changes.pages}, {**items, **merged.changes.items})
    texts = {body_hash(text): text for text in merged.bodies}
    parts: list[TranslationPartRow] = []
    # Everyone who can see the translation can read its problems.
    restricted = find_rules(tx, state)
    problems = [_conflict_problem(one, sides) for one in merged.conflicts if one.id not in restricted]
    for part in made.parts.values():
        old = known.get(part.part_id)
        outdated = _outdated(tx, part, old, after, texts) if old is not None else {}
        if old is not None and part.part_id not in restricted:
            problems += [
                _kept_problem(_name(part.part_id, after), text)
                for text, translated in outdated.items()
                if old.written.outdated.get(text) == translated
            ]
        parts.append(replace(part, written=replace(part.written, outdated=outdated)))
    return Merging(merged.changes, merged.bodies, merged.keys, parts, problems)


def _pages_made(known: Mapping[str, TranslationPartRow], ids: Sequence[str]) -> dict[str, Page]:
    """Return these pages as the previous run wrote them."""
    return {
        id: replace(part.written.page, body=part.body)
        for id in ids
        if (part := known.get(id)) is not None and part.written.page is not None
    }


def _items_made(known: Mapping[str, TranslationPartRow], ids: Sequence[str]) -> dict[str, Item]:
    return {
        id: replace(part.written.item, content=part.body) if part.body else part.written.item
        for id in ids
        if (part := known.get(id)) is not None and part.written.item is not None
    }


def _with_children_at_top(tx: Transaction, state: State, sides: Sides, gone: Sequence[str]) -> Sides:
    """Move pages that people added under deleted pages to the top level."""
    children = [page for page in list_children(tx, state, gone) if page.id not in sides.main.pages]
    here = {page.id: page for page in children}
    moved = {page.id: replace(page, parent=None) for page in children}
    return Sides(
        replace(sides.base, pages={**sides.base.pages, **here}),
        replace(sides.change, pages={**sides.change.pages, **moved}),
        replace(sides.main, pages={**sides.main.pages, **here}),
    )


def _outdated(
    tx: Transaction,
    part: TranslationPartRow,
    old: TranslationPartRow,
    after: Versions,
    texts: Mapping[str, str],
) -> dict[str, str]:
    """Return people's translations whose source text has changed, keyed by the new source text. Such a translation is
    kept until someone updates it."""
    found: dict[str, str] = {}
    page, item = after.pages.get(part.part_id), after.items.get(part.part_id)
    body = page.body if page is not None else item.content if item is not None else None
    known = set(old.written.source.values())
    if body and body != part.body and part.body and part.source_body:
        known |= set(list_texts(get_body(tx, old.source_body))) if old.source_body else set()
        merged = texts.get(body)
        found = changed_by_people(
            list_texts(get_body(tx, part.source_body)),
            list_texts(get_body(tx, part.body)),
            list_texts(merged if merged is not None else get_body(tx, body)),
        )
    if page is not None:
        found |= changed_fields(part, page)
    return {
        text: translated
        for text, translated in found.items()
        if text not in known or old.written.outdated.get(text) == translated
    }


def _name(part_id: str, *sides: Versions) -> str:
    """Return the name of a page or item, as shown in problems."""
    for side in sides:
        if (page := side.pages.get(part_id)) is not None:
            return page.file_path or page.slug
        if (item := side.items.get(part_id)) is not None:
            return str(item.path or item.name)
    return part_id


def _kept_problem(name: str, text: str) -> Problem:
    message = (
        f"“{abbreviate_tags(text)[:SHOWN]}”: the source has changed, but the edited translation of the"
        " previous text was kept"
    )
    return Problem(name, 0, "kept_by_people", message)


def _conflict_problem(conflict: MergeConflict, sides: Sides) -> Problem:
    """Return the problem that reports a conflict between people's edits and changes to the source."""
    name = _name(conflict.id, sides.main, sides.change)
    if conflict.kind == "deleted":
        message = (
            "deleted from the source, but kept because people edited it"
            if conflict.theirs is None
            else "deleted by people, but restored because the source has changed"
        )
        return Problem(name, 0, "kept_by_people", message)
    if conflict.theirs is None:
        return Problem(
            name,
            0,
            "kept_by_people",
            f"“{str(conflict.ours)[:SHOWN]}” was deleted from the source, but kept here because people edited"
            " it",
        )
    if conflict.kept == "theirs":
        message = f"“{str(conflict.theirs)[:SHOWN]}” was deleted by people, but restored because the source has changed"
        return Problem(name, 0, "kept_by_people", message)
    return _kept_problem(name, str(conflict.theirs))
