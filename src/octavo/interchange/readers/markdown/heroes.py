"""Convert hero sections of home pages, which some tools define in front matter. A hero section has a name, text,
buttons, and features.

Supports ``hero`` and ``features`` from VitePress and Starlight."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from ..layout import Head, Place
from ..values import mappings
from .components import button, card_table
from .lines import words


def hero_text(head: Head, place: Place, title: str) -> str:
    """Return a page's hero section as Markdown to insert below the title, without repeating the title; empty if
    there is no hero section."""
    hero = head.get("hero")
    if not isinstance(hero, dict):
        return ""
    parts = [_image(hero.get("image"), place)]
    said = [_text_of(hero.get(key)) for key in ("name", "title", "text")]
    parts += [f"**{text}**" for text in dict.fromkeys(said) if text and text.casefold() != title.casefold()]
    parts.append(_text_of(hero.get("tagline")))
    parts.append(
        " ".join(
            button(place, _text_of(one.get("text")), _text_of(one.get("link")), at == 0)
            for at, one in enumerate(mappings(hero.get("actions")))
            if one.get("text")
        )
    )
    rows = [_feature(one, place) for one in mappings(head.get("features"))]
    parts.append(card_table(rows) if rows else "")
    return "\n\n".join(part for part in parts if part)


def _feature(one: Mapping[str, object], place: Place) -> tuple[str, str, str, str]:
    icon, link = _text_of(one.get("icon")), _text_of(one.get("link"))
    # Anything other than an emoji refers to an image on the site.
    sign = f"{icon} " if icon and len(icon) <= 4 and not icon.isascii() else ""
    return (
        escape(f"{sign}{_text_of(one.get('title'))}"),
        escape(_text_of(one.get("details"))),
        place.link(link, 1) if link else "",
        "",
    )


def _image(image: object, place: Place) -> str:
    facts = image if isinstance(image, dict) else {"src": image}
    source = next(
        (text for key in ("src", "file", "light", "dark") if (text := _text_of(facts.get(key)))), ""
    )
    if not source:
        return ""
    return (
        f'<img src="{escape(place.link(source, 1, shown=True))}" alt="{escape(_text_of(facts.get("alt")))}">'
    )


def _text_of(value: object) -> str:
    """Return the text of a value on one line. The value can contain HTML."""
    text = re.sub(r"<[^<>]*>", " ", str(value)) if isinstance(value, (str, int, float)) else ""
    return words(" ".join(text.split()))
