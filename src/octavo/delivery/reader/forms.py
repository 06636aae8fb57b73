"""Choose the format of a page: HTML for people, with all fields of an API expanded on request, or Markdown
for clients that request it."""

from __future__ import annotations

import re
from functools import lru_cache

from octavo.core.document.html_context import ALL_FIELDS
from octavo.kit.http.edge import Request

_ALL_FIELDS = ALL_FIELDS.encode()
_WEIGHT = re.compile(r"(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)")
_MARKDOWN = ("text/markdown", "text/x-markdown")
_FOR_PROGRAMS = re.compile(r"\.md\Z|/(?:llms(?:-full)?\.txt|~(?:gitbook/)?mcp)\Z|/(?:~llms|\.well-known)/")


def _weights(accepted: str) -> dict[str, float]:
    """Return the media types in an Accept header with their weights; invalid weights count as 0."""
    found: dict[str, float] = {}
    for part in accepted.split(","):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        weight = 1.0
        for parameter in parameters:
            key, mark, value = parameter.partition("=")
            if key.strip() == "q":
                value = value.strip()
                weight = float(value) if mark and _WEIGHT.fullmatch(value) else 0.0
        found[name] = max(weight, found.get(name, 0.0))
    return found


def prefers_markdown(accepted: str) -> bool:
    """Return whether an ``Accept`` header prefers Markdown: it lists Markdown and doesn't give HTML a
    higher weight. If both are listed with equal weights, Markdown wins, because browsers never list it. All
    other clients get HTML.

    >>> prefers_markdown("text/markdown, text/html;q=0.9, */*;q=0.1")
    True
    >>> prefers_markdown("text/html, text/markdown;q=0.5") or prefers_markdown("text/*") or prefers_markdown("*/*")
    False
    """
    return "markdown" in accepted.lower() and _prefers_markdown(accepted)


@lru_cache(maxsize=256)
def _prefers_markdown(accepted: str) -> bool:
    weights = _weights(accepted)
    wanted = max(weights.get(name, 0.0) for name in _MARKDOWN)
    html = weights.get("text/html", weights.get("text/*", weights.get("*/*", 0.0)))
    # A wildcard means that other types are accepted too, not that they are preferred to the named ones.
    return wanted > 0 and (wanted >= html or "text/html" not in weights)


def shows_all_fields(query: bytes) -> bool:
    """Return whether a query requests all fields.

    >>> [shows_all_fields(query) for query in (b"fields=all", b"q=a&fields=all", b"fields=", b"")]
    [True, True, False, False]
    """
    return bool(query) and _ALL_FIELDS in query.split(b"&")


def name_form(request: Request) -> str:
    """Return the name of the requested format. Each format has its own response at the same URL."""
    if prefers_markdown(request.header(b"accept")):
        return "markdown"
    return ALL_FIELDS if shows_all_fields(request.query_string) else ""


def is_machine_readable(path: str, accepted: str) -> bool:
    """Return whether a decoded path of a site, or the requested format, is meant for agents and other
    clients. This is independent of the visitor: anyone who requests the same URL and format gets the same
    response.

    >>> [is_machine_readable(path, "*/*") for path in ("/docs/guide.md", "/docs/llms.txt", "/docs/~mcp", "/docs/guide")]
    [True, True, True, False]
    """
    return prefers_markdown(accepted) or _FOR_PROGRAMS.search(path) is not None
