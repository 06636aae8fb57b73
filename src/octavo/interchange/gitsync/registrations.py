"""Register the lookup of Git names for a space's content, for use on pages."""

from __future__ import annotations

from octavo.content.pages.reading import register_git_names

from .store import find_names

register_git_names(find_names)
