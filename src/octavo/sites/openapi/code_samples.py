"""Code samples for a request, in the languages most commonly used to call APIs. This module does no I/O.

Each library has a template in ``code_samples.toml``. This module fills in templates for the initial page, for Markdown,
and for print. In the browser, ``delivery/reader/static/samples.js`` fills them in with the values that a reader enters.
Both produce the same text. Values from a specification occur only inside string literals, escaped for the language."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any, Literal
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from octavo.core.json_types import JsonObject

from .description import ApiDescription, Data, DescribedOperation, list_of, object_of, text_of
from .examples import media_example, named_examples, parameter_example
from .styles import serialize, style_of
from .xml_text import xml_text


class Env(Struct, frozen=True):
    """Secret in an environment variable."""

    env: str


class Basic(Struct, frozen=True):
    """Username and password in base64, both from environment variables."""

    user: str
    password: str


Part = str | Env | Basic


class SampleField(Struct, frozen=True, omit_defaults=True):
    """Field of a form with a ``value``, or with the ``path`` of a file."""

    name: str
    value: str | None = None
    path: str | None = None


class SentBody(Struct, frozen=True, omit_defaults=True):
    """Body of a request. ``text``: JSON or other text. ``fields``: the fields of a form. ``path``: the path
    of a file that is the entire body."""

    kind: Literal["json", "text", "form", "multipart", "file"]
    media_type: str
    text: str = ""
    fields: tuple[SampleField, ...] = ()
    path: str = ""


class SampleCall(Struct, frozen=True, omit_defaults=True):
    """Request for samples. ``path``: the path, with ``{names}``. ``params``: the values of these names.
    ``encoded``: the values that are already encoded because they contain separators. ``streams``: whether the
    response is a stream."""

    method: str
    server: str
    path: str
    params: dict[str, str] = {}
    query: tuple[tuple[str, tuple[Part, ...]], ...] = ()
    headers: tuple[tuple[str, tuple[Part, ...]], ...] = ()
    body: SentBody | None = None
    streams: bool = False
    encoded: dict[str, str] = {}


class CodeSample(Struct, frozen=True):
    """Code sample. ``syntax``: the language for the highlighter. ``library``: the library that the code
    uses."""

    label: str
    syntax: str
    source: str
    library: str = ""


# --- the request ----------------------------------------------------------------------------------------------

_LONGEST = 20_000
"""Maximum number of characters in a sample's body, and in each value in it."""
_HEADER = re.compile(r"[!#$%&'*+.^_`|~\w-]+")


def example_call(description: ApiDescription, operation: DescribedOperation) -> SampleCall:
    """Return an example request for an operation, with examples for required values."""
    params, encoded, query = dict[str, str](), dict[str, str](), list[tuple[str, tuple[Part, ...]]]()
    headers, cookies = list[tuple[str, tuple[Part, ...]]](), list[tuple[Part, ...]]()
    for parameter in description.parameters(operation):
        name, place = text_of(parameter["name"]), parameter.get("in")
        example = parameter_example(description, parameter)
        how = style_of(parameter, is_joined=isinstance(example, (list, dict)))
        said = [(key, text[:_LONGEST]) for key, text in serialize(how, name, example, _format_value)]
        if place == "path":
            (encoded if how.is_encoded and example is not None else params)[name] = said[0][1]
        elif parameter.get("required") is True or "example" in parameter:
            if place == "query":
                query += [(key, (text,)) for key, text in said]
            elif place == "header" and _HEADER.fullmatch(name):
                headers += [(name, (" ".join(text.split()),)) for _, text in said]
            elif place == "cookie":
                cookies += [(f"{key}={text}",) for key, text in said]
    _add_security(description, operation, query, headers, cookies)
    if cookies:
        pieces = [piece for cookie in cookies for piece in ("; ", *cookie)][1:]
        # Join adjacent text parts.
        joined = [
            part
            for is_text, parts in groupby(pieces, key=lambda piece: isinstance(piece, str))
            for part in (["".join(map(str, parts))] if is_text else parts)
        ]
        headers.append(("Cookie", tuple(joined)))
    body = _example_body(description, operation)
    if body is not None and body.kind not in ("form", "multipart"):
        headers.append(("Content-Type", (body.media_type,)))
    return SampleCall(
        operation.method.upper(),
        description.server_url(operation),
        operation.path,
        params,
        tuple(query),
        tuple(headers),
        body,
        streams=streams(description, operation),
        encoded=encoded,
    )


