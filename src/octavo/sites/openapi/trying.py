"""Requests that visitors send from a page: the form for a request, and the requests that Octavo sends on a visitor's
behalf. This module does no I/O.

A request is built from the server and values that a visitor chooses, never from a URL that the visitor provides.
Therefore, it is always sent to a server in the specification, with the method and path of one operation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from typing import Any, Literal
from urllib.parse import quote, unquote, urlencode

from msgspec import Struct

from octavo.core.json_types import JsonObject
from octavo.errors import BadRequest, TooLarge, format_size

from .code_samples import body_text, media_text, secret_names, streams
from .description import ApiDescription, Data, DescribedOperation, list_of, object_of, text_of
from .examples import media_example, named_examples, parameter_example
from .styles import style_of

MAX_SENT = 1024 * 1024
"""Maximum size in bytes of a body sent on behalf of a visitor."""
_SERVERS = 50
_VARIABLES = 20
_VALUES = 200
_ORIGINS = 20
"""Maximum number of hosts that a page's script can connect to. Octavo's server forwards requests to all other hosts."""
_TOKEN_ORIGINS = 5
_SCOPES = 500
_EXAMPLE = 20_000
_SEPARATORS = {"label": ".,=", "matrix": ";,=", "simple": ",="}
"""Separators between the values of a list or object in a path, by style."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
_COOKIE = re.compile(r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*")
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+*-]+(?:;[\t\x20-\x7e]*)?")
_HOST = re.compile(
    r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?::\d{1,5})?", re.I
)
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.I)
_VARIABLE = re.compile(r"\{([^{}]*)\}")
_UNSENT = frozenset(
    [
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "cookie",
        "te",
        "trailer",
        "upgrade",
        "forwarded",
    ]
)

Place = Literal["path", "query", "header", "cookie"]


# --- the form -------------------------------------------------------------------------------------------------


class Variable(Struct, omit_defaults=True):
    """Variable of a server URL. ``values``: the possible values. ``free``: whether other values are
    allowed."""

    name: str
    value: str
    values: list[str] = []
    free: bool = False


class FormServer(Struct, omit_defaults=True):
    url: str
    about: str = ""
    variables: list[Variable] = []


class FormField(Struct, omit_defaults=True):
    """Parameter, or field of a form. ``style`` and ``explode``: the serialization of lists and objects (RFC 6570,
    using OpenAPI's terms); without a style, the text is sent unchanged. ``kind``: its type in the schema.
    ``schema``: the schema to validate the value with."""

    name: str
    type: Literal["text", "number", "boolean", "list", "object", "file"] = "text"
    place: Place | None = None
    required: bool = False
    value: str = ""
    values: list[str] = []
    style: str = ""
    explode: bool = False
    kind: str = ""
    schema: Any = None


class Body(Struct, omit_defaults=True):
    """Request body. ``value``: an example. ``examples``: all examples by name. ``fields``: the fields of a form.
    ``file``: whether to select one of the visitor's files. ``schema``: the schema to validate it with. The schemas that
    it refers to are in ``Form.schemas``."""

    media_type: str
    value: str = ""
    examples: list[tuple[str, str]] = []
    fields: list[FormField] | None = None
    file: bool = False
    schema: Any = None


class Flow(Struct, omit_defaults=True):
    """OAuth flow, by its name in the specification. ``scopes``: the available scopes with their
    descriptions."""

    flow: str
    authorization: str = ""
    token: str = ""
    scopes: list[tuple[str, str]] = []


class Scheme(Struct, omit_defaults=True):
    """Credential and its location. ``prefix``: the text before it. ``basic``: whether it is a username and a
    password. ``env``: the environment variable for it in code samples. ``scopes``: the scopes that the operation
    requires. ``flows``: the flows for getting a token, each with its URLs. ``beyond``: the reason that the page
    can't send the credential, if any. The credential can be a certificate, which only the browser has, or a value
    that is ``computed`` for each request."""

    scheme: str
    place: Place
    name: str
    prefix: str = ""
    placeholder: str = ""
    basic: bool = False
    env: list[str] = []
    scopes: list[str] = []
    flows: list[Flow] = []
    beyond: Literal["", "certificate", "computed"] = ""


