"""Model Context Protocol (MCP) servers over streamable HTTP. Each JSON-RPC message gets a response.

Each request is self-contained: there are no sessions, and the server doesn't send anything on its own, so any
process of the server can respond.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import version
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from octavo.core.json_types import JsonObject

from .edge import Answer, Request

_SINGLE = "2026-07-28"
"""First protocol version in which each request specifies its version, without negotiation."""
_AGREED = ("2025-11-25", "2025-06-18", "2025-03-26")
"""Older versions, newest first. With these versions, client and server negotiate the version with ``initialize``."""
VERSIONS = (_SINGLE, *_AGREED)
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_SERVER_KEY = "io.modelcontextprotocol/serverInfo"
_MISMATCH, _UNSUPPORTED = -32020, -32022
_PARSE_ERROR, _INVALID_REQUEST, _NO_METHOD, _INVALID_PARAMS = -32700, -32600, -32601, -32602
_NO_RESOURCE = -32002
"""Error code for a missing resource in older versions. In the newest version, the URI of a missing resource is an
invalid parameter."""


class RefusedTool(Exception):
    """Error from a tool. The message is for the caller."""


class ToolText(NamedTuple):
    """Response of a tool: text, and additional fields for the client by name. ``data``: the same content as
    ``text``, as structured data of the type that the tool declares in ``gives``, if any; None if there is only
    text."""

    text: str
    about: Mapping[str, str] = {}
    data: Struct | dict[str, Any] | None = None


class Tool(NamedTuple):
    """Tool of an MCP server.

    ``use``: a function that takes the server's object and the arguments, of type ``takes``, and returns text or
    raises ``RefusedTool``. ``reads``: whether it only reads. ``destroys``: whether its effects are hard to undo.
    ``reaches_out``: whether it sends requests to other servers. ``gives``: the type of the data in all of its
    responses; None if some responses have no data or data of another type.
    """

    title: str
    description: str
    takes: type[Struct]
    use: Callable[[Any, Any], str | ToolText]
    reads: bool = True
    destroys: bool = False
    reaches_out: bool = False
    gives: type[Struct] | None = None


class Resource(NamedTuple):
    """Resource at a URI. ``changed``: the time of its last change, in the API's format."""

    address: str
    title: str
    description: str
    media_type: str
    changed: str


class Resources(NamedTuple):
    """Resources of an MCP server.

    ``list_from``: a function that takes the server's object and the number of resources to skip, and returns the next
    resources and whether there are more. ``read``: a function that returns the media type and text of a resource, or
    None if it doesn't exist.
    """

    list_from: Callable[[Any, int], tuple[list[Resource], bool]]
    read: Callable[[Any, str], tuple[str, str] | None]


class Prompt(NamedTuple):
    """Prompt that people can choose. ``arguments``: the descriptions of its arguments by name. All arguments are
    required strings. ``write``: a function that returns the prompt for the model."""

    title: str
    description: str
    arguments: Mapping[str, str]
    write: Callable[[Mapping[str, str]], str]


class Server(NamedTuple):
    title: str
    instructions: str
    tools: Mapping[str, Tool]
    resources: Resources | None = None
    prompts: Mapping[str, Prompt] = {}

    @property
    def capabilities(self) -> JsonObject:
        resources: JsonObject = {"resources": {}} if self.resources is not None else {}
        return {"tools": {}, **resources, **({"prompts": {}} if self.prompts else {})}


@cache
def _schema(of: type[Struct]) -> JsonObject:
    _, named = msgspec.json.schema_components([of], ref_template="#/$defs/{name}")
    plain = {
        each: {name: value for name, value in schema.items() if name != "title"}
        for each, schema in named.items()
    }
    own = plain.pop(of.__name__)
    return {**own, "$defs": plain} if plain else own


def _described(name: str, tool: Tool) -> JsonObject:
    hints = {"readOnlyHint": tool.reads, "openWorldHint": tool.reaches_out}
    if not tool.reads:
        hints["destructiveHint"] = tool.destroys
    return {
        "name": name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": _schema(tool.takes),
        **({"outputSchema": _schema(tool.gives)} if tool.gives is not None else {}),
        "annotations": hints,
    }


class _Params(Struct, frozen=True):
    name: str
    arguments: Raw = Raw(b"{}")
    meta: dict[str, Any] | UnsetType = field(name="_meta", default=UNSET)


