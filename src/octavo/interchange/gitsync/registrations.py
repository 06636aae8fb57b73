"""Register the function that finds the Git object IDs of a space's content, so that pages can show these IDs."""

from __future__ import annotations

from octavo.content.pages.reading import register_git_names

from .store import find_names

register_git_names(find_names)
