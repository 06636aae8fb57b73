"""Prints: pages, spaces and change requests as PDF."""

from ..spaces import uses_hashes
from .links import PATH as PRINT_PATH
from .links import Opened, open_print

uses_hashes("file", "prints", "file")

__all__ = [
    "Opened", "PRINT_PATH", "open_print",
]  # fmt: skip
