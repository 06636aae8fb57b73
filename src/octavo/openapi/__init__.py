"""Specifications of APIs: kept true to their source, versioned, and drawn inside pages."""

from . import pages as pages
from . import processing as processing
from . import tables as tables
from .comparing import Change, compare
from .compiling import compile_description
from .description import Description
from .drawing import MANY, Drawer
from .publishing import put_first

__all__ = [
    "Change", "Description", "Drawer", "MANY", "compare", "compile_description", "pages", "processing",
    "put_first", "tables",
]  # fmt: skip
