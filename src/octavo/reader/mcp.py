"""The MCP server of a site: what assistants of readers ask it (Model Context Protocol, streamable HTTP).

Each request is complete in itself: a JSON-RPC message is posted, and its answer is JSON. There is no session and
nothing is sent by itself, so any process of the installation answers. The tools read the site as the visitor sees it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from itertools import islice
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote, unquote

import msgspec
from msgspec import Meta, Struct

from ..core.addresses import read_address
from ..kit.asgi import Answer
from ..kit.db import Transaction
from ..search import MAX_SEARCH
from .audiences import SendOn
from .pages import PageBuilder
from .resolving import SiteVisit, SpaceVisit, enter_space
from .searching import search_site
from .sites import listed_pages
from .views import SearchHit

MCP_PATHS = ("~gitbook/mcp", "~mcp")
"""Below the base of a site; the first one is known to tools that look for it."""
MAX_MESSAGE = 64 * 1024
"""Bytes of a message."""
_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26")
"""Of the protocol, newest first."""
_PAGES = 200
"""Pages in one list."""
_TEXT = 50_000
"""Characters of a page in one answer."""
_EXCERPT = 500

_PARSE_ERROR, _INVALID_REQUEST, _NO_METHOD, _INVALID_PARAMS = -32700, -32600, -32601, -32602


class Search(Struct, forbid_unknown_fields=True):
    query: Annotated[str, Meta(min_length=1, max_length=MAX_SEARCH, description="Words to look for")]


class ReadPage(Struct, forbid_unknown_fields=True):
    address: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=4096,
            description="The address of a page, as search and list_pages give it",
        ),
    ]
    start: Annotated[
        int, Meta(ge=0, le=2**53, description="The first character to return, for long pages")
    ] = 0


class ListPages(Struct, forbid_unknown_fields=True):
    start: Annotated[int, Meta(ge=0, le=2**53, description="How many pages of the list to leave out")] = 0


class Refused(Exception):
    """A tool cannot answer this; the message is for whoever asked."""


class Reading(NamedTuple):
    """What tools read: a site as its visitor sees it. ``build`` gives the builder of pages of a space."""

    tx: Transaction
    visit: SiteVisit
    build: Callable[[SpaceVisit], PageBuilder]


def _search(site: Reading, asked: Search) -> str:
    # PostgreSQL takes no NUL in texts, and no page has one.
    found = search_site(site.tx, site.visit, asked.query.replace("\0", " "))
    if not found.hits:
        near = f" Similar words: {', '.join(found.suggestions)}." if found.suggestions else ""
        return f"No page matches.{near}"
    said = [f"The {len(found.hits)} best matches." if len(found.hits) > 1 else "1 match."]
    return "\n\n".join([*said, *(_hit(site.visit, hit) for hit in found.hits)])


def _hit(visit: SiteVisit, hit: SearchHit) -> str:
    excerpts = [hit.excerpt, *(section.excerpt for section in hit.sections)]
    text = " … ".join(
        joined for parts in excerpts if (joined := "".join(part.text for part in parts).strip())
    )
    if len(text) > _EXCERPT:
        text = f"{text[:_EXCERPT]}…"
    title = " / ".join((*hit.crumbs, hit.title))
    return "\n".join(line for line in (f"## {title}", visit.public(hit.href), text) if line)


def _list_pages(site: Reading, asked: ListPages) -> str:
    pages = listed_pages(site.tx, site.visit)
    skipped = sum(1 for _ in islice(pages, asked.start))
    lines = []
    for space, page in islice(pages, _PAGES):
        about = f": {page.description}" if page.description else ""
        url = site.visit.public(f"{space.base}{quote(space.view.tree.url_path(page))}")
        lines.append(f"- {page.title} ({url}){about}")
    left = sum(1 for _ in pages)
    if left:
        lines.append(f"\n{left} more pages: call again with start={skipped + _PAGES}.")
    return "\n".join(lines) or "There are no more pages."


def _read_page(site: Reading, asked: ReadPage) -> str:
    unknown = Refused("There is no page at this address. search and list_pages give the addresses of pages.")
    url = read_address(asked.address)
    if url is None:
        raise unknown
    whole, start = unquote(url.path), site.visit.base
    if url.authority:
        whole, start = f"{url.origin}{whole}", site.visit.published
    start = unquote(start)
    if not whole.startswith(start):
        raise unknown
    there = msgspec.structs.replace(site.visit, rest=whole.removeprefix(start))
    try:
        space = enter_space(site.tx, there)
    except SendOn:
        space = None
    if space is None:
        raise unknown
    tree = space.view.tree
    found = tree.find(space.rest.removesuffix(".md"))
    page = tree.first_document(found) if found is not None else None
    if page is None:
        raise unknown
    text = site.build(space).markdown(page)
    part = text[asked.start : asked.start + _TEXT]
    left = len(text) - asked.start - len(part)
    if left > 0:
        part += f"\n\n[{left} more characters: call again with start={asked.start + _TEXT}.]"
    return part or f"The page has {len(text)} characters; there is nothing at start={asked.start}."


class _Tool(NamedTuple):
    title: str
    description: str
    takes: type[Struct]
    use: Callable[[Reading, Any], str]


_TOOLS = {
    "search": _Tool("Search", "Finds pages of this documentation by words.", Search, _search),
    "read_page": _Tool(
        "Read a page", f"A page as Markdown, {_TEXT} characters at a time.", ReadPage, _read_page
    ),
    "list_pages": _Tool(
        "List pages", f"Titles and addresses of all listed pages, {_PAGES} at a time.", ListPages, _list_pages
    ),
}


def _schema(takes: type[Struct]) -> dict[str, Any]:
    _, named = msgspec.json.schema_components([takes])
    return {name: value for name, value in named[takes.__name__].items() if name != "title"}


def _described(name: str, tool: _Tool) -> dict[str, Any]:
    return {
        "name": name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": _schema(tool.takes),
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }


class _Wrong(Exception):
    """An error of the protocol."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def _initialize(site: Reading, params: dict[str, Any]) -> dict[str, Any]:
    asked = params.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in _VERSIONS else _VERSIONS[0],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "octavo", "title": site.visit.site.title, "version": version("octavo")},
        "instructions": f"Reads the published documentation “{site.visit.site.title}”.",
    }


