"""Operations, webhooks, and schemas as document blocks, which every document view can show. Pure.

Pages for people are folded: nested properties are collapsed, and samples are beside the text. Otherwise, for
Markdown, search, and prints, everything is shown one below the other, and the text is shorter."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from http import HTTPStatus
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import msgspec

from octavo.core.document.anchors import Anchors, place_ids, slug
from octavo.core.document.evaluating import replace_nodes
from octavo.core.document.html_context import BlockLabels
from octavo.core.document.nodes import Block, Fragment, Inline, Leaf, Mark, Replacement, Text, plain_text
from octavo.core.document.reader import read
from octavo.core.free_names import free_name

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
    samples,
    write_sample,
)
from .conventions import Conventions, is_error
from .description import ApiDescription, Data, DescribedOperation, list_of, object_of, text_of
from .examples import all_examples, media_example, named_examples
from .trying import can_try, list_origins
from .validating import METHODS
from .words import ENGLISH, ReferenceWords

_DEPTH = 12
_PROPERTIES = 500
_FEW_PROPERTIES = 60
"""Properties drawn for one operation or schema, the second on a page with many; further ones are only counted."""
_PROPERTIES_OF_PAGE = 1_000
_AT_FIRST = 40
"""Fields drawn for the operations of one page before nested content is left out unless all fields are requested,
outer levels first; those of the first level are always drawn."""
_FEW_AT_FIRST = 8
_EXAMPLE = 20_000
_SHORT_EXAMPLE = 4_000
"""Characters of an example, the second on a page with many operations."""
_EXAMPLES_OF_PAGE = 50_000
"""Characters of the examples of all operations of one page together."""
MANY = 12
"""Operations on a page beyond which each is shown in less detail: fewer levels, and no content or samples of
errors, which are nearly always the same."""

_ENGLISH = BlockLabels()
_LONGEST_ADDRESS = 200
"""Maximum characters of a field's anchor; deeper fields have none."""
_UNFOLDED = 5
"""Nested fields shown without unfolding."""
_VALUES = 200
"""Possible values of a field that are drawn."""
_STATUSES = frozenset(HTTPStatus)
_LIMITS = (
    ("default", "default"),
    ("const", "const"),
    ("minimum", "minimum"),
    ("maximum", "maximum"),
    ("exclusiveMinimum", "exclusive_minimum"),
    ("exclusiveMaximum", "exclusive_maximum"),
    ("multipleOf", "multiple_of"),
    ("minLength", "min_length"),
    ("maxLength", "max_length"),
    ("minItems", "min_items"),
    ("maxItems", "max_items"),
    ("pattern", "pattern"),
)
"""Keywords about a schema's values, and their labels."""
_KEYWORDS = (
    "uniqueItems",
    "minContains",
    "maxContains",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contentMediaType",
    "contentEncoding",
)
"""Keywords shown under their own names: few descriptions use them, and readers of those know them."""
_OF_VALUES = frozenset(
    (*(key for key, _ in _LIMITS), *_KEYWORDS, "enum", "x-enumDescriptions", "example", "examples")
)
"""Keywords without which a schema says nothing about its values."""
_INNER = (
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contentSchema",
)
"""Keywords that hold one schema, which is shown under the keyword."""
_HOLDING = (
    "properties",
    "additionalProperties",
    "allOf",
    "oneOf",
    "anyOf",
    "patternProperties",
    "dependentSchemas",
    "prefixItems",
    *_INNER,
)
"""Keywords of a schema that hold other schemas."""
_MEDIA_TYPES = 5
"""Media types of one body or response whose examples are shown."""
_WAYS = 4
"""Ways to authenticate shown above an operation."""
_SCHEMES = 50
_SCOPES = 60
_FLOWS = 6
"""Flows on the authentication page, the last two for each scheme."""
_NEEDING = 1_500
_NEEDING_ONE = 200
"""Operations listed on this page, in total and for one scope or scheme; further ones are only counted."""
_MEANINGS = 12
"""Descriptions of one status on the errors page; ``_BODIES``: of all statuses, ``_SAID``: parameters and headers of
one kind."""
_BODIES = 6
_SAID = 12
_QUOTED = 100
"""Blocks of a description about one subject."""
_ON_ERRORS = re.compile(r"(?i)\b(?:errors?|status codes?|problem details)\b")
_ON_LIMITS = re.compile(r"(?i)rate[- ]?limit|throttl|\bquotas?\b")
_ON_PAGING = re.compile(r"(?i)paginat|\bpaging\b")
_PROMISED = 20
"""Schemas examined to find out whether the variants of a field have content."""
_LANGUAGES = 6
"""Languages of a request on it, if all are shown or in tabs."""
_LINKED_WITHIN = 3
"""Levels of lists and variants within which a type is shown as links."""
_FEW_KINDS = 4
"""Variants of a type that are named."""
_SCALARS = ("string", "integer", "number", "boolean", "null")
_SENTENCE = re.compile(r"[A-Za-z](?: ?[A-Za-z0-9,.;'()?!/])*")
"""Sentence of plain words."""
_PLAIN = re.compile(
    r"[A-Za-z](?: ?(?:[A-Za-z0-9,.;'()?!/\"’]|[-:](?= )|(?<=[A-Za-z0-9])[-_](?=[A-Za-z0-9])))*"
)
"""Text that is the same in Markdown, like most descriptions of parameters."""
_KEPT_TEXT = 1_000
"""Maximum characters of a description cached for all pages: those of schemas appear on many."""

Nodes = list[Text | Inline]


# --- nodes ----------------------------------------------------------------------------------------------------


def _text(words: str, *marks: str) -> Text:
    return Text([Leaf(words, [Mark(mark) for mark in marks]) if marks else Leaf(words)])


def _paragraph(*nodes: Text | Inline) -> Block:
    return Block("paragraph", {}, [node for node in nodes])


def _markdown(value: object) -> list[Block]:
    """Return an author's Markdown as part of a drawing: its headings become bold lines without anchors."""
    text = text_of(value)
    if not text.strip():
        return []
    if _PLAIN.fullmatch(text) and "www." not in text:
        return [_paragraph(_text(text))]
    return _decoder.decode((_kept_blocks if len(text) <= _KEPT_TEXT else _encoded_blocks)(text))


def _encoded_blocks(text: str) -> bytes:
    blocks = draw_markdown(text, anchored=False)
    for block in blocks:
        if block.type.startswith("heading-"):
            block.type, block.data = "paragraph", {}
            for node in block.nodes:
                if isinstance(node, Text):
                    node.leaves = [Leaf(leaf.text, [Mark("bold")]) for leaf in node.leaves]
    return msgspec.msgpack.encode(blocks)


# Encoded, because each page changes its blocks. Decoding takes a sixtieth of the time needed to parse the text.
_kept_blocks = lru_cache(maxsize=2048)(_encoded_blocks)
_decoder = msgspec.msgpack.Decoder(list[Block])


def draw_markdown(text: str, *, anchored: bool = True) -> list[Block]:
    """Return Markdown parsed like all other pages. Links to anchors generated by other tools
    (``#operation/getPet``, ``#api-group-Users``) become plain text, because only headings of the text have
    anchors here. ``anchored``: whether its headings get anchors."""
    document = read(text)
    own = Anchors(place_ids(document).values() if anchored and "#" in text else ())

    def unlinked(node: Block | Inline) -> Replacement | None:
        ref = node.data.get("ref") if node.type == "link" else None
        url = text_of(object_of(ref).get("url"))
        return list(node.nodes) if url.startswith("#") and own.find(unquote(url[1:])) is None else None

    document = replace_nodes(document, unlinked)
    for block in document.nodes:
        block.source = None
    return list(document.nodes)


