"""Immutable mappings, each of which is defined by an earlier mapping and the differences from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")

_MOST = 500
"""Maximum number of differences to keep in a layer. If there are more, they are merged into a new dictionary."""


class Layered(Mapping[K, V]):
    """Mapping with differences layered on top of a shared dictionary that never changes, so that a changed mapping
    needs memory only for its changes. Values are never None. The mapping isn't ordered."""

    def __init__(self, below: dict[K, V]) -> None:
        self._below = below
        self._over: dict[K, V | None] = {}
        self._size = len(below)

    def changed(self, changes: Mapping[K, V | None]) -> Layered[K, V]:
        """Return the mapping with these values; None removes a key."""
        made: Layered[K, V] = Layered(self._below)
        made._over = {**self._over, **changes}
        made._size = self._size
        for key, value in changes.items():
            made._size += (value is not None) - (key in self)
        if len(made._over) > _MOST:
            laid = made._below.copy()
            for key, value in made._over.items():
                if value is None:
                    laid.pop(key, None)
                else:
                    laid[key] = value
            return Layered(laid)
        return made

    def __getitem__(self, key: K) -> V:
        value = self._over[key] if key in self._over else self._below[key]
        if value is None:
            raise KeyError(key)
        return value

    def __contains__(self, key: object) -> bool:
        if key in self._over:
            return self._over[key] is not None
        return key in self._below

    def __iter__(self) -> Iterator[K]:
        yield from (key for key in self._below if key not in self._over)
        yield from (key for key, value in self._over.items() if value is not None)

    def __len__(self) -> int:
        return self._size
