"""Interface that every reader implements."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from octavo.core.sources import SourceFiles

from .layout import Layout
from .source_files import Heads

Tick = Callable[[], None]
"""Callback that a reader calls between files. It raises an error if the import has ended."""
Add = Callable[[SourceFiles, str, bytes], None]
"""Callback that stores bytes at a path in a source's files."""


class Reader(Struct, frozen=True):
    """Reader for a kind of source. ``find``: a function that returns the folder of the source, or None.
    ``lay_out``: a function that returns its layout. ``find_specified``: a function to use instead of ``find`` if a
    person specified the kind of source."""

    kind: str
    name: str
    find: Callable[[Heads], str | None]
    lay_out: Callable[[Heads, str], Layout]
    find_specified: Callable[[Heads], str | None] | None = None