def _example_body(description: ApiDescription, operation: DescribedOperation) -> SentBody | None:
    content = object_of(description.follow(operation.data.get("requestBody")).get("content"))
    if not content:
        return None
    kind = next((kind for kind in content if "json" in kind), next(iter(content)))
    media = object_of(content[kind])
    value = media_example(description, media, "request")
    schema = description.follow(media.get("schema"))
    if kind.startswith(("multipart/", "application/x-www-form-urlencoded")) and isinstance(value, dict):
        inside = object_of(description.merge(schema).get("properties"))
        given = tuple(
            SampleField(name, path="file")
            if _is_file(description, inside.get(name))
            else SampleField(name, _format_value(each))
            for name, each in value.items()
        )
        return SentBody("multipart" if kind.startswith("multipart/") else "form", kind, fields=given)
    if value is None and (schema.get("format") == "binary" or kind == "application/octet-stream"):
        return SentBody("file", kind, path="file")
    text = media_text(description, kind, media, value) if value is not None else ""
    if schema.get("format") == "binary" and not isinstance(value, dict):
        return SentBody("file", kind, path="file")
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}\n…"
    return SentBody("json" if "json" in kind else "text", kind, text) if text else None


def count_omitted_characters(
    description: ApiDescription, operation: DescribedOperation, body: SentBody | None
) -> int:
    """Return the number of characters to omit from an example body that is too long."""
    if body is None or len(body.text) <= _LONGEST:
        return 0
    content = object_of(description.follow(operation.data.get("requestBody")).get("content"))
    media = object_of(content[body.media_type])
    whole = media_example(description, media, "request")
    return len(media_text(description, body.media_type, media, whole)) - _LONGEST


def body_examples(description: ApiDescription, operation: DescribedOperation) -> list[tuple[str, str]]:
    """Return the example bodies available in a sample, as text, by name."""
    content = object_of(description.follow(operation.data.get("requestBody")).get("content"))
    kind = next((kind for kind in content if "json" in kind), "")
    named = named_examples(description, object_of(content.get(kind)))
    texts = [(name, body_text(kind, value)) for name, value in named]
    return [(name, text) for name, text in texts if 0 < len(text) <= _LONGEST]


def _is_file(description: ApiDescription, value: object) -> bool:
    schema = description.follow(value)
    items = description.follow(schema.get("items"))
    return any(each.get("format") == "binary" or "contentMediaType" in each for each in (schema, items))


def streams(description: ApiDescription, operation: DescribedOperation) -> bool:
    """Return whether all successful responses are streams."""
    for code, value in object_of(operation.data.get("responses")).items():
        kinds = list(object_of(description.follow(value).get("content")))
        if code.startswith("2") and kinds:
            return all(
                re.match(r"text/event-stream|application/(?:x-ndjson|jsonl|json-seq)", k) for k in kinds
            )
    return False


def media_text(description: ApiDescription, kind: str, media: Data, value: object) -> str:
    """Return a value as a request body in the specified media type; empty if the type can't represent the value."""
    if isinstance(value, (dict, list)):
        if "xml" in kind:
            return xml_text(description, media.get("schema"), value)
        if kind.startswith(("text/csv", "multipart/")):
            return ""
    return body_text(kind, value)


