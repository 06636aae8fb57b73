"""Spaces that follow other spaces in another language."""

from . import tables as tables

__all__ = [
    "tables",
]  # fmt: skip
