"""Prints: pages, spaces, and change requests as PDF."""

from . import tables as tables
from .fonts import read_folder_coverage
from .links import PATH as PRINT_PATH
from .links import open_print
from .looks import FontFile, PrintLook, register_look_finder

__all__ = [
    "FontFile",
    "PRINT_PATH",
    "PrintLook",
    "read_folder_coverage",
    "open_print",
    "register_look_finder",
]