def body_text(kind: str, value: object) -> str:
    """Return a value as a request body in a JSON or text media type."""
    if isinstance(value, str):
        return _pretty_print(value) if "json" in kind and value[:1] in ("{", "[") else value
    if kind == "application/x-www-form-urlencoded" and isinstance(value, dict):
        return urlencode([(name, _format_value(inner)) for name, inner in value.items()])
    if not isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False, default=str)
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError, OverflowError):
        # For values such as numbers that are too large for most languages; this is several times slower.
        return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _pretty_print(text: str) -> str:
    """Return single-line JSON formatted with one value per line. Return any other text unchanged."""
    try:
        return msgspec.json.format(text, indent=2) if "\n" not in text.strip() else text
    except (msgspec.DecodeError, RecursionError):
        return text


def _format_value(value: object) -> str:
    return _format_text(value)[:_LONGEST]


def _format_text(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(_format_text, value))
    if isinstance(value, (dict, bool)):
        return msgspec.json.encode(value).decode()
    return "" if value is None else str(value)


def secret_names(description: ApiDescription, scheme: str, together: int = 1) -> list[str]:
    """Return the environment variables for a scheme's secrets, prefixed with the first word of the API's
    title. ``together``: the number of schemes that are used together."""
    word = re.match(r"[A-Za-z][A-Za-z0-9]*", description.title)
    first = (
        word[0].upper() if word is not None and word[0].upper() not in ("THE", "A", "AN", "API") else "API"
    )
    data = description.follow(description.security_schemes.get(scheme))
    if data.get("type") == "http" and text_of(data.get("scheme")).lower() == "basic":
        return [f"{first}_USER", f"{first}_PASSWORD"]
    what = "KEY" if data.get("type") == "apiKey" else "TOKEN"
    if together > 1 and what == "KEY":
        what = re.sub(r"[^A-Z0-9]+", "_", text_of(data.get("name")).upper()).strip("_") or what
    return [f"{first}_{what}"]


def _add_security(
    description: ApiDescription,
    operation: DescribedOperation,
    query: list[tuple[str, tuple[Part, ...]]],
    headers: list[tuple[str, tuple[Part, ...]]],
    cookies: list[tuple[Part, ...]],
) -> None:
    way = next((each for each in description.security(operation) if each), {})
    for name in way:
        scheme = description.follow(description.security_schemes.get(name))
        given = text_of(scheme.get("x-gitbook-token-placeholder"))
        prefix = text_of(scheme.get("x-gitbook-prefix"))
        kind = scheme.get("type")
        names = secret_names(description, name, len(way))
        if kind == "http" and text_of(scheme.get("scheme")).lower() == "basic":
            headers.append(("Authorization", ("Basic ", given or Basic(*names))))
        elif kind in ("http", "oauth2", "openIdConnect"):
            word = (
                prefix or (text_of(scheme.get("scheme")).capitalize() if kind == "http" else "") or "Bearer"
            )
            headers.append(("Authorization", (f"{word} ", given or Env(names[0]))))
        elif kind == "apiKey" and text_of(scheme.get("name")):
            value: tuple[Part, ...] = (given or Env(names[0]),)
            value = (f"{prefix} ", *value) if prefix else value
            key = text_of(scheme["name"])
            if scheme.get("in") == "query":
                query.append((key, value))
            elif scheme.get("in") == "header" and _HEADER.fullmatch(key):
                headers.append((key, value))
            elif scheme.get("in") == "cookie":
                cookies.append((f"{key}=", *value))


def read_own_samples(data: Data) -> list[CodeSample]:
    """Return the samples that a specification contains for an operation."""
    found = []
    for each in list_of(data.get("x-codeSamples")) or list_of(data.get("x-code-samples")):
        source = text_of(object_of(each).get("source"))
        if source:
            syntax = text_of(each.get("lang")) or "text"
            found.append(CodeSample(text_of(each.get("label")) or syntax, syntax.lower(), source))
    return found


# --- libraries ------------------------------------------------------------------------------------------------


