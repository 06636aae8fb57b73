"""Resolve conflicts in a change request with either side, the version before both, or a custom value, and
reopen them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from octavo.content.revisions.item_versions import Item, find_items
from octavo.content.revisions.keys import keyed_document
from octavo.content.revisions.page_versions import find_page, find_pages
from octavo.content.revisions.restrictions import find_rules, require_editable_pages, seen_by
from octavo.content.revisions.states import State, revision_state
from octavo.content.revisions.store import Changes
from octavo.core.document.page import front_keys, with_head
from octavo.core.merge import Choice, EditedValue, MergeConflict, chosen, resolve, resolve_field
from octavo.core.page_fields import FIELDS, FRONT_FIELDS
from octavo.core.pages import Page
from octavo.errors import BadRequest, Conflict, Forbidden, NotFound
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.access.roles import SPACE, Can, at_least

from . import store
from .applying import BatchApplication, EditedContent
from .authorization import ChangeAccess
from .auto_resolving import list_still_open
from .commands import EditedPageFields, UpdatePage
from .comparing import merge_without
from .conflicts import is_seen, list_seen
from .saving import require_editable, retry_on_conflict, write_edit
from .store import encode_conflicts


def resolve_conflict(
    context: Context,
    access: ChangeAccess,
    key: str,
    choice: Choice,
    read_edited: Callable[[MergeConflict, object], object] = lambda conflict, value: value,
) -> str:
    """Resolve a conflict and return the resulting revision of the change request. ``read_edited(conflict, value)``: a
    function that converts a custom value to the format of the sides' values. Raises NotFound if the conflict isn't
    open, and BadRequest if the value isn't allowed."""

    def attempt() -> str:
        with context.db.read() as tx:
            change = store.get_change(tx, access.change_id)
            require_editable(change)
            conflicts, state = change.open_conflicts, seen_by(tx, access.space, change.state)
            seen = list_seen(conflicts, state.hidden)
            wanted = next((conflict for conflict in seen if conflict.key == key), None)
            if wanted is None:
                raise NotFound(f"There is no open conflict with the key {key!r} in this change request.")
            _require_rule_rights(tx, access, change.state, wanted)
            others = [conflict for conflict in conflicts if conflict.key != key]
            position = _position(conflicts.index(wanted), store.list_settled(tx, change.id))
            batch = BatchApplication(tx, state, change.below)
            taken = (
                EditedValue(read_edited(wanted, choice.value)) if isinstance(choice, EditedValue) else choice
            )
            others = _ConflictResolution(batch, wanted, taken).apply_choice(others)
            edited = batch.finish()
        left = {other.key for other in others}
        closed = [wanted, *(one for one in conflicts if one.key != key and one.key not in left)]

        def note(tx: Transaction, made: State) -> None:
            value = msgspec.json.encode(choice.value).decode() if isinstance(choice, EditedValue) else None
            store.put_settled(
                tx,
                change.id,
                store.SettledConflict(
                    position=position,
                    conflicts=encode_conflicts(closed) or "[]",
                    choice="edited" if isinstance(choice, EditedValue) else choice,
                    value=value,
                    revision_before=change.revision,
                    revision=made.revision_id,
                    settled_by=access.user_id,
                    settled_at=now(),
                ),
            )

        return write_edit(context, access, change, edited, others, note).revision_id

    return retry_on_conflict(attempt)


def _require_rule_rights(
    tx: Transaction, access: ChangeAccess, state: State, conflict: MergeConflict
) -> None:
    """Raise Forbidden if a decision on the conflict can change who can see a page and the caller isn't allowed to
    change that."""
    decides = conflict.field == "visible_to" or (
        conflict.kind == "deleted" and conflict.id in find_rules(tx, state)
    )
    if decides and not at_least(access.space.role, SPACE[Can.ADMIN]):
        raise Forbidden("Only space administrators can change who can see a page.")


