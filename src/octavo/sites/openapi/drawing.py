"""Render operations, webhooks, and schemas as document blocks, which all output formats support. This module does no
I/O.

On HTML pages, nested properties are collapsed, and samples are next to the text. For Markdown, search, and print,
all content is in sequence, and the text is shorter."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

import msgspec

from octavo.core.document.anchors import slug
from octavo.core.document.nodes import Block, Fragment, Inline, Text, plain_text

from .blocks import (
    Nodes,
    draw_code,
    draw_expandable,
    draw_heading,
    draw_items,
    draw_links,
    draw_markdown,
    draw_paragraph,
    draw_subheading,
    draw_tabs,
    draw_text,
    markdown_of,
)
from .code_samples import example_call, list_templates, samples
from .conventions import Conventions
from .description import Data, DescribedOperation, list_of, object_of, text_of
from .operation_drawing import WAYS, OperationRenderer, name_status, scheme_words
from .words import ENGLISH, ReferenceWords

_SCOPES = 60
_FLOWS = 6
"""Maximum number of OAuth flows per scheme on the authentication page. ``_SCOPES``: the maximum number of
scopes."""
_NEEDING = 1_500
_NEEDING_ONE = 200
"""Maximum number of operations to list per scope or scheme on the authentication page. ``_NEEDING``: the maximum
number in total. Additional operations are only counted."""
_MEANINGS = 12
"""Maximum number of descriptions to list per status on the errors page. ``_BODIES``: the maximum number of
bodies for all statuses. ``_SAID``: the maximum number of parameters or headers of one kind."""
_BODIES = 6
_SAID = 12
_QUOTED = 100
"""Maximum number of blocks to quote from a specification's text about one subject."""
_ON_ERRORS = re.compile(r"(?i)\b(?:errors?|status codes?|problem details)\b")
_ON_LIMITS = re.compile(r"(?i)rate[- ]?limit|throttl|\bquotas?\b")
_ON_PAGING = re.compile(r"(?i)paginat|\bpaging\b")
_LANGUAGES = 6
"""Maximum number of languages in which to show an example request on the authentication page."""