class Form(Struct, omit_defaults=True):
    """Form for sending a request for an operation. ``security``: the authentication methods, from which the visitor
    selects one. ``proxy``: whether Octavo's server forwards requests. ``answers``: the schemas for validating
    responses, by status and media type. ``schemas``: the schemas that other schemas in the form refer to.
    ``signed_in``: the URL that providers redirect readers to after sign-in; empty if sign-in isn't possible."""

    method: str
    path: str
    servers: list[FormServer]
    proxy: Literal["always", "never", "otherwise"]
    fields: list[FormField] = []
    bodies: list[Body] = []
    body_required: bool = False
    security: list[list[Scheme]] = []
    streams: bool = False
    answers: dict[str, dict[str, Any]] = {}
    schemas: JsonObject = {}
    signed_in: str = ""


def can_try(description: ApiDescription, operation: DescribedOperation) -> bool:
    return (
        not operation.webhook
        and not description.setting(operation, "x-hideTryItPanel")
        and bool(_servers(description, operation))
    )


def make_form(description: ApiDescription, operation: DescribedOperation) -> Form:
    body = description.follow(operation.data.get("requestBody"))
    checks = _Checks(description)
    schemes = [
        [
            found
            for name in way
            if (found := _scheme(description, name, list_of(way[name]), len(way))) is not None
        ]
        for way in description.security(operation)
    ]
    return Form(
        operation.method.upper(),
        operation.path,
        [
            FormServer(text_of(each["url"]), text_of(each.get("description"))[:200], list(_variables(each)))
            for each in _servers(description, operation)
        ],
        _proxy(description, operation),
        list(_fields(description, operation, checks)),
        [
            _body(description, kind, object_of(media), checks)
            for kind, media in _content(description, operation)
        ],
        body.get("required") is True,
        schemes,
        streams(description, operation),
        _answers(description, operation, checks),
        checks.schemas,
    )


_WAYS = 20
"""Maximum number of authentication methods to offer in a form for all operations."""


def make_access(description: ApiDescription) -> Form:
    """Return a form for credentials only: each authentication method that an operation requires, most common
    first."""
    wanted = Counter(
        tuple(way) for each in description.operations.values() for way in description.security(each) if way
    )
    schemes = [
        [found for name in way if (found := _scheme(description, name, [], len(way))) is not None]
        for way, _ in wanted.most_common(_WAYS)
    ]
    servers = [
        FormServer(text_of(each["url"]), text_of(each.get("description"))[:200], list(_variables(each)))
        for each in _servers(description, None)
    ]
    return Form("", "", servers, "never", security=[way for way in schemes if way])


def token_origins(form: Form) -> list[str]:
    """Return the hosts that issue tokens for a form. The Content-Security-Policy includes these hosts."""
    flows = (flow for way in form.security for scheme in way for flow in scheme.flows)
    return list(islice(_origins_of(flows), _TOKEN_ORIGINS))


def _origins_of(flows: Iterable[Flow]) -> dict[str, None]:
    return dict.fromkeys(
        f"{flow.token.partition('://')[0].lower()}://{authority.lower()}"
        for flow in flows
        if _HOST.fullmatch(authority := _authority(flow.token))
    )


_CHECKED = frozenset(
    [
        "type",
        "enum",
        "const",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "minItems",
        "maxItems",
        "required",
        "nullable",
        "readOnly",
        "writeOnly",
        "title",
        "format",
        "default",
        "deprecated",
    ]
)
_CHECKS = 3000
"""Maximum number of schemas to send to a browser for validation. Further schemas aren't validated."""
_REFERRED = "#/components/schemas/"


