"""Pieces of HTML: a ``Markup`` is written unchanged, a ``str`` is escaped, and a node is rendered later.

Therefore, all text on the page is escaped, and all attributes are quoted and escaped by ``open_tag``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from markupsafe import Markup

from ..highlighting import Token
from .nodes import Block, Data, Fragment, Inline, Mark, Text
from .parts import COLORS, number_of

Piece = str | Block | Inline | Text | Fragment | Callable[[], None]
Pieces = Iterable[Piece]


def escape(text: str) -> str:
    """Escape text in the same way as ``markupsafe.escape``, but return a plain string. Markup objects would make a page
    with many code listings much slower."""
    if not _SPECIAL.search(text):
        return text
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("'", "&#39;").replace('"', "&#34;")


_LONG = 16
_JOINTS = re.compile(r"(?<=[^\W\d][/._:,=?&-])(?=\w)|(?<=[:/(<\s])(?=\w)")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def breakable(code: str) -> str:
    """Escape the code in a table cell, and allow line breaks between the parts of long names, to leave room for other
    columns."""
    if len(code) < _LONG:
        return escape(code)
    parts = (
        part for word in _JOINTS.split(code) for part in (_CAMEL.split(word) if len(word) > _LONG else [word])
    )
    return "<wbr>".join(map(escape, parts))


def as_markup(text: str) -> Markup:
    """Mark text as HTML. This is faster than ``Markup(text)``, which first checks the text for an ``__html__``
    method."""
    return str.__new__(Markup, text)


@lru_cache(maxsize=256)
def _bare(name: str) -> Markup:
    return Markup(f"<{name}>")  # noqa: S704


@lru_cache(maxsize=1024)
def _classed(name: str, class_: str) -> Markup:
    return Markup(f'<{name} class="{escape(class_)}">')  # noqa: S704


def open_tag(name: str, **attributes: object) -> Markup:
    """Return an opening tag. In names, ``class_`` means ``class``, and any other ``_`` means ``-``. Attributes
    with the value None or False are omitted."""
    if not attributes:
        return _bare(name)
    if len(attributes) == 1 and type(only := attributes.get("class_")) is str:
        return _classed(name, only)
    out = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        if value is not True:
            key = f'{key}="{value if type(value) is Markup else escape(str(value))}"'
        out.append(key)
    return as_markup(f"<{' '.join(out)}>")


@lru_cache(maxsize=256)
def close_tag(name: str) -> Markup:
    return Markup(f"</{name}>")  # noqa: S704


def element(name: str, inside: Pieces, **attributes: object) -> list[Piece]:
    return [open_tag(name, **attributes), *inside, close_tag(name)]


def class_names(*names: str | None | bool) -> str | None:
    return " ".join(n for n in names if isinstance(n, str) and n) or None


def ref_of(data: Data, field: str = "ref") -> Data | None:
    value = data.get(field)
    return value if isinstance(value, dict) else None


def html_length(value: object) -> str | None:
    """Return a length in the form that HTML attributes use, such as ``300`` or ``50%``."""
    if isinstance(value, dict):
        number = number_of(value.get("value"))
        if number is None:
            return None
        return f"{min(number, 100)}%" if value.get("unit") == "%" else str(number)
    found = number_of(value)
    return None if found is None else str(found)


_SPECIAL = re.compile("""[&<>'"]""")
_MARKS = {
    "bold": "strong",
    "italic": "em",
    "code": "code",
    "keyboard": "kbd",
    "strikethrough": "s",
    "superscript": "sup",
    "subscript": "sub",
}
ALIGNED = {"center": "center", "end": "end", "right": "end"}


def marked(marks: Sequence[Mark], inside: str) -> str:
    """Return HTML wrapped in the marks of its text, with the first mark outermost."""
    if not marks:
        return inside
    if len(marks) == 1 and (name := _MARKS.get(marks[0].type)) is not None:
        return f"<{name}>{inside}</{name}>"
    opening: list[str] = []
    closing: list[str] = []
    for mark in marks:
        name = _MARKS.get(mark.type)
        if name is not None:
            opening.append(open_tag(name))
            closing.append(close_tag(name))
        elif mark.type == "color":
            data = mark.data if isinstance(mark.data, dict) else {}
            text, back = (data.get(k) for k in ("text", "background"))
            text = COLORS.get(text) if isinstance(text, str) else None
            back = COLORS.get(back) if isinstance(back, str) else None
            if text or back:
                opening.append(
                    open_tag(
                        "mark" if back else "span",
                        class_=class_names(text and f"c-{text}", back and f"b-{back}"),
                    )
                )
                closing.append(close_tag("mark" if back else "span"))
    return "".join([*opening, inside, *reversed(closing)])


@lru_cache(maxsize=256)
def token_tag(kind: str) -> str:
    return f'<span class="{escape(kind)}">'


def write_tokens(row: Iterable[Token]) -> str:
    return "".join(f"{token_tag(kind)}{escape(text)}</span>" if kind else escape(text) for kind, text in row)
