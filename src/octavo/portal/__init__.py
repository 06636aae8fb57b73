"""The few pages that people are sent to: signing in, taking an invitation, and what single sign-on asks. All they do,
the API does. What a site's visitors did is drawn here, too."""

from __future__ import annotations

import html
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from .policy import CONTENT_SECURITY_POLICY


class PortalFile(NamedTuple):
    path: str
    name: str
    content_type: str


FILES = (
    PortalFile("/sign-in", "sign-in.html", "text/html; charset=utf-8"),
    PortalFile("/invitation", "invitation.html", "text/html; charset=utf-8"),
    PortalFile("/sso", "sso.html", "text/html; charset=utf-8"),
    PortalFile("/portal.js", "portal.js", "text/javascript; charset=utf-8"),
    PortalFile("/portal.css", "portal.css", "text/css; charset=utf-8"),
    PortalFile("/charts.css", "charts.css", "text/css; charset=utf-8"),
)


@cache
def read_file(name: str) -> bytes:
    """The bytes of one of ``FILES``."""
    return (files(__package__) / "static" / name).read_bytes()


def draw_home(sites_url: str) -> bytes:
    """The page at the root of the API, for people who open its address."""
    return read_file("home.html").replace(b"SITES", html.escape(sites_url).encode())


def draw_refusal(title: str, message: str) -> bytes:
    """The page for people who were sent to an address that does not show them what they came for; ``message`` says
    why."""
    page = read_file("refused.html").replace(b"TITLE", html.escape(title).encode())
    return page.replace(b"MESSAGE", html.escape(message).encode())


__all__ = [
    "CONTENT_SECURITY_POLICY", "draw_home", "draw_refusal", "read_file",
]  # fmt: skip