class _Checks:
    """Schemas that are reduced to the keywords that browsers validate, and the named schemas that they refer to."""

    def __init__(self, description: ApiDescription) -> None:
        self._description = description
        self._left = _CHECKS
        self.schemas: JsonObject = {}

    def take(self, value: object, depth: int = 0) -> object:
        """Return the reduced schema; None if it allows any value."""
        self._left -= 1
        if not isinstance(value, dict) or self._left < 0 or depth > 30:
            return False if value is False else None
        reference = value.get("$ref")
        if isinstance(reference, str) and reference.startswith(_REFERRED):
            name = self._description.name_of(value)
            if name not in self.schemas:
                self.schemas[name] = None
                self.schemas[name] = self.take(self._description.schemas.get(name), depth + 1)
            return {"$ref": name}
        schema = self._description.follow(value)
        made = {key: schema[key] for key in _CHECKED & schema.keys()}
        for key in ("allOf", "oneOf", "anyOf"):
            if list_of(schema.get(key)):
                made[key] = [self.take(each, depth + 1) for each in schema[key][:_VALUES]]
        for key in ("items", "additionalProperties", "not"):
            if key in schema and (found := self.take(schema[key], depth + 1)) is not None:
                made[key] = found
        if object_of(schema.get("properties")):
            made["properties"] = {
                name: self.take(each, depth + 1) for name, each in schema["properties"].items()
            }
        return made


def _answers(
    description: ApiDescription, operation: DescribedOperation, checks: _Checks
) -> dict[str, JsonObject]:
    found: dict[str, dict[str, Any]] = {}
    for code, value in object_of(operation.data.get("responses")).items():
        content = object_of(description.follow(value).get("content"))
        found[code] = {
            kind: checks.take(object_of(media).get("schema"))
            for kind, media in content.items()
            if "json" in kind and "schema" in object_of(media)
        }
    return found


def list_origins(description: ApiDescription, operation: DescribedOperation) -> list[str]:
    """Return the hosts that a page with the operation can connect to, for the Content-Security-Policy: the
    operation's servers, and the hosts that issue tokens for the operation."""
    found: dict[str, None] = {}
    by_us = _proxy(description, operation) == "always"
    for server in () if by_us else _servers(description, operation):
        url = text_of(server["url"])
        variables = {each.name: each for each in _variables(server)}
        names = [name for name in _VARIABLE.findall(_authority(url)) if name in variables]
        choices = [
            ["*"] if variables[n].free else (variables[n].values or [variables[n].value]) for n in names
        ]
        for values in islice(product(*choices), _ORIGINS):
            made = url
            for name, value in zip(names, values, strict=True):
                made = made.replace("{" + name + "}", value)
            scheme, authority = made.partition("://")[0].lower(), _authority(made).lower()
            fixed = re.sub(r"^(\*[\w-]*|[\w-]*\*)\.", "", authority)
            if _HOST.fullmatch(fixed) and scheme in ("http", "https"):
                found[f"{scheme}://{'*.' if fixed != authority else ''}{fixed}"] = None
    tokens = _origins_of(
        flow
        for way in description.security(operation)
        for name in way
        for flow in getattr(_scheme(description, name), "flows", [])
    )
    # Token requests are allowed regardless of the number of servers.
    return list(dict.fromkeys([*islice(found, _ORIGINS), *islice(tokens, _TOKEN_ORIGINS)]))


def _proxy(
    description: ApiDescription, operation: DescribedOperation
) -> Literal["always", "never", "otherwise"]:
    wanted = operation.data.get("x-enable-proxy", description.data.get("x-enable-proxy"))
    return "always" if wanted is True else "never" if wanted is False else "otherwise"


def _servers(description: ApiDescription, operation: DescribedOperation | None) -> list[Data]:
    """Return the servers that have an absolute URL."""
    found = description.servers(operation)[:_SERVERS]
    return [each for each in found if re.match(r"(?i)https?://[^/?#]", text_of(each.get("url")))]


def _authority(url: str) -> str:
    return re.split(r"[/?#]", url.partition("://")[2], maxsplit=1)[0]


def _variables(server: Data) -> Iterator[Variable]:
    url = text_of(server["url"])
    for name, value in islice(object_of(server.get("variables")).items(), _VARIABLES):
        data = object_of(value)
        values = [text_of(each) for each in list_of(data.get("enum"))[:_VALUES]]
        default = text_of(data["default"]) if "default" in data else next(iter(values), "")
        yield Variable(name, default, values, not values and _can_be_free(url, name))


