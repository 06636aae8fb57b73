"""Resolve references in files to their targets, and write references to targets.

``resolve`` never fails. If a target can't be found, the result is a ``broken`` target that contains the original
reference.
"""

from __future__ import annotations

import posixpath
import re
from typing import Literal, Protocol
from urllib.parse import quote, unquote

from msgspec import Struct

from octavo.core.json_types import JsonObject

from .app_urls import AppAddresses, is_view, read_person_or_collection, read_space
from .paths import spellings
from .summary import entry_path
from .url_parts import own_address, read_address

APP_HOST = "app.gitbook.com"
_MENTIONED = re.compile(r"/(users|teams)/([A-Za-z0-9]{1,64})")


def app_hosts(url: str) -> tuple[str, ...]:
    """Return the hosts whose URLs refer to content: the host of ``url``, which serves the app, and the host
    that imported sources use."""
    host = own_address(url).host
    # On a reader's machine, `localhost` in a text usually means something else.
    return (APP_HOST,) if host in ("", "localhost", APP_HOST) else (APP_HOST, host)


class Lookup(Protocol):
    """Lookup of a revision's own files. Paths are as in the source, without a leading slash. Results are IDs."""

    def find_page(self, file_path: str) -> str | None: ...

    def find_page_by_path(self, path: str) -> str | None:
        """Return a page by its URL path, such as ``guides/start``; the empty path is the home page."""

    def find_page_by_id(self, page: str) -> str | None: ...

    def find_file(self, path: str) -> str | None: ...

    def find_file_by_id(self, file: str) -> str | None: ...

    def find_reusable(self, path: str) -> str | None:
        """Return reusable content by the path of its file."""


class Target(Struct, frozen=True, omit_defaults=True):
    """Target of a reference.

    ``kind`` determines which fields are set. ``page``: a page, at ``anchor``; if ``space`` is set, the page at ``path``
    in that space, whose ID is unknown; otherwise, the page with the ID ``page`` in this space. ``anchor``: an anchor on
    the same page. ``file``, ``space``, ``url``: a file, a space, or a URL. ``in-app``: a URL in the app that doesn't
    lead to content. ``broken``: an unresolved reference, with its original form in ``url``.
    """

    kind: Literal["page", "anchor", "file", "space", "url", "in-app", "broken"]
    page: str | None = None
    anchor: str | None = None
    file: str | None = None
    space: str | None = None
    path: str | None = None
    url: str | None = None

    @property
    def status(self) -> Literal["ok", "broken", "in-app"]:
        return self.kind if self.kind in ("broken", "in-app") else "ok"


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_FILE = re.compile(r"/files/([A-Za-z0-9_-]{1,64})\Z")
_BROKEN = re.compile(r"/?(?:broken-reference|broken/(?:pages|spaces|files|anchors)(?:/|\Z))")


def resolve(
    href: str, lookup: Lookup, source: str = "", root: str = "", app_hosts: tuple[str, ...] = (APP_HOST,)
) -> Target:
    """Resolve ``href``, which occurs in the file ``source``, to its target.

    ``root``: the folder of the space in its source (empty, or ending in a slash). Root-relative references start in
    this folder. ``app_hosts``: the hosts of the app, whose URLs ``/s/<space>/<path>`` refer to content.
    """
    written = href
    href = re.sub(r"[\t\n\r]", "", href).strip()
    broken = Target("broken", url=written)
    if _BROKEN.match(href) or not href:
        return broken
    if href.startswith("//") or _SCHEME.match(href):
        return _resolve_url(f"https:{href}" if href.startswith("//") else href, app_hosts) or broken
    name, _, fragment = href.partition("#")
    anchor = unquote(fragment) or None
    if not name:
        return Target("anchor", anchor=anchor) if anchor else broken
    if (file := _FILE.match(name)) and (found := lookup.find_file_by_id(file[1])):
        return Target("file", file=found)
    if (page := re.match(r"/pages/([A-Za-z0-9_-]{1,64})\Z", name)) and (
        found := lookup.find_page_by_id(page[1])
    ):
        return Target("page", page=found, anchor=anchor)
    without_query = name.partition("?")[0]
    for spelled in dict.fromkeys(
        path for form in (unquote(name), name, unquote(without_query)) for path in spellings(form)
    ):
        if target := _resolve_path(spelled, anchor, lookup, source, root):
            return target
    return broken


