"""Edits of one block that are suggested in a change request: tried when they are made, written when they are accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from octavo.content.references.resolving import page_owner
from octavo.content.revisions.keys import keyed_document
from octavo.content.revisions.store import State, find_page, revision_state
from octavo.core.document.json import nodes_from_json, nodes_to_json
from octavo.errors import BadRequest, NotFound, OctavoError
from octavo.errors import Conflict as Conflicting
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor

from . import store
from .applying import Edited
from .authorization import ChangeAccess
from .auto_resolving import still_open
from .commands import DocumentInput, SetBlock, UpdateBlocks
from .comparing import without
from .rebasing import edit_since
from .saving import Also, again, require_editable, resolving, revise_change, write_edit

Nodes = list[dict[str, Any]]
_FIELD = "changes[0].set[0].document"


class Suggested(Struct, frozen=True):
    """A block as it was in ``revision`` of the change request, and what is to take its place (none: it is deleted).
    The references in both are as the page's file writes them."""

    revision: str
    was: Nodes
    becomes: Nodes


def try_suggestion(
    context: Context, access: ChangeAccess, page_id: str, block: str, given: DocumentInput
) -> Suggested:
    """What the edit would make of the block. Raises NotFound for a block that is not at the top of the page, BadRequest
    for content that cannot stand there or changes nothing, Conflict where the change request is closed."""
    with context.db.read() as tx:
        change = store.get_change(tx, access.change_id)
        require_editable(change)
        state = change.state
        page = find_page(tx, state, page_id)
        if page is None:
            raise NotFound(f"page: there is no page {page_id!r} here.")
        top = [node for node in keyed_document(tx, page.id, page.body).nodes if node.key == block]
        if not top:
            raise NotFound(f"node: there is no block {block!r} at the top of this page.")
        was = nodes_to_json(top)
        edited = _edit(context, access.actor, tx, state, change.below, page_id, block, given, None)
    if not edited.changes:
        raise BadRequest("suggestion: the block says that already.")
    made = edited.outcomes[0].blocks
    return Suggested(change.revision, was, nodes_to_json(made.set[0]) if made else [])


def _edit(
    context: Context,
    actor: Actor,
    tx: Transaction,
    head: State,
    started: State | None,
    page_id: str,
    block: str,
    given: DocumentInput,
    base: str | None,
) -> Edited:
    change = UpdateBlocks(page=page_id, set=[SetBlock(block, given)])
    try:
        return edit_since(resolving(context, actor), tx, head, started, [change], [], base)
    except OctavoError as error:
        if error.message.startswith(_FIELD):
            raise error.with_message(f"suggestion{error.message.removeprefix(_FIELD)}") from None
        raise


class Accepted(Struct, frozen=True):
    """The revisions of the change request before and after a suggestion came in."""

    before: str
    after: str


def accept_suggestion(
    context: Context,
    access: ChangeAccess,
    page_id: str,
    block: str,
    what: Suggested,
    by: store.Author,
    note: Callable[[Transaction, Accepted | None], None],
) -> None:
    """Puts the suggestion of ``by`` over what the change request holds now, as a revision of theirs. ``note`` is written
    with it; it gets None where the block says so already. Raises Conflict where the block was edited since so that both
    cannot stay."""
    given = DocumentInput(document=what.becomes)
    before = ""

    def make(tx: Transaction, head: State, started: State | None) -> Edited:
        nonlocal before
        before = head.revision_id
        edited = _edit(context, access.actor, tx, head, started, page_id, block, given, what.revision)
        if edited.conflicts:
            raise Conflicting("This block was edited since the suggestion was made, and both cannot stay.")
        return edited

    made = revise_change(
        context, access, make, lambda tx, made: note(tx, Accepted(before, made.revision_id)), author=by
    )
    if made.state.revision_id == made.before:
        with context.db.write() as tx:
            require_editable(store.lock_change(tx, access.change_id))
            note(tx, None)


def take_back(context: Context, access: ChangeAccess, accepted: Accepted, also: Also) -> None:
    """Undoes the revision that accepting made, and nothing that was written after it. Raises Conflict where its text was
    edited since."""

    def attempt() -> None:
        with context.db.read() as tx:
            change = store.get_change(tx, access.change_id)
            require_editable(change)
            before = revision_state(tx, change.space_id, accepted.before)
            after = revision_state(tx, change.space_id, accepted.after)
            merged = without(tx, before, after, change.state)
            if merged.conflicts:
                raise Conflicting(
                    "This text was edited since the suggestion was accepted; edit it as it should be."
                )
            edited = Edited(merged.changes, merged.bodies, merged.keys, [], [])
            conflicts = still_open(tx, change.state, change.open_conflicts, edited)
        write_edit(context, access, change, edited, conflicts, also)

    again(attempt)


def shown_nodes(
    context: Context, actor: Actor, tx: Transaction, state: State, page_id: str, nodes: Nodes
) -> Nodes:
    """Nodes of a suggestion with what their references mean to whoever looks."""
    page = find_page(tx, state, page_id)
    if page is None:
        return nodes
    document = nodes_from_json(nodes, "suggestion")
    return nodes_to_json(resolving(context, actor)(tx, state).resolve_all(document, page_owner(page)).nodes)


def says_as_before(tx: Transaction, state: State, page_id: str, block: str, was: Nodes) -> bool:
    """Whether the block is there and still says what it said."""
    page = find_page(tx, state, page_id)
    if page is None:
        return False
    top = [node for node in keyed_document(tx, page.id, page.body).nodes if node.key == block]
    return bool(top) and _saying(nodes_to_json(top)) == _saying(was)


def _saying(value: Any) -> Any:
    """Nodes without what may differ while they say the same."""
    if isinstance(value, dict):
        return {name: _saying(one) for name, one in value.items() if name not in ("key", "meta")}
    return [_saying(one) for one in value] if isinstance(value, list) else value
