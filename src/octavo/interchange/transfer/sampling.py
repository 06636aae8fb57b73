"""Detect the language of a source: the language that it specifies or, by default, the language in which a sample of
its text is clearly written."""

from __future__ import annotations

import re

from octavo.core.languages import LANGUAGES, find_language, space_language

_MOST = 1800
"""Number of characters in a sample."""
_OF_PAGE = 300
_READ = 20_000
"""Maximum number of characters to sample per page."""
_FENCED = re.compile(r"^(?:```|~~~).*?(?:^(?:```|~~~)|\Z)|^---\r?\n.*?^---", re.MULTILINE | re.DOTALL)
_MARKUP = re.compile(
    r"\{%[^%]{0,2000}%\}|<[^<>]{0,2000}>|\]\([^()]{0,1000}\)|`[^`]{0,500}`|https?://\S+|[#*_|>\[\]!~=-]+"
)


class Sample:
    """Sample with the first words of each page, until there are enough words to detect the language.

    ``stated``: the language that the source itself specifies. Detection never overrides it, even if spaces don't
    support the specified language."""

    def __init__(self, stated: str) -> None:
        self._stated = stated
        self._said: list[str] = []
        self._size = 0

    def add(self, text: str) -> None:
        if self._size < _MOST:
            words = " ".join(_MARKUP.sub(" ", _FENCED.sub(" ", text[:_READ])).split())[:_OF_PAGE]
            self._said.append(words)
            self._size += len(words)

    def language(self) -> str | None:
        """Return the specified language or, by default, the language in which the whole sample is clearly written;
        None if spaces don't support it."""
        if self._stated:
            return space_language(self._stated)
        found = find_language(" ".join(self._said))
        return found if found in LANGUAGES else None
