"""Match URL patterns from integration manifests, such as ``https://github.com/*/*/blob/**``.

``*`` matches any text without a slash, and ``**`` matches any text. A pattern without wildcards is a prefix: it matches
URLs with the same host whose path starts with the pattern's path. A pattern without a scheme matches http and https.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from .url_parts import UrlParts, write_authority

_PARTS = re.compile(r"(?:(https?)://)?([^/?#]*)(.*)", re.I | re.S)
_STARS = re.compile(r"(\*\*|\*)")
_MEMORY = 256 * 1024
"""Maximum size in bytes of a compiled pattern."""
_USUAL = {"http": 80, "https": 443}


def fits(pattern: str, address: UrlParts) -> int | None:
    """Return the number of literal characters in a pattern, as a measure of its specificity, if the pattern matches a
    URL; otherwise, None.

    User information in a URL is ignored, and hosts are compared as a whole.
    """
    compiled = _compile(pattern)
    if compiled is None or not address.is_web:
        return None
    scheme, host, path, literal = compiled
    port = address.port if address.port != _USUAL[address.scheme] else None
    if (scheme and scheme != address.scheme) or not host.fullmatch(write_authority(address.host, port)):
        return None
    below = address.path or "/"
    rest = below + address.rest[len(address.path) :]
    return literal if path.fullmatch(below) or path.fullmatch(rest) else None


def domain_of(pattern: str) -> str:
    """Return the host of a pattern without its wildcard part; an empty string if nothing is left."""
    found = _PARTS.fullmatch(pattern)
    host = found[2].lower().rpartition("@")[2].partition(":")[0] if found else ""
    host = host.removeprefix("*.")
    return "" if "*" in host else host


_HOST = re.compile(r"(?:\*\.)?(?:[a-z0-9-]+\.)+[a-z0-9-]+(?::\d{1,5})?")


def origin_of(pattern: str) -> str:
    """Return the origin of a pattern's URLs in the format of content security policies, with https unless the pattern
    specifies another scheme. Return an empty string if the pattern has no host or covers a whole top-level domain.

    >>> origin_of("https://*.demo.example/share/**"), origin_of("demo.example"), origin_of("https://**")
    ('https://*.demo.example', 'https://demo.example', '')
    """
    found = _PARTS.fullmatch(pattern)
    scheme, host = ((found[1] or "https").lower(), found[2].lower()) if found else ("", "")
    return f"{scheme}://{host}" if _HOST.fullmatch(host) else ""


@lru_cache(1024)
def _compile(pattern: str) -> tuple[str, Any, Any, int] | None:
    """Return the scheme, the host, the path with the rest of the pattern, and the number of literal characters. RE2
    runs in time linear in the length of a URL."""
    found = _PARTS.fullmatch(pattern)
    if found is None or not found[2] or "@" in found[2]:
        return None
    scheme, host, path = (found[1] or "").lower(), found[2].lower(), found[3]
    if scheme:
        host = host.removesuffix(f":{_USUAL[scheme]}")
    if "*" not in pattern:
        path += "**"
    elif host.endswith("**"):
        path = f"**{path}"
    if not path.startswith("/"):
        path = f"/{path}"
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    parts = {"**": ".*", "*": "[^/]*"}
    try:
        at_host, below = (
            re2.compile(
                "(?s)" + "".join(parts.get(part) or re2.escape(part) for part in _STARS.split(glob)), options
            )
            for glob in (host, path)
        )
    except re2.error:
        return None
    return scheme, at_host, below, len(pattern) - pattern.count("*")
