"""Servers of the Model Context Protocol over streamable HTTP: one JSON-RPC message in, its answer out.

Each request is complete in itself: there is no session, and nothing is sent by itself, so any process of the
installation answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from .asgi import Answer, Request

_SINGLE = "2026-07-28"
"""The version since which each request says by itself which one it speaks, and nothing is agreed before."""
_AGREED = ("2025-11-25", "2025-06-18", "2025-03-26")
"""Those before, newest first, which client and server agree on with ``initialize``."""
VERSIONS = (_SINGLE, *_AGREED)
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_SERVER_KEY = "io.modelcontextprotocol/serverInfo"
_MISMATCH, _UNSUPPORTED = -32020, -32022
_PARSE_ERROR, _INVALID_REQUEST, _NO_METHOD, _INVALID_PARAMS = -32700, -32600, -32601, -32602


class RefusedTool(Exception):
    """A tool cannot answer this; the message is for whoever asked."""


class Tool(NamedTuple):
    """``use`` is given what the server works on and the arguments, of type ``takes``; it gives text, or raises
    ``RefusedTool``. ``reads``: it changes nothing. ``destroys``: what it does is hard to take back."""

    title: str
    description: str
    takes: type[Struct]
    use: Callable[[Any, Any], str]
    reads: bool = True
    destroys: bool = False


class Server(NamedTuple):
    title: str
    instructions: str
    tools: Mapping[str, Tool]


@cache
def _schema(takes: type[Struct]) -> dict[str, Any]:
    _, named = msgspec.json.schema_components([takes])
    return {name: value for name, value in named[takes.__name__].items() if name != "title"}


def _described(name: str, tool: Tool) -> dict[str, Any]:
    hints = {"readOnlyHint": tool.reads, "openWorldHint": False}
    if not tool.reads:
        hints["destructiveHint"] = tool.destroys
    return {
        "name": name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": _schema(tool.takes),
        "annotations": hints,
    }


class _Params(Struct, frozen=True):
    name: str = ""


class _Call(Struct, frozen=True):
    method: str
    params: _Params = _Params()


class _Wrong(Exception):
    """An error of the protocol."""

    def __init__(self, code: int, message: str, **data: Any) -> None:
        super().__init__(message)
        self.code, self.data = code, data


class Headers(NamedTuple):
    """What the headers of a request say of its message, each "" where it is not there."""

    protocol: str
    method: str
    name: str

    @classmethod
    def of(cls, request: Request) -> Headers:
        return cls(*(request.header(name) for name in (b"mcp-protocol-version", b"mcp-method", b"mcp-name")))


def _about(server: Server) -> dict[str, str]:
    return {"name": "octavo", "title": server.title, "version": version("octavo")}


def _discover(server: Server, on: Any, params: dict[str, Any]) -> dict[str, Any]:
    return {
        "supportedVersions": VERSIONS,
        "capabilities": {"tools": {}},
        "instructions": server.instructions,
        "_meta": {_SERVER_KEY: _about(server)},
    }


def _initialize(server: Server, on: Any, params: dict[str, Any]) -> dict[str, Any]:
    asked = params.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in _AGREED else _AGREED[0],
        "capabilities": {"tools": {}},
        "serverInfo": _about(server),
        "instructions": server.instructions,
    }


def _list_tools(server: Server, on: Any, params: dict[str, Any]) -> dict[str, Any]:
    return {"tools": [_described(name, tool) for name, tool in server.tools.items()]}


def _call_tool(server: Server, on: Any, params: dict[str, Any]) -> dict[str, Any]:
    name = params.get("name")
    tool = server.tools.get(name) if isinstance(name, str) else None
    if tool is None:
        raise _Wrong(_INVALID_PARAMS, f"params.name: expected one of {', '.join(server.tools)}")
    try:
        text, wrong = tool.use(on, msgspec.convert(params.get("arguments") or {}, tool.takes)), False
    except (RefusedTool, msgspec.ValidationError) as error:
        # As a result, so that a model reads it and asks better.
        text, wrong = str(error), True
    return {"content": [{"type": "text", "text": text}], "isError": wrong}


_METHODS: dict[str, Callable[[Server, Any, dict[str, Any]], dict[str, Any]]] = {
    "initialize": _initialize,
    "ping": lambda server, on, params: {},
    "tools/list": _list_tools,
    "tools/call": _call_tool,
}


_SINGLE_METHODS = {"server/discover": _discover, "tools/list": _list_tools, "tools/call": _call_tool}


def _answer_single(
    server: Server, on: Any, method: str, params: dict[str, Any], headers: Headers
) -> dict[str, Any]:
    """The result of a request that says which version it speaks. Raises ``_Wrong``."""
    meta = params.get("_meta")
    if not isinstance(meta, dict) or not {_VERSION_KEY, _CAPABILITIES_KEY} <= set(meta):
        message = f"params._meta: expected {_VERSION_KEY} and {_CAPABILITIES_KEY}"
        raise _Wrong(_INVALID_PARAMS, message)
    named = params.get("name") if method == "tools/call" else None
    for header, given, said in (
        ("MCP-Protocol-Version", headers.protocol, meta[_VERSION_KEY]),
        ("Mcp-Method", headers.method, method),
        # A name that no header may carry as it is comes in another form.
        ("Mcp-Name", "" if headers.name.startswith("=?") else headers.name, named or ""),
    ):
        if given != said and not (header == "Mcp-Name" and headers.name.startswith("=?")):
            raise _Wrong(_MISMATCH, f"{header}: the header does not say what the message says")
    if meta[_VERSION_KEY] != _SINGLE:
        message = f"{_VERSION_KEY}: expected {_SINGLE}"
        raise _Wrong(_UNSUPPORTED, message, supported=VERSIONS, requested=meta[_VERSION_KEY])
    known = _SINGLE_METHODS.get(method)
    if known is None:
        raise _Wrong(_NO_METHOD, f"method: expected one of {', '.join(_SINGLE_METHODS)}")
    result = {**known(server, on, params), "resultType": "complete"}
    # What a tool says is read anew; which tools there are may be kept for a while.
    return result if known is _call_tool else {**result, "ttlMs": 60_000, "cacheScope": "private"}


def _json(status: int, id: Any, **said: Any) -> Answer:
    body = msgspec.json.encode({"jsonrpc": "2.0", "id": id, **said})
    return Answer(status, body, "application/json", {"cache-control": "no-store"})


def _error(status: int, id: Any, code: int, message: str, **data: Any) -> Answer:
    error = {"code": code, "message": message} | ({"data": data} if data else {})
    return _json(status, id, error=error)


def called_tool(body: bytes) -> str:
    """The tool that a message calls; "" where it is no such message."""
    try:
        called = msgspec.json.decode(body, type=_Call)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    return called.params.name if called.method == "tools/call" else ""


def answer_message(server: Server, on: Any, body: bytes, headers: Headers) -> Answer:
    """The answer to one posted message. ``on``: what the tools work on."""
    if headers.protocol and headers.protocol not in VERSIONS:
        message = f"MCP-Protocol-Version: expected one of {', '.join(VERSIONS)}"
        return _error(400, None, _UNSUPPORTED, message, supported=VERSIONS, requested=headers.protocol)
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
    if not isinstance(params, dict):
        return _error(200, id, _INVALID_PARAMS, "params: expected an object")
    if headers.protocol == _SINGLE:
        try:
            return _json(200, id, result=_answer_single(server, on, method, params, headers))
        except _Wrong as wrong:
            status = 404 if wrong.code == _NO_METHOD else 400
            return _error(status, id, wrong.code, str(wrong), **wrong.data)
    known = _METHODS.get(method)
    if known is None:
        return _error(200, id, _NO_METHOD, f"method: expected one of {', '.join(_METHODS)}")
    try:
        return _json(200, id, result=known(server, on, params))
    except _Wrong as wrong:
        return _error(200, id, wrong.code, str(wrong))
