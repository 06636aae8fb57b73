"""Written form of the references in a document's file, so that edits can keep that form for references to the same
target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from octavo.core.document.references import Reference
from octavo.core.json_types import JsonObject


class WrittenReferences:
    """References in their written form, by target. A page can contain several written forms of the same reference; each
    block keeps its own form. ``found``: the references, each as the key of its block, its target, and its written
    form."""

    def __init__(self, found: Iterable[tuple[str | None, JsonObject, JsonObject]] = ()) -> None:
        self._anywhere: dict[bytes, dict[str, Any]] = {}
        self._in_block: dict[tuple[str | None, bytes], dict[str, Any]] = {}
        for key, meaning, ref in found:
            name = _name(meaning)
            self._anywhere[name] = self._in_block[key, name] = ref

    def of(self, reference: Reference) -> JsonObject | None:
        """Return the written form of a reference; None if it doesn't occur in the file yet."""
        name = _name(reference.ref)
        return self._in_block.get((reference.key, name)) or self._anywhere.get(name)


def _name(meaning: Mapping[str, object]) -> bytes:
    return msgspec.json.encode(meaning, order="sorted")