class Value(Struct, frozen=True):
    """Syntax of JSON values in a programming language."""

    object: tuple[str, str]
    pair: str
    list: tuple[str, str]
    none: tuple[str, str, str]
    empty: str
    keys: str = ""


class SampleTemplate(Struct, frozen=True):
    """Code sample template; the format is described at the top of ``code_samples.toml``."""

    language: str
    library: str
    syntax: str
    quote: str
    env: str
    basic: str
    template: str
    control: str = ""
    escape: str = ""
    concat: tuple[str, str, str] = ("", "", "")
    raw: str = ""
    value: Value | None = None
    lacks: tuple[str, ...] = ()


@cache
def templates() -> tuple[SampleTemplate, ...]:
    """Return all templates in display order."""
    read = tomllib.loads((files(__package__) / "code_samples.toml").read_text())
    return msgspec.convert(tuple(read["sample"]), tuple[SampleTemplate, ...])


def list_templates(call: SampleCall) -> list[SampleTemplate]:
    """Return the templates of the libraries that support the request."""
    return [each for each in templates() if call.body is None or _can_hold(each, call.body)]


def _can_hold(template: SampleTemplate, body: SentBody) -> bool:
    return body.kind != "multipart" or "multipart" not in template.lacks


def samples(call: SampleCall, most: int = 100) -> list[CodeSample]:
    return [
        CodeSample(each.language, each.syntax, write_sample(each, call), each.library)
        for each in list_templates(call)[:most]
    ]


