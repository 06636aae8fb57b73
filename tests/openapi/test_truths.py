"""The reference says what the description says: numbers, keywords, subtypes, examples, and their serialization."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import msgspec
import pytest
import yaml

from octavo.core.document.html import render
from octavo.core.document.html_context import BlockLabels, HtmlContext
from octavo.core.document.nodes import Document
from octavo.core.document.writing import write
from octavo.sites.openapi.compiling import compile_description
from octavo.sites.openapi.description import ApiDescription
from octavo.sites.openapi.drawing import ApiReferenceRenderer
from octavo.sites.openapi.exporting import export
from octavo.sites.openapi.reading import read_file
from octavo.sites.openapi.trying import make_form

SERVERS: list[dict[str, Any]] = [{"url": "https://api.example.com"}]


def described(
    operation: str, *, path: str = "/a", method: str = "get", more: str = "", version: str = "3.1.0"
) -> ApiDescription:
    """Return the description of one operation, written in YAML, as the server stores it."""
    text = f"openapi: {version}\ninfo: {{title: Case, version: 1.0.0}}\nservers: [{{url: https://api.example.com}}]\n"
    text += f"paths:\n  {path}:\n    {method}:\n      summary: A\n"
    text += "".join(f"      {line}\n" for line in operation.splitlines()) + more
    compiled = compile_description(text.encode())
    assert not compiled.errors, compiled.errors
    return ApiDescription(msgspec.json.decode(compiled.document))


def shown(description: ApiDescription) -> tuple[str, str]:
    """Return the operations as people read them, and their Markdown."""
    html, markdown = "", ""
    for operation in description.operations.values():
        blocks = ApiReferenceRenderer(description, folded=True).operation(operation, "A")
        drawn = render(Document(nodes=blocks), HtmlContext(labels=BlockLabels())).body
        html += unescape(re.sub(r"<[^>]*>", "", drawn))
        markdown += write(
            Document(nodes=ApiReferenceRenderer(description, folded=False).operation(operation, "A"))
        )
    return html, markdown


def says(description: ApiDescription, *words: str) -> None:
    for text in shown(description):
        assert not [word for word in words if word not in text], text


ANSWER = "responses: {'200': {description: ok, content: {application/json: {schema: %s}}}}"


def test_integers_of_64_bits_are_exact() -> None:
    limits = "minimum: -9223372036854775808, maximum: 9223372036854775807, default: 9223372036854775807"
    parameter = f"{{name: i, in: query, schema: {{type: integer, format: int64, {limits}}}}}"
    description = described(f"parameters: [{parameter}]\nresponses: {{'200': {{description: ok}}}}")
    says(description, "9223372036854775807", "-9223372036854775808")
    assert not [text for text in shown(description) if "e+18" in text]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1e-7", 1e-7),
        ("0123", 123),
        ("0x1F", 31),
        ("0o17", 15),
        ("-5", -5),
        ("+5", 5),
        ("1.50", 1.5),
        (".5", 0.5),
        ("18446744073709551615", 2**64 - 1),
        ("1" * 30, int("1" * 30)),
        ("yes", "yes"),
        ("2026-01-31", "2026-01-31"),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("'5'", "5"),
        ("!!str 5", "5"),
        ("0b11", "0b11"),
        ("~", None),
        (".nan", ".nan"),
        (".inf", ".inf"),
        ("True", True),
        ("=", "="),
        ("<<", "<<"),
    ],
)
def test_scalars_follow_the_yaml_core_schema(written: str, value: Any) -> None:
    found = read_file(f"value: {written}\nlist: [{written}]\n".encode()).value
    assert found == {"value": value, "list": [value]} and type(found["value"]) is type(value)


def test_merge_keys_and_aliases_still_work() -> None:
    text = b"base: &base {a: 1, b: 0x2}\nuser: {<<: *base, a: 3}\n"
    assert read_file(text).value["user"] == {"a": 3, "b": 2}


KEYWORDS = """{type: object, uniqueItems: true, dependentRequired: {card: [owner]}, unevaluatedProperties: false,
  patternProperties: {'^x-': {type: string, description: pattern-text}},
  propertyNames: {pattern: name-pattern}, not: {required: [other], description: not-text},
  if: {properties: {kind: {const: if-kind}}}, then: {properties: {then-field: {type: string}}},
  else: {properties: {else-field: {type: string}}},
  properties: {pair: {type: array, prefixItems: [{type: string, description: first-text}, {type: integer}],
    contains: {const: contained}, minContains: 2, unevaluatedItems: {type: boolean, description: rest-text}}},
  dependentSchemas: {card: {properties: {address: {type: string, description: card-text}}}}}"""


def test_no_keyword_of_a_schema_is_lost() -> None:
    description = described(ANSWER % " ".join(KEYWORDS.split()))
    said = (
        "uniqueItems",
        "dependentRequired",
        '{"card": ["owner"]}',
        "unevaluatedProperties",
        "/^x-/",
        "pattern-text",
        "propertyNames",
        "name-pattern",
        "not-text",
        "if-kind",
        "then-field",
        "else-field",
        "[0]",
        "first-text",
        "contains",
        "contained",
        "minContains",
        "rest-text",
        "dependentSchemas card",
        "card-text",
    )
    says(description, *said)


SUBTYPES = """
components:
  schemas:
    Pet:
      type: object
      required: [kind]
      properties: {kind: {type: string}}
      discriminator: {propertyName: kind%s}
    Dog: {allOf: [{$ref: '#/components/schemas/Pet'}, {type: object, properties: {bark: {type: string}}}]}
    Cat: {allOf: [{$ref: '#/components/schemas/Pet'}, {type: object, properties: {friend: {$ref: \
'#/components/schemas/Pet'}}}]}
"""


@pytest.mark.parametrize(
    ("mapping", "names"),
    [
        (", mapping: {dog: '#/components/schemas/Dog', cat: '#/components/schemas/Cat'}", ("dog", "cat")),
        (", mapping: {dog: Dog, cat: Cat}", ("dog", "cat")),
        ("", ("Dog", "Cat")),
    ],
)
def test_a_discriminator_shows_the_subtypes(mapping: str, names: tuple[str, ...]) -> None:
    description = described(ANSWER % "{$ref: '#/components/schemas/Pet'}", more=SUBTYPES % mapping)
    says(description, "bark", "friend", *names)


BOOK = """
components:
  schemas:
    Book: {type: object, xml: {name: book}, properties: {id: {type: integer, xml: {attribute: true}, example: 7},
      tags: {type: array, xml: {wrapped: true, name: taglist}, items: {type: string, xml: {name: tag}, example: t1}},
      note: {type: string, example: 'a < b', xml: {prefix: n, namespace: 'http://n.test'}},
      lines: {type: array, items: {type: integer, example: 2}}}}
