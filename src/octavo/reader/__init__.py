"""What visitors see: published sites."""

from .app import reader_app

__all__ = [
    "reader_app",
]  # fmt: skip