def _can_be_free(url: str, name: str) -> bool:
    """Return whether a variable can have any value. A variable in the path can. A variable in the hostname can if
    the specification contains at least the last two labels, which determine the owner of the host."""
    written = "{" + name + "}"
    if written not in _authority(url):
        return written not in url.partition("://")[0]
    host = _authority(url).partition(written)[2].split(":")[0]
    after = host.split(".")
    return (
        written not in after[0]
        and len(after) > 2
        and all(_LABEL.fullmatch(label) for label in after[1:])
        and "@" not in _authority(url)
    )


def _type(schema: Data) -> Literal["text", "number", "boolean", "list", "object", "file"]:
    kinds = schema.get("type")
    kind = next((k for k in kinds if k != "null"), "") if isinstance(kinds, list) else kinds
    if kind in ("integer", "number"):
        return "number"
    if kind == "boolean":
        return "boolean"
    if kind == "array" or (kind is None and "items" in schema):
        return "list"
    if kind == "object" or (kind is None and "properties" in schema):
        return "object"
    return "file" if schema.get("format") == "binary" or "contentMediaType" in schema else "text"


def _choices(description: ApiDescription, schema: Data) -> list[str]:
    values = list_of(schema.get("enum")) or list_of(description.follow(schema.get("items")).get("enum"))
    return [each if isinstance(each, str) else body_text("", each) for each in values[:_VALUES]]


def _format_value(value: object) -> str:
    """Return a value as text for a form field. The values in a list are on separate lines."""
    if isinstance(value, list):
        return "\n".join(_format_value(each) for each in value)
    if value is None or isinstance(value, str):
        return value or ""
    return body_text("application/json", value)


def _fields(
    description: ApiDescription, operation: DescribedOperation, checks: _Checks | None = None
) -> Iterator[FormField]:
    for parameter in description.parameters(operation):
        place = parameter.get("in")
        if place not in ("path", "query", "header", "cookie"):
            continue
        schema = description.follow(parameter.get("schema"))
        required = parameter.get("required") is True or place == "path"
        given = (
            parameter_example(description, parameter, named=False)
            if required or "example" in parameter
            else None
        )
        how = style_of(parameter, is_joined=_type(schema) in ("list", "object"))
        yield FormField(
            text_of(parameter["name"]),
            _type(schema),
            place,
            required,
            _format_value(given)[:_EXAMPLE],
            _choices(description, schema),
            how.style,
            how.explode,
            _kind(description, schema),
            checks.take(parameter.get("schema")) if checks is not None else None,
        )


def _kind(description: ApiDescription, schema: Data) -> str:
    kinds = schema.get("type")
    kind = next((text_of(k) for k in kinds if k != "null"), "") if isinstance(kinds, list) else text_of(kinds)
    if kind == "array":
        inner = text_of(description.follow(schema.get("items")).get("type"))
        return f"array of {inner}" if inner else kind
    return " ".join(filter(None, [kind, text_of(schema.get("format"))]))[:60]


def _content(description: ApiDescription, operation: DescribedOperation) -> list[tuple[str, object]]:
    body = description.follow(operation.data.get("requestBody"))
    return [item for item in object_of(body.get("content")).items() if _MEDIA_TYPE.fullmatch(item[0])][:20]


