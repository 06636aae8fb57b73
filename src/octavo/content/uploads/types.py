"""What files are uploaded for."""

from __future__ import annotations

from typing import Literal

Kind = Literal["import_file", "customization_font", "page_file", "customization_picture"]
"""``page_file`` is Octavo's own: a file for the pages of a space, which a change of its content then names; so is
``customization_picture``: a logo or an icon of sites."""