"""


def test_examples_of_xml_are_written_as_xml() -> None:
    body = "requestBody: {content: {application/xml: {schema: {$ref: '#/components/schemas/Book'}}}}\n"
    answer = ANSWER.replace("application/json", "application/xml") % "{$ref: '#/components/schemas/Book'}"
    description = described(body + answer, method="post", more=BOOK)
    for text in shown(description):
        assert text.count("<taglist>") == 2 and text.count("<tag>t1</tag>") == 2 and '"id"' not in text
    says(
        description, '<book id="7">', '<n:note xmlns:n="http://n.test">a &lt; b</n:note>', "<lines>2</lines>"
    )


def test_an_xml_body_without_a_name_is_omitted() -> None:
    inline = "{type: object, properties: {'bad name': {type: string, example: x}}}"
    for schema in (inline, inline.replace("bad name", "good")):
        body = (
            f"requestBody: {{content: {{application/xml: {{schema: {schema}}}}}}}\n"
            f"responses: {{'204': {{description: ok}}}}"
        )
        html, markdown = shown(described(body, method="post"))
        assert "<good" not in html and "--data" not in markdown and 'bad name": ' not in markdown


def test_examples_of_all_media_types_are_shown() -> None:
    operation = """requestBody:
  content:
    application/json: {example: {a: json-request}}
    application/xml: {example: '<xml-request/>'}
