"""Operations and webhooks as document blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from http import HTTPStatus
from itertools import islice
from typing import Any

import msgspec

from octavo.core.document.anchors import slug
from octavo.core.document.nodes import Block, Fragment, Inline
from octavo.core.free_names import free_name

from .blocks import (
    Nodes,
    draw_code,
    draw_expandable,
    draw_hint,
    draw_items,
    draw_long_code,
    draw_paragraph,
    draw_text,
    markdown_of,
)
from .code_samples import (
    CodeSample,
    SampleCall,
    body_examples,
    body_text,
    count_omitted_characters,
    example_call,
    list_templates,
    media_text,
    read_own_samples,
    write_sample,
)
from .conventions import is_error
from .description import Data, DescribedOperation, list_of, object_of, text_of
from .examples import all_examples, media_example, named_examples
from .schema_drawing import SchemaRenderer
from .trying import can_try, list_origins
from .validating import METHODS

MANY = 12
"""Number of operations on a page above which operations are shown in less detail: with fewer levels, and without the
content and samples of errors, which are nearly always the same."""
_STATUSES = frozenset(HTTPStatus)
_MEDIA_TYPES = 5
"""Maximum number of media types per body or response for which examples are shown."""
WAYS = 4
"""Maximum number of authentication methods to show above an operation."""
_SCHEMES = 50
_SENTENCE = re.compile(r"[A-Za-z](?: ?[A-Za-z0-9,.;'()?!/])*")
"""Pattern for a sentence of plain words."""


class OperationRenderer(SchemaRenderer):
    """Renderer of operations, with the schemas that they use."""

    def operation(
        self,
        operation: DescribedOperation,
        title: str = "",
        *,
        level: int = 1,
        further: bool = False,
        headless: bool = False,
    ) -> list[Block]:
        """Return an operation or webhook with all details that a caller needs. ``title``: the heading that is
        already shown above. ``further``: whether the page shows another operation above; if so, this operation
        becomes an expandable line. ``headless``: whether the page shows the title and description of the
        operation instead."""
        self._reset()
        self._soon = self._at_first if self._folded else None
        self._received = operation.webhook
        anchor = self._description.anchor(operation)
        # On a page with several operations, field names are prefixed with the operation.
        self._at = [] if operation.title == title else [anchor]
        blocks: list[Block] = []
        further = further and self._folded and operation.title != title and not headless
        if operation.title != title and not further and not headless:
            data_of = {"id": anchor} if anchor else {}
            blocks.append(Block(f"heading-{level}", data_of, [draw_text(operation.title)]))
        where = (
            operation.path if operation.webhook else self._description.server_url(operation) + operation.path
        )
        blocks.append(self._head(operation, where))
        blocks += self._authentication(operation)
        left = self._notes(operation) + ([] if headless else markdown_of(operation.about))
        left += self._parameters(operation)
        left += self._body(operation)
        left += self._responses(operation)
        left += self._callbacks(operation)
        self._draw_postponed()
        right = self._samples(operation)
        if self._folded and right:
            columns = [Block("column", {}, [*left]), Block("column", {}, [*right])]
            blocks.append(Block("openapi-columns", {}, [*columns]))
        else:
            blocks += [*left, *right]
        if not further:
            return blocks
        method = "event" if operation.webhook else operation.method
        line = draw_expandable([draw_text(operation.title)], blocks, kind="openapi-block")
        line.data = {"method": method, "url": where, **({"id": anchor} if anchor else {})}
        return [line]

    def _head(self, operation: DescribedOperation, where: str) -> Block:
        if not self._folded:
            head = draw_paragraph(
                draw_text(operation.method.upper(), "bold"), draw_text(" "), draw_text(where, "code")
            )
            head.data = {"names": operation.identifiers}
            return head
        inside = []
        if can_try(self._description, operation):
            origins = list_origins(self._description, operation)
            what = {"spec": self._spec, "operation": operation.key, "origins": origins}
            inside.append(Block("openapi-try", what))
        how = {"by": operation.method} if operation.webhook else {}
        method = "event" if operation.webhook else operation.method
        return Block("openapi-head", {"method": method, "url": where} | how, [*inside])

    def _notes(self, operation: DescribedOperation) -> list[Block]:
        data = operation.data
        notes = []
        if data.get("deprecated") is True:
            day = text_of(data.get("x-deprecated-sunset"))
            end = [draw_text(" "), self._label("gone", name=day)] if day else []
            notes.append(draw_hint("warning", self._label("going"), *end))
        stability = text_of(data.get("x-stability"))
        if stability:
            notes.append(draw_hint("info", self._label("stability", name=stability)))
        return notes

    def _authentication(self, operation: DescribedOperation) -> list[Block]:
        ways = self._description.security(operation)
        # Requirements for calls don't apply to senders of events.
        if not any(ways) or (operation.webhook and "security" not in operation.data):
            return []
        if self._folded:
            return [Block("openapi-facts", {}, [*self._ways(ways)])]
        items = []
        for way in ways:
            if not way:
                items.append([draw_paragraph(self._label("no_authentication"))])
            for name, scopes in way.items():
                scheme = self._description.follow(self._description.security_schemes.get(name))
                given = [scope for scope in list_of(scopes) if isinstance(scope, str)]
                listed = f" ({', '.join(given)})" if given else ""
                line = draw_paragraph(draw_text(scheme_words(name, scheme)), draw_text(listed))
                # Nearly all operations on a page have the same text.
                about = [] if name in self._schemes else markdown_of(scheme.get("description"))
                self._schemes.add(name)
                items.append([line, *about])
        return [self._part_heading("authentication"), *draw_items(items)]

    def _ways(self, ways: list[dict[str, list[object]]]) -> list[Block]:
        """Return a line for each authentication method, with all schemes that the method combines. Schemes are
        described on the authentication page, unless there is only one scheme."""
        lines: list[Block] = []
        for way in ways[:WAYS]:
            nodes: Nodes = [] if way else [self._label("no_authentication")]
            for name, scopes in way.items():
                scheme = self._description.follow(self._description.security_schemes.get(name))
                given = [scope for scope in list_of(scopes) if isinstance(scope, str)]
                nodes += [
                    *([draw_text(" + ")] if nodes else []),
                    *self._link_scheme(name, _scheme_nodes(name, scheme)),
                    *_scope_nodes(given),
                ]
            lines.append(draw_paragraph(*nodes))
        lines += self._omission_line(len(ways) - WAYS)
        if len(ways) == 1:
            for name in ways[0]:
                scheme = self._description.follow(self._description.security_schemes.get(name))
                lines += [] if name in self._schemes else markdown_of(scheme.get("description"))
                self._schemes.add(name)
        return lines

    def _link_scheme(self, name: str, nodes: Nodes) -> Nodes:
        """Return the text for a scheme, linked to its description on the authentication page, if any."""
        anchor = self._scheme_anchors.get(name)
        return [Inline("openapi-scheme", {"spec": self._spec, "anchor": anchor}, nodes)] if anchor else nodes

    def _parameters(self, operation: DescribedOperation) -> list[Block]:
        blocks: list[Block] = []
        parameters = self._description.parameters(operation)
        for place in ("path", "query", "header", "cookie"):
            given = [each for each in parameters if each.get("in") == place]
            if given:
                with self._within(place):
                    fields = [self._parameter(each) for each in given]
                required = [each.get("required") is True for each in given]
                blocks += [self._part_heading(place), *self._fold_optional(fields, required)]
        return blocks

    def _parameter(self, parameter: Data) -> list[Block]:
        schema, holder = parameter.get("schema"), parameter
        if schema is None:
            content = list(object_of(parameter.get("content")).values())
            holder = object_of(content[0]) if content else {}
            schema = holder.get("schema", {})
        about = parameter.get("description", object_of(schema).get("description"))
        found = self.value(
            text_of(parameter["name"]),
            schema,
            required=parameter.get("required") is True,
            about=about or "",
            examples=all_examples(self._description, holder),
        )
        if parameter.get("deprecated") is True:
            found[0].nodes += [draw_text(" "), self._label("deprecated", "italic")]
        return found

    def _body(self, operation: DescribedOperation, *, inner: bool = False) -> list[Block]:
        body = self._description.follow(operation.data.get("requestBody"))
        content = object_of(body.get("content"))
        if not content:
            return []
        required = [draw_text(" "), self._label("required", "bold")] if body.get("required") is True else []
        kinds = ", ".join(content)
        head = self._part_heading("body", draw_text(" "), draw_text(kinds, "code"), *required, inner=inner)
        # Fields that appear only in responses can't be sent.
        self._left_out = "readOnly"
        with self._within("body"):
            inside = self._contents(content)
        self._left_out = ""
        return [head, *markdown_of(body.get("description")), *inside]

    def _contents(self, content: Data, *, named: bool = False, waits: bool = False) -> list[Block]:
        """Return the schemas of media types. A schema that several types have in common is included once. ``named``:
        whether to omit the content of a schema that has its own heading. ``waits``: whether even the first level can be
        loaded later."""
        typed_schemas: list[tuple[str, Any]] = []
        for kind, media in content.items():
            schema = object_of(media).get("schema")
            if schema is not None and not any(schema == known for _, known in typed_schemas):
                typed_schemas.append((kind, schema))
        blocks: list[Block] = []
        for kind, schema in typed_schemas:
            if len(typed_schemas) > 1:
                blocks.append(draw_paragraph(draw_text(kind, "code")))
            if named and self._links(schema) is not None:
                blocks.append(draw_paragraph(*self._type(schema)))
                continue
            found = self._description.follow(schema)
            inside = [*markdown_of(found.get("description")), *self._limits(found)]
            name = self._description.name_of(schema)
            waiting = self._postpone(name, schema, (), late=True) if waits else None
            inside += [waiting] if waiting is not None else self.schema(schema)
            # The content below already contains this information.
            has_shapes = self._folded and any(list_of(found.get(key)) for key in ("oneOf", "anyOf"))
            named_here = name and not (has_shapes and inside)
            if named_here or (not has_shapes and self._words(found) not in ("object", "one of", "any of")):
                said = self._type(schema)
                blocks.append(Block("openapi-limits", {}, [*said]) if self._folded else draw_paragraph(*said))
            blocks += inside
        return blocks

    def _responses(self, operation: DescribedOperation) -> list[Block]:
        responses = object_of(operation.data.get("responses"))
        all_open = self._description.setting(operation, "x-expandAllResponses")
        blocks: list[Block] = []
        for number, (code, value) in enumerate(responses.items()):
            if code.startswith("x-"):
                continue
            response = self._description.follow(value)
            about = text_of(response.get("description"))
            whole = " ".join(about.split())
            # A plain sentence can contain line breaks. On a page with collapsed sections, longer text goes
            # below.
            is_short = len(whole) <= (80 if self._folded else 200) and _SENTENCE.fullmatch(whole) is not None
            if is_short:
                first = whole.removesuffix(".") if self._folded else whole
            else:
                first = name_status(code) if self._folded else about.strip().split("\n")[0][:200]
            inside = markdown_of(about) if not is_short and whole != first else []
            status = [] if self._folded else [draw_text(code, "code"), draw_text(" " if first else "")]
            title: Nodes = [*status, draw_text(first or (name_status(code) if self._folded else ""))]
            headers = object_of(response.get("headers"))
            if headers:
                with self._within("response", code, "header"):
                    fields = [
                        self._parameter({**self._description.follow(header), "name": name})
                        for name, header in headers.items()
                    ]
                inside += [self._part_heading("header", inner=True), *self._fields(fields)]
            self._left_out = "writeOnly"
            named = self._many and is_error(code)
            content = object_of(response.get("content"))
            with self._within("response", code):
                found = self._contents(content, named=named, waits=number > 0)
            self._left_out = ""
            inside += [*found, *self._links_of(response)]
            if self._folded:
                is_open = bool(inside) and (all_open or (number == 0 and not self._brief))
                answer = draw_expandable(title, inside, is_open=is_open, kind="openapi-answer")
                answer.data |= {"status": code, **self._anchor_data("response", code, below=1)}
                of = self._summarize_content(content, found)
                if of:
                    answer.fragments = [*answer.fragments, Fragment("openapi-of", [draw_paragraph(*of)])]
                blocks.append(answer)
            else:
                blocks += [draw_paragraph(*title), *inside]
        return [self._part_heading("responses"), *blocks] if blocks else []

    def _summarize_content(self, content: Data, drawn: list[Block]) -> Nodes:
        """Return a summary of a response's content: the name of the content, or the number of fields."""
        schemas = [object_of(media).get("schema") for media in content.values()]
        if not schemas or any(each != schemas[0] for each in schemas):
            return []
        inner = object_of(schemas[0]).get("items")
        name = self._description.name_of(schemas[0])
        nodes: Nodes = [draw_text(name or self._words(self._description.follow(schemas[0])))]
        count = sum(len(block.nodes) for block in drawn if block.type == "openapi-fields")
        if count > 1 and (name or not inner):
            nodes += [draw_text(" · "), self._label("fields", name=str(count))]
        return nodes if text_of(name) or count > 1 or inner else []

    def _links_of(self, response: Data) -> list[Block]:
        """Return the links of a response, with the values that they pass on."""
        items = []
        by_id = self._description.by_id
        for name, value in object_of(response.get("links")).items():
            link = self._description.follow(value)
            found = by_id.get(text_of(link.get("operationId")))
            title = found.title if found is not None else name
            line: Nodes = [draw_text(title)]
            if found is not None:
                line += [draw_text(" "), draw_text(found.name, "code")]
            for parameter, passed in object_of(link.get("parameters")).items():
                shown = passed if isinstance(passed, str) else body_text("application/json", passed)
                line += [draw_text(" "), draw_text(f"{parameter} = {shown}"[:200], "code")]
            items.append([draw_paragraph(*line), *markdown_of(link.get("description"))])
        return [self._part_heading("next", inner=True), *draw_items(items)] if items else []

    def _callbacks(self, operation: DescribedOperation) -> list[Block]:
        """Return the requests that the API sends as a result of this operation."""
        blocks: list[Block] = []
        for name, value in object_of(operation.data.get("callbacks")).items():
            for address, item in self._description.follow(value).items():
                for method, data in self._description.follow(item).items():
                    if method not in METHODS or not isinstance(data, dict):
                        continue
                    head = draw_paragraph(
                        draw_text(method.upper(), "bold"), draw_text(" "), draw_text(address, "code")
                    )
                    called = DescribedOperation(address, method, {}, data, webhook=True)
                    with self._within("callback", name):
                        inside = [
                            head,
                            *markdown_of(data.get("description")),
                            *self._body(called, inner=True),
                        ]
                    title = called.title if called.title != address else name
                    if self._folded:
                        blocks.append(draw_expandable([draw_text(title)], inside))
                    else:
                        blocks += [draw_paragraph(draw_text(title, "bold")), *inside]
        return [self._part_heading("callbacks"), *blocks] if blocks else []

    def _samples(self, operation: DescribedOperation) -> list[Block]:
        blocks: list[Block] = []
        if not operation.webhook:
            blocks += self._sample(operation)
        else:
            content = object_of(self._description.follow(operation.data.get("requestBody")).get("content"))
            drawn = (self._example(kind, media, "Body") for kind, media in content.items())
            blocks += next(filter(None, drawn), [])
            blocks += [
                draw_code(each.source, each.syntax, each.label) for each in read_own_samples(operation.data)
            ]
        answers: list[tuple[str, list[Block]]] = []
        for code, value in object_of(operation.data.get("responses")).items():
            response = self._description.follow(value)
            if code.startswith("x-") or response.get("x-hideSample") is True:
                continue
            if self._many and answers and is_error(code):
                continue
            content = object_of(response.get("content"))
            title = "" if self._folded else f"Response {code}"
            answers.append((code, self._examples_of(content, title)))
        answers = [(code, example) for code, example in answers if example]
        if answers and self._folded:
            tabs = [
                Block("tabs-item", {"title": code, "status": code}, [*example]) for code, example in answers
            ]
            blocks.append(Block("tabs", {}, [*tabs]))
        else:
            blocks += [block for _, example in answers[:1] for block in example]
        return blocks

    def _sample(self, operation: DescribedOperation) -> list[Block]:
        """Return the code samples of the request: the first sample, and the data for generating the other samples."""
        given = operation.data.get("x-codeSamples", operation.data.get("x-code-samples"))
        own = read_own_samples(operation.data)
        if given is False:
            return []
        examples: list[tuple[str, str]] = []
        left = self._longest
        given_examples = [] if own or self._many else body_examples(self._description, operation)
        for name, text in given_examples:
            left -= len(text)
            examples += [(name, text)] if left > 0 else []
        call = example_call(self._description, operation)
        request = self._request(call, own, examples)
        cut = 0 if own else count_omitted_characters(self._description, operation, call.body)
        # One of them is shown even if there is no choice.
        more = self._omission_line(len(given_examples) - max(len(examples), 1))
        content = object_of(self._description.follow(operation.data.get("requestBody")).get("content"))
        sent = call.body.media_type if call.body is not None else ""
        others = (
            [] if own or self._many else self._examples_of(content, "" if self._folded else "Body", but=sent)
        )
        return [*request, *self._omission_line(cut, "cut"), *more, *others]

    def _request(
        self, call: SampleCall, own: Sequence[CodeSample] = (), examples: Sequence[tuple[str, str]] = ()
    ) -> list[Block]:
        """Return the request as code. ``own``: the samples in the specification, which are listed first.
        ``examples``: the available bodies."""
        found = list_templates(call)
        first = own[0] if own else None
        syntax, source = (
            (first.syntax, first.source) if first else (found[0].syntax, write_sample(found[0], call))
        )
        if not self._folded:
            return [draw_code(source, syntax)]
        data = {
            "call": msgspec.json.encode(call).decode(),
            "own": [[each.label, each.syntax, each.source] for each in own],
            "libraries": [[each.language, each.library] for each in found],
            "examples": [[*each] for each in examples] if len(examples) > 1 else [],
        }
        return [Block("openapi-sample", data, [draw_long_code(source, syntax)])]

    def _examples_of(self, content: Data, title: str, *, but: str = "") -> list[Block]:
        """Return examples of all media types except ``but``. If there are several, each example is preceded by
        its media type."""
        blocks: list[Block] = []
        for kind, media in islice(content.items(), _MEDIA_TYPES):
            named = f"{title} {kind}".strip() if len(content) > 1 else title
            blocks += self._example(kind, media, named) if kind != but else []
        return [*blocks, *self._omission_line(len(content) - _MEDIA_TYPES)]

    def _example(self, kind: str, media: object, title: str) -> list[Block]:
        """Return the example for a media type. On HTML pages, return all named examples."""
        named = named_examples(self._description, object_of(media)) if self._folded and not self._many else []
        listings: list[Block] = []
        left, cut = 2 * self._longest, 0
        for name, value in named:
            shown, beyond = self._listed(kind, media, value, name)
            listings.append(shown)
            cut += beyond
            left -= len(text_of(shown.data.get("source")))
            if left <= 0:
                break
        if len(listings) > 1:
            names = [name for name, _ in named[: len(listings)]]
            drawn = Block("openapi-examples", {"names": names}, [*listings])
            return [drawn, *self._omission_line(cut, "cut"), *self._omission_line(len(named) - len(listings))]
        value = media_example(self._description, object_of(media), "response")
        if value is None or not media_text(self._description, kind, object_of(media), value):
            return []
        shown, cut = self._listed(kind, media, value, title)
        return [shown, *self._omission_line(cut, "cut"), *self._omission_line(len(named) - 1)]

    def _listed(self, kind: str, media: object, value: object, title: str) -> tuple[Block, int]:
        """Return an example, and the number of characters omitted from it."""
        text = media_text(self._description, kind, object_of(media), value)
        syntax = "json" if "json" in kind else "xml" if "xml" in kind else "text"
        beyond = max(len(text) - self._longest, 0)
        shown = f"{text[: self._longest]}\n…" if beyond else text
        return (draw_long_code if self._folded else draw_code)(shown, syntax, title or None), beyond

    @cached_property
    def _scheme_anchors(self) -> dict[str, str]:
        """Return the anchors of the schemes on the authentication page."""
        anchors: dict[str, str] = {}
        taken: set[str] = set()
        for name in islice(self._description.security_schemes, _SCHEMES):
            anchors[name] = free_name(slug(name) or "scheme", taken.__contains__)
            taken.add(anchors[name])
        return anchors


