"""Prints: pages, spaces and change requests as PDF."""

from . import tables as tables
from .links import PATH as PRINT_PATH
from .links import Opened, open_print

__all__ = [
    "Opened", "PRINT_PATH", "open_print", "tables",
]  # fmt: skip
