"""Who follows main: called with every revision of it, inside the transaction that makes it.

A follower has two steps, so that no heavy work is done under the write lock: ``prepare`` reads and computes
before, ``apply`` writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..kit.db import Transaction
from .store import Changes, State

Prepare = Callable[[Transaction, State, Changes, tuple[str, ...]], Any]


class Follower(NamedTuple):
    prepare: Prepare
    apply: Callable[[Transaction, str, Any], None]


_followers: list[Follower] = []


def follow_main(prepare: Prepare, apply: Callable[[Transaction, str, Any], None]) -> None:
    """Registers ``prepare(tx, state, changes, hosts)``, called in a read with the head of main that is to change and
    the hosts of this installation (``core.links.app_hosts``), and ``apply(tx, space_id, prepared)``, called in the
    write."""
    _followers.append(Follower(prepare, apply))


def prepare_followers(tx: Transaction, state: State, changes: Changes, hosts: tuple[str, ...]) -> list[Any]:
    """What every follower needs for these changes of main."""
    return [follower.prepare(tx, state, changes, hosts) for follower in _followers]


def apply_followers(tx: Transaction, space_id: str, prepared: list[Any]) -> None:
    """Lets every follower write, in the transaction of the revision."""
    for follower, ready in zip(_followers, prepared, strict=True):
        follower.apply(tx, space_id, ready)
