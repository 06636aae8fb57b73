"""Fonts of an organization, made of uploaded files."""

from . import tables as tables

__all__ = [
    "tables",
]  # fmt: skip