class _Message(Struct, frozen=True):
    jsonrpc: Literal["2.0"]
    id: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] | str
    method: Literal["tools/call"]
    params: _Params


class _Result(Struct, frozen=True):
    is_error: bool = field(name="isError", default=False)


class _Answered(Struct, frozen=True):
    result: Raw | UnsetType = UNSET


class AskedTool(NamedTuple):
    """Tool call, regardless of who made it. ``arguments``: the arguments as sent. ``single``: whether the protocol
    version has no negotiation, in which case responses have a different format."""

    tool: str
    arguments: bytes
    single: bool


class ToolCall(NamedTuple):
    """Valid tool call, with the ID for its response."""

    id: int | str
    asked: AskedTool


class _Wrong(Exception):
    """Raised internally to report a protocol error."""

    def __init__(self, code: int, message: str, **data: object) -> None:
        super().__init__(message)
        self.code, self.data = code, data


class Headers(NamedTuple):
    """Headers of a request that describe its message. Missing headers are empty."""

    protocol: str
    method: str
    name: str

    @classmethod
    def of(cls, request: Request) -> Headers:
        return cls(*(request.header(name) for name in (b"mcp-protocol-version", b"mcp-method", b"mcp-name")))


def _about(server: Server) -> dict[str, str]:
    return {"name": "octavo", "title": server.title, "version": version("octavo")}


def _discover(server: Server, on: object, params: Mapping[str, object]) -> JsonObject:
    return {
        "supportedVersions": VERSIONS,
        "capabilities": server.capabilities,
        "instructions": server.instructions,
        "_meta": {_SERVER_KEY: _about(server)},
    }


def _initialize(server: Server, on: object, params: Mapping[str, object]) -> JsonObject:
    asked = params.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in _AGREED else _AGREED[0],
        "capabilities": server.capabilities,
        "serverInfo": _about(server),
        "instructions": server.instructions,
    }


def _list_tools(server: Server, on: object, params: Mapping[str, object]) -> JsonObject:
    return {"tools": [_described(name, tool) for name, tool in server.tools.items()]}


def _call_tool(server: Server, on: object, params: Mapping[str, object]) -> JsonObject:
    name = params.get("name")
    tool = server.tools.get(name) if isinstance(name, str) else None
    if tool is None:
        raise _Wrong(_INVALID_PARAMS, f"params.name: must be one of {', '.join(server.tools)}")
    try:
        said, wrong = tool.use(on, msgspec.convert(params.get("arguments") or {}, tool.takes)), False
    except (RefusedTool, msgspec.ValidationError) as error:
        # This is a result instead of an error, so that a model reads it and corrects its call.
        said, wrong = str(error), True
    said = said if isinstance(said, ToolText) else ToolText(said)
    found = _said(said, wrong)
    return {**found, "_meta": said.about} if said.about else found


def _said(said: ToolText, wrong: bool) -> JsonObject:
    found = {"content": [{"type": "text", "text": said.text}], "isError": wrong}
    return found if said.data is None else {**found, "structuredContent": msgspec.to_builtins(said.data)}


def _list_resources(server: Server, on: object, params: Mapping[str, object]) -> JsonObject:
    cursor = params.get("cursor", "")
    if not isinstance(cursor, str) or not (cursor == "" or (cursor.isascii() and cursor.isdigit())):
        raise _Wrong(_INVALID_PARAMS, "params.cursor: must be the `nextCursor` of an earlier response")
    start = int(cursor[:15] or 0)
    found, more = server.resources.list_from(on, start) if server.resources is not None else ([], False)
    entries = [
        {
            "uri": one.address,
            "name": one.title,
            **({"description": one.description} if one.description else {}),
            "mimeType": one.media_type,
            "annotations": {"lastModified": one.changed},
        }
        for one in found
    ]
    return {"resources": entries, **({"nextCursor": str(start + len(found))} if more else {})}


def _read_resource(server: Server, on: object, params: Mapping[str, object]) -> JsonObject:
    address = params.get("uri")
    if not isinstance(address, str):
        raise _Wrong(_INVALID_PARAMS, "params.uri: must be the URI of a resource")
    found = server.resources.read(on, address) if server.resources is not None else None
    if found is None:
        raise _Wrong(_NO_RESOURCE, "params.uri: there is no resource at this URI", uri=address)
    return {"contents": [{"uri": address, "mimeType": found[0], "text": found[1]}]}


