"""Render schemas and their values as document blocks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import quote

from octavo.core.document.anchors import slug
from octavo.core.document.html_context import BlockLabels
from octavo.core.document.nodes import Block, Inline, Text
from octavo.core.free_names import free_name

from .blocks import Nodes, draw_expandable, draw_items, draw_paragraph, draw_tabs, draw_text, markdown_of
from .code_samples import body_text
from .description import ApiDescription, Data, list_of, object_of, text_of

_DEPTH = 12
_PROPERTIES = 500
_FEW_PROPERTIES = 60
"""Maximum number of properties to render per operation or schema on pages with many operations (on other pages,
``_PROPERTIES``). Additional properties are only counted."""
_PROPERTIES_OF_PAGE = 1_000
_AT_FIRST = 40
"""Number of fields to render for the operations on one page, outer levels first. Beyond this number, nested content is
omitted, unless the visitor requests all fields. Fields at the first level are always rendered."""
_FEW_AT_FIRST = 8
_EXAMPLE = 20_000
_SHORT_EXAMPLE = 4_000
"""Maximum number of characters in an example on pages with many operations (on other pages, ``_EXAMPLE``)."""
_EXAMPLES_OF_PAGE = 50_000
"""Maximum total number of characters in the examples for all operations on a page."""
ENGLISH_LABELS = BlockLabels()
_LONGEST_ADDRESS = 200
"""Maximum number of characters in a field's anchor. Fields whose anchor would be longer don't have an anchor."""
_UNFOLDED = 5
"""Maximum number of nested fields to show without expanding."""
_VALUES = 200
"""Maximum number of a field's possible values to render."""
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
"""Keywords for constraints on a schema's values, with their labels."""
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
"""Keywords to show under their own names. Few specifications use these keywords, and readers of those specifications
know them."""
_OF_VALUES = frozenset(
    (*(key for key, _ in _LIMITS), *_KEYWORDS, "enum", "x-enumDescriptions", "example", "examples")
)
"""Keywords that constrain a schema's values. A schema without any of these keywords allows all values."""
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
"""Keywords with a single schema, which is shown under the keyword."""
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
"""Schema keywords that contain other schemas."""
_PROMISED = 20
"""Maximum number of schemas to examine when determining whether the variants of a field have content."""
_LINKED_WITHIN = 3
"""Maximum number of levels of lists and variants in a type that is shown as links."""
_FEW_KINDS = 4
"""Maximum number of variants of a type to list by name."""
_SCALARS = ("string", "integer", "number", "boolean", "null")


