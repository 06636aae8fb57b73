"""Pages of the portal, created from the files in this package."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

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


class ConsentScope(NamedTuple):
    """Scope on the consent page. ``words``: the description of the access that it gives. ``fixed``: whether
    the person can't change it."""

    name: str
    words: str
    checked: bool
    fixed: bool


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("octavo.organization.portal", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _draw(page: str, installation: str, **values: object) -> bytes:
    template = _templates().get_template(f"{page}.html")
    return template.render(page=page, installation=installation, **values).encode()


@cache
def _read(name: str) -> bytes:
    return (files(__package__) / "static" / name).read_bytes()


def read_file(name: str, installation: str, *, mails: bool) -> bytes:
    """Return one of ``FILES``. ``installation``: the server name to show on pages. ``mails``: whether the server sends
    email; otherwise, no page offers to email a link."""
    if name.endswith(".html"):
        return _draw(name.removesuffix(".html"), installation, mails="true" if mails else "false")
    if name == "portal.css":
        return b"".join((theme().css().encode(), b"\n", _read("tokens.css"), _read(name)))
    return _read(name)


def draw_home(installation: str, sites_url: str) -> bytes:
    """Return the page at the root of the API, for people who open its URL."""
    return _draw("home", installation, sites=sites_url)


def draw_refusal(installation: str, title: str, message: str) -> bytes:
    """Return the page for people who open a URL that can't be used. ``message``: the reason."""
    return _draw("refused", installation, title=title, message=message)


def draw_consent(
    installation: str,
    *,
    program: str,
    place: str,
    source: str,
    own_machine: bool,
    scopes: Iterable[ConsentScope],
    asked: str,
    refusal: str,
) -> bytes:
    """Return the page where a person allows an app to act on their behalf. ``place``: the URL that receives
    the response. ``own_machine``: whether that URL is on the person's computer. ``source``: the URL of the
    document that describes the app, if any. ``asked``: the app's request, as JSON. ``refusal``: the URL to
    redirect to if the person declines."""
    return _draw(
        "connect",
        installation,
        program=program,
        place=place,
        source=source,
        host=source.partition("://")[2].partition("/")[0],
        own_machine=own_machine,
        scopes=scopes,
        asked=asked,
        refusal=refusal,
    )
