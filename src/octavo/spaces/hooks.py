"""What other packages do when a space is copied, goes to another organization, gets another language, or is removed
for good. It runs in the transaction that does so, but for what a large space needs written before (``before_copy``)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from ..kit.db import Transaction


class Copy(Struct, frozen=True):
    """A copy of a space. ``written``: its content is there already, of a state that main of the source had when the
    copying began."""

    source_id: str
    copy_id: str
    written: bool


CopyHook = Callable[[Transaction, Copy], None]
WriteCopy = Callable[[Transaction, str], None]
"""Writes some rows of the copy of this id."""
ListWrites = Callable[[Transaction, str], list[WriteCopy]]
Hook = Callable[[Transaction, str, str], None]

_on_copy: list[CopyHook] = []
_before_copy: list[ListWrites] = []
_on_transfer: list[Hook] = []
_on_language: list[Hook] = []
_on_purge: list[Callable[[Transaction, str], None]] = []


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
