"""Tell pages what Git calls the content of a space."""

from __future__ import annotations

from octavo.content.pages.reading import explain_git

from .store import find_names

explain_git(find_names)
