"""Prints: pages, spaces and change requests as PDF."""

__all__ = ["PRINT_PATH", "Opened", "open_print"]

from ..spaces import uses_hashes
from .links import PATH as PRINT_PATH
from .links import Opened, open_print

uses_hashes("file", "prints", "file")
