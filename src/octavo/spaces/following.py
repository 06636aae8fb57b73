"""What other parts keep about a space follows it: each registers here what it does when a space is copied,
goes to another organization, or is removed for good. All of it runs in the transaction that does so."""

from __future__ import annotations

from collections.abc import Callable

from ..kit.db import Transaction

Follow = Callable[[Transaction, str, str], None]

_copied: list[Follow] = []
_transferred: list[Follow] = []
_purged: list[Callable[[Transaction, str], None]] = []


def follow_copies(follow: Follow) -> None:
    """Registers ``follow(tx, source_id, copy_id)``: called when the copy holds the content of the source."""
    _copied.append(follow)


def follow_transfers(follow: Follow) -> None:
    """Registers ``follow(tx, space_id, organization_id)``: called when the space is the organization's."""
    _transferred.append(follow)


def follow_purges(follow: Callable[[Transaction, str], None]) -> None:
    """Registers ``follow(tx, space_id)``: called before the space goes. What refers to its row goes with it."""
    _purged.append(follow)


def tell_copied(tx: Transaction, source_id: str, copy_id: str) -> None:
    for follow in _copied:
        follow(tx, source_id, copy_id)


def tell_transferred(tx: Transaction, space_id: str, organization_id: str) -> None:
    for follow in _transferred:
        follow(tx, space_id, organization_id)


def tell_purged(tx: Transaction, space_id: str) -> None:
    for follow in _purged:
        follow(tx, space_id)
