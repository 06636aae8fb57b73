"""What other packages do when a space begins, is copied, goes to another organization, gets another language, or is removed
for good. It runs in the transaction that does so, but for what a large space needs written before (``before_copy``)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from octavo.kit.context import Context
from octavo.kit.db.database import Transaction


class Copy(Struct, frozen=True):
    """A copy of a space. ``written``: its content is there already, of a state that main of the source had when the
    copying began."""

    source_id: str
    copy_id: str
    written: bool


class Beginning(Struct, frozen=True):
    """The main branch of a new space and its first, empty revision. ``counts`` False: nothing of it counts until what
    is copied into it is whole."""

    space_id: str
    branch_id: str
    revision_id: str
    author: str | None
    counts: bool = True


CopyHook = Callable[[Transaction, Copy], None]
WriteCopy = Callable[[Transaction, str], None]
"""Writes some rows of the copy of this id."""
ListWrites = Callable[[Transaction, str], list[WriteCopy]]
Hook = Callable[[Transaction, str, str], None]

FindShared = Callable[[Transaction, Context, str, str], str | None]
"""Where the share link with a key opens a space of this id; None where none does."""

_find_shared: list[FindShared] = []
_on_begin: list[Callable[[Transaction, Beginning], None]] = []
_on_leaving: list[Callable[[Transaction, str, list[str]], None]] = []
_on_unnamed_texts: list[Callable[[Transaction, list[str]], None]] = []
_on_copy: list[CopyHook] = []
_before_copy: list[ListWrites] = []
_on_transfer: list[Hook] = []
_on_language: list[Hook] = []
_on_purge: list[Callable[[Transaction, str], None]] = []


def share_with(find: FindShared) -> None:
    """Registers who knows share links."""
    _find_shared.append(find)


def find_shared(tx: Transaction, context: Context, space_id: str, key: str) -> str | None:
    return next((url for find in _find_shared if (url := find(tx, context, space_id, key)) is not None), None)


def on_begin(hook: Callable[[Transaction, Beginning], None]) -> None:
    """Registers ``hook(tx, beginning)``: called in the transaction that makes the row of a space."""
    _on_begin.append(hook)


def on_leaving(hook: Callable[[Transaction, str, list[str]], None]) -> None:
    """Registers ``hook(tx, kind, ids)``: called when spaces or collections (``kind``) go to another organization or for
    good, so that nobody has a way to them any more that the old organization gave."""
    _on_leaving.append(hook)


def on_unnamed_texts(hook: Callable[[Transaction, list[str]], None]) -> None:
    """Registers ``hook(tx, hashes)``: called with texts that nothing names any more."""
    _on_unnamed_texts.append(hook)


def on_copy(hook: CopyHook) -> None:
    """Registers ``hook(tx, copy)``: called in the transaction that makes the copy visible, in the order in which they
    are registered."""
    _on_copy.append(hook)


def before_copy(list_writes: ListWrites) -> None:
    """Registers ``list_writes(tx, source_id)``: what is to be written before that transaction, each in a short one of
    its own, while others go on writing the source; nothing for a small space."""
    _before_copy.append(list_writes)


def on_transfer(hook: Hook) -> None:
    """Registers ``hook(tx, space_id, organization_id)``: called when the space is the organization's."""
    _on_transfer.append(hook)


def on_language(hook: Hook) -> None:
    """Registers ``hook(tx, space_id, organization_id)``: called when the space has another language."""
    _on_language.append(hook)


def on_purge(hook: Callable[[Transaction, str], None]) -> None:
    """Registers ``hook(tx, space_id)``: called before the space goes. What refers to its row goes with it, and the
    texts and files that its rows name are released; a hook is for the rest."""
    _on_purge.append(hook)


def copied(tx: Transaction, copy: Copy) -> None:
    for hook in _on_copy:
        hook(tx, copy)


def list_writes(tx: Transaction, source_id: str) -> list[WriteCopy]:
    return [write for lists in _before_copy for write in lists(tx, source_id)]


def transferred(tx: Transaction, space_id: str, organization_id: str) -> None:
    for hook in _on_transfer:
        hook(tx, space_id, organization_id)


def language_changed(tx: Transaction, space_id: str, organization_id: str) -> None:
    for hook in _on_language:
        hook(tx, space_id, organization_id)


def purged(tx: Transaction, space_id: str) -> None:
    for hook in _on_purge:
        hook(tx, space_id)


def begun(tx: Transaction, beginning: Beginning) -> None:
    for hook in _on_begin:
        hook(tx, beginning)


def left(tx: Transaction, kind: str, ids: list[str]) -> None:
    for hook in _on_leaving:
        hook(tx, kind, ids)


def forget_texts(tx: Transaction, hashes: list[str]) -> None:
    for hook in _on_unnamed_texts:
        hook(tx, hashes)