def _list_prompts(server: Server, on: object, params: Mapping[str, object]) -> JsonObject:
    entries = [
        {
            "name": name,
            "title": prompt.title,
            "description": prompt.description,
            "arguments": [
                {"name": argument, "description": what, "required": True}
                for argument, what in prompt.arguments.items()
            ],
        }
        for name, prompt in server.prompts.items()
    ]
    return {"prompts": entries}


def _get_prompt(server: Server, on: object, params: Mapping[str, object]) -> JsonObject:
    name, given = params.get("name"), params.get("arguments") or {}
    prompt = server.prompts.get(name) if isinstance(name, str) else None
    if prompt is None:
        raise _Wrong(_INVALID_PARAMS, f"params.name: must be one of {', '.join(server.prompts) or 'none'}")
    needed = ", ".join(prompt.arguments)
    if (
        not isinstance(given, dict)
        or set(given) != set(prompt.arguments)
        or not all(isinstance(value, str) and value.strip() for value in given.values())
    ):
        raise _Wrong(
            _INVALID_PARAMS,
            f"params.arguments: must contain exactly {needed}, each with a non-empty string",
        )
    content = {"type": "text", "text": prompt.write(given)}
    return {"description": prompt.description, "messages": [{"role": "user", "content": content}]}


_Method = Callable[[Server, Any, dict[str, Any]], dict[str, Any]]
_READING: dict[str, _Method] = {
    "tools/list": _list_tools,
    "tools/call": _call_tool,
    "resources/list": _list_resources,
    "resources/templates/list": lambda server, on, params: {"resourceTemplates": []},
    "resources/read": _read_resource,
    "prompts/list": _list_prompts,
    "prompts/get": _get_prompt,
}
_METHODS = {"initialize": _initialize, "ping": lambda server, on, params: {}, **_READING}
_SINGLE_METHODS = {"server/discover": _discover, **_READING}
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Parameter whose value the ``Mcp-Name`` header repeats, by method."""
_KEPT_FOR: dict[_Method, int | None] = {_call_tool: None, _get_prompt: None, _read_resource: 0}
"""Time in milliseconds for which callers can cache a response; None if the protocol version doesn't support
caching."""
_LISTS_KEPT_FOR = 60_000


def _check_single(method: str, named: object, meta: object, headers: Headers) -> None:
    """Check that a request specifies its protocol version, and that its headers match its content. Raises ``_Wrong`` if
    a check fails."""
    if not isinstance(meta, dict) or not {_VERSION_KEY, _CAPABILITIES_KEY} <= set(meta):
        message = f"params._meta: must contain {_VERSION_KEY} and {_CAPABILITIES_KEY}"
        raise _Wrong(_INVALID_PARAMS, message)
    for header, given, said in (
        ("MCP-Protocol-Version", headers.protocol, meta[_VERSION_KEY]),
        ("Mcp-Method", headers.method, method),
        # Names that can't be in a header unchanged are sent in an encoded form.
        ("Mcp-Name", "" if headers.name.startswith("=?") else headers.name, named or ""),
    ):
        if given != said and not (header == "Mcp-Name" and headers.name.startswith("=?")):
            raise _Wrong(_MISMATCH, f"{header}: must match the value in the body")
    if meta[_VERSION_KEY] != _SINGLE:
        message = f"{_VERSION_KEY}: must be {_SINGLE}"
        raise _Wrong(_UNSUPPORTED, message, supported=VERSIONS, requested=meta[_VERSION_KEY])


def _answer_single(
    server: Server, on: object, method: str, params: JsonObject, headers: Headers
) -> JsonObject:
    """Return the result of a request that specifies its protocol version. Raises ``_Wrong`` if the request is
    invalid."""
    _check_single(method, params.get(_NAMED_BY.get(method, "")), params.get("_meta"), headers)
    known = _SINGLE_METHODS.get(method)
    if known is None:
        raise _Wrong(_NO_METHOD, f"method: must be one of {', '.join(_SINGLE_METHODS)}")
    result = {**known(server, on, params), "resultType": "complete"}
    kept = _KEPT_FOR.get(known, _LISTS_KEPT_FOR)
    return result if kept is None else {**result, "ttlMs": kept, "cacheScope": "private"}


def _json(status: int, id: object, **said: object) -> Answer:
    body = msgspec.json.encode({"jsonrpc": "2.0", "id": id, **said})
    return Answer(status, body, "application/json", {"cache-control": "no-store"})


def _error(status: int, id: object, code: int, message: str, **data: object) -> Answer:
    error = {"code": code, "message": message} | ({"data": data} if data else {})
    return _json(status, id, error=error)


class _NamedParams(Struct, frozen=True):
    name: str = ""


class _Named(Struct, frozen=True):
    method: str
    params: _NamedParams = _NamedParams()


def called_tool(body: bytes) -> str:
    """Return the name of the tool that a message calls, even if the call is invalid; an empty string if the message
    isn't a tool call."""
    try:
        called = msgspec.json.decode(body, type=_Named)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    return called.params.name if called.method == "tools/call" else ""


