"""Hooks that let other packages react when a space is created, duplicated, transferred, or permanently
deleted, or when its language changes.

Hooks run in the same transaction, except for writes that come before the transaction when a large space is duplicated
(``before_copy``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient


class Copy(Struct, frozen=True):
    """Duplicate of a space. ``written``: whether its content has already been copied from the source's main
    version, as it was when copying started."""

    source_id: str
    copy_id: str
    written: bool


class NewSpace(Struct, frozen=True):
    """Main branch of a new space with its first, empty revision. ``counts``: whether the revision is active. It isn't
    active while content is still being copied into the space."""

    space_id: str
    branch_id: str
    revision_id: str
    author: str | None
    counts: bool = True


CopyHook = Callable[[Transaction, Copy], None]
WriteCopy = Callable[[Transaction, str], None]
"""Function ``(tx, copy_id)`` that writes some of the rows of a duplicate."""
ListWrites = Callable[[Transaction, str], list[WriteCopy]]
Hook = Callable[[Transaction, str, str], None]

FindShared = Callable[[Transaction, Context, str, str], str | None]
"""Function that returns the URL at which the share link with a key opens a space, or None."""

CountHidden = Callable[[Transaction, Recipient, list[str]], Mapping[str, int]]
"""Function that returns, for each space, how many open comments the recipient can't see."""

_find_shared: list[FindShared] = []
_count_hidden: list[CountHidden] = []
_on_begin: list[Callable[[Transaction, NewSpace], None]] = []
_on_leaving: list[Callable[[Transaction, str, list[str]], None]] = []
_on_unnamed_texts: list[Callable[[Transaction, list[str]], None]] = []
_on_copy: list[CopyHook] = []
_before_copy: list[ListWrites] = []
_on_transfer: list[Hook] = []
_on_language: list[Hook] = []
_on_purge: list[Callable[[Transaction, str], None]] = []


def register_share_links(find: FindShared) -> None:
    """Register the function that resolves share links."""
    _find_shared.append(find)


def register_hidden_comments(count: CountHidden) -> None:
    """Register the function that counts the open comments that the recipient can't see."""
    _count_hidden.append(count)


def count_hidden_comments(tx: Transaction, to: Recipient, spaces: list[str]) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for count in _count_hidden:
        found |= count(tx, to, spaces)
    return found


def find_shared(tx: Transaction, context: Context, space_id: str, key: str) -> str | None:
    return next((url for find in _find_shared if (url := find(tx, context, space_id, key)) is not None), None)


def on_begin(hook: Callable[[Transaction, NewSpace], None]) -> None:
    """Register ``hook(tx, beginning)``, which is called in the transaction that inserts a space's row. ``beginning``:
    the new space's main branch and first revision."""
    _on_begin.append(hook)


def on_leaving(hook: Callable[[Transaction, str, list[str]], None]) -> None:
    """Register ``hook(tx, kind, ids)``, which is called when spaces or collections (``kind``) are transferred
    or permanently deleted, to remove access that belongs to the old organization."""
    _on_leaving.append(hook)


def on_unnamed_texts(hook: Callable[[Transaction, list[str]], None]) -> None:
    """Register ``hook(tx, hashes)``, which is called with the hashes of Markdown sources that are no longer used."""
    _on_unnamed_texts.append(hook)


def on_copy(hook: CopyHook) -> None:
    """Register ``hook(tx, copy)``, which is called in the transaction that makes the duplicate visible. Hooks
    are called in order of registration."""
    _on_copy.append(hook)


def before_copy(list_writes: ListWrites) -> None:
    """Register ``list_writes(tx, source_id)``, which returns the writes to run before the transaction that makes the
    duplicate visible. Each write runs in a short transaction while other transactions keep writing to the source. The
    result is empty for a small space."""
    _before_copy.append(list_writes)


def on_transfer(hook: Hook) -> None:
    """Register ``hook(tx, space_id, organization_id)``, which is called after the space has been transferred to its new
    organization."""
    _on_transfer.append(hook)


def on_language(hook: Hook) -> None:
    """Register ``hook(tx, space_id, organization_id)``, which is called when the language of the space has
    changed."""
    _on_language.append(hook)


def on_purge(hook: Callable[[Transaction, str], None]) -> None:
    """Register ``hook(tx, space_id)``, which is called before the space is permanently deleted. Rows that refer
    to the space are deleted along with it, and the sources and files that they refer to are released. Hooks
    handle everything else."""
    _on_purge.append(hook)


def notify_copied(tx: Transaction, copy: Copy) -> None:
    for hook in _on_copy:
        hook(tx, copy)


def list_writes(tx: Transaction, source_id: str) -> list[WriteCopy]:
    return [write for lists in _before_copy for write in lists(tx, source_id)]


def notify_transferred(tx: Transaction, space_id: str, organization_id: str) -> None:
    for hook in _on_transfer:
        hook(tx, space_id, organization_id)


def notify_language_changed(tx: Transaction, space_id: str, organization_id: str) -> None:
    for hook in _on_language:
        hook(tx, space_id, organization_id)


def notify_purged(tx: Transaction, space_id: str) -> None:
    for hook in _on_purge:
        hook(tx, space_id)


def notify_created(tx: Transaction, beginning: NewSpace) -> None:
    for hook in _on_begin:
        hook(tx, beginning)


def notify_left(tx: Transaction, kind: str, ids: list[str]) -> None:
    for hook in _on_leaving:
        hook(tx, kind, ids)


def notify_unnamed_texts(tx: Transaction, hashes: list[str]) -> None:
    for hook in _on_unnamed_texts:
        hook(tx, hashes)