def _list_tools(site: Reading, params: dict[str, Any]) -> dict[str, Any]:
    return {"tools": [_described(name, tool) for name, tool in _TOOLS.items()]}


def _call_tool(site: Reading, params: dict[str, Any]) -> dict[str, Any]:
    name = params.get("name")
    tool = _TOOLS.get(name) if isinstance(name, str) else None
    if tool is None:
        raise _Wrong(_INVALID_PARAMS, f"params.name: expected one of {', '.join(_TOOLS)}")
    try:
        text, wrong = tool.use(site, msgspec.convert(params.get("arguments") or {}, tool.takes)), False
    except (Refused, msgspec.ValidationError) as error:
        # As a result, so that a model reads it and asks better.
        text, wrong = str(error), True
    return {"content": [{"type": "text", "text": text}], "isError": wrong}


_METHODS: dict[str, Callable[[Reading, dict[str, Any]], dict[str, Any]]] = {
    "initialize": _initialize,
    "ping": lambda site, params: {},
    "tools/list": _list_tools,
    "tools/call": _call_tool,
}


def _json(status: int, id: Any, **said: Any) -> Answer:
    body = msgspec.json.encode({"jsonrpc": "2.0", "id": id, **said})
    return Answer(status, body, "application/json", {"cache-control": "no-store"})


def _error(status: int, id: Any, code: int, message: str, **data: Any) -> Answer:
    error = {"code": code, "message": message} | ({"data": data} if data else {})
    return _json(status, id, error=error)


def answer_message(site: Reading, body: bytes, protocol: str) -> Answer:
    """The answer to one posted message. ``protocol``: the version that its header names, "" without one."""
    if protocol and protocol not in _VERSIONS:
        message = f"MCP-Protocol-Version: expected one of {', '.join(_VERSIONS)}"
        return _error(400, None, _INVALID_REQUEST, message, supported=_VERSIONS)
    try:
        message = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return _error(400, None, _PARSE_ERROR, f"body: {error}")
    if isinstance(message, list):
        return _error(400, None, _INVALID_REQUEST, "body: expected one message; batches are not taken")
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return _error(400, None, _INVALID_REQUEST, "body: expected a JSON-RPC 2.0 message")
    id, method, params = message.get("id"), message.get("method"), message.get("params", {})
    if "method" not in message and ("result" in message or "error" in message):
        # An answer, to a server that asks nothing.
        return Answer(202)
    if not isinstance(method, str) or ("id" in message and type(id) not in (int, str)):
        return _error(
            400, None, _INVALID_REQUEST, "body: expected a method as text, and an id as text or integer"
        )
    if "id" not in message:
        return Answer(202)
    known = _METHODS.get(method)
    if known is None:
        return _error(200, id, _NO_METHOD, f"method: expected one of {', '.join(_METHODS)}")
    if not isinstance(params, dict):
        return _error(200, id, _INVALID_PARAMS, "params: expected an object")
    try:
        return _json(200, id, result=known(site, params))
    except _Wrong as wrong:
        return _error(200, id, wrong.code, str(wrong))
