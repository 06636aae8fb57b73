"""A request as code, in the languages that most people call APIs from. Pure.

Everything a description says is inside string literals of the language, escaped as that language asks for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from .description import Data, Description, Operation, list_of, object_of, text_of
from .examples import media_example, parameter_example


class Request(Struct, frozen=True):
    method: str
    url: str
    headers: dict[str, str]
    body: str | None = None


class CodeSample(Struct, frozen=True):
    """``syntax`` is what the highlighter knows the language by."""

    label: str
    syntax: str
    source: str


def example_request(description: Description, operation: Operation) -> Request:
    """A request that an operation takes, with examples for whatever it needs."""
    path, query, headers = operation.path, list[tuple[str, str]](), dict[str, str]()
    for parameter in description.parameters(operation):
        name, place = text_of(parameter["name"]), parameter.get("in")
        value = _simple(parameter_example(description, parameter))
        if place == "path":
            path = path.replace("{" + name + "}", quote(value, safe="") if value else "{" + name + "}")
        elif parameter.get("required") is True or "example" in parameter:
            if place == "query":
                query.append((name, value))
            elif place == "header":
                headers[name] = value
    _add_security(description, operation, query, headers)
    body = None
    content = object_of(description.follow(operation.data.get("requestBody")).get("content"))
    if content:
        kind = next((kind for kind in content if "json" in kind), next(iter(content)))
        value = media_example(description, object_of(content[kind]), "request")
        body = body_text(kind, value) if value is not None else None
        if body:
            headers["Content-Type"] = kind
    url = description.server_url(operation) + path + (f"?{urlencode(query)}" if query else "")
    clean = {
        name: " ".join(value.split())
        for name, value in headers.items()
        if re.fullmatch(r"[!#$%&'*+.^_`|~\w-]+", name)
    }
    return Request(operation.method.upper(), url, clean, body or None)


def body_text(kind: str, value: Any) -> str:
    """A value as a body of a media type."""
    if isinstance(value, str):
        return _laid_out(value) if "json" in kind and value[:1] in ("{", "[") else value
    if kind == "application/x-www-form-urlencoded" and isinstance(value, dict):
        return urlencode([(name, _simple(inner)) for name, inner in value.items()])
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _laid_out(text: str) -> str:
    """JSON that somebody wrote on one line, with a line for each value; other text as it is."""
    try:
        return msgspec.json.format(text, indent=2) if "\n" not in text.strip() else text
    except (msgspec.DecodeError, RecursionError):
        return text


def _simple(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_simple, value))
    if isinstance(value, (dict, bool)):
        return msgspec.json.encode(value).decode()
    return "" if value is None else str(value)


def _add_security(
    description: Description, operation: Operation, query: list[tuple[str, str]], headers: dict[str, str]
) -> None:
    for name in next(iter(description.security(operation)), {}):
        scheme = description.follow(description.security_schemes.get(name))
        token = text_of(scheme.get("x-gitbook-token-placeholder")) or "YOUR_TOKEN"
        prefix = text_of(scheme.get("x-gitbook-prefix"))
        kind = scheme.get("type")
        if kind == "http" and text_of(scheme.get("scheme")).lower() == "basic":
            headers["Authorization"] = "Basic " + (token if token != "YOUR_TOKEN" else "YOUR_CREDENTIALS")  # noqa: S105
        elif kind in ("http", "oauth2", "openIdConnect"):
            headers["Authorization"] = f"{prefix or 'Bearer'} {token}"
        elif kind == "apiKey" and text_of(scheme.get("name")):
            value = f"{prefix} {token}".strip()
            if scheme.get("in") == "query":
                query.append((text_of(scheme["name"]), value))
            elif scheme.get("in") == "header":
                headers[text_of(scheme["name"])] = value


def own_samples(data: Data) -> list[CodeSample]:
    """The samples that a description brings for an operation."""
    found = []
    for each in list_of(data.get("x-codeSamples")) or list_of(data.get("x-code-samples")):
        source = text_of(object_of(each).get("source"))
        if source:
            syntax = text_of(each.get("lang")) or "text"
            found.append(CodeSample(text_of(each.get("label")) or syntax, syntax.lower(), source))
    return found


def samples(request: Request, most: int = 10) -> list[CodeSample]:
    return [CodeSample(label, syntax, write(request)) for label, syntax, write in _LANGUAGES[:most]]


# --- the languages --------------------------------------------------------------------------------------------


def _json(text: str) -> str:
    """A literal that JavaScript, Python, Java, C#, Go, Rust and Swift alike read, but for what they interpolate."""
    return json.dumps(text, ensure_ascii=False)


