"""How the references of a document are written in its file, for edits that name them by what they mean."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from octavo.core.document.references import Reference


class Written:
    """How references are written, by what they mean. A page may write one in several ways: each block keeps its own.
    ``found``: of each the key of its block, what it means, and how it is written."""

    def __init__(self, found: Iterable[tuple[str | None, dict[str, Any], dict[str, Any]]] = ()) -> None:
        self._anywhere: dict[bytes, dict[str, Any]] = {}
        self._in_block: dict[tuple[str | None, bytes], dict[str, Any]] = {}
        for key, meaning, ref in found:
            name = _name(meaning)
            self._anywhere[name] = self._in_block[key, name] = ref

    def of(self, reference: Reference) -> dict[str, Any] | None:
        """How a reference by its meaning is to be written; None where it is nowhere yet."""
        name = _name(reference.ref)
        return self._in_block.get((reference.key, name)) or self._anywhere.get(name)


def _name(meaning: dict[str, Any]) -> bytes:
    return msgspec.json.encode(meaning, order="sorted")