def reopen_conflict(context: Context, access: ChangeAccess, key: str) -> str:
    """Reopen a resolved conflict by restoring the version that the change request contained before, and return the
    resulting revision. Raises NotFound if the conflict isn't resolved, and Conflict if the content has been edited
    since the conflict was resolved."""

    def attempt() -> str:
        with context.db.read() as tx:
            change = store.get_change(tx, access.change_id)
            require_editable(change)
            all_settled = store.list_settled(tx, change.id)
            settled = next((one for one in all_settled if one.were_open[0].key == key), None)
            hidden = seen_by(tx, access.space, change.state).hidden
            if settled is None or not is_seen(settled, hidden):
                raise NotFound(f"There is no resolved conflict with the key {key!r} in this change request.")
            _require_rule_rights(tx, access, change.state, settled.were_open[0])
            before = revision_state(tx, change.space_id, settled.revision_before)
            after = revision_state(tx, change.space_id, settled.revision)
            merged = merge_without(tx, before, after, change.state)
            edited = EditedContent(merged.changes, merged.bodies, merged.keys, [], [])
            again_open = _as_before(tx, before, change.state, settled.were_open, edited)
            if merged.conflicts or again_open is None:
                raise Conflict(
                    "The content was edited after the conflict was resolved. Edit the content directly"
                    " instead."
                )
            kept = list_still_open(tx, change.state, change.open_conflicts, edited)
            others = [one for one in all_settled if one is not settled]
            at = max(0, settled.position - sum(one.position <= settled.position for one in others))
            conflicts = [*kept[:at], *again_open, *kept[at:]]
        with context.db.read() as tx:
            require_editable_pages(tx, seen_by(tx, access.space, change.state), edited.changes.pages)
        return write_edit(
            context,
            access,
            change,
            edited,
            conflicts,
            lambda tx, made: store.delete_settled(tx, change.id, key),
        ).revision_id

    return retry_on_conflict(attempt)


def _position(index: int, settled: Iterable[store.SettledConflict]) -> int:
    """Return the position of an open conflict among all conflicts, given its index among the open conflicts."""
    for one in settled:
        if one.position <= index:
            index += 1
    return index


def _as_before(
    tx: Transaction, before: State, head: State, conflicts: list[MergeConflict], edited: EditedContent
) -> list[MergeConflict] | None:
    """Return the conflicts that were open in ``before``, with their positions in the later state ``head``. Return None
    if the content of one of them has changed."""
    pages = {one.id for one in conflicts if one.target == "page"}
    items = {one.id for one in conflicts if one.target != "page"}
    then = Changes(
        {**dict.fromkeys(pages), **find_pages(tx, head, pages)},
        {**dict.fromkeys(items), **find_items(tx, head, items)},
    )
    for id in pages & edited.changes.pages.keys():
        then.pages[id] = edited.changes.pages[id]
    for id in items & edited.changes.items.keys():
        then.items[id] = edited.changes.items[id]
    found = list_still_open(tx, before, conflicts, replace(edited, changes=then))
    return found if len(found) == len(conflicts) else None


