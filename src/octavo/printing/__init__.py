"""Prints: pages, spaces, and change requests as PDF."""

from . import tables as tables
from .fonts import coverage
from .links import PATH as PRINT_PATH
from .links import open_print
from .looks import FontFile, PrintLook, provide_looks

__all__ = ["FontFile", "PRINT_PATH", "PrintLook", "coverage", "open_print", "provide_looks"]
