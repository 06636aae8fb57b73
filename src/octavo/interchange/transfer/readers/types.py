"""What a reader is."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from .layout import Layout
from .source_files import Heads


class Reader(Struct, frozen=True):
    """A kind of source. ``find`` gives the folder it is in, or None; ``lay_out`` what is there. ``told``: the same as
    ``find`` for a source that somebody said is of this kind."""

    kind: str
    name: str
    find: Callable[[Heads], str | None]
    lay_out: Callable[[Heads, str], Layout]
    told: Callable[[Heads], str | None] | None = None
