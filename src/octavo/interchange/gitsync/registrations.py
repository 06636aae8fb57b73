"""Register the lookup of Git names for a space's content, so that pages can show them."""

from __future__ import annotations

from octavo.content.pages.reading import register_git_names

from .store import find_names

register_git_names(find_names)
