"""Purposes of uploads."""

from __future__ import annotations

from typing import Literal

Kind = Literal["import_file", "customization_font", "page_file", "customization_picture"]
"""Purpose of an upload. Octavo's own purposes are ``page_file``, a file for the pages of a space, and
``customization_picture``, a logo or an icon for sites."""