def include_paths(href: str, source: str = "") -> tuple[str, ...]:
    """Return the possible paths of the file that an include in the file ``source`` refers to."""
    path = entry_path(unquote(href).lstrip("/"), "" if href.startswith("/") else posixpath.dirname(source))
    return spellings(path) if path else ()


_BY_KIND = re.compile(
    r"(page|file|user|collection|space|reusable-content|openapi):([A-Za-z0-9_.-]{1,64})|(tag):([\w-]{1,100})"
)
_ID_FIELD = {"reusable-content": "reusableContent", "openapi": "spec"}


def by_kind(written: str) -> JsonObject | None:
    """Return a reference by ID in the format that files use for targets without a path, such as ``user:1a2b``."""
    named = _BY_KIND.fullmatch(written)
    if named is None:
        return None
    kind, target = (part for part in named.groups() if part is not None)
    return {"kind": kind, _ID_FIELD.get(kind, kind): target}


def mentioned(url: str) -> tuple[str, str] | None:
    """Return ``users`` or ``teams``, and the ID, if a URL is the target of a mention in a comment."""
    found = _MENTIONED.fullmatch(url)
    return (found[1], found[2]) if found else None


def in_app(url: str) -> JsonObject | None:
    """Return the person or collection that a URL of the app shows."""
    address = read_address(url)
    found = read_person_or_collection(address.path) if address is not None else None
    return {"kind": found[0], found[0]: found[1]} if found else None


def _resolve_url(url: str, app_hosts: tuple[str, ...]) -> Target | None:
    parts = read_address(url)
    if parts is None:
        return None
    if not parts.is_web or parts.host not in app_hosts:
        return Target("url", url=url)
    found = read_space(parts.path)
    if found is None or is_view(found[1]):
        return Target("in-app", url=url)
    space, path = found
    anchor = unquote(parts.fragment) or None
    if not path and not anchor:
        return Target("space", space=space)
    return Target("page", space=space, path=path, anchor=anchor)


def _resolve_path(name: str, anchor: str | None, lookup: Lookup, source: str, root: str) -> Target | None:
    absolute = name.startswith("/")
    path = entry_path(
        root + name.lstrip("/") if absolute else name, "" if absolute else posixpath.dirname(source)
    )
    if path is None:
        return None
    folder = path.strip("/")
    # A file as written; a folder's README; and a page's path in URLs, as in `../guides/start`.
    candidates = (
        [f"{folder}/README.md".lstrip("/")]
        if path.endswith("/")
        else [path, f"{path}.md", f"{path}/README.md"]
    )
    for candidate in candidates:
        if page := lookup.find_page(candidate):
            return Target("page", page=page, anchor=anchor)
    if not path.endswith("/") and (file := lookup.find_file(path)):
        return Target("file", file=file)
    if folder.startswith(root.strip("/")):
        seen = folder[len(root.strip("/")) :].strip("/")
        if page := lookup.find_page_by_path(seen):
            return Target("page", page=page, anchor=anchor)
    return None


def relative_href(path: str, source: str, anchor: str | None = None) -> str:
    """Return the reference from the file ``source`` to the file ``path``, such as ``../a%20b.md#part``. A reference to
    the file itself consists only of the anchor or, without an anchor, of the file's own name."""
    fragment = f"#{quote(anchor, safe=_KEPT)}" if anchor else ""
    if path == source and fragment:
        return fragment
    way = posixpath.relpath("/" + path, "/" + posixpath.dirname(source))
    written = quote(way, safe=_KEPT)
    # `a:b.md` would be read as a URL with the scheme `a`.
    return ("./" + written if _SCHEME.match(written) else written) + fragment


_KEPT = "/-._~!$&'*+,;=:@" + "".join(chr(code) for code in range(0xA1, 0x250))


def space_href(space: str, path: str = "", anchor: str | None = None, app_host: str = APP_HOST) -> str:
    """Return the URL that files use to refer to a page in another space."""
    fragment = f"#{quote(anchor, safe=_KEPT)}" if anchor else ""
    return AppAddresses(f"https://{app_host}").page(space, quote(path, safe=_KEPT)) + fragment
