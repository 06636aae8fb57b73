"""API specifications: stored unchanged, versioned, and drawn inside pages."""

from . import pages as pages
from . import processing as processing
from . import tables as tables
from .calling import CallValues, fill_form
from .code_samples import templates
from .comparing import compare
from .compiling import compile_description
from .description import ApiDescription, ApiTag, DescribedOperation, tags_of
from .drawing import MANY, Drawer
from .exporting import export
from .former import Gone, find_former
from .index import IndexHit, OperationIndex
from .models import draw_model, draw_models, draw_used_by, index_models, letter_id, list_models, split_models
from .overview import draw_tags
from .pages import (
    OPERATIONS,
    Listed,
    authentication_of,
    can_export,
    conventions_of,
    find_operation,
    find_reference,
    group_of,
    list_operations,
    lists_models,
    method_of,
    model_of,
)
from .publishing import put_first
from .sending import Sent, send
from .trying import (
    MAX_SENT,
    FilledForm,
    Form,
    PreparedRequest,
    can_try,
    make_access,
    make_form,
    prepare_request,
    token_origins,
)

__all__ = [
    "ApiDescription", "Drawer", "FilledForm", "Form", "IndexHit", "Gone", "Listed", "MANY", "MAX_SENT", "OPERATIONS",
    "DescribedOperation", "OperationIndex", "PreparedRequest", "Sent", "ApiTag", "CallValues", "authentication_of", "can_try",
    "compare", "compile_description", "conventions_of", "draw_model", "draw_models", "draw_tags", "draw_used_by", "export",
    "fill_form", "find_former", "find_operation", "find_reference", "group_of", "index_models", "letter_id", "list_models",
    "list_operations", "lists_models", "make_access", "make_form", "can_export", "method_of", "model_of",
    "prepare_request", "put_first", "send", "split_models", "tags_of", "templates", "token_origins",
]  # fmt: skip
