"""Prints: pages, spaces and change requests as PDF."""

from . import tables as tables
from .fonts import coverage
from .links import PATH as PRINT_PATH
from .links import Opened, open_print

__all__ = [
    "Opened", "PRINT_PATH", "coverage", "open_print", "tables",
]  # fmt: skip
