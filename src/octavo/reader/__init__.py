"""What visitors see: published sites."""

from .api_reference import reference_routes
from .app import reader_edge

__all__ = [
    "reader_edge", "reference_routes",
]  # fmt: skip
