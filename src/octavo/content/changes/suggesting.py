"""Suggested edits to single blocks in a change request. They are tested when they are created, and written when they
are accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from octavo.content.references.concealing import Concealment
from octavo.content.references.lookup import Owner
from octavo.content.references.resolving import page_owner
from octavo.content.revisions.keys import keyed_document
from octavo.content.revisions.page_versions import find_page
from octavo.content.revisions.restrictions import require_editable_pages, seen_by
from octavo.content.revisions.states import ReaderLimits, State, revision_state
from octavo.core.document.json import nodes_from_json, nodes_to_json
from octavo.errors import BadRequest, Conflict, NotFound, OctavoError
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor, Recipient

from . import store
from .applying import EditedContent
from .authorization import ChangeAccess
from .auto_resolving import list_still_open
from .commands import DocumentInput, SetBlock, UpdateBlocks
from .comparing import merge_without
from .rebasing import edit_since
from .saving import (
    RevisionHook,
    require_editable,
    resolver_maker,
    retry_on_conflict,
    revise_change,
    write_edit,
)

Nodes = list[dict[str, Any]]
_FIELD = "changes[0].set[0].document"


class SuggestedEdit(Struct, frozen=True):
    """Suggested edit: the original block in ``revision`` of the change request, and its replacement, which is empty if
    the block is to be deleted. References in both have the form used in the page's file."""

    revision: str
    was: Nodes
    becomes: Nodes


def try_suggestion(
    context: Context, access: ChangeAccess, page_id: str, block: str, given: DocumentInput
) -> SuggestedEdit:
    """Return the result of a suggested edit to a block. Raises NotFound if the block isn't at the top level
    of the page, BadRequest if the content isn't allowed there or doesn't change anything, and Conflict if
    the change request is closed."""
    with context.db.read() as tx:
        change = store.get_change(tx, access.change_id)
        require_editable(change)
        state = seen_by(tx, access.space, change.state)
        page = find_page(tx, state, page_id)
        if page is None:
            raise NotFound(f"page: there is no page with the ID {page_id!r} in this change request")
        top = [node for node in keyed_document(tx, page.id, page.body).nodes if node.key == block]
        if not top:
            raise NotFound(f"node: there is no block with the key {block!r} at the top level of this page")
        was = nodes_to_json(top)
        # Suggesting an edit requires no permission to make it.
        draft = replace(state, limits=ReaderLimits.of(state.hidden))
        edited = _edit(context, access.actor, tx, draft, change.below, page_id, block, given, None)
    if not edited.changes:
        raise BadRequest("suggestion: the block already has this content")
    made = edited.outcomes[0].blocks
    return SuggestedEdit(change.revision, was, nodes_to_json(made.set[0]) if made else [])


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
) -> EditedContent:
    change = UpdateBlocks(page=page_id, set=[SetBlock(block, given)])
    try:
        return edit_since(resolver_maker(context, actor), tx, head, started, [change], [], base)
    except OctavoError as error:
        if error.message.startswith(_FIELD):
            raise error.with_message(f"suggestion{error.message.removeprefix(_FIELD)}") from None
        raise


class AcceptedSuggestion(Struct, frozen=True):
    """Revisions of the change request before and after a suggestion was accepted."""

    before: str
    after: str


def accept_suggestion(
    context: Context,
    access: ChangeAccess,
    page_id: str,
    block: str,
    what: SuggestedEdit,
    by: store.Author,
    note: Callable[[Transaction, AcceptedSuggestion | None], None],
) -> None:
    """Apply a suggestion to the current content of the change request, as a revision. ``by``: the author of both the
    suggestion and the revision. ``note``: a function to call in the same transaction, with None if the block already
    has this content. Raises Conflict if the block has been edited in a conflicting way since the suggestion was
    made."""
    given = DocumentInput(document=what.becomes)
    before = ""

    def make(tx: Transaction, head: State, started: State | None) -> EditedContent:
        nonlocal before
        before = head.revision_id
        edited = _edit(context, access.actor, tx, head, started, page_id, block, given, what.revision)
        if edited.conflicts:
            raise Conflict(
                "This block was edited after the suggestion was made, and the two edits conflict. Edit the"
                " block directly instead."
            )
        return edited

    made = revise_change(
        context,
        access,
        make,
        lambda tx, made: note(tx, AcceptedSuggestion(before, made.revision_id)),
        author=by,
    )
    if made.state.revision_id == made.before:
        with context.db.write() as tx:
            require_editable(store.lock_change(tx, access.change_id))
            note(tx, None)


def revert_suggestion(
    context: Context, access: ChangeAccess, accepted: AcceptedSuggestion, also: RevisionHook
) -> None:
    """Revert the revision that was created by accepting a suggestion, and keep later edits. Raises Conflict if the
    suggested text has been edited since it was accepted."""

    def attempt() -> None:
        with context.db.read() as tx:
            change = store.get_change(tx, access.change_id)
            require_editable(change)
            before = revision_state(tx, change.space_id, accepted.before)
            after = revision_state(tx, change.space_id, accepted.after)
            merged = merge_without(tx, before, after, change.state)
            if merged.conflicts:
                raise Conflict(
                    "This text was edited after the suggestion was accepted. Edit it directly instead."
                )
            edited = EditedContent(merged.changes, merged.bodies, merged.keys, [], [])
            conflicts = list_still_open(tx, change.state, change.open_conflicts, edited)
        with context.db.read() as tx:
            require_editable_pages(tx, seen_by(tx, access.space, change.state), edited.changes.pages)
        write_edit(context, access, change, edited, conflicts, also)

    retry_on_conflict(attempt)


def resolve_nodes(to: Recipient, tx: Transaction, state: State, page_id: str, nodes: Nodes) -> Nodes:
    """Return the nodes of a suggestion with references resolved for the recipient, and without links to pages that the
    reader of the state can't see."""
    page, document = find_page(tx, state, page_id), nodes_from_json(nodes, "suggestion")
    owner = page_owner(page) if page is not None else Owner("", "page", None)
    document = Concealment(to, tx, state).document(document, owner)
    if page is not None:
        document = resolver_maker(to.context, to.actor)(tx, state).resolve_all(document, owner)
    return nodes_to_json(document.nodes)


def is_block_unchanged(tx: Transaction, state: State, page_id: str, block: str, was: Nodes) -> bool:
    """Return whether a block exists and still has the same content."""
    page = find_page(tx, state, page_id)
    if page is None:
        return False
    top = [node for node in keyed_document(tx, page.id, page.body).nodes if node.key == block]
    return bool(top) and _comparable(nodes_to_json(top)) == _comparable(was)


def _comparable(value: object) -> object:
    """Return nodes without fields that don't affect their content, so that they can be compared."""
    if isinstance(value, dict):
        return {name: _comparable(one) for name, one in value.items() if name not in ("key", "meta")}
    return [_comparable(one) for one in value] if isinstance(value, list) else value