def _body(description: ApiDescription, kind: str, media: Data, checks: _Checks) -> Body:
    schema = description.merge(media.get("schema"))
    if kind.startswith(("multipart/", "application/x-www-form-urlencoded")):
        required = list_of(schema.get("required"))
        example = object_of(media_example(description, media, "request"))
        fields = []
        for name, value in islice(object_of(schema.get("properties")).items(), _VALUES):
            inner = description.follow(value)
            if inner.get("readOnly") is True:
                continue
            items = _type(description.follow(inner.get("items")))
            type_ = "file" if _type(inner) == "list" and items == "file" else _type(inner)
            given = example.get(name) if name in required and type_ != "file" else None
            fields.append(
                FormField(
                    name,
                    type_,
                    None,
                    name in required,
                    _format_value(given)[:_EXAMPLE],
                    _choices(description, inner),
                    kind=_kind(description, inner),
                    schema=checks.take(value),
                )
            )
        return Body(kind, fields=fields)
    if _type(schema) == "file" or re.match(r"application/octet-stream|(?:image|audio|video)/|\*/\*", kind):
        return Body(kind, file=True)
    value = media_example(description, media, "request")
    named = [
        (name, media_text(description, kind, media, each)[:_EXAMPLE])
        for name, each in named_examples(description, media)
    ]
    return Body(
        kind,
        media_text(description, kind, media, value)[:_EXAMPLE] if value is not None else "",
        named,
        schema=checks.take(media.get("schema")) if "json" in kind else None,
    )


_COMPUTED = re.compile(
    r"(?i)digest|hoba|mutual|negotiate|ntlm|scram-.+|hawk|oauth|signature|aws4-.+|dpop|gnap"
)
"""Pattern for HTTP schemes that require a different value for each request."""


def _scheme(
    description: ApiDescription, name: str, scopes: Sequence[object] | None = None, together: int = 1
) -> Scheme | None:
    data = description.follow(description.security_schemes.get(name))
    placeholder = text_of(data.get("x-gitbook-token-placeholder"))[:200]
    kind, scheme = data.get("type"), text_of(data.get("scheme")) or "Bearer"
    needed = [text_of(each) for each in (scopes or [])[:_VARIABLES]]
    env = secret_names(description, name, together)
    if kind == "http" and scheme.lower() == "basic":
        return Scheme(name, "header", "Authorization", "Basic", placeholder, basic=True, env=env)
    if kind in ("http", "oauth2", "openIdConnect"):
        word = scheme.capitalize() if kind == "http" else text_of(data.get("x-gitbook-prefix")) or "Bearer"
        flows = [
            Flow(
                flow,
                _safe_url(each.get("authorizationUrl")),
                _safe_url(each.get("tokenUrl")),
                [
                    (name, text_of(about)[:200])
                    for name, about in islice(object_of(each.get("scopes")).items(), _SCOPES)
                ],
            )
            for flow, value in islice(object_of(data.get("flows")).items(), _VARIABLES)
            if (each := object_of(value))
        ]
        if kind == "openIdConnect" and (address := _safe_url(data.get("openIdConnectUrl"))):
            flows = [Flow("OpenID Connect", address)]
        return Scheme(
            name,
            "header",
            "Authorization",
            word,
            placeholder,
            env=env,
            scopes=needed,
            flows=flows,
            beyond="computed" if kind == "http" and _COMPUTED.fullmatch(scheme) else "",
        )
    if kind == "mutualTLS":
        return Scheme(name, "header", "", beyond="certificate")
    place = data.get("in")
    if kind == "apiKey" and place in ("header", "query", "cookie") and text_of(data.get("name")):
        prefix = text_of(data.get("x-gitbook-prefix"))
        return Scheme(name, place, text_of(data["name"]), prefix, placeholder, env=env)
    return None


def _safe_url(value: object) -> str:
    """Return a URL if it is safe to open; otherwise, an empty string."""
    text = text_of(value)[:2000]
    return text if re.match(r"(?i)https?://[^/?#]", text) else ""


# --- the request ----------------------------------------------------------------------------------------------


class FilledForm(Struct, rename="camel", forbid_unknown_fields=True):
    """Values that a visitor filled in. ``server``: the index of the server in the form. ``body``: the bytes in
    base64."""

    server: int = 0
    variables: dict[str, str] = {}
    path: dict[str, str] = {}
    query: list[tuple[str, str]] = []
    headers: list[tuple[str, str]] = []
    cookies: list[tuple[str, str]] = []
    content_type: str = ""
    body: bytes = b""


