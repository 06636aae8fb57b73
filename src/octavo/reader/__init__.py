"""Published sites, as their visitors see them."""

from ..core.document.html import ALL_FIELDS
from .api_reference import reference_routes
from .app import icon_route, reader_edge

__all__ = ["ALL_FIELDS", "icon_route", "reader_edge", "reference_routes"]
