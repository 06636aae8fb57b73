"""What visitors see: published sites."""

from ..core.document.html import ALL_FIELDS
from .agreement import prepare_agreement
from .answers import decoded_path
from .api_reference import reference_routes
from .app import icon_route, reader_edge
from .table import Later, View, route
from .views import Agreement

__all__ = [
    "ALL_FIELDS", "Agreement", "Later", "View", "decoded_path", "icon_route", "prepare_agreement", "reader_edge",
    "reference_routes", "route",
]  # fmt: skip