def draw_code(source: str, syntax: str, title: str | None = None) -> Block:
    lines = [Block("code-line", {}, [_text(line)]) for line in source.split("\n")]
    return Block("code", {"syntax": syntax, **({"title": title} if title else {})}, [*lines])


def _draw_long_code(source: str, syntax: str, title: str | None = None) -> Block:
    """Draw code like ``draw_code``, for a folded page."""
    return Block(
        "openapi-listing", {"syntax": syntax, "source": source, **({"title": title} if title else {})}
    )


def _tabs(entries: Iterable[tuple[str, list[Block]]]) -> Block:
    return Block("tabs", {}, [Block("tabs-item", {"title": title}, [*blocks]) for title, blocks in entries])


def _expandable(
    title: Sequence[Text | Inline], blocks: list[Block], *, is_open: bool = False, kind: str = "expandable"
) -> Block:
    return Block(
        kind,
        {"open": True} if is_open else {},
        fragments=[
            Fragment("expandable-title", [_paragraph(*title)]),
            Fragment("expandable-body", blocks),
        ],
    )


def _items(items: Iterable[list[Block]]) -> list[Block]:
    nodes = [Block("list-item", {}, [*blocks]) for blocks in items]
    return [Block("list-unordered", {}, [*nodes])] if nodes else []


def _hint(style: str, *nodes: Text | Inline) -> Block:
    return Block("hint", {"style": style}, [_paragraph(*nodes)])


def draw_problem(words: str) -> Block:
    """Return a hint in place of something that can't be drawn."""
    return _hint("danger", _text(words))


def draw_heading(words: str) -> Block:
    return Block("heading-1", {}, [_text(words)])


def draw_subheading(words: str) -> Block:
    return Block("heading-2", {}, [_text(words)])


def draw_fold(words: str, blocks: list[Block]) -> Block:
    """Return an expandable with a plain-text title."""
    return _expandable([_text(words)], blocks)


def draw_page_links(pages: Iterable[tuple[str, str, str]]) -> list[Block]:
    """Return a list of links to pages, each given by its id, its title, and the text shown beside it if that
    differs."""
    return draw_links(({"kind": "page", "page": page}, title, beside) for page, title, beside in pages)


def draw_links(places: Iterable[tuple[Data, str, str]]) -> list[Block]:
    """Draw links like ``draw_page_links``, for references of any kind."""
    items = []
    for ref, title, beside in places:
        link = Inline("link", {"ref": ref}, [_text(title)])
        items.append([_paragraph(link, *([_text(" "), _text(beside, "code")] if beside != title else []))])
    return _items(items)


# --- schemas --------------------------------------------------------------------------------------------------


