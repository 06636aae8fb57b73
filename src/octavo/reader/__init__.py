"""What visitors see: published sites."""

from .api_reference import reference_routes
from .app import icon_route, reader_edge

__all__ = ["icon_route", "reader_edge", "reference_routes"]
