"""Temporary files of an import."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO

from octavo.core.sources import SourceFiles


class TemporaryFiles:
    """Folder of an import's temporary files, which are named by number."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._count = 0

    def new(self, ending: str = "") -> Path:
        self._count += 1
        return self.path / f"{self._count}{ending}"

    def add(self, source: SourceFiles, path: str, data: bytes) -> None:
        """Write bytes to a temporary file, and add that file to a source."""
        place = self.new()
        place.write_bytes(data)
        source.add(path, len(data), opening_of(place))


def opening_of(place: Path) -> Callable[[], IO[bytes]]:
    return lambda: place.open("rb")