class Drawer:
    """Drawer of one description. ``many``: the page has many operations, so each is shown in less detail.
    ``linked``: schemas with their own heading on the page, or their own page under ``schemas_at``; their content
    is shown only there. ``spec``: the page's name for the specification, used when trying an operation.
    ``together``: number of operations that share a page for people. ``brief``: the page also has other content,
    so only required parts of a request are unfolded. ``whole``: draw all nested fields, however many; otherwise
    some are replaced by a link to the page with all of them."""

    def __init__(
        self,
        description: ApiDescription,
        *,
        folded: bool,
        many: bool = False,
        together: int = 1,
        brief: bool = False,
        linked: Iterable[str] = (),
        schemas_at: str = "",
        spec: str = "",
        whole: bool = True,
    ) -> None:
        self._description = description
        self._folded = folded
        self._spec = spec
        self._depth = 4 if many else _DEPTH
        among = max(together, 1) if folded else 1
        self._most = _FEW_PROPERTIES if many else min(_PROPERTIES, _PROPERTIES_OF_PAGE // among)
        self._at_first = max(_AT_FIRST // among, _FEW_AT_FIRST)
        self._whole = whole
        self._longest = _SHORT_EXAMPLE if many else min(_EXAMPLE, _EXAMPLES_OF_PAGE // among)
        self._brief = brief and folded
        self._many = many
        self._told: set[str] = set()
        self._schemes: set[str] = set()
        """Ways to authenticate already described on the page."""
        self._left_out = ""
        """Keyword of properties that aren't shown at the moment."""
        self._linked = {name: slug(name) or "section" for name in linked}
        self._schemas_at = schemas_at
        self._folded_at: dict[tuple[str, str], str] = {}
        """Ids of folds on the page, by the reference to the schema they show completely, and what is left out."""
        self._filled_at: dict[tuple[str, str], str] = {}
        """Ids of folds that are shown only with all fields, by the reference to their schema."""
        self._fold_ids: set[str] = set()
        self._soon: int | None = None
        """Fields still to be drawn before nested content is postponed; None: nothing is postponed."""
        self._waiting: list[_Postponed] = []
        self._waited = 0
        self._looked = 0
        self._nulls: dict[str, bool] = {}
        """Whether a schema allows only null, by the reference to it."""
        self._fills = False
        self._at: list[str] = []
        """Names of the part being drawn, from the outside in: `body`, `output`, `title`."""
        self._named: set[str] = set()
        """Fields of the page with an anchor. On a page with many operations there would be too many, so none has
        one."""
        self._received = False
        """Whether the reader receives the part being drawn, as with a webhook, rather than sends it."""
        self._left = self._most
        self._cut = 0
        """Number of omissions for lack of room."""

    def _label(self, word: str, *marks: str, name: str = "") -> Text | Inline:
        """Return a label (``BlockLabels``), in the language of the site. ``name``: a value for it."""
        english = _text(getattr(_ENGLISH, f"api_{word}").replace("{name}", name), *marks)
        if not self._folded:
            return english
        return Inline("openapi-word", {"word": word, **({"name": name} if name else {})}, [english])

    @contextmanager
    def _within(self, *names: str) -> Iterator[None]:
        """Draw within something of this name."""
        self._at += names
        yield
        del self._at[len(self._at) - len(names) :]

    def _part_heading(self, word: str, *beside: Text | Inline, inner: bool = False) -> Block:
        """Return the start of a part of an operation; ``inner``: of one of its responses."""
        if not self._folded:
            return _paragraph(self._label(word, "bold"), *beside)
        named = {} if inner else {"part": word, **self._anchor_data(word)}
        return Block("openapi-part", named, [self._label(word, "bold"), *beside])

    def _anchor_data(self, *names: str, below: int = 0) -> Data:
        """Return the anchor of a part of an operation, and its depth in the outline."""
        return {"id": ".".join((*self._at, *names)), "level": (3 if self._at else 2) + below}

    def _reserve(self, count: int) -> int:
        """Return how many of ``count`` properties or variants can still be drawn; each of them can contain
        further ones."""
        taken = max(min(count, self._left), 0)
        self._left -= taken
        self._cut += taken < count
        return taken

    def _reset(self) -> None:
        """Start a new operation or schema, with nothing described yet."""
        self._left = self._most
        self._told = set()

    def _type(self, value: object) -> Nodes:
        """Return a schema's type in a few words."""
        linked = self._links(value)
        if linked is not None:
            return linked
        schema = self._description.follow(value)
        words = self._description.name_of(value) or self._words(schema)
        form = text_of(schema.get("format"))
        if self._folded and words.endswith(f" ({form})"):
            return [_text(words.removesuffix(f"({form})")), _text(form, "code")]
        return [_text(words)]

    def _links(self, value: object, within: int = _LINKED_WITHIN) -> Nodes | None:
        """Return a schema's type as links to everything in it; None if part of it has no link. It is called
        at each level, so it looks ahead only a few levels."""
        name = self._description.name_of(value)
        if name:
            ref = self._find_link(value)
            return [Inline("link", {"ref": ref}, [_text(name)])] if ref is not None else None
        schema = value if isinstance(value, dict) and within else {}
        if isinstance(schema.get("items"), dict) and "properties" not in schema:
            inner = self._links(schema["items"], within - 1)
            return [_text("array of "), *inner] if inner is not None else None
        variants = list_of(schema.get("anyOf")) or list_of(schema.get("oneOf"))
        found: Nodes = []
        linked = False
        for variant in variants:
            nodes = self._links(variant, within - 1)
            linked = linked or nodes is not None
            if nodes is None and object_of(variant).get("type") in _SCALARS:
                nodes = [_text(self._words(variant))]
            if nodes is None:
                return None
            found += [*([_text(" or ")] if found else []), *nodes]
        return found if linked else None

    def _find_link(self, value: Any) -> Data | None:
        """Return the location of a named schema on the page or on the schemas page."""
        anchor = self._linked.get(self._description.name_of(value))
        if anchor is not None and self._schemas_at:
            return {"kind": "url", "url": f"{self._schemas_at}/{quote(self._description.name_of(value))}"}
        key = (value["$ref"], self._left_out)
        anchor = anchor or self._folded_at.get(key) or (self._filled_at.get(key) if self._fills else None)
        return {"kind": "anchor", "anchor": anchor} if anchor else None

    def _fold(self, title: Nodes, value: object, inside: list[Block], *, whole: bool) -> Block:
        """Return a fold with the content of a schema. On a page with many operations most schemas repeat: once
        shown completely, a schema is linked to."""
        shown = _count(inside)
        folded = _expandable(title, inside, is_open=0 < shown <= _UNFOLDED, kind="openapi-fold")
        name = self._description.name_of(value)
        if name and whole and self._find_link(value) is None:
            self._name_fold(folded, value)
        return folded

    def _postpone(
        self, name: str, value: object, above: tuple[str, ...], *, late: bool = False
    ) -> Block | None:
        """Return a placeholder for the nested content of a field, to be drawn after all outer levels; None to draw
        it at once because it is short. ``late``: postpone only if enough has been drawn."""
        if self._soon is None or (late and self._soon > 0):
            return None
        title = self._predict_title(name, value, above)
        if title is None:
            return None
        waiting = _expandable(title, [], kind="openapi-later")
        waiting.data.update(self._fold_context(name, title))
        named = value if self._description.name_of(value) else self._description.follow(value).get("items")
        if self._description.name_of(named) and self._find_link(named) is None:
            self._name_fold(waiting, named)
        self._waiting.append(_Postponed(waiting, name, value, named, above, (*self._at,), self._left_out))
        return waiting

    def _name_fold(self, folded: Block, value: Any) -> None:
        """Give the fold of a named schema an id, so that later occurrences link to it."""
        said, at = ("deep in", self._filled_at) if self._fills else ("in", self._folded_at)
        # Folds have the same ids with and without all fields.
        name = f"{said} {self._spec} {self._description.name_of(value)}"
        id = free_name(slug(name), self._fold_ids.__contains__)
        folded.data["id"] = at[value["$ref"], self._left_out] = id
        self._fold_ids.add(id)

    def _predict_title(self, name: str, value: object, above: tuple[str, ...], deep: int = 0) -> Nodes | None:
        """Return the future title of a schema's fold without drawing its content; None if that is a single line."""
        if self._is_line(value, above, deep):
            return None
        schema = self._description.merge(value)
        count, others = self._shown_in(schema)
        variants = self._not_null(schema.get("oneOf")) or self._not_null(schema.get("anyOf"))
        if count or others:
            if count > 1 and not others and not variants:
                return [self._label("fields", name=str(count))]
            return [self._label("inside", name=name or "…")]
        self._looked = 0
        if any(self._has_nested(each, above, deep + 1) for each in variants):
            if len(variants) == 1:
                return self._predict_title(name, variants[0], above, deep + 1)
            return [self._label("shapes", name=str(len(variants)))]
        return self._predict_title(name, schema["items"], above, deep + 1) if "items" in schema else None

    def _has_nested(self, value: object, above: tuple[str, ...], deep: int) -> bool:
        """Return whether a schema has content to fold, without examining all of it: true if that takes too long."""
        self._looked += 1
        if self._looked > _PROMISED:
            return True
        if self._is_line(value, above, deep):
            return False
        schema = self._description.merge(value)
        return (
            any(self._shown_in(schema))
            or any(
                self._has_nested(each, above, deep + 1)
                for key in ("oneOf", "anyOf")
                for each in list_of(schema.get(key))
                if not self._is_null(each)
            )
            or ("items" in schema and self._has_nested(schema["items"], above, deep + 1))
        )

    def _not_null(self, variants: object) -> list[object]:
        return [each for each in list_of(variants) if not self._is_null(each)]

    def _is_null(self, value: object) -> bool:
        ref = text_of(object_of(value).get("$ref"))
        known = self._nulls.get(ref) if ref else None
        if known is None:
            known = self._description.follow(value).get("type") == "null"
            if ref:
                self._nulls[ref] = known
        return known

    def _is_line(self, value: object, above: tuple[str, ...], deep: int) -> bool:
        named = self._description.name_of(value)
        return (bool(named) and named in above) or len(above) + deep >= self._depth

    def _shown_in(self, schema: Data) -> tuple[int, bool]:
        """Return how many fields of a schema are shown here, and whether it allows further ones of any name."""
        count = sum(
            not self._left_out or self._description.follow(inner).get(self._left_out) is not True
            for inner in object_of(schema.get("properties")).values()
        )
        return count, bool(object_of(schema.get("additionalProperties")))

    def _draw_postponed(self) -> None:
        """Draw postponed content, outer levels first, until there is enough; all of it if all fields are requested."""
        before, done = self._at, 0
        while done < len(self._waiting) and self._soon is not None and self._soon > 0:
            self._draw_one_postponed(self._waiting[done])
            done += 1
        rest, self._waiting, self._soon, self._fills = self._waiting[done:], [], None, True
        for each in rest:
            self._waited += 1
            each.block.data.setdefault("id", slug(f"more {self._spec} {self._waited}"))
            if self._whole:
                self._draw_one_postponed(each)
        self._at, self._left_out, self._fills = before, "", False

    def _draw_one_postponed(self, each: _Postponed) -> None:
        self._at, self._left_out, cut = [*each.at], each.left_out, self._cut
        inside = self.schema(each.value, each.above) or [_paragraph(self._label("nothing_more"))]
        whole = cut == self._cut
        title = self._fold_title(each.name, inside, whole=whole)
        made = self._fold(title, each.named, inside, whole=False)
        block = each.block
        block.type, block.data, block.fragments = made.type, made.data | block.data, made.fragments
        key = (each.named["$ref"], each.left_out) if self._description.name_of(each.named) else None
        if not whole and key is not None and self._folded_at.get(key) == block.data.get("id"):
            # Later occurrences must draw it again.
            del self._folded_at[key]

    def _fold_title(self, name: str, inside: list[Block], *, whole: bool) -> Nodes:
        """Return the number of fields inside if there is nothing else, and otherwise the field's name."""
        count = _count(inside) if whole else 0
        if count > 1:
            return [self._label("fields", name=str(count))]
        shapes = inside[1] if len(inside) == 2 and inside[1].data.get("shapes") is True else None
        if shapes is not None:
            inside[0].nodes = [*inside[0].nodes[1:]]
            return [self._label("shapes", name=str(len(shapes.nodes)))]
        return [self._label("inside", name=name or "…")]

    @staticmethod
    def _fold_context(name: str, title: Nodes) -> Data:
        """Return the context of a fold for screen readers, which read its title without what is above it; empty if
        the title says it."""
        says = any(node.data.get("word") == "inside" for node in title if isinstance(node, Inline))
        return {"of": name} if name and not says else {}

    def _words(self, schema: Data) -> str:
        types = schema.get("type")
        kinds = [text_of(t) for t in types] if isinstance(types, list) else [text_of(types)] if types else []
        if not kinds:
            kinds = ["object"] if "properties" in schema else ["array"] if "items" in schema else []
        for key, words in (("oneOf", "one of"), ("anyOf", "any of"), ("allOf", "object")):
            if list_of(schema.get(key)) and not kinds:
                kinds = (self._kinds_of(list_of(schema[key])) if key != "allOf" else []) or [words]
        if "array" in kinds:
            inner = schema.get("items")
            of = self._description.name_of(inner) or self._words(self._description.follow(inner))
            kinds[kinds.index("array")] = f"array of {of}" if of else "array"
        if schema.get("nullable") is True:
            kinds.append("null")
        words = " or ".join(kind for kind in kinds if kind)
        form = text_of(schema.get("format"))
        return f"{words} ({form})" if form and words else words or form

    def _kinds_of(self, variants: Sequence[object]) -> list[str]:
        """Return a few variants in a few words; nothing if that is too long."""
        found: dict[str, None] = {}
        for each in variants[: _FEW_KINDS + 1]:
            schema = self._description.follow(each)
            named = self._description.name_of(each)
            nested = list_of(schema.get("oneOf")) or list_of(schema.get("anyOf"))
            found[named or ("" if nested else self._words(schema))] = None
        return list(found) if len(found) <= _FEW_KINDS and "" not in found else []

    def _limits(self, schema: Data) -> list[Block]:
        """Return the constraints of a value besides its type."""
        if _OF_VALUES.isdisjoint(schema):
            return []
        found: list[Block] = []
        parts: Nodes = []

        def say(word: str, value: object) -> None:
            shown = value if isinstance(value, str) else _on_one_line(value)
            parts.extend(
                [
                    *([_text(" · " if self._folded else "; ")] if parts else []),
                    _text(word, "code") if word in _KEYWORDS else self._label(word),
                    _text(" "),
                    _text(shown[:200], "code"),
                ]
            )

        values = list_of(schema.get("enum"))
        about = object_of(schema.get("x-enumDescriptions"))
        # If its values are listed, the default is marked there.
        marked = schema.get("default") if self._folded and not about else None
        is_marked = isinstance(marked, str) and marked in values[:_VALUES]
        for key, word in _LIMITS:
            if key == "default" and is_marked:
                continue
            if key in schema and not isinstance(schema[key], bool | None):
                say(word, schema[key])
        if schema.get("default") is True or schema.get("default") is False:
            say("default", schema["default"])
        for key in _KEYWORDS:
            given = schema.get(key)
            # Schemas are drawn elsewhere, and the default value of a keyword adds nothing.
            is_schema = key.startswith("unevaluated") and given is not False
            if given is not None and not is_schema and (key, given) != ("uniqueItems", False):
                say(key, given)
        given = (
            schema["example"] if "example" in schema else next(iter(list_of(schema.get("examples"))), None)
        )
        if isinstance(given, (str, int, float)):
            say("example", given)
        if parts:
            found.append(Block("openapi-limits", {}, [*parts]) if self._folded else _paragraph(*parts))
        if about:
            found.append(_paragraph(self._label("values")))
            found += _items(
                [
                    _paragraph(
                        _text(str(v), "code"),
                        _text(f": {text_of(about.get(str(v)))}" if about.get(str(v)) else ""),
                    )
                ]
                for v in values[:_VALUES]
            )
        elif values and self._folded:
            texts = [v if isinstance(v, str) else body_text("application/json", v) for v in values[:_VALUES]]
            default = {"default": marked[:200]} if isinstance(marked, str) and is_marked else {}
            found.append(Block("openapi-values", {"values": [text[:200] for text in texts], **default}))
        elif values:
            listed: Nodes = [self._label("values"), _text(" ")]
            for number, value in enumerate(values[:_VALUES]):
                shown = value if isinstance(value, str) else body_text("application/json", value)
                listed += [*([_text(", ")] if number else []), _text(shown[:200], "code")]
            found.append(_paragraph(*listed))
        return found + self._omission_line(len(values) - _VALUES)

    def _omission_line(self, count: int, word: str = "beyond") -> list[Block]:
        """Return a line about this many omitted items and where to find them; nothing for 0. ``cut``:
        characters."""
        return [_paragraph(self._label(word, name=str(count)))] if count > 0 else []

    def schema(self, value: object, above: tuple[str, ...] = ()) -> list[Block]:
        """Return the content of a schema without its description, which the caller shows."""
        name = self._description.name_of(value)
        if name and name in above:
            return [_paragraph(self._label("same", name=name))]
        if len(above) >= self._depth:
            self._cut += 1
            return self._not_shown(self._description.merge(value))
        if name and not self._folded:
            # In text read from the top, once is enough.
            if name in self._told:
                return [_paragraph(_text("As described above."))]
            self._told.add(name)
        within = (*above, name)
        schema = self._description.merge(value)
        blocks: list[Block] = []
        properties = {
            key: inner
            for key, inner in object_of(schema.get("properties")).items()
            if not self._left_out or self._description.follow(inner).get(self._left_out) is not True
        }
        required = {each for each in list_of(schema.get("required")) if isinstance(each, str)}
        items: list[list[Block]] = []
        for key, inner in properties.items():
            if not self._reserve(1):
                items.append(self._omission_line(len(properties) - len(items)))
                break
            items.append(self.value(key, inner, within, required=key in required))
        if self._brief and not above and self._left_out == "readOnly":
            blocks += self._fold_optional(items, [key in required for key in properties])
        else:
            blocks += self._fields(items)
        extra = schema.get("additionalProperties")
        if isinstance(extra, dict) and extra:
            blocks += self._fields(
                [self.value("", extra, within) if self._reserve(1) else [_paragraph(self._label("left_out"))]]
            )
        blocks += self._less_common(schema, within)
        discriminator = object_of(schema.get("discriminator"))
        for key, word in (("oneOf", "one_of"), ("anyOf", "any_of")):
            variants = self._not_null(schema.get(key))
            if variants:
                blocks += self._variants(variants, within, word, discriminator)
        if "discriminator" in self._description.follow(value) and not schema.keys() & {"oneOf", "anyOf"}:
            subtypes = self._description.subtypes(value)
            if subtypes:
                blocks += self._variants(subtypes, within, "one_of", discriminator)
        if "items" in schema and not properties:
            inner = schema["items"]
            blocks += (
                self.schema(inner, within)
                if self._reserve(1)
                else self._not_shown(self._description.follow(inner))
            )
        return blocks

    def _less_common(self, schema: Data, above: tuple[str, ...]) -> list[Block]:
        """Return the schemas of less common keywords, each labeled with its subject: a pattern, an index, or the
        keyword."""
        inner = [
            *((f"/{pattern}/", each) for pattern, each in object_of(schema.get("patternProperties")).items()),
            *((f"[{index}]", each) for index, each in enumerate(list_of(schema.get("prefixItems")))),
            *(
                (f"dependentSchemas {name}", each)
                for name, each in object_of(schema.get("dependentSchemas")).items()
            ),
            *((key, schema[key]) for key in _INNER if isinstance(schema.get(key), dict) and schema[key]),
        ]
        shown = inner[: self._reserve(len(inner))]
        return [
            *self._fields([self.value(name, each, above) for name, each in shown]),
            *self._omission_line(len(inner) - len(shown)),
        ]

    def _not_shown(self, schema: Data) -> list[Block]:
        """Return a line about content of a schema that isn't drawn; nothing if there is none."""
        items = self._description.follow(schema.get("items"))
        inside = any(
            object_of(each.get(key)) or list_of(each.get(key)) for each in (schema, items) for key in _HOLDING
        )
        if not inside:
            return []
        count = self._shown_in(schema)[0] or self._shown_in(self._description.merge(items))[0]
        return (
            self._omission_line(count, "left_fields") if count > 1 else [_paragraph(self._label("left_out"))]
        )

    def _variants(
        self, variants: Sequence[object], above: tuple[str, ...], word: str, discriminator: Data
    ) -> list[Block]:
        """Return the variants. ``discriminator``: the field that distinguishes them, with its values."""
        made = []
        told = text_of(discriminator.get("propertyName"))
        labels: dict[str, str] = {}
        for value, where in object_of(discriminator.get("mapping")).items():
            target = self._description.name_of({"$ref": where}) or text_of(where)
            labels[target] = f"{labels[target]}, {value}" if target in labels else text_of(value)
        for number, variant in enumerate(variants[: self._reserve(len(variants))]):
            schema = self._description.follow(variant)
            name = self._description.name_of(variant)
            title = labels.get(name) or name or text_of(schema.get("title"))
            title = title or self._words(schema) or f"Variant {number + 1}"
            inside = [*_markdown(schema.get("description")), *self._limits(schema)]
            waits = self._postpone(title, variant, above, late=True) if number else None
            inside += [waits] if waits is not None else self.schema(variant, above)
            made.append((title, inside))
        more = self._omission_line(len(variants) - len(made))
        if not self._folded:
            listed = _items([[_paragraph(_text(title, "code")), *inside] for title, inside in made])
            return [_paragraph(self._label(word)), *more, *listed]
        if not any(inside for _, inside in made):
            # The type already lists them, unless that is too long.
            return (
                []
                if self._kinds_of(variants)
                else [
                    _paragraph(self._label(word)),
                    *more,
                    *_items([[_paragraph(_text(title, "code"))] for title, _ in made]),
                ]
            )
        if len(made) == 1:
            return made[0][1] + more
        tabs = _tabs((title, inside or [_paragraph(self._label("nothing_more"))]) for title, inside in made)
        tabs.data["shapes"] = True
        said = [_text(" "), self._label("told_apart"), _text(" "), _text(told, "code")] if told else []
        return [_paragraph(self._label("shapes", name=str(len(variants))), *said), tabs, *more]

    def value(
        self,
        name: str,
        value: object,
        above: tuple[str, ...] = (),
        *,
        required: bool = False,
        about: object = None,
        examples: Sequence[tuple[str, object]] = (),
    ) -> list[Block]:
        """Return a property or parameter: name, type, description, and content. ``examples``: those outside its
        schema, each with its description."""
        schema = self._description.follow(value)
        head: Nodes = [_text(name, "code") if name else self._label("other_key", "italic"), _text(" ")]
        for node in self._type(value):
            head.append(node)
        if required:
            # Readers always receive the required fields of a response.
            is_given = self._received or self._left_out == "writeOnly"
            word = "always" if self._folded and is_given else "required"
            head += [_text(" "), self._label(word, "bold")]
        for key, word in (
            ("readOnly", "read_only"),
            ("writeOnly", "write_only"),
            ("deprecated", "deprecated"),
        ):
            if schema.get(key) is True:
                head += [_text(" "), self._label(word, "italic")]
        top = _paragraph(*head)
        at = ".".join((*self._at, name))
        if self._folded and not self._many and name and len(at) <= _LONGEST_ADDRESS and at not in self._named:
            self._named.add(at)
            top.data["id"] = at
        blocks = [top, *_markdown(about if about is not None else schema.get("description"))]
        items = schema.get("items")
        blocks += self._limits(schema)
        if isinstance(items, dict):
            blocks += self._limits(self._description.follow(items))
        blocks += self._examples(examples)
        named = self._description.name_of(value) or self._description.name_of(items)
        is_itself = bool(named) and named in above and named not in self._linked
        if above and not is_itself and self._links(value) is not None:
            return blocks
        if self._soon is not None:
            self._soon -= 1
        cut = self._cut
        with self._within(name):
            waits = self._postpone(name, value, above)
            if waits is not None:
                return [*blocks, waits]
            inside = self.schema(value, above)
        if len(inside) == 1 and inside[0].type == "paragraph":
            # A single line, such as "same as above", is shorter than a fold.
            blocks += inside
        elif inside and self._folded:
            shown = value if self._description.name_of(value) else items
            whole = cut == self._cut
            title = self._fold_title(name, inside, whole=whole)
            blocks.append(self._fold(title, shown, inside, whole=whole))
            blocks[-1].data.update(self._fold_context(name, title))
        elif len(above) < 4:
            blocks += inside
        elif inside:
            blocks += self._not_shown(self._description.merge(value)) or [_paragraph(self._label("left_out"))]
        return blocks

    def _examples(self, examples: Sequence[tuple[str, object]]) -> list[Block]:
        """Return a line for each example of a parameter or header."""
        blocks = []
        for about, value in examples:
            shown = value if isinstance(value, str) else _on_one_line(value)
            nodes: Nodes = [self._label("example"), _text(" "), _text(shown[:200], "code")]
            nodes += [_text(f" {about}")] if about else []
            blocks.append(Block("openapi-limits", {}, [*nodes]) if self._folded else _paragraph(*nodes))
        return blocks

    # --- operations -----------------------------------------------------------------------------------------

    def operation(
        self, operation: DescribedOperation, title: str = "", *, level: int = 1, further: bool = False
    ) -> list[Block]:
        """Return an operation or webhook with everything that a caller needs. ``title``: the heading already shown
        above. ``further``: another operation is above it, so this one is an expandable line."""
        self._reset()
        self._soon = self._at_first if self._folded else None
        self._received = operation.webhook
        anchor = self._description.anchor(operation)
        # On a page with several operations, field names are prefixed with the operation.
        self._at = [] if operation.title == title else [anchor]
        blocks: list[Block] = []
        further = further and self._folded and operation.title != title
        if operation.title != title and not further:
            data_of = {"id": anchor} if anchor else {}
            blocks.append(Block(f"heading-{level}", data_of, [_text(operation.title)]))
        where = (
            operation.path if operation.webhook else self._description.server_url(operation) + operation.path
        )
        blocks.append(self._head(operation, where))
        blocks += self._authentication(operation)
        left = self._notes(operation) + _markdown(operation.about)
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
        line = _expandable([_text(operation.title)], blocks, kind="openapi-block")
        line.data = {"method": method, "url": where, **({"id": anchor} if anchor else {})}
        return [line]

    def _head(self, operation: DescribedOperation, where: str) -> Block:
        if not self._folded:
            head = _paragraph(_text(operation.method.upper(), "bold"), _text(" "), _text(where, "code"))
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

    def _fields(self, fields: Iterable[list[Block]]) -> list[Block]:
        """Return a list of parameters or properties."""
        if not self._folded:
            return _items(fields)
        listed = [Block("openapi-field", {}, [*blocks]) for blocks in fields]
        return [Block("openapi-fields", {}, [*listed])] if listed else []

    def _fold_optional(self, fields: list[list[Block]], required: list[bool]) -> list[Block]:
        """Draw fields like ``_fields``, with the optional ones folded. A single optional field is shown,
        because a fold takes as much space."""
        optional = [each for each, wanted in zip(fields, required, strict=False) if not wanted]
        if not self._brief or len(optional) < 2:
            return self._fields(fields)
        # Text after the last property says that there are more.
        optional += fields[len(required) :]
        shown = [each for each, wanted in zip(fields, required, strict=False) if wanted]
        title: Nodes = [self._label("optional_fields", name=str(len(optional)))]
        return [*self._fields(shown), _expandable(title, self._fields(optional), kind="openapi-fold")]

    def _notes(self, operation: DescribedOperation) -> list[Block]:
        data = operation.data
        notes = []
        if data.get("deprecated") is True:
            day = text_of(data.get("x-deprecated-sunset"))
            end = [_text(" "), self._label("gone", name=day)] if day else []
            notes.append(_hint("warning", self._label("going"), *end))
        stability = text_of(data.get("x-stability"))
        if stability:
            notes.append(_hint("info", self._label("stability", name=stability)))
        return notes

    def _authentication(self, operation: DescribedOperation) -> list[Block]:
        ways = self._description.security(operation)
        # Requirements for calls don't apply to the sender of an event.
        if not any(ways) or (operation.webhook and "security" not in operation.data):
            return []
        if self._folded:
            return [Block("openapi-facts", {}, [*self._ways(ways)])]
        items = []
        for way in ways:
            if not way:
                items.append([_paragraph(self._label("no_authentication"))])
            for name, scopes in way.items():
                scheme = self._description.follow(self._description.security_schemes.get(name))
                given = [scope for scope in list_of(scopes) if isinstance(scope, str)]
                listed = f" ({', '.join(given)})" if given else ""
                line = _paragraph(_text(_scheme_words(name, scheme)), _text(listed))
                # Nearly all operations on a page say the same.
                about = [] if name in self._schemes else _markdown(scheme.get("description"))
                self._schemes.add(name)
                items.append([line, *about])
        return [self._part_heading("authentication"), *_items(items)]

    def _ways(self, ways: list[dict[str, list[object]]]) -> list[Block]:
        """Return a line for each way to authenticate, with all schemes used together. Schemes are described on the
        authentication page, except for the only one."""
        lines: list[Block] = []
        for way in ways[:_WAYS]:
            nodes: Nodes = [] if way else [self._label("no_authentication")]
            for name, scopes in way.items():
                scheme = self._description.follow(self._description.security_schemes.get(name))
                given = [scope for scope in list_of(scopes) if isinstance(scope, str)]
                nodes += [
                    *([_text(" + ")] if nodes else []),
                    *self._link_scheme(name, _scheme_nodes(name, scheme)),
                    *_scope_nodes(given),
                ]
            lines.append(_paragraph(*nodes))
        lines += self._omission_line(len(ways) - _WAYS)
        if len(ways) == 1:
            for name in ways[0]:
                scheme = self._description.follow(self._description.security_schemes.get(name))
                lines += [] if name in self._schemes else _markdown(scheme.get("description"))
                self._schemes.add(name)
        return lines

    def _link_scheme(self, name: str, nodes: Nodes) -> Nodes:
        """Return the text of a scheme, linked to its description on the authentication page if there is one."""
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
            found[0].nodes += [_text(" "), self._label("deprecated", "italic")]
        return found

    def _body(self, operation: DescribedOperation, *, inner: bool = False) -> list[Block]:
        body = self._description.follow(operation.data.get("requestBody"))
        content = object_of(body.get("content"))
        if not content:
            return []
        required = [_text(" "), self._label("required", "bold")] if body.get("required") is True else []
        kinds = ", ".join(content)
        head = self._part_heading("body", _text(" "), _text(kinds, "code"), *required, inner=inner)
        # Fields that appear only in responses can't be sent.
        self._left_out = "readOnly"
        with self._within("body"):
            inside = self._contents(content)
        self._left_out = ""
        return [head, *_markdown(body.get("description")), *inside]

    def _contents(self, content: Data, *, named: bool = False, waits: bool = False) -> list[Block]:
        """Return the schemas of media types; types with the same schema share it. ``named``: don't repeat the
        content of a schema with its own heading. ``waits``: even the first level can be postponed."""
        told: list[tuple[str, Any]] = []
        for kind, media in content.items():
            schema = object_of(media).get("schema")
            if schema is not None and not any(schema == known for _, known in told):
                told.append((kind, schema))
        blocks: list[Block] = []
        for kind, schema in told:
            if len(told) > 1:
                blocks.append(_paragraph(_text(kind, "code")))
            if named and self._links(schema) is not None:
                blocks.append(_paragraph(*self._type(schema)))
                continue
            found = self._description.follow(schema)
            inside = [*_markdown(found.get("description")), *self._limits(found)]
            name = self._description.name_of(schema)
            waiting = self._postpone(name, schema, (), late=True) if waits else None
            inside += [waiting] if waiting is not None else self.schema(schema)
            # The content below says so itself.
            has_shapes = self._folded and any(list_of(found.get(key)) for key in ("oneOf", "anyOf"))
            named_here = name and not (has_shapes and inside)
            if named_here or (not has_shapes and self._words(found) not in ("object", "one of", "any of")):
                said = self._type(schema)
                blocks.append(Block("openapi-limits", {}, [*said]) if self._folded else _paragraph(*said))
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
            # A plain sentence may contain line breaks. On a folded page, longer text goes below.
            is_short = len(whole) <= (80 if self._folded else 200) and _SENTENCE.fullmatch(whole) is not None
            if is_short:
                first = whole.removesuffix(".") if self._folded else whole
            else:
                first = _name_status(code) if self._folded else about.strip().split("\n")[0][:200]
            inside = _markdown(about) if not is_short and whole != first else []
            status = [] if self._folded else [_text(code, "code"), _text(" " if first else "")]
            title: Nodes = [*status, _text(first or (_name_status(code) if self._folded else ""))]
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
                answer = _expandable(title, inside, is_open=is_open, kind="openapi-answer")
                answer.data |= {"status": code, **self._anchor_data("response", code, below=1)}
                of = self._summarize_content(content, found)
                if of:
                    answer.fragments = [*answer.fragments, Fragment("openapi-of", [_paragraph(*of)])]
                blocks.append(answer)
            else:
                blocks += [_paragraph(*title), *inside]
        return [self._part_heading("responses"), *blocks] if blocks else []

    def _summarize_content(self, content: Data, drawn: list[Block]) -> Nodes:
        """Return the content of a response in a few words: its name, or the number of its fields."""
        schemas = [object_of(media).get("schema") for media in content.values()]
        if not schemas or any(each != schemas[0] for each in schemas):
            return []
        inner = object_of(schemas[0]).get("items")
        name = self._description.name_of(schemas[0])
        nodes: Nodes = [_text(name or self._words(self._description.follow(schemas[0])))]
        count = sum(len(block.nodes) for block in drawn if block.type == "openapi-fields")
        if count > 1 and (name or not inner):
            nodes += [_text(" · "), self._label("fields", name=str(count))]
        return nodes if text_of(name) or count > 1 or inner else []

    def _links_of(self, response: Data) -> list[Block]:
        """Return the links of a response, with the values passed on."""
        items = []
        by_id = self._description.by_id
        for name, value in object_of(response.get("links")).items():
            link = self._description.follow(value)
            found = by_id.get(text_of(link.get("operationId")))
            title = found.title if found is not None else name
            line: Nodes = [_text(title)]
            if found is not None:
                line += [_text(" "), _text(found.name, "code")]
            for parameter, passed in object_of(link.get("parameters")).items():
                shown = passed if isinstance(passed, str) else body_text("application/json", passed)
                line += [_text(" "), _text(f"{parameter} = {shown}"[:200], "code")]
            items.append([_paragraph(*line), *_markdown(link.get("description"))])
        return [self._part_heading("next", inner=True), *_items(items)] if items else []

    def _callbacks(self, operation: DescribedOperation) -> list[Block]:
        """Return the requests that the API sends as a consequence of this one."""
        blocks: list[Block] = []
        for name, value in object_of(operation.data.get("callbacks")).items():
            for address, item in self._description.follow(value).items():
                for method, data in self._description.follow(item).items():
                    if method not in METHODS or not isinstance(data, dict):
                        continue
                    head = _paragraph(_text(method.upper(), "bold"), _text(" "), _text(address, "code"))
                    called = DescribedOperation(address, method, {}, data, webhook=True)
                    with self._within("callback", name):
                        inside = [head, *_markdown(data.get("description")), *self._body(called, inner=True)]
                    title = called.title if called.title != address else name
                    if self._folded:
                        blocks.append(_expandable([_text(title)], inside))
                    else:
                        blocks += [_paragraph(_text(title, "bold")), *inside]
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
        """Return the code samples of the request: the first sample, and the source of the others."""
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
        # One of them is shown, whether or not there is a choice.
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
        """Return the request as code. ``own``: samples from the description, which come first. ``examples``: bodies
        to choose from."""
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
        return [Block("openapi-sample", data, [_draw_long_code(source, syntax)])]

    def _examples_of(self, content: Data, title: str, *, but: str = "") -> list[Block]:
        """Return examples of all media types except one, each under its type if there are several."""
        blocks: list[Block] = []
        for kind, media in islice(content.items(), _MEDIA_TYPES):
            named = f"{title} {kind}".strip() if len(content) > 1 else title
            blocks += self._example(kind, media, named) if kind != but else []
        return [*blocks, *self._omission_line(len(content) - _MEDIA_TYPES)]

    def _example(self, kind: str, media: object, title: str) -> list[Block]:
        """Return the example of a media type; on pages for people, all named examples."""
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
        """Return an example, and how many of its characters are omitted."""
        text = media_text(self._description, kind, object_of(media), value)
        syntax = "json" if "json" in kind else "xml" if "xml" in kind else "text"
        beyond = max(len(text) - self._longest, 0)
        shown = f"{text[: self._longest]}\n…" if beyond else text
        return (_draw_long_code if self._folded else draw_code)(shown, syntax, title or None), beyond

    # --- schemas and the whole description ---------------------------------------------------------------------

    def schemas(self, names: Iterable[str], title: str = "") -> list[Block]:
        """Return schemas by name, each under a heading; unknown ones are left out. ``title``: the heading already
        shown above."""
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
                blocks.append(Block("heading-1", anchor, [_text(name)]))
            said = _markdown(found.get("description"))
            words = self._words(found)
            if words:
                said.append(
                    Block("openapi-limits", {}, [_text(words)]) if self._folded else _paragraph(_text(words))
                )
            said += [*self._limits(found), *self.schema(schema)]
            self._draw_postponed()
            blocks += said or [_paragraph(_text("any"))]
        return blocks

    def information(self, words: ReferenceWords = ENGLISH) -> list[Block]:
        """Return general information about an API, and its servers."""
        description = self._description
        blocks = draw_markdown(text_of(description.info.get("description")))
        version = text_of(description.info.get("version"))
        if version:
            blocks.append(_paragraph(_text(f"{words.version} "), _text(version, "code")))
        servers = description.servers()
        if servers:
            items = []
            for server in servers:
                item = [
                    _paragraph(_text(text_of(server.get("url")), "code")),
                    *_markdown(server.get("description")),
                ]
                variables = object_of(server.get("variables"))
                item += self._fields(
                    self.value(name, {"type": "string", **object_of(v)}) for name, v in variables.items()
                )
                items.append(item)
            blocks += [Block("heading-1", {}, [_text(words.servers)]), *_items(items)]
        return blocks

    @cached_property
    def _scheme_anchors(self) -> dict[str, str]:
        """Return the anchors of the schemes on the authentication page."""
        anchors: dict[str, str] = {}
        taken: set[str] = set()
        for name in islice(self._description.security_schemes, _SCHEMES):
            anchors[name] = free_name(slug(name) or "scheme", taken.__contains__)
            taken.add(anchors[name])
        return anchors

    def authentication(
        self, place_of: Callable[[DescribedOperation], Data], words: ReferenceWords = ENGLISH
    ) -> list[Block]:
        """Return each scheme with what to send and where, a request, the OAuth flows and scopes, and the operations
        that require it; then the operations without authentication. ``place_of`` returns a reference to the page
        of an operation."""
        description = self._description
        needing, together, without = self._group_by_scheme()
        listed = _OperationLists(place_of, words).show

        blocks: list[Block] = []
        for name, anchor in self._scheme_anchors.items():
            scheme = description.follow(description.security_schemes[name])
            needed = needing.get(name, {})
            said = _scheme_words(name, scheme).removeprefix(f"{name}: ")
            blocks.append(Block("heading-1", {"id": anchor}, [_text(name)]))
            if said != name:
                blocks.append(_paragraph(_text(said[:1].upper() + said[1:])))
            blocks += _markdown(scheme.get("description"))
            left = _flows(scheme, words)
            sent = _describe_credential(scheme)
            if sent:
                left.append(_draw_pairs([(words.sent, sent)]))
            others = list(together.get(name, {}))
            for other in others[:_WAYS]:
                called: Text | Inline = _text(other)
                at = self._scheme_anchors.get(other)
                if at is not None:
                    called = Inline("link", {"ref": {"kind": "anchor", "anchor": at}}, [called])
                left.append(_paragraph(_text(f"{words.together}: "), called))
            if len(others) > _WAYS:
                left.append(_paragraph(_text(_fill_number(words.beyond, len(others) - _WAYS))))
            scopes = _scopes(scheme)
            if scopes:
                left.append(_paragraph(_text(words.scopes, "bold")))
            for scope, about in islice(scopes.items(), _SCOPES):
                title: Nodes = [_text(scope, "code"), _text(f" {about} " if about else " ")]
                left += listed(title, [*needed.get(scope, {}).values()])
            if len(scopes) > _SCOPES:
                left.append(_paragraph(_text(_fill_number(words.beyond, len(scopes) - _SCOPES))))
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
            blocks.append(_paragraph(_text(_fill_number(words.beyond, hidden))))
        if without:
            blocks += [draw_heading(words.open_to_all), *listed([], without)]
        return blocks

    def conventions(
        self,
        found: Conventions,
        place_of: Callable[[DescribedOperation], Data],
        words: ReferenceWords = ENGLISH,
    ) -> list[Block]:
        """Return the errors of all operations with their content, and what the description says about rate limits
        and pagination. ``place_of`` returns a reference to the page of an operation."""
        text = text_of(self._description.info.get("description"))
        users = _OperationLists(place_of, words)
        blocks: list[Block] = []
        quoted = _sections(text, _ON_ERRORS, words)
        if found.errors or quoted:
            blocks += [draw_heading(words.errors), *quoted]
        for code, said in found.errors.items():
            title: Nodes = [
                _text(code, "code"),
                _text(f" {_name_status(code)} " if _name_status(code) else " "),
            ]
            inside: list[Block] = []
            listed = sorted(said.items(), key=lambda each: -len(each[1]))
            if len(listed) == 1:
                about, operations = listed[0]
                inside = _markdown(about) if about.rstrip(".") != _name_status(code) else []
                blocks += users.show(title, [*operations.values()], inside)
                continue
            for about, operations in listed[:_MEANINGS]:
                inside += _markdown(about) or [_paragraph(_text("–"))]
                inside += users.show([], [*operations.values()])
            if len(listed) > _MEANINGS:
                inside.append(_paragraph(_text(_fill_number(words.beyond, len(listed) - _MEANINGS))))
            count = _fill_number(words.needed, len(set().union(*said.values())))
            blocks.append(_expandable([*title, _text(count, "italic")], inside))
        if found.bodies:
            blocks.append(draw_subheading(words.error_bodies))
        for body in found.bodies[:_BODIES]:
            self._reset()
            count = _fill_number(words.needed, len(body.users))
            codes = [node for code in sorted(body.codes) for node in (_text(code, "code"), _text(" "))]
            blocks.append(_paragraph(*codes, _text(body.kind, "code"), _text(f" {count}")))
            blocks += self._contents({body.kind: {"schema": body.schema}})
        if len(found.bodies) > _BODIES:
            blocks.append(_paragraph(_text(_fill_number(words.beyond, len(found.bodies) - _BODIES))))
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
                blocks.append(_paragraph(_text(_fill_number(words.beyond, len(shared) - _SAID))))
        return blocks

    def _with_scheme(self, name: str) -> list[Block]:
        """Return a request authenticated by a scheme: of an operation that requires it, preferably a read-only one."""
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
            _tabs(
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
        """Return the operations that require each scope of each scheme shown, with an empty scope if they need
        none; the schemes that are only used together with each; and the operations without authentication."""
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
                    if len(beside) <= _WAYS:  # few are shown, even if many are listed together
                        beside.update(
                            dict.fromkeys(islice((each for each in way if each != name), _WAYS + 1))
                        )
        return found, together, without


class _Postponed(NamedTuple):
    """Postponed content of a field: its placeholder block, and its location."""

    block: Block
    name: str
    value: Any
    named: Any
    above: tuple[str, ...]
    at: tuple[str, ...]
    left_out: str


class _OperationLists:
    """Lists of operations on one page: few are listed, however many there are."""

    def __init__(self, place_of: Callable[[DescribedOperation], Data], words: ReferenceWords) -> None:
        self._place_of = place_of
        self._words = words
        self._left = _NEEDING

    def show(
        self, title: Nodes, operations: Sequence[DescribedOperation], inside: Sequence[Block] = ()
    ) -> list[Block]:
        """Return ``title`` with the number of operations, as a fold that contains ``inside`` and the operations."""
        shown = operations[: min(_NEEDING_ONE, self._left)]
        self._left -= len(shown)
        said = _fill_number(self._words.needed, len(operations))
        count = _text(said, "italic") if title else _text(said[:1].upper() + said[1:])
        if not shown and not inside:
            return [_paragraph(*title, count)]
        blocks = [*inside, *draw_links((self._place_of(each), each.title, each.name) for each in shown)]
        if len(shown) < len(operations):
            blocks.append(_paragraph(_text(_fill_number(self._words.beyond, len(operations) - len(shown)))))
        return [_expandable([*title, count], blocks)]


def _sections(text: str, called: re.Pattern[str], words: ReferenceWords) -> list[Block]:
    """Return the sections of a text whose headings match, without the levels of these headings."""
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
        *([_paragraph(_text(_fill_number(words.beyond, beyond)))] if beyond > 0 else []),
    ]


def _fill_number(words: str, number: int) -> str:
    return words.replace("{name}", str(number))


def _draw_columns(left: list[Block], right: list[Block]) -> list[Block]:
    """Return two columns."""
    columns = [Block("column", {}, [*left]), Block("column", {}, [*right])]
    return [Block("columns", {}, [*columns])]


def _draw_pairs(rows: Iterable[tuple[str, str]]) -> Block:
    """Return a table of names and values. Its empty header row is required by Markdown."""
    definition = {name: {"id": name, "title": "", "type": "text"} for name in ("what", "value")}
    records: Data = {}
    fragments: list[Fragment] = []
    for number, (what, value) in enumerate(rows):
        values = {name: f"{number} {name}" for name in definition}
        records[str(number)] = {"orderIndex": str(number).zfill(4), "values": values}
        fragments += [
            Fragment(values["what"], [_paragraph(_text(what))]),
            Fragment(values["value"], [_paragraph(_text(value, "code"))]),
        ]
    view = {"type": "grid", "columns": [*definition]}
    return Block("table", {"view": view, "records": records, "definition": definition}, fragments=fragments)


def _flows(scheme: Data, words: ReferenceWords) -> list[Block]:
    """Return the OAuth flows with their URLs."""
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
    blocks = [_paragraph(_text(address, "code"))] if address else []
    if len(found) > 1:
        return [*blocks, _tabs(found)]
    return [
        *blocks,
        *(each for title, inside in found for each in (_paragraph(_text(title, "bold")), *inside)),
    ]


def _scopes(scheme: Data) -> dict[str, str]:
    """Return the scopes of all flows of a scheme, with their descriptions."""
    flows = object_of(scheme.get("flows")).values()
    return {
        name: " ".join(text_of(about).split())
        for value in flows
        for name, about in object_of(object_of(value).get("scopes")).items()
    }


def _describe_credential(scheme: Data) -> str:
    """Return what callers send for a scheme, with a placeholder for the secret; empty if it isn't part of the
    request."""
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


def _on_one_line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _count(inside: list[Block]) -> int:
    """Return the number of fields if there is nothing else but text about them; 0 otherwise."""
    fields = [block for block in inside if block.type == "openapi-fields"]
    is_all = len(fields) == 1 and all(block.type in ("openapi-fields", "paragraph") for block in inside)
    return len(fields[0].nodes) if is_all else 0


def _name_status(code: str) -> str:
    """Return the name of a status, for a response without a description."""
    return HTTPStatus(int(code)).phrase if code.isdecimal() and int(code) in _STATUSES else ""


def _scheme_nodes(name: str, scheme: Data) -> Nodes:
    """Return what to send, in code."""
    kind, scheme_name = scheme.get("type"), text_of(scheme.get("scheme")) or "Bearer"
    if kind == "http":
        return [_text(f"Authorization: {scheme_name.capitalize()}", "code")]
    if kind == "apiKey":
        key = text_of(scheme.get("name"))
        return [_text(f"?{key}=" if scheme.get("in") == "query" else f"{key}:", "code")]
    words = {"oauth2": "OAuth 2.0", "openIdConnect": "OpenID Connect", "mutualTLS": "TLS"}
    return [_text(words.get(text_of(kind), name))]


def _scope_nodes(scopes: list[str]) -> Nodes:
    return [node for scope in scopes for node in (_text(" "), _text(scope, "code"))]


def _scheme_words(name: str, scheme: Data) -> str:
    kind = scheme.get("type")
    if kind == "http":
        way = text_of(scheme.get("scheme")).lower()
        return {
            "bearer": f"{name}: a token in the header Authorization: Bearer",
            "basic": f"{name}: user name and password in the header Authorization: Basic",
        }.get(way, f"{name}: the header Authorization: {way}")
    if kind == "apiKey":
        places = {"header": "the header", "query": "the query parameter", "cookie": "the cookie"}
        return f"{name}: a key in {places.get(text_of(scheme.get('in')), '')} {text_of(scheme.get('name'))}"
    return {
        "oauth2": f"{name}: OAuth 2.0",
        "openIdConnect": f"{name}: OpenID Connect",
        "mutualTLS": f"{name}: a client certificate (mutual TLS)",
    }.get(text_of(kind), name)