responses:
  '200':
    description: ok
    content:
      application/json: {example: {a: json-answer}}
      text/csv: {example: 'csv,answer'}"""
    says(described(operation, method="post"), "json-request", "<xml-request/>", "json-answer", "csv,answer")


def test_examples_are_shown_with_their_parameter_or_header() -> None:
    operation = """parameters:
  - {name: p1, in: query, schema: {type: string}, examples: {one: {summary: sum-one, value: named-one}, \
two: {value: named-two}}}
  - {name: p2, in: path, required: true, schema: {type: string}, example: path-example}
  - {name: p3, in: query, content: {application/json: {schema: {type: object}, example: {a: content-example}}}}
responses: {'200': {description: ok, headers: {Link: {schema: {type: string}, example: link-example}}}}"""
    says(
        described(operation, path="/a/{p2}"),
        "sum-one",
        "named-one",
        "named-two",
        "Example path-example".removeprefix("Example "),
        "content-example",
        "link-example",
    )


PARAMETERS = {
    "query": [
        ("", "status=open&status=closed"),
        ("explode: false", "status=open%2Cclosed"),
        ("style: pipeDelimited, explode: false", "status=open%7Cclosed"),
        ("style: spaceDelimited, explode: false", "status=open%20closed"),
    ],
    "path": [
        ("", "/a/open,closed"),
        ("style: label", "/a/.open,closed"),
        ("style: label, explode: true", "/a/.open.closed"),
        ("style: matrix", "/a/;status=open,closed"),
        ("style: matrix, explode: true", "/a/;status=open;status=closed"),
    ],
}


@pytest.mark.parametrize(
    ("place", "style", "sent"),
    [(place, style, sent) for place, found in PARAMETERS.items() for style, sent in found],
)
def test_samples_and_exports_serialize_lists_by_their_style(place: str, style: str, sent: str) -> None:
    schema = "schema: {type: array, items: {type: string}}, example: [open, closed]"
    parameter = f"{{name: status, in: {place}, required: true, {schema}{', ' if style else ''}{style}}}"
    path = "/a/{status}" if place == "path" else "/a"
    description = described(
        f"parameters: [{parameter}]\nresponses: {{'200': {{description: ok}}}}", path=path
    )
    says(description, sent)
    assert sent.replace("%2C", ",") in export(description, "http").content.decode()


def test_an_object_is_serialized_by_its_style() -> None:
    parameters = """parameters:
  - {name: filter, in: query, required: true, style: deepObject, schema: {type: object}, example: {a: x, b: y}}
  - {name: c, in: path, required: true, style: matrix, schema: {type: string}, example: m}
responses: {'200': {description: ok}}"""
    says(described(parameters, path="/a/{c}"), "/a/;c=m?filter%5Ba%5D=x&filter%5Bb%5D=y")


def test_an_empty_server_variable_is_empty() -> None:
    whole = {
        "openapi": "3.1.0",
        "info": {"title": "T", "version": "1"},
        "servers": [
            {
                "url": "https://api.example.com{base}",
                "variables": {"base": {"default": "", "enum": ["/v1", ""]}},
            }
        ],
        "paths": {"/a": {"get": {"responses": {"200": {"description": "ok"}}}}},
    }
    compiled = compile_description(yaml.safe_dump(whole).encode())
    description = ApiDescription(msgspec.json.decode(compiled.document))
    says(description, "https://api.example.com/a")
    assert not [text for text in shown(description) if "combase" in text]
    (server,) = make_form(description, description.operations["get /a"]).servers
    assert server.variables[0].value == ""


def test_texts_that_look_like_numbers_stay_texts_in_yaml() -> None:
    words = ["1e-7", "0o17", "0x1F", "0123", "1.5", "yes", "~"]
    operation = f"responses: {{'200': {{description: ok}}}}\nx-words: {words}"
    description = described(operation)
    exported = read_file(export(description, "yaml").content).value
    assert exported["paths"]["/a"]["get"]["x-words"] == words