_TAG = re.compile(r"(?m)^[ \t]*\[\[([#^/]\w+)\]\][ \t]*\n|\[\[([#^/]?\w+)\]\]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_IDENT = re.compile(r"[A-Za-z_$][\w$]*", re.A)

Node = str | tuple[str, str, "list[Node]"]


@cache
def _parse(template: str) -> list[Node]:
    root: list[Node] = []
    stack: list[tuple[str, list[Node]]] = [("", root)]
    at = 0
    for found in _TAG.finditer(template):
        inside = stack[-1][1]
        if found.start() > at:
            inside.append(template[at : found.start()])
        at = found.end()
        tag = found[1] or found[2]
        if tag[0] in "#^":
            body: list[Node] = []
            inside.append((tag[0], tag[1:], body))
            stack.append((tag[1:], body))
        elif tag[0] == "/":
            assert stack.pop()[0] == tag[1:], f"code_samples.toml: {tag} has no opening tag"
        else:
            inside.append(("=", tag, []))
    stack[-1][1].append(template[at:])
    assert len(stack) == 1, f"code_samples.toml: {stack[-1][0]} is not closed"
    return root


def _fill(nodes: list[Node], scopes: tuple[Mapping[str, object], ...], out: list[str]) -> None:
    for node in nodes:
        if isinstance(node, str):
            out.append(node)
            continue
        kind, name, inside = node
        value = next((scope[name] for scope in reversed(scopes) if name in scope), None)
        if kind == "=":
            # Indent a multi-line value to the indentation of the line it starts in.
            line = "".join(out).rpartition("\n")[2] if name == "json" else ""
            out.append(str(value or "").replace("\n", "\n" + line[: len(line) - len(line.lstrip())]))
        elif kind == "^":
            if not value:
                _fill(inside, scopes, out)
        elif isinstance(value, list):
            for each in value:
                _fill(inside, (*scopes, each), out)
        elif value:
            _fill(inside, scopes, out)


def write_sample(template: SampleTemplate, call: SampleCall) -> str:
    out: list[str] = []
    _fill(_parse(template.template), (_Writer(template).context(call),), out)
    return "".join(out).rstrip("\n")


class _Writer:
    def __init__(self, template: SampleTemplate) -> None:
        self._t = template

    def _quote(self, text: str) -> str:
        kind = self._t.quote
        if kind == "shell":
            return "'" + text.replace("'", "'\\''") + "'"
        if kind == "single":
            return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
        if kind == "doubled":
            return "'" + re.sub("['\u2018\u2019\u201a\u201b]", lambda found: found[0] * 2, text) + "'"
        text = text.replace("\\", "\\\\").replace('"', '\\"')
        for sign in self._t.escape:
            text = text.replace(sign, f"\\{sign}")
        text = text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
        form = "\\u{{{:x}}}" if self._t.control == "brace" else "\\u{:04x}"
        return '"' + _CONTROL.sub(lambda found: form.format(ord(found[0])), text) + '"'

    def _secret(self, part: Env | Basic) -> str:
        if isinstance(part, Env):
            return self._t.env.replace("%s", self._quote(part.env)).replace("%n", part.env)
        return self._t.basic.replace("%u", part.user).replace("%p", part.password)

    def _expression(self, parts: tuple[Part, ...]) -> str:
        """Return a string expression that contains secrets."""
        if all(isinstance(part, str) for part in parts):
            return self._quote("".join(str(part) for part in parts))
        if self._t.quote == "shell":
            inside = (
                re.sub(r'(["\\$`])', r"\\\1", part) if isinstance(part, str) else self._secret(part)
                for part in parts
            )
            return '"' + "".join(inside) + '"'
        joined = [
            self._quote(part) if isinstance(part, str) else self._secret(part) for part in _merge_parts(parts)
        ]
        if len(joined) == 1:
            return joined[0]
        before, between, after = self._t.concat
        return before + between.join(joined) + after

    def _raw(self, text: str) -> str:
        """Return a raw or multi-line string."""
        kind = self._t.raw
        several = "\n" in text and not _CONTROL.search(text.replace("\n", ""))
        if kind == "here":
            return text
        if not several:
            return self._quote(text)
        if kind == "go" and "`" not in text:
            return f"`{text}`"
        if kind == "java" and not re.search(r"[ \t](\n|$)", text):
            return '"""\n' + text.replace("\\", "\\\\").replace('"""', '\\"""') + '"""'
        if kind == "csharp" and '"""' not in text:
            return f'"""\n{text}\n"""'
        if kind == "kotlin" and '"""' not in text and "$" not in text and not text.endswith('"'):
            return f'"""{text}"""'
        if kind in ("rust", "swift"):
            hashes = "#" * (1 + max((len(run) for run in re.findall(r"#+", text)), default=0))
            return f'r{hashes}"{text}"{hashes}' if kind == "rust" else f'{hashes}"""\n{text}\n"""{hashes}'
        if kind == "powershell" and not re.search("(?m)^['\u2018\u2019\u201a\u201b]@", text):
            return f"@'\n{text}\n'@"
        return self._quote(text)

    def _json(self, value: object, depth: int = 0) -> str:
        rules = self._t.value
        assert rules is not None
        space = "    " if self._t.language in ("Python", "PHP") else "  "
        here, below = "\n" + space * depth, "\n" + space * (depth + 1)
        if isinstance(value, dict):
            if not value:
                return rules.empty
            pairs = [
                f"{self._key(key)}{rules.pair}{self._json(each, depth + 1)}," for key, each in value.items()
            ]
            return rules.object[0] + below + below.join(pairs) + here + rules.object[1]
        if isinstance(value, list):
            if all(not isinstance(each, dict | list) for each in value) and len(value) <= 4:
                return rules.list[0] + ", ".join(self._json(each) for each in value) + rules.list[1]
            items = [f"{self._json(each, depth + 1)}," for each in value]
            return rules.list[0] + below + below.join(items) + here + rules.list[1]
        if value is True or value is False or value is None:
            return rules.none[0 if value is True else 1 if value is False else 2]
        return self._quote(value) if isinstance(value, str) else json.dumps(value)

    def _key(self, key: str) -> str:
        assert self._t.value is not None
        return (
            key if self._t.value.keys and _IDENT.fullmatch(key) and key != "__proto__" else self._quote(key)
        )

    def context(self, call: SampleCall) -> JsonObject:
        body = call.body
        kind = body.kind if body is not None else ""
        headers = [self._header(name, parts) for name, parts in call.headers]
        value: Any = None
        text = body.text if body is not None else ""
        fields = body.fields if body is not None else ()
        if body is not None and kind == "form" and "form" in self._t.lacks:
            kind, text = "text", urlencode([(each.name, each.value or "") for each in fields])
            headers.append(self._header("Content-Type", (body.media_type,)))
        if kind == "json":
            value = _json_value(text)
        native = value is not _NO_JSON and kind == "json" and self._t.value is not None
        # Only shells can include JSON verbatim, in a here document.
        is_here = self._t.raw == "here" and kind == "json" and not re.search("(?m)^JSON$", text)
        plain = [each for each in headers if each["key"] != "content-type"]
        parts = [
            {
                "name": self._quote(each.name),
                "value": self._quote(each.value) if each.value is not None else "",
                "path": self._quote(each.path) if each.path is not None else "",
                "pair": self._quote(f"{each.name}={each.value or ''}"),
                "at": self._quote(f"{each.name}=@{each.path or ''}"),
                "comma": "," if number + 1 < len(fields) else "",
            }
            for number, each in enumerate(fields)
        ]
        is_text = kind in ("json", "text")
        secrets = [
            part for _, given in (*call.query, *call.headers) for part in given if not isinstance(part, str)
        ]
        content_type = next((parts for name, parts in call.headers if name.lower() == "content-type"), None)
        if kind == "text" and body is not None and body.kind == "form":
            content_type = (body.media_type,)
        return {
            "method": call.method,
            "verb": self._quote(call.method),
            "Method": call.method.capitalize(),
            "send": call.method != "GET",
            "url": self._expression(_url(call)),
            "headers": headers,
            "has_headers": bool(headers),
            "plain": plain,
            "has_plain": bool(plain),
            "kind": self._expression(content_type)
            if content_type is not None and kind != "multipart"
            else "",
            "json": self._json(value) if native else text if is_here else "",
            "text": self._raw(text) if is_text else "",
            "other": self._quote(text) if is_text and not native and not is_here else "",
            "form": kind == "form",
            "fields": parts if kind == "form" else [],
            "multipart": kind == "multipart",
            "attached": kind == "file" or any(each.path is not None for each in fields),
            "parts": parts if kind == "multipart" else [],
            "texts": [each for each in parts if each["value"]] if kind == "multipart" else [],
            "files": [each for each in parts if each["path"]] if kind == "multipart" else [],
            "file": self._quote(body.path) if body is not None and kind == "file" else "",
            "body": body is not None,
            "stream": call.streams,
            "secret": bool(secrets),
            "basic": any(isinstance(part, Basic) for part in secrets),
        }

    def _header(self, name: str, parts: tuple[Part, ...]) -> dict[str, str]:
        return {
            "key": name.lower(),
            "name": self._quote(name),
            "value": self._expression(parts),
            "line": self._expression((f"{name}: ", *parts)),
        }


_NO_JSON = object()


def _json_value(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return _NO_JSON


def _url(call: SampleCall) -> tuple[Part, ...]:
    path = call.path
    for name, value in call.params.items():
        path = path.replace("{" + name + "}", quote(value, safe="") if value else "{" + name + "}")
    for name, value in call.encoded.items():
        path = path.replace("{" + name + "}", value)
    parts: list[Part] = [call.server + path]
    for number, (name, given) in enumerate(call.query):
        parts.append(f"{'&' if number or '?' in path else '?'}{quote(name, safe='')}=")
        parts += [quote(part, safe="") if isinstance(part, str) else part for part in given]
    return tuple(_merge_parts(parts))


def _merge_parts(parts: Iterable[Part]) -> Iterator[Part]:
    """Merge adjacent text parts."""
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        if text:
            yield text
        text = ""
        yield part
    if text:
        yield text