class _ConflictResolution:
    def __init__(self, batch: BatchApplication, conflict: MergeConflict, choice: Choice) -> None:
        self.batch, self.conflict, self.choice = batch, conflict, choice

    def apply_choice(self, others: list[MergeConflict]) -> list[MergeConflict]:
        """Apply the choice, and return the conflicts in ``others`` that are still open."""
        conflict = self.conflict
        kept = self.choice == conflict.kept
        entry = self._entry()
        if conflict.kind == "block" and not kept:
            return self._text(entry, others)
        if entry is None:
            if conflict.kind == "deleted" and chosen(conflict, self.choice) is None:
                return others
            raise Conflict(
                "The content in conflict has since been deleted. To resolve the conflict, keep the deletion."
            )
        if kept:
            return others
        if (
            isinstance(self.choice, EditedValue)
            and (update := self._update(entry, self.choice.value)) is not None
        ):
            self._update_page(update)
            return others
        try:
            settled = resolve_field(entry, conflict, self.choice)
        except (msgspec.ValidationError, TypeError, ValueError) as error:
            raise BadRequest(f"value: {error}") from None
        if settled is None:
            self._delete(entry)
            return [other for other in others if other.id != conflict.id]
        if isinstance(settled, Page):
            self._put_page(entry, settled)
        else:
            self._put_item(settled)
        return others

    def _update(self, entry: Any, value: Any) -> UpdatePage | None:
        """Return the ordinary page edit that sets a field to this value, or None if there is no such edit.
        Raises BadRequest if the value is invalid."""
        field = self.conflict.field or ""
        if not isinstance(entry, Page) or self.conflict.kind != "field":
            return None
        if field == "place":
            parent, at = value
            return UpdatePage(page=entry.id, into=parent, at=UNSET if at is None else at)
        names = {one.name: one.encode_name for one in msgspec.structs.fields(EditedPageFields)}
        if field not in names or (field in FIELDS and not FIELDS[field].is_single):
            return None
        try:
            return msgspec.convert(
                {"operation": "update_page", "page": entry.id, names[field]: value}, UpdatePage
            )
        except msgspec.ValidationError as error:
            raise BadRequest(f"value: {error}") from None

    def _entry(self) -> Any:
        if self.conflict.target == "page":
            return self.batch.draft.find_page(self.conflict.id)
        try:
            return self.batch.draft.get_item(self.conflict.id, self.conflict.target)
        except NotFound:
            return None

    def _delete(self, entry: Any) -> None:
        if isinstance(entry, Page):
            self.batch.delete_page(entry.id)
        else:
            self.batch.draft.put_item(entry.id, None)

    def _text(self, entry: Any, others: list[MergeConflict]) -> list[MergeConflict]:
        if entry is None:
            raise Conflict(
                "The content in conflict has since been deleted. To resolve the conflict, keep the deletion."
            )
        value = chosen(self.conflict, self.choice)
        if value is not None and not isinstance(value, str):
            raise BadRequest("value: must be Markdown text, or null to delete the text")
        page = isinstance(entry, Page)
        same_text = [
            other
            for other in others
            if other.kind == "block" and (other.target, other.id) == (self.conflict.target, entry.id)
        ]
        text = self.batch.draft.text(entry.body if page else entry.content)
        found = resolve(text, self.conflict, self.choice, same_text)
        if not found.applied:
            raise Conflict(
                "This text was edited after one side was kept. To resolve the conflict, choose the side that"
                " was kept, then edit the page."
            )
        if page:
            self.batch.draft.put_page(entry.id, self.batch.documents.with_text(entry, found.text))
        else:
            digest = self.batch.draft.put_text(found.text)
            self.batch.draft.put_item(entry.id, replace(entry, content=digest, size=len(found.text.encode())))
        self.batch.documents.touch(entry.id)
        self._adopt_their_keys(entry)
        moved = {other.key: other for other in found.others}
        return [moved.get(other.key, other) for other in others]

    def _adopt_their_keys(self, entry: Any) -> None:
        """Let blocks from main keep their keys, and therefore their comments."""
        batch = self.batch
        if batch.started is None or self.choice == "ours":
            return
        tx = batch.draft.tx
        if isinstance(entry, Page):
            found = find_page(tx, batch.started, entry.id)
            body = None if found is None else found.body
        else:
            item = find_items(tx, batch.started, [entry.id]).get(entry.id)
            body = None if item is None else item.content
        if body is not None:
            batch.documents.copy_from(entry.id, keyed_document(tx, entry.id, body))

    def _update_page(self, update: UpdatePage) -> None:
        """Apply an ordinary page edit without deriving the slug from the title, because the slug is merged separately
        and can have its own conflict."""
        draft = self.batch.draft
        slug = draft.get_page(update.page).slug
        self.batch.update_page(update)
        if update.slug is UNSET:
            draft.put_page(update.page, replace(draft.get_page(update.page), slug=slug))

    def _put_page(self, entry: Page, settled: Page) -> None:
        name = (self.conflict.field or "").partition(".")[0]
        batch = self.batch
        if name == "place":
            children = batch.draft.seen_children(settled.parent)
            siblings = [sibling.rank for sibling in children if sibling.id != entry.id]
            at = sum(rank < settled.rank for rank in siblings)
            self._update_page(UpdatePage(page=entry.id, into=settled.parent, at=at))
        elif name in ("slug", "title"):
            self._update_page(UpdatePage(page=entry.id, **{name: getattr(settled, name)}))
        else:
            if settled.kind == "document" and name in FRONT_FIELDS:
                source = with_head(batch.draft.text(settled.body), front_keys(settled, name))
                settled = replace(settled, body=batch.draft.put_text(source))
                batch.documents.touch(entry.id)
            batch.draft.put_page(entry.id, settled)

    def _put_item(self, item: Item) -> None:
        if item.kind == "variable" and self.conflict.field == "content":
            try:
                msgspec.json.decode(item.content or "null", type=str | int | float | bool)
            except (msgspec.DecodeError, msgspec.ValidationError):
                raise BadRequest("value: must be a JSON string, number, or boolean") from None
        self.batch.draft.put_item(item.id, item)
