"""The interface of readers."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from .layout import Layout
from .source_files import Heads


class Reader(Struct, frozen=True):
    """A reader of a kind of source. ``find`` returns the folder of the source, or None; ``lay_out`` returns its
    layout. ``told`` is ``find`` for a source whose kind is stated."""

    kind: str
    name: str
    find: Callable[[Heads], str | None]
    lay_out: Callable[[Heads, str], Layout]
    told: Callable[[Heads], str | None] | None = None
