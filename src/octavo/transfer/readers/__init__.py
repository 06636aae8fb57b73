"""Readers: what a source is, and what of it becomes pages. Every kind ends in one form (``form.Layout``), and from there
in one source of our own Markdown.
"""

from .choosing import KINDS, read_source

__all__ = ["KINDS", "read_source"]
