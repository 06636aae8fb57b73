"""Sorted rows for all schemas in a specification, split into short pages. This module does no I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import groupby, islice
from weakref import WeakKeyDictionary

from msgspec import Struct

from octavo.core.document.anchors import slug
from octavo.core.document.nodes import Block, Fragment, Inline, Leaf, Mark, Text

from .blocks import draw_code, draw_heading, draw_links, draw_subheading
from .code_samples import body_text
from .description import ApiDescription, Data, DescribedOperation, list_of, object_of, text_of
from .examples import media_example
from .using import Uses, uses_of
from .words import ENGLISH, ReferenceWords

COLUMNS = ("model", "about", "fields", "users")
"""Columns of a table of models. The reader recognizes the table by these columns."""
_ON_A_PAGE = 150
_ABOUT = 110
"""Maximum number of characters in a row's description. ``_ON_A_PAGE``: the maximum number of rows per
page."""
_USERS = 200
"""Maximum number of uses to list per model, for each kind of use."""
_EXAMPLE = 20_000
"""Maximum number of characters in a model's example."""
_NAMED = 20_000
"""Maximum total number of searchable fields in all models."""
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MARKUP = re.compile(r"<[^<>]*>|[`*]|(?<!\w)_|_(?!\w)")
_END = re.compile(r"(?<=[.!?])\s")


class ApiModel(Struct, frozen=True):
    """Model in an API reference. ``kind``: its type in one word (``object``, ``enum``). ``about``: the first sentence
    of its description. ``fields``: the names of its fields, including fields from ``allOf``. ``uses``: the operations
    that accept or return it directly."""

    name: str
    letter: str
    """Letter to sort the model under: the first letter of its name, not counting a namespace that all names share."""
    kind: str
    about: str
    fields: tuple[str, ...]
    uses: Uses

    @property
    def users(self) -> int:
        uses = self.uses
        return len(uses.answers.keys() | uses.requests.keys()) + len(uses.events) + len(uses.schemas)


class ModelPage(Struct, frozen=True):
    """Models on one page, grouped by letter."""

    letters: dict[str, list[ApiModel]]

    @property
    def title(self) -> str:
        """Return the first and last letters on the page, such as ``F–J``, or a single letter."""
        first, last = next(iter(self.letters)), next(reversed(self.letters))
        return first if first == last else f"{first}–{last}"  # noqa: RUF001 - a range


_models: WeakKeyDictionary[ApiDescription, list[ApiModel]] = WeakKeyDictionary()


def list_models(description: ApiDescription) -> list[ApiModel]:
    """Return all models in sorted order. The result is cached."""
    found = _models.get(description)
    if found is None:
        uses, nothing = uses_of(description), Uses()
        made = [
            _model(description, name, schema, uses.get(name, nothing))
            for name, schema in description.schemas.items()
        ]
        found = _models[description] = sorted(made, key=_order)
    return found


