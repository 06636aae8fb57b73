"""Pages of the portal, created from the files in this package."""

from __future__ import annotations

import html
import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from octavo.core.color import theme


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
)


@cache
def _read(name: str) -> bytes:
    return (files(__package__) / "static" / name).read_bytes()


def read_file(name: str, installation: str, *, mails: bool) -> bytes:
    """Return one of ``FILES``. ``installation``: the name of the server that pages show. ``mails``: whether
    the server sends email, without which no page offers an emailed link."""
    if name.endswith(".html"):
        return _fill(name, INSTALLATION=installation, MAILS="true" if mails else "false")
    if name == "portal.css":
        return b"".join((theme().css().encode(), b"\n", _read("tokens.css"), _read(name)))
    return _read(name)


def draw_home(installation: str, sites_url: str) -> bytes:
    """Return the page at the root of the API, for people who open its URL."""
    return _fill("home.html", INSTALLATION=installation, SITES=sites_url)


def draw_refusal(installation: str, title: str, message: str) -> bytes:
    """Return the page for people who open a URL that can't be used. ``message``: the reason."""
    return _fill("refused.html", INSTALLATION=installation, TITLE=title, MESSAGE=message)


def draw_consent(
    installation: str,
    *,
    program: str,
    place: str,
    source: str,
    own_machine: bool,
    scopes: str,
    asked: str,
    refusal: str,
) -> bytes:
    """Return the page on which a person allows an app to act on their behalf. ``place``: the URL that
    receives the response. ``own_machine``: whether that URL is on the person's computer. ``source``: the URL
    of the document that describes the app, if any. ``scopes``: the rows of scopes as HTML. ``asked``: the
    request of the app, as JSON. ``refusal``: the URL to which to redirect on denial."""
    page = _fill(
        "connect.html",
        INSTALLATION=installation,
        PROGRAM=program,
        PLACE=place,
        ASKED=asked,
        REFUSAL=refusal,
    )
    whose = _whose(source) if source else ""
    beside = " This URL is on your own computer, where any app could use this name." if own_machine else ""
    for name, text in (("scopes", scopes), ("source", whose), ("own machine", beside)):
        page = page.replace(f"<!-- {name} -->".encode(), text.encode())
    return page


def _whose(source: str) -> str:
    host = html.escape(source.partition("://")[2].partition("/")[0])
    return f"<p>It belongs to <strong>{host}</strong>, which describes it at <code>{html.escape(source)}</code>.</p>"


def _fill(name: str, **texts: str) -> bytes:
    """Return a page with its placeholders replaced by texts."""
    given = {place.encode(): html.escape(text).encode() for place, text in texts.items()}
    places = re.compile(rb"\b(?:" + b"|".join(given) + rb")\b")
    return places.sub(lambda place: given[place[0]], _read(name))