class SchemaRenderer:
    """Renderer of one specification's schemas. ``many``: whether the page has many operations, so that each
    operation is shown in less detail. ``linked``: the schemas that have their own heading on the page, or their
    own page under ``schemas_at``. Their content is shown only in that location. ``spec``: the name that the
    page uses for the specification, needed when trying out an operation. ``together``: the number of operations on
    the HTML page. ``brief``: whether the page also has other content, so that only required parts of a
    request are expanded. ``whole``: whether to render all nested fields, regardless of their number; otherwise,
    some are replaced with a link to the page with all fields."""

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
        """Authentication methods that are already described on the page."""
        self._left_out = ""
        """Keyword for the properties that are currently omitted, such as read-only properties."""
        self._linked = {name: slug(name) or "section" for name in linked}
        self._schemas_at = schemas_at
        self._folded_at: dict[tuple[str, str], str] = {}
        """IDs of expandable sections on the page that show a schema completely, by the reference to the schema and by
        the omitted parts."""
        self._filled_at: dict[tuple[str, str], str] = {}
        """IDs of expandable sections that are shown only if all fields are requested, by the reference to
        their schema."""
        self._fold_ids: set[str] = set()
        self._soon: int | None = None
        """Number of fields to render before postponing nested content; None to render all content."""
        self._waiting: list[_Postponed] = []
        self._waited = 0
        self._looked = 0
        self._nulls: dict[str, bool] = {}
        """Whether each schema allows only null, by the reference to the schema."""
        self._fills = False
        self._at: list[str] = []
        """Names of the current part, from the outside in, such as `body`, `output`, and `title`."""
        self._named: set[str] = set()
        """Fields on the page that have an anchor. On a page with many operations, fields don't have anchors, because
        there would be too many anchors."""
        self._received = False
        """Whether the caller receives the current part, as with a webhook, instead of sending it."""
        self._left = self._most
        self._cut = 0
        """Number of items that were omitted because there wasn't enough room."""

    def _label(self, word: str, *marks: str, name: str = "") -> Text | Inline:
        """Return a label (``BlockLabels``) in the language of the site. ``name``: a value for its
        placeholder."""
        english = draw_text(getattr(ENGLISH_LABELS, f"api_{word}").replace("{name}", name), *marks)
        if not self._folded:
            return english
        return Inline("openapi-word", {"word": word, **({"name": name} if name else {})}, [english])

    @contextmanager
    def _within(self, *names: str) -> Iterator[None]:
        """Add these names to the path of the current part during the ``with`` block."""
        self._at += names
        yield
        del self._at[len(self._at) - len(names) :]

    def _part_heading(self, word: str, *beside: Text | Inline, inner: bool = False) -> Block:
        """Return the heading for a part of an operation. ``inner``: whether the part belongs to one of the operation's
        responses."""
        if not self._folded:
            return draw_paragraph(self._label(word, "bold"), *beside)
        named = {} if inner else {"part": word, **self._anchor_data(word)}
        return Block("openapi-part", named, [self._label(word, "bold"), *beside])

    def _anchor_data(self, *names: str, below: int = 0) -> Data:
        """Return the anchor for a part of an operation, and the part's depth in the outline."""
        return {"id": ".".join((*self._at, *names)), "level": (3 if self._at else 2) + below}

    def _reserve(self, count: int) -> int:
        """Reserve room for up to ``count`` properties or variants, which can have nested content. Return the number
        that can still be rendered."""
        taken = max(min(count, self._left), 0)
        self._left -= taken
        self._cut += taken < count
        return taken

    def _reset(self) -> None:
        """Reset the state that belongs to the previous operation or schema."""
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
            return [draw_text(words.removesuffix(f"({form})")), draw_text(form, "code")]
        return [draw_text(words)]

    def _links(self, value: object, within: int = _LINKED_WITHIN) -> Nodes | None:
        """Return a schema's type as links to all of its parts; None if a part has no link. This method looks
        ahead only a few levels, because it is called at each level."""
        name = self._description.name_of(value)
        if name:
            ref = self._find_link(value)
            return [Inline("link", {"ref": ref}, [draw_text(name)])] if ref is not None else None
        schema = value if isinstance(value, dict) and within else {}
        if isinstance(schema.get("items"), dict) and "properties" not in schema:
            inner = self._links(schema["items"], within - 1)
            return [draw_text("array of "), *inner] if inner is not None else None
        variants = list_of(schema.get("anyOf")) or list_of(schema.get("oneOf"))
        found: Nodes = []
        linked = False
        for variant in variants:
            nodes = self._links(variant, within - 1)
            linked = linked or nodes is not None
            if nodes is None and object_of(variant).get("type") in _SCALARS:
                nodes = [draw_text(self._words(variant))]
            if nodes is None:
                return None
            found += [*([draw_text(" or ")] if found else []), *nodes]
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
        """Return an expandable section with the content of a schema. On a page with many operations, most schemas are
        repeated. If a schema has already been shown completely, link to it."""
        shown = _count(inside)
        folded = draw_expandable(title, inside, is_open=0 < shown <= _UNFOLDED, kind="openapi-fold")
        name = self._description.name_of(value)
        if name and whole and self._find_link(value) is None:
            self._name_fold(folded, value)
        return folded

    def _postpone(
        self, name: str, value: object, above: tuple[str, ...], *, late: bool = False
    ) -> Block | None:
        """Return a placeholder for the nested content of a field, which is rendered after all outer levels; None to
        render the content immediately because it is short. ``late``: whether to postpone the content only if enough
        fields have been rendered."""
        if self._soon is None or (late and self._soon > 0):
            return None
        title = self._predict_title(name, value, above)
        if title is None:
            return None
        waiting = draw_expandable(title, [], kind="openapi-later")
        waiting.data.update(self._fold_context(name, title))
        named = value if self._description.name_of(value) else self._description.follow(value).get("items")
        if self._description.name_of(named) and self._find_link(named) is None:
            self._name_fold(waiting, named)
        self._waiting.append(_Postponed(waiting, name, value, named, above, (*self._at,), self._left_out))
        return waiting

    def _name_fold(self, folded: Block, value: Any) -> None:
        """Assign an ID to the expandable section of a named schema, so that later occurrences can link to
        it."""
        said, at = ("deep in", self._filled_at) if self._fills else ("in", self._folded_at)
        # Expandable sections have the same ids with and without all fields.
        name = f"{said} {self._spec} {self._description.name_of(value)}"
        id = free_name(slug(name), self._fold_ids.__contains__)
        folded.data["id"] = at[value["$ref"], self._left_out] = id
        self._fold_ids.add(id)

    def _predict_title(self, name: str, value: object, above: tuple[str, ...], deep: int = 0) -> Nodes | None:
        """Return the title that a schema's expandable section will have, without rendering its content; None if the
        content is a single line."""
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
        """Return whether a schema has content to collapse, without examining all of it. If determining this would
        take too long, return True."""
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
        """Return the number of displayed fields in a schema, and whether the schema allows additional fields with
        any name."""
        count = sum(
            not self._left_out or self._description.follow(inner).get(self._left_out) is not True
            for inner in object_of(schema.get("properties")).values()
        )
        return count, bool(object_of(schema.get("additionalProperties")))

    def _draw_postponed(self) -> None:
        """Render postponed content, outer levels first, until there are enough fields. If all fields are requested,
        render all of it."""
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
        inside = self.schema(each.value, each.above) or [draw_paragraph(self._label("nothing_more"))]
        whole = cut == self._cut
        title = self._fold_title(each.name, inside, whole=whole)
        made = self._fold(title, each.named, inside, whole=False)
        block = each.block
        block.type, block.data, block.fragments = made.type, made.data | block.data, made.fragments
        key = (each.named["$ref"], each.left_out) if self._description.name_of(each.named) else None
        if not whole and key is not None and self._folded_at.get(key) == block.data.get("id"):
            # Later occurrences must render it again.
            del self._folded_at[key]

    def _fold_title(self, name: str, inside: list[Block], *, whole: bool) -> Nodes:
        """Return the number of fields in a section if it has no other content; otherwise, return the field's
        name."""
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
        """Return the context of an expandable section for screen readers, which read the section's title without the
        content above the section; empty if the title includes the context."""
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
        """Summarize the variants. Return an empty list if the summary would be too long."""
        found: dict[str, None] = {}
        for each in variants[: _FEW_KINDS + 1]:
            schema = self._description.follow(each)
            named = self._description.name_of(each)
            nested = list_of(schema.get("oneOf")) or list_of(schema.get("anyOf"))
            found[named or ("" if nested else self._words(schema))] = None
        return list(found) if len(found) <= _FEW_KINDS and "" not in found else []

    def _limits(self, schema: Data) -> list[Block]:
        """Return the constraints on a value, except its type."""
        if _OF_VALUES.isdisjoint(schema):
            return []
        found: list[Block] = []
        parts: Nodes = []

        def say(word: str, value: object) -> None:
            shown = value if isinstance(value, str) else _on_one_line(value)
            parts.extend(
                [
                    *([draw_text(" · " if self._folded else "; ")] if parts else []),
                    draw_text(word, "code") if word in _KEYWORDS else self._label(word),
                    draw_text(" "),
                    draw_text(shown[:200], "code"),
                ]
            )

        values = list_of(schema.get("enum"))
        about = object_of(schema.get("x-enumDescriptions"))
        # If the values are listed, the default is marked in the list.
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
            # Schemas are rendered separately, and the default value of a keyword doesn't add anything.
            is_schema = key.startswith("unevaluated") and given is not False
            if given is not None and not is_schema and (key, given) != ("uniqueItems", False):
                say(key, given)
        given = (
            schema["example"] if "example" in schema else next(iter(list_of(schema.get("examples"))), None)
        )
        if isinstance(given, (str, int, float)):
            say("example", given)
        if parts:
            found.append(Block("openapi-limits", {}, [*parts]) if self._folded else draw_paragraph(*parts))
        if about:
            found.append(draw_paragraph(self._label("values")))
            found += draw_items(
                [
                    draw_paragraph(
                        draw_text(str(v), "code"),
                        draw_text(f": {text_of(about.get(str(v)))}" if about.get(str(v)) else ""),
                    )
                ]
                for v in values[:_VALUES]
            )
        elif values and self._folded:
            texts = [v if isinstance(v, str) else body_text("application/json", v) for v in values[:_VALUES]]
            default = {"default": marked[:200]} if isinstance(marked, str) and is_marked else {}
            found.append(Block("openapi-values", {"values": [text[:200] for text in texts], **default}))
        elif values:
            listed: Nodes = [self._label("values"), draw_text(" ")]
            for number, value in enumerate(values[:_VALUES]):
                shown = value if isinstance(value, str) else body_text("application/json", value)
                listed += [*([draw_text(", ")] if number else []), draw_text(shown[:200], "code")]
            found.append(draw_paragraph(*listed))
        return found + self._omission_line(len(values) - _VALUES)

    def _omission_line(self, count: int, word: str = "beyond") -> list[Block]:
        """Return a line that states how many items were omitted and where to find them; empty if no items were
        omitted."""
        return [draw_paragraph(self._label(word, name=str(count)))] if count > 0 else []

    def schema(self, value: object, above: tuple[str, ...] = ()) -> list[Block]:
        """Return the content of a schema. Its description is omitted, because the caller shows it."""
        name = self._description.name_of(value)
        if name and name in above:
            return [draw_paragraph(self._label("same", name=name))]
        if len(above) >= self._depth:
            self._cut += 1
            return self._not_shown(self._description.merge(value))
        if name and not self._folded:
            # Plain text is read from top to bottom, so each schema is described only once.
            if name in self._told:
                return [draw_paragraph(draw_text("As described above."))]
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
                [
                    self.value("", extra, within)
                    if self._reserve(1)
                    else [draw_paragraph(self._label("left_out"))]
                ]
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
        """Return the schemas in less common keywords. The label of each is a pattern, an index, or the keyword."""
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
        """Return a line about schema content that isn't rendered; empty if all content is rendered."""
        items = self._description.follow(schema.get("items"))
        inside = any(
            object_of(each.get(key)) or list_of(each.get(key)) for each in (schema, items) for key in _HOLDING
        )
        if not inside:
            return []
        count = self._shown_in(schema)[0] or self._shown_in(self._description.merge(items))[0]
        return (
            self._omission_line(count, "left_fields")
            if count > 1
            else [draw_paragraph(self._label("left_out"))]
        )

    def _variants(
        self, variants: Sequence[object], above: tuple[str, ...], word: str, discriminator: Data
    ) -> list[Block]:
        """Return the variants. ``discriminator``: the field that distinguishes the variants, with the values of that
        field."""
        made = []
        property_name = text_of(discriminator.get("propertyName"))
        labels: dict[str, str] = {}
        for value, where in object_of(discriminator.get("mapping")).items():
            target = self._description.name_of({"$ref": where}) or text_of(where)
            labels[target] = f"{labels[target]}, {value}" if target in labels else text_of(value)
        for number, variant in enumerate(variants[: self._reserve(len(variants))]):
            schema = self._description.follow(variant)
            name = self._description.name_of(variant)
            title = labels.get(name) or name or text_of(schema.get("title"))
            title = title or self._words(schema) or f"Variant {number + 1}"
            inside = [*markdown_of(schema.get("description")), *self._limits(schema)]
            waits = self._postpone(title, variant, above, late=True) if number else None
            inside += [waits] if waits is not None else self.schema(variant, above)
            made.append((title, inside))
        more = self._omission_line(len(variants) - len(made))
        if not self._folded:
            listed = draw_items(
                [[draw_paragraph(draw_text(title, "code")), *inside] for title, inside in made]
            )
            return [draw_paragraph(self._label(word)), *more, *listed]
        if not any(inside for _, inside in made):
            # The type already lists them, unless that is too long.
            return (
                []
                if self._kinds_of(variants)
                else [
                    draw_paragraph(self._label(word)),
                    *more,
                    *draw_items([[draw_paragraph(draw_text(title, "code"))] for title, _ in made]),
                ]
            )
        if len(made) == 1:
            return made[0][1] + more
        tabs = draw_tabs(
            (title, inside or [draw_paragraph(self._label("nothing_more"))]) for title, inside in made
        )
        tabs.data["shapes"] = True
        said = (
            [draw_text(" "), self._label("told_apart"), draw_text(" "), draw_text(property_name, "code")]
            if property_name
            else []
        )
        return [draw_paragraph(self._label("shapes", name=str(len(variants))), *said), tabs, *more]

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
        """Return a property or parameter with its name, type, description, and content. ``examples``: the
        examples outside the schema, each with its description."""
        schema = self._description.follow(value)
        head: Nodes = [
            draw_text(name, "code") if name else self._label("other_key", "italic"),
            draw_text(" "),
        ]
        for node in self._type(value):
            head.append(node)
        if required:
            # Readers always receive the required fields of a response.
            is_given = self._received or self._left_out == "writeOnly"
            word = "always" if self._folded and is_given else "required"
            head += [draw_text(" "), self._label(word, "bold")]
        for key, word in (
            ("readOnly", "read_only"),
            ("writeOnly", "write_only"),
            ("deprecated", "deprecated"),
        ):
            if schema.get(key) is True:
                head += [draw_text(" "), self._label(word, "italic")]
        top = draw_paragraph(*head)
        at = ".".join((*self._at, name))
        if self._folded and not self._many and name and len(at) <= _LONGEST_ADDRESS and at not in self._named:
            self._named.add(at)
            top.data["id"] = at
        blocks = [top, *markdown_of(about if about is not None else schema.get("description"))]
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
            # A single line, such as "same as above", is shorter than an expandable section.
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
            blocks += self._not_shown(self._description.merge(value)) or [
                draw_paragraph(self._label("left_out"))
            ]
        return blocks

    def _examples(self, examples: Sequence[tuple[str, object]]) -> list[Block]:
        """Return a line for each example of a parameter or header."""
        blocks = []
        for about, value in examples:
            shown = value if isinstance(value, str) else _on_one_line(value)
            nodes: Nodes = [self._label("example"), draw_text(" "), draw_text(shown[:200], "code")]
            nodes += [draw_text(f" {about}")] if about else []
            blocks.append(Block("openapi-limits", {}, [*nodes]) if self._folded else draw_paragraph(*nodes))
        return blocks

    def _fields(self, fields: Iterable[list[Block]]) -> list[Block]:
        """Return a list of parameters or properties."""
        if not self._folded:
            return draw_items(fields)
        listed = [Block("openapi-field", {}, [*blocks]) for blocks in fields]
        return [Block("openapi-fields", {}, [*listed])] if listed else []

    def _fold_optional(self, fields: list[list[Block]], required: list[bool]) -> list[Block]:
        """Render fields like ``_fields``, but collapse optional fields. A single optional field is shown, because an
        expandable section would take up as much room."""
        optional = [each for each, wanted in zip(fields, required, strict=False) if not wanted]
        if not self._brief or len(optional) < 2:
            return self._fields(fields)
        # Text after the last property says that there are more.
        optional += fields[len(required) :]
        shown = [each for each, wanted in zip(fields, required, strict=False) if wanted]
        title: Nodes = [self._label("optional_fields", name=str(len(optional)))]
        return [*self._fields(shown), draw_expandable(title, self._fields(optional), kind="openapi-fold")]


class _Postponed(NamedTuple):
    """Postponed content of a field: its placeholder block, and its location."""

    block: Block
    name: str
    value: Any
    named: Any
    above: tuple[str, ...]
    at: tuple[str, ...]
    left_out: str


def _on_one_line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _count(inside: list[Block]) -> int:
    """Return the number of fields if the content consists only of fields and text about fields; otherwise, return 0."""
    fields = [block for block in inside if block.type == "openapi-fields"]
    is_all = len(fields) == 1 and all(block.type in ("openapi-fields", "paragraph") for block in inside)
    return len(fields[0].nodes) if is_all else 0