def split_models(models: Sequence[ApiModel]) -> list[ModelPage]:
    """Split models by letter into as few pages as the maximum number of rows allows. Additional pages for a letter are
    titled ``S2``, ``S3``, and so on."""
    pieces: list[dict[str, list[ApiModel]]] = []
    for letter, group in groupby(models, key=lambda each: each.letter):
        listed = [*group]
        size = -(-len(listed) // -(-len(listed) // _ON_A_PAGE))
        for number, start in enumerate(range(0, len(listed), size), 1):
            part = listed[start : start + size]
            room = _ON_A_PAGE - sum(map(len, pieces[-1].values())) if pieces else 0
            if len(part) > room:
                pieces.append({})
            pieces[-1][letter if number == 1 else f"{letter}{number}"] = part
    return [ModelPage(letters) for letters in pieces]


def _order(model: ApiModel) -> tuple[bool, str, str, str]:
    last = model.name.rpartition(".")[2]
    return (not model.letter.isalpha(), model.letter, last.lower(), model.name)


def _model(description: ApiDescription, name: str, value: object, uses: Uses) -> ApiModel:
    schema = description.merge(value)
    letter = (name.rpartition(".")[2] or name).lstrip("_-$")[:1].upper()
    said = summarize_markdown(text_of(schema.get("description")))
    items = description.merge(schema["items"]) if "items" in schema else {}
    fields = object_of(schema.get("properties")) or object_of(items.get("properties"))
    return ApiModel(
        name, letter if letter.isalpha() else "#", _kind(description, schema), said, (*fields,), uses
    )


def summarize_markdown(text: str, longest: int = _ABOUT) -> str:
    """Return the words of the first sentence of a Markdown description, truncated to ``longest`` characters."""
    said = text.strip().partition("\n\n")[0]
    said = " ".join(_MARKUP.sub("", _LINK.sub(r"\1", said[: 4 * longest])).split())
    said = _END.split(said, maxsplit=1)[0]
    return said if len(said) <= longest else f"{said[: longest - 1].rstrip()}…"


def _kind(description: ApiDescription, schema: Data) -> str:
    for key, words in (("oneOf", "one of"), ("anyOf", "any of")):
        shapes = [each for each in list_of(schema.get(key)) if description.follow(each).get("type") != "null"]
        if shapes:
            return f"{words} {len(shapes)}"
    if list_of(schema.get("enum")):
        return "enum"
    types = schema.get("type")
    named = [text_of(each) for each in (types if isinstance(types, list) else [types])]
    named = [each for each in named if each and each != "null"]
    if named:
        return " or ".join(named)
    return "object" if "properties" in schema else "array" if "items" in schema else "any"


def letter_id(letter: str) -> str:
    """Return the anchor of a letter."""
    return f"letter-{slug(letter) or 'other'}"


def draw_models(
    piece: ModelPage,
    letters: dict[str, Data],
    place_of: Callable[[str], Data],
    words: ReferenceWords = ENGLISH,
) -> list[Block]:
    """Return a page of models: links to all ``letters``, if there are several, and a table for each letter on this
    page. ``place_of``: a function that returns a reference to a model's page by name."""
    blocks: list[Block] = []
    if len(letters) > 1:
        links: list[Text | Inline] = []
        for letter, ref in letters.items():
            links += [Inline("link", {"ref": ref}, [_text(letter)]), _text(" ")]
        blocks.append(Block("paragraph", {}, [*links[:-1]]))
    for letter, models in piece.letters.items():
        if len(letters) > 1:
            blocks.append(Block("heading-1", {"id": letter_id(letter)}, [_text(letter)]))
        blocks.append(_table(models, place_of, words))
    return blocks


def _table(models: Sequence[ApiModel], place_of: Callable[[str], Data], words: ReferenceWords) -> Block:
    titles = (words.name, words.what_it_is, words.fields, words.used_by)
    rows: list[list[list[Text | Inline]]] = []
    for model in models:
        about: list[Text | Inline] = [_text(model.about)] if model.about else []
        if model.kind != "object" or not about:
            about = [_text(model.kind, "code"), *([_text(" ")] if about else []), *about]
        link = Inline("link", {"ref": place_of(model.name)}, [_text(model.name)])
        rows.append([[link], about, count_cell(len(model.fields)), count_cell(model.users)])
    return draw_rows(dict(zip(COLUMNS, titles, strict=True)), {"fields", "users"}, rows)


def count_cell(number: int) -> list[Text | Inline]:
    return [_text(str(number or "–"))]  # noqa: RUF001


def draw_rows(
    columns: Mapping[str, str], counts: Container[str], rows: Iterable[Sequence[list[Text | Inline]]]
) -> Block:
    """Return a table. ``columns``: the column titles by column name. The reader recognizes the table by these names.
    ``counts``: the columns that contain numbers. ``rows``: the content of each column."""
    definition: Data = {
        column: {"id": column, "title": title, "type": "text"}
        | ({"textAlignment": "right"} if column in counts else {})
        for column, title in columns.items()
    }
    records: Data = {}
    fragments: list[Fragment] = []
    for number, cells in enumerate(rows):
        values = {column: f"{number} {column}" for column in columns}
        records[str(number)] = {"orderIndex": str(number).zfill(4), "values": values}
        fragments += [
            Fragment(values[column], [_paragraph(*nodes)])
            for column, nodes in zip(columns, cells, strict=True)
        ]
    view = {"type": "grid", "columns": [*columns]}
    return Block("table", {"view": view, "records": records, "definition": definition}, fragments=fragments)


def draw_used_by(
    description: ApiDescription,
    name: str,
    place_of: Callable[[DescribedOperation], Data],
    model_at: Callable[[str], Data],
    words: ReferenceWords = ENGLISH,
) -> list[Block]:
    """Return the uses of a model, with links. ``place_of``: a function that returns a reference to an
    operation or webhook. ``model_at``: a function that returns a reference to a model's page."""
    uses = uses_of(description).get(name)
    if uses is None:
        return []
    blocks = [draw_heading(words.used_by)]
    for said, operations in (
        (words.in_answers, uses.answers),
        (words.in_requests, uses.requests),
        (words.in_events, uses.events),
    ):
        if operations:
            shown = islice(operations.values(), _USERS)
            blocks.append(draw_subheading(said))
            blocks += draw_links((place_of(each), each.title, each.called) for each in shown)
            blocks += _beyond(len(operations) - _USERS, words.beyond)
    if uses.schemas:
        blocks.append(draw_subheading(words.in_models))
        blocks += draw_links((model_at(each), each, each) for each in islice(uses.schemas, _USERS))
        blocks += _beyond(len(uses.schemas) - _USERS, words.beyond)
    return blocks


def _beyond(count: int, words: str) -> list[Block]:
    return [_paragraph(_text(words.replace("{name}", str(count))))] if count > 0 else []


def draw_model(
    description: ApiDescription,
    name: str,
    shown: list[Block],
    used: list[Block],
    words: ReferenceWords = ENGLISH,
) -> list[Block]:
    """Return the page of a model: its content, with an example and the model's uses next to it."""
    value = media_example(description, {"schema": description.schemas[name]}, "response")
    text = body_text("application/json", value) if isinstance(value, (dict, list)) else ""
    beyond = len(text) - _EXAMPLE
    example = f"{text[:_EXAMPLE]}\n…" if beyond > 0 else text
    right = [*([draw_code(example, "json")] if text else []), *_beyond(beyond, words.cut), *used]
    if not right:
        return shown
    columns = [
        Block("column", {"width": {"unit": "%", "value": share}}, [*blocks])
        for share, blocks in ((58, shown), (42, right))
    ]
    return [Block("columns", {}, [*columns])]


def index_models(
    models: Sequence[ApiModel], href: Callable[[str], str]
) -> list[tuple[str, str, str, str, int, str, list[str]]]:
    """Return the data for a script's filter. Each model has its name, its URL relative to ``href``, its type, its
    description, its number of uses, its kinds of use (``s`` for sent, ``a`` for returned, ``e`` for events), and its
    fields."""
    left = _NAMED
    rows = []
    for model in models:
        uses = model.uses
        where = "s" * bool(uses.requests) + "a" * bool(uses.answers) + "e" * bool(uses.events)
        named = model.fields[:left]
        left -= len(named)
        kind = "" if model.kind == "object" and model.about else model.kind
        rows.append((model.name, href(model.name), kind, model.about, model.users, where, [*named]))
    return rows


def _paragraph(*nodes: Text | Inline) -> Block:
    return Block("paragraph", {}, [*nodes])


def _text(words: str, *marks: str) -> Text:
    return Text([Leaf(words, [Mark(mark) for mark in marks])])
