"""A sample of what a source says, by which its language is known."""

from __future__ import annotations

import re

from ..core.languages import find_language
from ..spaces import LANGUAGES

_MOST = 1800
"""Characters of a sample."""
_OF_PAGE = 300
_READ = 20_000
"""Characters of a page that are looked through."""
_FENCED = re.compile(r"^(?:```|~~~).*?(?:^(?:```|~~~)|\Z)|^---\r?\n.*?^---", re.MULTILINE | re.DOTALL)
_MARKUP = re.compile(
    r"\{%[^%]{0,2000}%\}|<[^<>]{0,2000}>|\]\([^()]{0,1000}\)|`[^`]{0,500}`|https?://\S+|[#*_|>\[\]!~=-]+"
)


class Sample:
    """Takes the beginning of the words of each page, until there are enough."""

    def __init__(self) -> None:
        self._said: list[str] = []
        self._size = 0

    def add(self, text: str) -> None:
        if self._size < _MOST:
            words = " ".join(_MARKUP.sub(" ", _FENCED.sub(" ", text[:_READ])).split())[:_OF_PAGE]
            self._said.append(words)
            self._size += len(words)

    def language(self) -> str | None:
        """The one that all of it is surely in, of those that spaces have."""
        found = find_language(" ".join(self._said))
        return found if found in LANGUAGES else None