_CALLS, _ANSWERS = msgspec.json.Decoder(_Message), msgspec.json.Decoder(_Answered)
_RESULTS = msgspec.json.Decoder(_Result)


def read_call(body: bytes, headers: Headers) -> ToolCall | None:
    """Return the valid tool call in a posted message; None for any other message."""
    try:
        message = _CALLS.decode(body)
        single = headers.protocol == _SINGLE
        if single:
            _check_single(message.method, message.params.name, message.params.meta, headers)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, _Wrong):
        return None
    if headers.protocol and headers.protocol not in VERSIONS:
        return None
    return ToolCall(message.id, AskedTool(message.params.name, bytes(message.params.arguments), single))


def result_of(answer: Answer) -> bytes | None:
    """Return a tool's result as JSON, from the response to the tool call; None for an error."""
    result = _ANSWERS.decode(answer.body).result if answer.status == 200 else UNSET
    return None if result is UNSET or _RESULTS.decode(result).is_error else bytes(result)


def say_instead(answer: Answer, said: ToolText, *, wrong: bool) -> Answer:
    """Replace the text in the response to a tool call. ``wrong``: whether the new text reports a failure."""
    message = msgspec.json.decode(answer.body)
    message["result"] |= _said(said, wrong)
    return msgspec.structs.replace(answer, body=msgspec.json.encode(message))


def answer_call(call: ToolCall, result: bytes) -> Answer:
    """Return the response to a call. ``result``: a tool's result from ``result_of``, taken from the response to an
    identical call."""
    return _json(200, call.id, result=Raw(result))


def answer_message(server: Server, on: object, body: bytes, headers: Headers) -> Answer:
    """Return the response to one posted message. ``on``: the object that the tools work on."""
    if headers.protocol and headers.protocol not in VERSIONS:
        message = f"MCP-Protocol-Version: must be one of {', '.join(VERSIONS)}"
        return _error(400, None, _UNSUPPORTED, message, supported=VERSIONS, requested=headers.protocol)
    try:
        message = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return _error(400, None, _PARSE_ERROR, f"body: {error}")
    if isinstance(message, list):
        return _error(400, None, _INVALID_REQUEST, "body: must be a single message, not a batch")
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return _error(400, None, _INVALID_REQUEST, "body: must be a JSON-RPC 2.0 message")
    id, method, params = message.get("id"), message.get("method"), message.get("params", {})
    if "method" not in message and ("result" in message or "error" in message):
        # This is a response, although this server sends no requests.
        return Answer(202)
    if not isinstance(method, str) or ("id" in message and type(id) not in (int, str)):
        return _error(
            400,
            None,
            _INVALID_REQUEST,
            "body: must have a string as `method`, and a string or integer as `id`",
        )
    if "id" not in message:
        return Answer(202)
    if not isinstance(params, dict):
        return _error(200, id, _INVALID_PARAMS, "params: must be an object")
    if headers.protocol == _SINGLE:
        try:
            return _json(200, id, result=_answer_single(server, on, method, params, headers))
        except _Wrong as wrong:
            status = 404 if wrong.code == _NO_METHOD else 400
            code = _INVALID_PARAMS if wrong.code == _NO_RESOURCE else wrong.code
            return _error(status, id, code, str(wrong), **wrong.data)
    known = _METHODS.get(method)
    if known is None:
        return _error(200, id, _NO_METHOD, f"method: must be one of {', '.join(_METHODS)}")
    try:
        return _json(200, id, result=known(server, on, params))
    except _Wrong as wrong:
        return _error(200, id, wrong.code, str(wrong), **wrong.data)