class ApiReferenceRenderer(OperationRenderer):
    """Renderer of one specification: its operations, its schemas, and the parts that apply to all of them."""

    def schemas(self, names: Iterable[str], title: str = "") -> list[Block]:
        """Return the schemas with these names, each under a heading. Unknown schemas are omitted. ``title``: the
        heading that is already shown above."""
        blocks: list[Block] = []
        for name in names:
            schema = self._description.schemas.get(name)
            if schema is None:
                continue
            self._reset()
            self._soon = self._at_first if self._folded else None
            self._at = [slug(name)]
            found = self._description.follow(schema)
            anchor = {"id": slug(name)} if slug(name) else {}
            if name != title:
                blocks.append(Block("heading-1", anchor, [draw_text(name)]))
            said = markdown_of(found.get("description"))
            words = self._words(found)
            if words:
                said.append(
                    Block("openapi-limits", {}, [draw_text(words)])
                    if self._folded
                    else draw_paragraph(draw_text(words))
                )
            said += [*self._limits(found), *self.schema(schema)]
            self._draw_postponed()
            blocks += said or [draw_paragraph(draw_text("any"))]
        return blocks

    def information(self, words: ReferenceWords = ENGLISH) -> list[Block]:
        """Return general information about an API, and its servers."""
        description = self._description
        blocks = draw_markdown(text_of(description.info.get("description")))
        version = text_of(description.info.get("version"))
        if version:
            blocks.append(draw_paragraph(draw_text(f"{words.version} "), draw_text(version, "code")))
        servers = description.servers()
        if servers:
            items = []
            for server in servers:
                item = [
                    draw_paragraph(draw_text(text_of(server.get("url")), "code")),
                    *markdown_of(server.get("description")),
                ]
                variables = object_of(server.get("variables"))
                item += self._fields(
                    self.value(name, {"type": "string", **object_of(v)}) for name, v in variables.items()
                )
                items.append(item)
            blocks += [Block("heading-1", {}, [draw_text(words.servers)]), *draw_items(items)]
        return blocks

    def authentication(
        self, place_of: Callable[[DescribedOperation], Data], words: ReferenceWords = ENGLISH
    ) -> list[Block]:
        """Return each authentication scheme with the credentials to send, an example request, the OAuth flows and
        scopes, and the operations that require it. The operations that don't require authentication come last.
        ``place_of``: a function that returns a reference to an operation's page."""
        description = self._description
        needing, together, without = self._group_by_scheme()
        listed = _OperationLists(place_of, words).show

        blocks: list[Block] = []
        for name, anchor in self._scheme_anchors.items():
            scheme = description.follow(description.security_schemes[name])
            needed = needing.get(name, {})
            said = scheme_words(name, scheme).removeprefix(f"{name}: ")
            blocks.append(Block("heading-1", {"id": anchor}, [draw_text(name)]))
            if said != name:
                blocks.append(draw_paragraph(draw_text(said[:1].upper() + said[1:])))
            blocks += markdown_of(scheme.get("description"))
            left = _flows(scheme, words)
            sent = _describe_credential(scheme)
            if sent:
                left.append(_draw_pairs([(words.sent, sent)]))
            others = list(together.get(name, {}))
            for other in others[:WAYS]:
                called: Text | Inline = draw_text(other)
                at = self._scheme_anchors.get(other)
                if at is not None:
                    called = Inline("link", {"ref": {"kind": "anchor", "anchor": at}}, [called])
                left.append(draw_paragraph(draw_text(f"{words.together}: "), called))
            if len(others) > WAYS:
                left.append(draw_paragraph(draw_text(_fill_number(words.beyond, len(others) - WAYS))))
            scopes = _scopes(scheme)
            if scopes:
                left.append(draw_paragraph(draw_text(words.scopes, "bold")))
            for scope, about in islice(scopes.items(), _SCOPES):
                title: Nodes = [draw_text(scope, "code"), draw_text(f" {about} " if about else " ")]
                left += listed(title, [*needed.get(scope, {}).values()])
            if len(scopes) > _SCOPES:
                left.append(draw_paragraph(draw_text(_fill_number(words.beyond, len(scopes) - _SCOPES))))
            unscoped = {
                key: each
                for scope, found in needed.items()
                if scope not in scopes
                for key, each in found.items()
            }
            if unscoped:
                left += listed([], [*unscoped.values()])
            right = self._with_scheme(name) if sent else []
            blocks += _draw_columns(left, right) if left and right else left + right
        hidden = len(description.security_schemes) - len(self._scheme_anchors)
        if hidden:
            blocks.append(draw_paragraph(draw_text(_fill_number(words.beyond, hidden))))
        if without:
            blocks += [draw_heading(words.open_to_all), *listed([], without)]
        return blocks

    def conventions(
        self,
        found: Conventions,
        place_of: Callable[[DescribedOperation], Data],
        words: ReferenceWords = ENGLISH,
    ) -> list[Block]:
        """Return the errors of all operations with their content, and the specification's text about rate
        limits and pagination. ``place_of``: a function that returns a reference to an operation's page."""
        text = text_of(self._description.info.get("description"))
        users = _OperationLists(place_of, words)
        blocks: list[Block] = []
        quoted = _sections(text, _ON_ERRORS, words)
        if found.errors or quoted:
            blocks += [draw_heading(words.errors), *quoted]
        for code, said in found.errors.items():
            title: Nodes = [
                draw_text(code, "code"),
                draw_text(f" {name_status(code)} " if name_status(code) else " "),
            ]
            inside: list[Block] = []
            listed = sorted(said.items(), key=lambda each: -len(each[1]))
            if len(listed) == 1:
                about, operations = listed[0]
                inside = markdown_of(about) if about.rstrip(".") != name_status(code) else []
                blocks += users.show(title, [*operations.values()], inside)
                continue
            for about, operations in listed[:_MEANINGS]:
                inside += markdown_of(about) or [draw_paragraph(draw_text("–"))]
                inside += users.show([], [*operations.values()])
            if len(listed) > _MEANINGS:
                inside.append(draw_paragraph(draw_text(_fill_number(words.beyond, len(listed) - _MEANINGS))))
            count = _fill_number(words.needed, len(set().union(*said.values())))
            blocks.append(draw_expandable([*title, draw_text(count, "italic")], inside))
        if found.bodies:
            blocks.append(draw_subheading(words.error_bodies))
        for body in found.bodies[:_BODIES]:
            self._reset()
            count = _fill_number(words.needed, len(body.users))
            codes = [
                node for code in sorted(body.codes) for node in (draw_text(code, "code"), draw_text(" "))
            ]
            blocks.append(draw_paragraph(*codes, draw_text(body.kind, "code"), draw_text(f" {count}")))
            blocks += self._contents({body.kind: {"schema": body.schema}})
        if len(found.bodies) > _BODIES:
            blocks.append(draw_paragraph(draw_text(_fill_number(words.beyond, len(found.bodies) - _BODIES))))
        for title_of, called, shared in (
            (words.rate_limits, _ON_LIMITS, found.limits),
            (words.paging, _ON_PAGING, found.paging),
        ):
            quoted = _sections(text, called, words)
            if not quoted and not shared:
                continue
            blocks += [draw_heading(title_of), *quoted]
            self._reset()
            for each in shared[:_SAID]:
                blocks += self._fields([self._parameter(each.data)])
                blocks += users.show([], [*each.users.values()])
            if len(shared) > _SAID:
                blocks.append(draw_paragraph(draw_text(_fill_number(words.beyond, len(shared) - _SAID))))
        return blocks

    def _with_scheme(self, name: str) -> list[Block]:
        """Return an example request for an operation that requires a security scheme, preferably a read-only
        operation."""
        wanted = [
            (each.method != "get", len(way), number, each, way)
            for number, each in enumerate(self._description.operations.values())
            for way in self._description.security(each)
            if name in way
        ]
        if not wanted:
            return []
        _, _, _, operation, way = min(wanted, key=lambda each: each[:3])
        operation = msgspec.structs.replace(operation, data={**operation.data, "security": [way]})
        call = example_call(self._description, operation)
        if self._folded:
            return self._request(call)
        first = {each.label: each for each in reversed(samples(call))}
        order = dict.fromkeys(each.language for each in list_templates(call))
        return [
            draw_tabs(
                (label, [draw_code(first[label].source, first[label].syntax)])
                for label in islice(order, _LANGUAGES)
            )
        ]

    def _group_by_scheme(
        self,
    ) -> tuple[
        dict[str, dict[str, dict[str, DescribedOperation]]],
        dict[str, dict[str, None]],
        list[DescribedOperation],
    ]:
        """Return three results: the operations by scheme and required scope (empty if no scope is required); for each
        scheme, the schemes that are used only in combination with it; and the operations without authentication."""
        found: dict[str, dict[str, dict[str, DescribedOperation]]] = {}
        together: dict[str, dict[str, None]] = {}
        without: list[DescribedOperation] = []
        for operation in self._description.operations.values():
            ways = self._description.security(operation)
            if not ways or not all(ways):
                without.append(operation)
            for way in ways:
                for name, scopes in way.items():
                    if name not in self._scheme_anchors:
                        continue
                    at = found.setdefault(name, {})
                    for scope in {text_of(each) for each in list_of(scopes)} or {""}:
                        at.setdefault(scope, {})[operation.key] = operation
                    beside = together.setdefault(name, {})
                    if len(beside) <= WAYS:  # only a few are shown, even if many are listed together
                        beside.update(dict.fromkeys(islice((each for each in way if each != name), WAYS + 1)))
        return found, together, without