class PreparedRequest(Struct, frozen=True):
    """Request that can be sent."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes | None


def prepare_request(
    description: ApiDescription, operation: DescribedOperation, wanted: FilledForm
) -> PreparedRequest:
    """Return the request to send. Raises BadRequest, naming the value, if the operation doesn't accept a value."""
    if _proxy(description, operation) == "never":
        raise BadRequest(
            "This operation's specification doesn't allow sending requests through this server. Call the"
            " API directly."
        )
    url = _address(description, operation, wanted)
    schemes = [
        found
        for way in description.security(operation)
        for name in way
        if (found := _scheme(description, name))
    ]
    parameters = list(_fields(description, operation))
    known = {
        place: {f.name.lower() for f in parameters if f.place == place}
        | {s.name.lower() for s in schemes if s.place == place and s.name}
        for place in ("header", "cookie")
    }
    headers: dict[str, str] = {}
    for name, value in wanted.headers:
        if name.lower() not in known["header"] | {"accept"} or name.lower() in _UNSENT:
            raise BadRequest(f"headers: this operation has no header {name[:100]!r}")
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise BadRequest(f"headers: the value of {name[:100]!r} can't be sent")
        headers[name] = value
    for name, value in wanted.cookies:
        if name.lower() not in known["cookie"]:
            raise BadRequest(f"cookies: this operation has no cookie {name[:100]!r}")
        if not _NAME.fullmatch(name) or not _COOKIE.fullmatch(value):
            raise BadRequest(f"cookies: the value of {name[:100]!r} can't be sent")
    if wanted.cookies:
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in wanted.cookies)
    if len(wanted.body) > MAX_SENT:
        raise TooLarge(f"body: must be at most {format_size(MAX_SENT)} to be sent from a page")
    body = None
    if wanted.content_type:
        kinds = {kind.partition(";")[0].strip().lower() for kind, _ in _content(description, operation)}
        given = wanted.content_type.partition(";")[0].strip().lower()
        if not _MEDIA_TYPE.fullmatch(wanted.content_type) or not (given in kinds or "*/*" in kinds):
            raise BadRequest(
                "contentType: must be a media type that this operation accepts, not"
                f" {wanted.content_type[:100]!r}"
            )
        headers["Content-Type"], body = wanted.content_type, wanted.body
    return PreparedRequest(operation.method.upper(), url, headers, body)


def _address(description: ApiDescription, operation: DescribedOperation, wanted: FilledForm) -> str:
    servers = _servers(description, operation)
    if not 0 <= wanted.server < len(servers):
        raise BadRequest("server: must be one of the operation's servers")
    server = servers[wanted.server]
    url = template = text_of(server["url"])
    for variable in _variables(server):
        given = wanted.variables.get(variable.name, variable.value)
        if given != variable.value and given not in variable.values:
            in_host = "{" + variable.name + "}" in _authority(template)
            if not variable.free or given in (".", "..") or (in_host and not _LABEL.fullmatch(given)):
                raise BadRequest(
                    f"variables.{variable.name[:100]}: must be one of the values in the specification"
                )
            given = given if in_host else quote(given, safe="")
        url = url.replace("{" + variable.name + "}", given)
    path = operation.path
    several = {
        each.name: _SEPARATORS.get(each.style, ",")
        for each in _fields(description, operation)
        if each.place == "path" and (each.type in ("list", "object") or each.style in ("label", "matrix"))
    }
    for name, value in wanted.path.items():
        # Values joined by the browser can contain escapes, which servers decode.
        if (unquote(value) if name in several else value) in (".", ".."):
            raise BadRequest(f"path.{name[:100]}: must not be `.` or `..`")
        # Values joined by the browser are already individually encoded in the specified style.
        written = quote(value, safe="%" + several[name]) if name in several else quote(value, safe="")
        path = path.replace("{" + name + "}", written)
    if "{" in url + path:
        raise BadRequest("path: must have a value for each path parameter")
    base, _, of_server = url.partition("#")[0].partition("?")
    path, _, of_path = path.partition("#")[0].partition("?")
    query = "&".join(filter(None, [of_server, of_path, urlencode(wanted.query)]))
    return f"{base.rstrip('/')}{path}{f'?{query}' if query else ''}"
