"""Write references, and the attributes of tags and of HTML elements."""

from __future__ import annotations

import html
import re
from typing import Any

from .nodes import Data

SIDES = {"start": "left", "center": "center", "end": "right"}


def write_url(ref: Data) -> str:
    """Return a reference as text: a URL stays unchanged, and any other reference becomes ``kind:id``. Callers must
    resolve references first."""
    if ref.get("kind") == "url":
        return str(ref["url"])
    return f"{ref['kind']}:{next(str(value) for key, value in ref.items() if key != 'kind')}"


def destination(url: str, title: str | None = None) -> str:
    plain_url = re.fullmatch(r"[^\s<>()\\&\x00-\x1f\"*_`~\[\]$!]+", url)
    simple = re.fullmatch(r"[^\s<>()\\&\x00-\x1f]+", url)
    if not (plain_url or simple):
        safe = re.sub(r"([\\<>&])", r"\\\1", url).replace("\n", "&#xa;")
        url = f"<{safe}>"
    if title is None:
        return url
    safe = re.sub(r"([\\\"&<`\[\]*_~$])", r"\\\1", title).replace("\n", "&#xa;")
    return f'{url} "{safe}"'


def quoted(value: str) -> str:
    return html.escape(value, quote=True).replace("\n", "&#xa;")


def write_attributes(attrs: Data) -> str:
    """Return the attributes of an HTML tag, each preceded by a space."""
    return "".join(f' {name}="{quoted(str(value))}"' for name, value in attrs.items())


def html_text(text: str) -> str:
    """Return text as HTML in which all spaces are preserved."""
    text = html.escape(text, quote=False).replace("$$", "&#x24;&#x24;")
    return re.sub(r"[\t\r]|^ | $|(?<= ) |(?<=\n) | (?=\n)", lambda m: f"&#x{ord(m[0]):x};", text)


def image_attributes(data: Data) -> Data:
    """Return the attributes of an ``<img>`` for an image's data."""
    attrs: Data = {"src": write_url(data["ref"]), "alt": data.get("alt", "")}
    for side in ("width", "height"):
        if side in data:
            attrs[side] = write_length(data[side])
    return attrs | (data.get("attributes") or {})


def write_length(value: Any) -> str:
    if isinstance(value, dict):
        return f"{write_number(value['value'])}{value['unit']}"
    return write_number(value)


def write_number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def picture(data: Data, attrs: Data) -> str:
    """Return ``<img>``, with a ``<picture>`` around it if there is a dark variant."""
    img = f"<img{write_attributes(attrs)}>"
    if "refDark" not in data:
        return img
    dark = quoted(write_url(data["refDark"]))
    return f'<picture><source srcset="{dark}" media="(prefers-color-scheme: dark)">{img}</picture>'


def write_tag(name: str, data: Data, /, **names: str) -> str:
    """Return an opening ``{% tag %}`` with the fields of ``data`` that ``names`` lists (attribute=field), followed by
    other attributes."""
    parts = [name]
    for attr, field in names.items():
        if field in data:
            parts.append(f'{attr}="{write_attribute(data[field])}"')
    for attr, value in (data.get("attributes") or {}).items():
        parts.append(f'{attr}="{write_attribute(value)}"')
    return "{% " + " ".join(parts) + " %}"


def write_attribute(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return write_attribute(",".join(map(str, value)))
    if isinstance(value, (int, float)):
        return write_number(value)
    if isinstance(value, dict):
        return write_length(value)
    return quoted(str(value)).replace("&#x27;", "'").replace("&lt;", "<").replace("&gt;", ">")
