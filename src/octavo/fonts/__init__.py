"""Fonts of an organization, made of uploaded files."""

from ..spaces import uses_hashes

uses_hashes("file", "font_faces", "hash")
