"""Syntax highlighting as tokens: classes and text, never markup."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer

# Pygments reads about 0.2 MB per second; longer listings are shown plain so that they don't delay the page.
HIGHLIGHT_MAX = 60_000
# Names from editors and other highlighters that Pygments knows by another name.
_ALIASES = {
    "shellsession": "console",
    "curl": "bash",
    "dotenv": "bash",
    "env": "bash",
    "gradle": "groovy",
    "jsonc": "json5",
    "mdx": "markdown",
    "plaintext": "text",
    "proto": "protobuf",
    "svelte": "html",
    "tsx": "typescript",
    "jsx": "javascript",
    "vue": "html",
    "visual-basic": "vbnet",
}
_NAMES = {
    "bash": "Bash",
    "sh": "Shell",
    "console": "Console",
    "csharp": "C#",
    "c#": "C#",
    "cpp": "C++",
    "css": "CSS",
    "go": "Go",
    "graphql": "GraphQL",
    "html": "HTML",
    "http": "HTTP",
    "ini": "INI",
    "java": "Java",
    "javascript": "JavaScript",
    "js": "JavaScript",
    "json": "JSON",
    "jsx": "JSX",
    "kotlin": "Kotlin",
    "markdown": "Markdown",
    "md": "Markdown",
    "mermaid": "Mermaid",
    "php": "PHP",
    "powershell": "PowerShell",
    "py": "Python",
    "python": "Python",
    "rb": "Ruby",
    "ruby": "Ruby",
    "rust": "Rust",
    "scss": "SCSS",
    "sql": "SQL",
    "swift": "Swift",
    "toml": "TOML",
    "ts": "TypeScript",
    "tsx": "TSX",
    "typescript": "TypeScript",
    "xml": "XML",
    "yaml": "YAML",
    "yml": "YAML",
}

Token = tuple[str, str]

COLORED = {
    kind: hue
    for hue, kinds in {
        "k": "k kc kd kn kp kr ow",
        "s": "s s1 s2 sa sb sc sd sh sr ss sx dl se si",
        "m": "m mb mf mh mi mo il no l",
        "nf": "nf fm nd na",
        "nc": "nc nn kt nb bp ne",
        "nt": "nt nl nv vi vc vg",
        "c": "c c1 cm cs ch",
        "cp": "cp cpf gp",
        "gd": "gd",
        "gi": "gi",
        "gu": "gu gh",
    }.items()
    for kind in kinds.split()
}
"""Map from each Pygments class that has a color to the class whose color it uses. All other classes look like plain
text, which keeps the markup of pages small."""


_PLAIN = ("text", "txt", "plain", "plaintext")


def language_name(syntax: str) -> str:
    """Return the display name of a language, such as ``JavaScript`` for ``js``. Unknown names are returned unchanged.
    Plain text has no display name."""
    return "" if syntax.lower() in _PLAIN else _NAMES.get(syntax.lower(), syntax)


_HERE = re.compile(r"\A(.*<<'JSON'\n)(.*)(\nJSON)\Z", re.S)

_making = threading.Lock()


@lru_cache(maxsize=256)
def _lexer(syntax: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    name = syntax.lower()
    try:
        # The first lexer of a language builds its rules with counters that threads would share.
        with _making:
            return get_lexer_by_name(_ALIASES.get(name, name), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def highlight(code: str, syntax: str) -> list[Token] | None:
    """Split ``code`` into ``(class, text)`` tokens. Classes are keys of ``COLORED``, such as ``k`` or ``s``, or empty
    for plain text. Adjacent tokens have different classes. Return ``None`` if the language is unknown or the text is
    too long."""
    if not syntax or len(code) > HIGHLIGHT_MAX:
        return None
    document = _HERE.search(code) if syntax in ("bash", "sh") else None
    if document is not None:
        # A JSON document that a shell command receives as an argument is not a string.
        kinds = zip(document.groups(), ("bash", "json", "bash"), strict=True)
        found = [highlight(part, kind) for part, kind in kinds]
        return [token for tokens in found for token in tokens or ()] if all(found) else None
    lexer = _lexer(syntax)
    if lexer is None:
        return None
    from pygments.token import STANDARD_TYPES

    parts = ((COLORED.get(STANDARD_TYPES.get(kind, ""), ""), text) for kind, text in lexer.get_tokens(code))
    merged = [(hue, "".join(text for _, text in same)) for hue, same in groupby(parts, lambda part: part[0])]
    # The tokens of a lexer that changed the text (some normalize it) don't match the original.
    return merged if "".join(text for _, text in merged) == code else None


class Tokens:
    """Tokens of a line, consumed from the front by number of characters."""

    def __init__(self, row: list[Token]) -> None:
        self._row = row
        self._at = 0  # index of the current token
        self._in = 0  # offset in the current token

    def take(self, count: int) -> Iterable[Token]:
        while count > 0 and self._at < len(self._row):
            kind, text = self._row[self._at]
            part = text[self._in : self._in + count]
            count -= len(part)
            self._in += len(part)
            if self._in >= len(text):
                self._at, self._in = self._at + 1, 0
            if part:
                yield kind, part


def _split(tokens: list[Token]) -> list[list[Token]]:
    rows: list[list[Token]] = [[]]
    for kind, text in tokens:
        parts = text.split("\n")
        for number, part in enumerate(parts):
            if number:
                rows.append([])
            if part:
                rows[-1].append((kind, part))
    return rows


def token_rows(tokens: list[Token], texts: list[str]) -> list[list[Token]]:
    """Return the tokens of each line. ``tokens``: the tokens of these lines, joined by line breaks. ``texts``: the
    lines."""
    if not any("\n" in text for text in texts):
        return _split(tokens)
    taking = Tokens(tokens)
    rows = []
    for text in texts:
        rows.append(list(taking.take(len(text))))
        list(taking.take(1))  # the line break
    return rows
