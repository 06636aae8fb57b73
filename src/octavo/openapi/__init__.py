"""Specifications of APIs: kept true to their source, versioned, and drawn inside pages."""

from . import pages as pages
from . import processing as processing
from . import tables as tables
from .comparing import Change, compare
from .compiling import compile_description
from .description import Description, Operation, tags_of
from .drawing import MANY, Drawer
from .pages import OPERATIONS, find_operation, method_of
from .publishing import put_first
from .sending import send
from .trying import MAX_SENT, Wanted, can_try, make_form, prepare

__all__ = [
    "Change", "Description", "Drawer", "MANY", "MAX_SENT", "OPERATIONS", "Operation", "Wanted", "can_try",
    "compare", "compile_description", "find_operation", "make_form", "method_of", "pages", "prepare", "processing",
    "put_first", "send", "tables", "tags_of",
]  # fmt: skip