def _single(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _shell(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _curl(r: Request) -> str:
    lines = [
        f"curl {_shell(r.url)}"
        if r.method == "GET" and r.body is None
        else f"curl -X {r.method} {_shell(r.url)}"
    ]
    lines += [f"-H {_shell(f'{name}: {value}')}" for name, value in r.headers.items()]
    lines += [f"-d {_shell(r.body)}"] if r.body is not None else []
    return " \\\n  ".join(lines)


def _entries(r: Request, line: str, literal: Callable[[str], str] = _json) -> str:
    return "".join(line.format(literal(name), literal(value)) for name, value in r.headers.items())


def _javascript(r: Request) -> str:
    options = [f"method: {_json(r.method)}"]
    if r.headers:
        options.append("headers: {\n" + _entries(r, "    {}: {},\n") + "  }")
    if r.body is not None:
        options.append(f"body: {_json(r.body)}")
    inside = "".join(f"  {option},\n" for option in options)
    return (
        f"const response = await fetch({_json(r.url)}, {{\n{inside}}});\nconsole.log(await response.text());"
    )


def _python(r: Request) -> str:
    arguments = [_json(r.method), _json(r.url)]
    if r.headers:
        arguments.append("headers={\n" + _entries(r, "        {}: {},\n") + "    }")
    if r.body is not None:
        arguments.append(f"data={_json(r.body)}.encode()")
    inside = "".join(f"    {argument},\n" for argument in arguments)
    return f"import requests\n\nresponse = requests.request(\n{inside})\nprint(response.status_code, response.text)"


def _go(r: Request) -> str:
    body = f"strings.NewReader({_json(r.body)})" if r.body is not None else "nil"
    packages = ["fmt", "io", "net/http", *(["strings"] if r.body is not None else [])]
    imports = "".join(f'\t"{name}"\n' for name in packages)
    headers = _entries(r, "\treq.Header.Set({}, {})\n")
    return (
        f"package main\n\nimport (\n{imports})\n\nfunc main() {{\n"
        f"\treq, err := http.NewRequest({_json(r.method)}, {_json(r.url)}, {body})\n\tif err != nil {{\n\t\tpanic(err)\n\t}}\n"
        f"{headers}\tres, err := http.DefaultClient.Do(req)\n\tif err != nil {{\n\t\tpanic(err)\n\t}}\n"
        "\tdefer res.Body.Close()\n\ttext, _ := io.ReadAll(res.Body)\n\tfmt.Println(res.Status, string(text))\n}"
    )


def _ruby(r: Request) -> str:
    name = r.method.title()
    body = f"request.body = {_single(r.body)}\n" if r.body is not None else ""
    return (
        f'require "net/http"\n\nuri = URI({_single(r.url)})\nrequest = Net::HTTP::{name}.new(uri)\n'
        f"{_entries(r, 'request[{}] = {}' + chr(10), _single)}{body}"
        'response = Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == "https") { |http| http.request(request) }\n'
        "puts response.code, response.body"
    )


def _php(r: Request) -> str:
    headers = "".join(f"        {_single(f'{name}: {value}')},\n" for name, value in r.headers.items())
    body = f"    CURLOPT_POSTFIELDS => {_single(r.body)},\n" if r.body is not None else ""
    return (
        f"<?php\n$curl = curl_init({_single(r.url)});\ncurl_setopt_array($curl, [\n    CURLOPT_RETURNTRANSFER => true,\n"
        f"    CURLOPT_CUSTOMREQUEST => {_single(r.method)},\n"
        + (f"    CURLOPT_HTTPHEADER => [\n{headers}    ],\n" if headers else "")
        + f"{body}]);\necho curl_exec($curl);"
    )


def _java(r: Request) -> str:
    body = f"BodyPublishers.ofString({_json(r.body)})" if r.body is not None else "BodyPublishers.noBody()"
    return (
        "HttpRequest request = HttpRequest.newBuilder()\n"
        f"    .uri(URI.create({_json(r.url)}))\n{_entries(r, '    .header({}, {})' + chr(10))}"
        f"    .method({_json(r.method)}, {body})\n    .build();\n"
        "HttpResponse<String> response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());\n"
        "System.out.println(response.statusCode() + response.body());"
    )


def _csharp(r: Request) -> str:
    own = {name: value for name, value in r.headers.items() if name.lower() != "content-type"}
    kind = next((value for name, value in r.headers.items() if name.lower() == "content-type"), "text/plain")
    headers = "".join(
        f"request.Headers.TryAddWithoutValidation({_json(name)}, {_json(value)});\n"
        for name, value in own.items()
    )
    body = ""
    if r.body is not None:
        body = f"request.Content = new StringContent({_json(r.body)}, Encoding.UTF8, {_json(kind)});\n"
    return (
        "using var client = new HttpClient();\n"
        f"var request = new HttpRequestMessage(new HttpMethod({_json(r.method)}), {_json(r.url)});\n{headers}{body}"
        "var response = await client.SendAsync(request);\nConsole.WriteLine(await response.Content.ReadAsStringAsync());"
    )


def _rust(r: Request) -> str:
    method = f'reqwest::Method::from_bytes(b"{r.method}")?'
    body = f"    .body({_json(r.body)})\n" if r.body is not None else ""
    return (
        f"let response = reqwest::Client::new()\n    .request({method}, {_json(r.url)})\n"
        f"{_entries(r, '    .header({}, {})' + chr(10))}{body}    .send()\n    .await?;\n"
        'println!("{} {}", response.status(), response.text().await?);'
    )


def _swift(r: Request) -> str:
    def literal(text: str) -> str:
        hashes = "#" * (1 + max((len(run) for run in re.findall(r"#+", text)), default=0))
        return f'{hashes}"""\n{text}\n"""{hashes}'

    def short(text: str) -> str:
        return _json(text).replace("\\(", "\\\\(")

    body = f"request.httpBody = Data({literal(r.body)}.utf8)\n" if r.body is not None else ""
    headers = "".join(
        f"request.setValue({short(value)}, forHTTPHeaderField: {short(name)})\n"
        for name, value in r.headers.items()
    )
    return (
        f"var request = URLRequest(url: URL(string: {short(r.url)})!)\nrequest.httpMethod = {short(r.method)}\n"
        f"{headers}{body}let (data, response) = try await URLSession.shared.data(for: request)\n"
        "print(String(decoding: data, as: UTF8.self))"
    )


_LANGUAGES: tuple[tuple[str, str, Callable[[Request], str]], ...] = (
    ("cURL", "bash", _curl),
    ("JavaScript", "javascript", _javascript),
    ("Python", "python", _python),
    ("Go", "go", _go),
    ("Ruby", "ruby", _ruby),
    ("PHP", "php", _php),
    ("Java", "java", _java),
    ("C#", "csharp", _csharp),
    ("Rust", "rust", _rust),
    ("Swift", "swift", _swift),
)