def name_status(code: str) -> str:
    """Return the name of a status code, for a response without a description."""
    return HTTPStatus(int(code)).phrase if code.isdecimal() and int(code) in _STATUSES else ""


def _scheme_nodes(name: str, scheme: Data) -> Nodes:
    """Return the credentials to send, as code."""
    kind, scheme_name = scheme.get("type"), text_of(scheme.get("scheme")) or "Bearer"
    if kind == "http":
        return [draw_text(f"Authorization: {scheme_name.capitalize()}", "code")]
    if kind == "apiKey":
        key = text_of(scheme.get("name"))
        return [draw_text(f"?{key}=" if scheme.get("in") == "query" else f"{key}:", "code")]
    words = {"oauth2": "OAuth 2.0", "openIdConnect": "OpenID Connect", "mutualTLS": "TLS"}
    return [draw_text(words.get(text_of(kind), name))]


def _scope_nodes(scopes: list[str]) -> Nodes:
    return [node for scope in scopes for node in (draw_text(" "), draw_text(scope, "code"))]


def scheme_words(name: str, scheme: Data) -> str:
    kind = scheme.get("type")
    if kind == "http":
        way = text_of(scheme.get("scheme")).lower()
        return {
            "bearer": f"{name}: a token in the header Authorization: Bearer",
            "basic": f"{name}: username and password in the header Authorization: Basic",
        }.get(way, f"{name}: the header Authorization: {way}")
    if kind == "apiKey":
        places = {"header": "the header", "query": "the query parameter", "cookie": "the cookie"}
        return f"{name}: a key in {places.get(text_of(scheme.get('in')), '')} {text_of(scheme.get('name'))}"
    return {
        "oauth2": f"{name}: OAuth 2.0",
        "openIdConnect": f"{name}: OpenID Connect",
        "mutualTLS": f"{name}: a client certificate (mutual TLS)",
    }.get(text_of(kind), name)
