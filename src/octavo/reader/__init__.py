"""What visitors see: published sites."""

from .app import reader_edge

__all__ = [
    "reader_edge",
]  # fmt: skip