class _OperationLists:
    """Lists of operations on one page, with a limit on the total number of operations."""

    def __init__(self, place_of: Callable[[DescribedOperation], Data], words: ReferenceWords) -> None:
        self._place_of = place_of
        self._words = words
        self._left = _NEEDING

    def show(
        self, title: Nodes, operations: Sequence[DescribedOperation], inside: Sequence[Block] = ()
    ) -> list[Block]:
        """Return an expandable section whose heading is ``title`` with the number of operations. It contains ``inside``
        and the operations."""
        shown = operations[: min(_NEEDING_ONE, self._left)]
        self._left -= len(shown)
        said = _fill_number(self._words.needed, len(operations))
        count = draw_text(said, "italic") if title else draw_text(said[:1].upper() + said[1:])
        if not shown and not inside:
            return [draw_paragraph(*title, count)]
        blocks = [*inside, *draw_links((self._place_of(each), each.title, each.name) for each in shown)]
        if len(shown) < len(operations):
            blocks.append(
                draw_paragraph(draw_text(_fill_number(self._words.beyond, len(operations) - len(shown))))
            )
        return [draw_expandable([*title, count], blocks)]


def _sections(text: str, called: re.Pattern[str], words: ReferenceWords) -> list[Block]:
    """Return the sections of a text whose headings match ``called``. Headings inside these sections become
    paragraphs."""
    found: list[Block] = []
    level = 0
    for block in draw_markdown(text, anchored=False):
        at = int(block.type.removeprefix("heading-")) if block.type.startswith("heading-") else 0
        if at and (not level or at <= level):
            level = at if called.search(plain_text(block)) else 0
            continue
        if level:
            found.append(Block("paragraph", {}, list(block.nodes)) if at else block)
    beyond = len(found) - _QUOTED
    return [
        *found[:_QUOTED],
        *([draw_paragraph(draw_text(_fill_number(words.beyond, beyond)))] if beyond > 0 else []),
    ]


