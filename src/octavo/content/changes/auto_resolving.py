"""Resolve conflicts through ordinary edits: editing content that is in conflict resolves the conflict."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from octavo.content.revisions.bodies import body_hash, get_body
from octavo.content.revisions.item_versions import Item, find_items
from octavo.content.revisions.page_versions import find_pages
from octavo.content.revisions.states import State
from octavo.core.alignment import align
from octavo.core.document.page import split_page
from octavo.core.merge import MergeConflict
from octavo.core.page_fields import FIELDS
from octavo.core.pages import Page
from octavo.core.tags import by_slug
from octavo.kit.db.database import Transaction

from .applying import EditedContent


def list_still_open(
    tx: Transaction, before: State, conflicts: Iterable[MergeConflict], edited: EditedContent
) -> list[MergeConflict]:
    """Return the conflicts that an edit to the state ``before`` leaves open, with their current text positions."""
    open = list(conflicts)
    if not open:
        return []
    found = _ConflictTracker(tx, before, edited)
    return [kept for conflict in open if (kept := found.after(conflict)) is not None]


class _ConflictTracker:
    def __init__(self, tx: Transaction, before: State, edited: EditedContent) -> None:
        self.tx, self.state, self.edited = tx, before, edited
        self.texts = {body_hash(text): text for text in edited.bodies}

    def after(self, conflict: MergeConflict) -> MergeConflict | None:
        """Return the conflict after the edit, or None if the edit resolved it."""
        id = conflict.id
        changed = self.edited.changes.pages if conflict.target == "page" else self.edited.changes.items
        named = {field for owner, field in self.edited.named if owner == id}
        if id not in changed and not named:
            return conflict
        now = changed.get(id, ...)
        if now is None or (conflict.kind == "deleted" and named):
            return None
        if conflict.kind == "deleted":
            return conflict
        if conflict.kind == "field" and _field(conflict) in named:
            return None
        if now is ...:
            return conflict
        old = (find_pages if conflict.target == "page" else find_items)(self.tx, self.state, [id]).get(id)
        if old is None:
            return conflict
        if conflict.kind == "field":
            field = conflict.field or ""
            return conflict if _value(old, field) == _value(now, field) else None
        return self._block(conflict, self._text(old), self._text(now))

    def _text(self, entry: Any) -> str:
        digest = entry.body if isinstance(entry, Page) else entry.content
        if digest is None:
            return ""
        known = self.texts.get(digest)
        return get_body(self.tx, digest) if known is None else known

    def _block(self, conflict: MergeConflict, old: str, new: str) -> MergeConflict | None:
        kept = (conflict.ours if conflict.kept == "ours" else conflict.theirs) or ""
        at = conflict.at or 0
        if not kept or old == new:
            return conflict
        if not old.startswith(kept, at):
            at = old.find(kept)
            if at < 0:
                return conflict  # The text did not contain it before this edit.
        if conflict.field not in ("body", "content"):  # A key of the front matter.
            here = split_page(new)[0].find(kept)
            return replace(conflict, at=here) if here >= 0 else None
        moved = _moved(old, new, at, kept)
        return replace(conflict, at=moved) if moved is not None else None


def _moved(old: str, new: str, at: int, kept: str) -> int | None:
    """Return the new position of the text ``kept``, which is at the position ``at`` in ``old``. Return None if the edit
    from ``old`` to ``new`` changed this text."""
    a, b = old.splitlines(keepends=True), new.splitlines(keepends=True)
    first = len(old[:at].splitlines()) - (not (at == 0 or old[at - 1] in "\r\n"))
    last = first + len(kept.splitlines()) - 1
    start, end = 0, len(b)
    for i, j in align(a, b):
        if i < first:
            start = j + 1
        elif i > last:
            end = j
            break
    offset = sum(map(len, b[:start]))
    found = "".join(b[start:end]).find(kept)
    return offset + found if found >= 0 else None


def _field(conflict: MergeConflict) -> str:
    return (conflict.field or "").partition(".")[0]


def _value(entry: Page | Item, field: str) -> object:
    """Return the value of an entry's field. The field names are the same as in conflicts."""
    name, _, element = field.partition(".")
    if name == "place":
        return getattr(entry, "parent", None), getattr(entry, "rank", None)
    if name == "file":
        return getattr(entry, "content", None)
    value = getattr(entry, name)
    if not element:
        return value
    if name in FIELDS and FIELDS[name].is_merged_by_element:
        return by_slug(value).get(element)
    return dict(msgspec.to_builtins(value) or {}).get(element)
