"""What other packages do when a space is copied, goes to another organization, or is removed for good. All of it
runs in the transaction that does so."""

from __future__ import annotations

from collections.abc import Callable

from ..kit.db import Transaction

Hook = Callable[[Transaction, str, str], None]

_on_copy: list[Hook] = []
_on_transfer: list[Hook] = []
_on_purge: list[Callable[[Transaction, str], None]] = []


def on_copy(hook: Hook) -> None:
    """Registers ``hook(tx, source_id, copy_id)``: called when the copy holds the content of the source."""
    _on_copy.append(hook)


def on_transfer(hook: Hook) -> None:
    """Registers ``hook(tx, space_id, organization_id)``: called when the space is the organization's."""
    _on_transfer.append(hook)


def on_purge(hook: Callable[[Transaction, str], None]) -> None:
    """Registers ``hook(tx, space_id)``: called before the space goes. What refers to its row goes with it, and the
    texts and files that its rows name are released; a hook is for the rest."""
    _on_purge.append(hook)


def copied(tx: Transaction, source_id: str, copy_id: str) -> None:
    for hook in _on_copy:
        hook(tx, source_id, copy_id)


def transferred(tx: Transaction, space_id: str, organization_id: str) -> None:
    for hook in _on_transfer:
        hook(tx, space_id, organization_id)


def purged(tx: Transaction, space_id: str) -> None:
    for hook in _on_purge:
        hook(tx, space_id)