def _fill_number(words: str, number: int) -> str:
    return words.replace("{name}", str(number))


def _draw_columns(left: list[Block], right: list[Block]) -> list[Block]:
    columns = [Block("column", {}, [*left]), Block("column", {}, [*right])]
    return [Block("columns", {}, [*columns])]


def _draw_pairs(rows: Iterable[tuple[str, str]]) -> Block:
    """Return a table of names and values. Markdown requires the table's empty header row."""
    definition = {name: {"id": name, "title": "", "type": "text"} for name in ("what", "value")}
    records: Data = {}
    fragments: list[Fragment] = []
    for number, (what, value) in enumerate(rows):
        values = {name: f"{number} {name}" for name in definition}
        records[str(number)] = {"orderIndex": str(number).zfill(4), "values": values}
        fragments += [
            Fragment(values["what"], [draw_paragraph(draw_text(what))]),
            Fragment(values["value"], [draw_paragraph(draw_text(value, "code"))]),
        ]
    view = {"type": "grid", "columns": [*definition]}
    return Block("table", {"view": view, "records": records, "definition": definition}, fragments=fragments)


def _flows(scheme: Data, words: ReferenceWords) -> list[Block]:
    found: list[tuple[str, list[Block]]] = []
    for flow, value in islice(object_of(scheme.get("flows")).items(), _FLOWS):
        data = object_of(value)
        addresses = (
            ("authorizationUrl", words.authorize),
            ("tokenUrl", words.token_address),
            ("refreshUrl", words.refresh_address),
        )
        rows = [(said, text_of(data[key])) for key, said in addresses if text_of(data.get(key))]
        named = {"authorizationCode": "Authorization code", "clientCredentials": "Client credentials"}
        found.append((named.get(flow, flow.capitalize()), [_draw_pairs(rows)] if rows else []))
    address = text_of(scheme.get("openIdConnectUrl"))
    blocks = [draw_paragraph(draw_text(address, "code"))] if address else []
    if len(found) > 1:
        return [*blocks, draw_tabs(found)]
    return [
        *blocks,
        *(each for title, inside in found for each in (draw_paragraph(draw_text(title, "bold")), *inside)),
    ]


def _scopes(scheme: Data) -> dict[str, str]:
    """Return the scopes of all of a scheme's flows, with their descriptions."""
    flows = object_of(scheme.get("flows")).values()
    return {
        name: " ".join(text_of(about).split())
        for value in flows
        for name, about in object_of(object_of(value).get("scopes")).items()
    }


def _describe_credential(scheme: Data) -> str:
    """Return the credential that callers send for a scheme, with a placeholder for the secret; empty if the request
    doesn't contain it."""
    kind, way = scheme.get("type"), text_of(scheme.get("scheme"))
    if kind in ("oauth2", "openIdConnect"):
        return "Authorization: Bearer <access_token>"
    if kind == "http":
        secret = "<base64 of user:password>" if way.lower() == "basic" else "<token>"
        return f"Authorization: {way.capitalize() or 'Bearer'} {secret}"
    key = text_of(scheme.get("name"))
    if kind != "apiKey" or not key:
        return ""
    return {"query": f"?{key}=<key>", "cookie": f"Cookie: {key}=<key>"}.get(
        text_of(scheme.get("in")), f"{key}: <key>"
    )
