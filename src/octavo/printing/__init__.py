"""Prints: pages, spaces and change requests as PDF."""

__all__ = ["PRINT_PATH", "Opened", "open_print"]

from .links import PATH as PRINT_PATH
from .links import Opened, open_print
