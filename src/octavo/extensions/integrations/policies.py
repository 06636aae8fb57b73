"""Content-Security-Policy that an integration's manifest requests for its pages."""

from __future__ import annotations

from msgspec import UNSET

from octavo.core.url_patterns import origin_of

from .manifest import Manifest

MOST = 50
"""Maximum number of hosts that an integration can show in frames. The number is limited because proxies limit the size
of headers."""


def policy_text(manifest: Manifest) -> str | None:
    """Return an integration's Content-Security-Policy on one line; None if it doesn't have one."""
    given = manifest.content_security_policy
    if given is UNSET:
        return None
    text = given if isinstance(given, str) else "; ".join(f"{name} {value}" for name, value in given.items())
    return " ".join(text.split())


def list_origins(manifest: Manifest) -> list[str]:
    """Return the origins in a manifest, such as ``https://*.demo.example``. Values that aren't hosts are omitted."""
    named: list[str] = []
    for part in (policy_text(manifest) or "").split(";"):
        directive, *sources = part.split() or [""]
        if directive.lower() == "frame-src":
            named += sources
    named += [
        pattern
        for block in manifest.blocks or ()
        if block.url_unfurl is not UNSET
        for pattern in block.url_unfurl
    ]
    return [origin for origin in dict.fromkeys(map(origin_of, named)) if origin][:MOST]
