"""Interface that every reader implements."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from octavo.core.sources import SourceFiles

from .layout import Layout
from .source_files import Heads

Tick = Callable[[], None]
"""Callback that a reader calls between files. It raises an error when the run is over."""
Add = Callable[[SourceFiles, str, bytes], None]
"""Callback that stores bytes in the files of a source at a path."""


class Reader(Struct, frozen=True):
    """Reader for a kind of source. ``find``: the function that returns the folder of the source, or None.
    ``lay_out``: the function that returns its layout. ``told``: the function to use instead of ``find`` if the kind
    of the source is specified."""

    kind: str
    name: str
    find: Callable[[Heads], str | None]
    lay_out: Callable[[Heads, str], Layout]
    told: Callable[[Heads], str | None] | None = None
