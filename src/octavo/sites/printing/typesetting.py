"""Convert an order to files for typst. Each page is a separate file, so that a failing page can be identified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from octavo.core.document.parts import emoji
from octavo.core.document.text import to_text
from octavo.core.document.typst import (
    Picture,
    Printing,
    TypstTarget,
    literal,
    place_of,
    plain_typst,
    to_typst,
)
from octavo.core.icons import icon
from octavo.core.json_types import JsonObject
from octavo.kit.processes.highlighting import highlight_in_time

from .fonts import Glyphs
from .order import PrintChapter, PrintOrder, read_document, read_stored_document
from .unpacking import unpack_faces

_HEAD = '#import "octavo.typ": *\n#{\n'
FONTS = "fonts"
"""Folder for the PDF's own fonts, inside its folder."""
_ABSENT = (
    "No font contains these characters: {}. Set OCTAVO_PDF_FONTS to a folder with fonts that contain them."
)


class Typesetter:
    """Typesetter that writes an order's files to a folder. ``places``: the possible targets of links in the PDF."""

    def __init__(self, order: PrintOrder, folder: Path) -> None:
        self._order = order
        self._folder = folder
        self._pages = {place.id: place for place in order.places}
        self._files = {file.id: file for file in order.files}
        self._families = {
            kind: unpack_faces(folder, faces, self._characters(), folder / FONTS)
            for kind, faces in (("text", order.look.text), ("mono", order.look.mono))
        }
        self._glyphs = Glyphs(order.fonts, str(folder / FONTS))
        self._icons: dict[str, str | None] = {}
        self.places: dict[str, str] = {}
        self.broken: list[str] = []

    def write(self, *, plain: bool = False) -> None:
        """Write all files. ``plain``: whether to write all pages as plain text."""
        for number, chapter in enumerate(self._order.chapters):
            self.places[place_of(chapter.id)] = place_of(chapter.id)
            if plain:
                self.write_plain(number)
            else:
                self._write_page(number, chapter)
        (self._folder / "octavo.typ").write_bytes(Path(__file__).with_name("octavo.typ").read_bytes())
        (self._folder / "main.typ").write_text(self.main(range(len(self._order.chapters))))
        self.write_known()

    def write_known(self) -> None:
        look = self._order.look
        known = {
            "lang": self._language(),
            "places": self.places,
            "broken": self.broken,
            "colors": look.colors,
            "logo": look.logo,
            "families": self._families,
        }
        (self._folder / "known.json").write_bytes(msgspec.json.encode(known))

    def main(self, numbers: Any) -> str:
        """Return the source of the main file, which includes these chapters."""
        order = self._order
        title = self._text(order.title)
        date = self._text(order.date)
        out = ['#import "octavo.typ": *', f"#show: book.with(title: {title})"]
        if order.whole:
            site = f"{self._text(order.look.site)}, {literal(order.look.address)}"
            out.append(
                f"#cover({title}, {self._text(order.about)}, {self._text(order.subtitle)}, {date}, {site})"
            )
            out.append(f"#contents({title}, {self._text(order.words.contents)})")
        pending: list[str] = []
        for number in numbers:
            chapter = order.chapters[number]
            place = literal(place_of(chapter.id))
            name = self._text(self.title(chapter))
            if chapter.kind == "group":
                pending.append(f"#part({chapter.level}, {place}, {name})")
                continue
            out.append(f"#[\n#set page(..running({title}, {name}))")
            out += pending
            pending = []
            out.append(f"#title({chapter.level}, {place}, {name}, {self._text(chapter.description)})")
            out.append(f'#include "p{number}.typ"\n]')
        out += pending
        if absent := sorted(self._glyphs.absent):
            points = " ".join(f"U+{ord(character):04X}" for character in absent[:20])
            more = " and others" if len(absent) > 20 else ""
            out.append(f"#remark({literal(_ABSENT.format(points + more))})")
        return "\n".join(out) + "\n"

    def title(self, chapter: PrintChapter) -> str:
        sign = self._glyphs.shown(emoji(chapter.emoji)) if chapter.emoji else ""
        return f"{sign} {chapter.title}".strip() or self._order.words.untitled

    def write_plain(self, number: int) -> None:
        """Replace a chapter with its plain text and an explanatory note."""
        chapter = self._order.chapters[number]
        # Without headings, there are no targets for links.
        own = f"{chapter.id}."
        self.places = {name: place for name, place in self.places.items() if not place.startswith(own)}
        text = self._glyphs.shown(to_text(read_document(self._folder, number)))
        remark = f"remark({self._text(self._order.words.not_set)});\n"
        (self._folder / f"p{number}.typ").write_text(f"{_HEAD}{remark}{plain_typst(text)}}}\n")

    def _characters(self) -> set[int]:
        """Return all characters in the PDF's source. These include all characters that the PDF shows."""
        written = msgspec.json.encode(self._order).decode()
        chapters = (read_stored_document(self._folder, number) for number in range(len(self._order.chapters)))
        return {ord(character) for text in (written, *chapters) for character in set(text)}

    # --- one page -----------------------------------------------------------------------------------------

    def _write_page(self, number: int, chapter: PrintChapter) -> None:
        printed = to_typst(read_document(self._folder, number), self._printing(chapter))
        self.places.update(printed.anchors)
        (self._folder / f"p{number}.typ").write_text(f"{_HEAD}{printed.code}}}\n")

    def _printing(self, chapter: PrintChapter) -> Printing:
        return Printing(
            page=chapter.id,
            level=chapter.level,
            link=self._link,
            file=self._file,
            icon=self._icon,
            highlight=lambda code, syntax: highlight_in_time(code, syntax).tokens,
            shown=self._glyphs.shown,
            labels=self._order.words,
        )

    def _link(self, ref: JsonObject) -> TypstTarget | None:
        kind = ref.get("kind")
        if kind in ("page", "anchor"):
            if "page" not in ref:
                return TypstTarget(anchor=ref.get("anchor"))
            place = self._pages.get(ref["page"])
            if place is None:
                return None
            return TypstTarget(
                page=place.id,
                anchor=ref.get("anchor"),
                title=place.title,
                description=place.description,
                emoji=place.emoji,
            )
        if kind == "file":
            found = self._files.get(ref["file"])
            return TypstTarget(title=found.name) if found else None
        if kind == "url":
            return TypstTarget(url=ref.get("url"))
        return TypstTarget(user=True) if kind == "user" else None

    def _file(self, ref: JsonObject) -> Picture | None:
        # File columns of tables refer to each file by its id alone.
        found = self._files.get(ref.get("file") or ref.get("url") or "")
        if found is None:
            return None
        return Picture(
            path=found.image, name=found.name, width=found.width, height=found.height, size=found.size
        )

    def _icon(self, name: str) -> str | None:
        if name not in self._icons:
            svg = icon(name)
            self._icons[name] = path = f"icon{len(self._icons)}.svg" if svg else None
            if path is not None:
                (self._folder / path).write_text(str(svg))
        return self._icons[name]

    def _text(self, text: str) -> str:
        return literal(self._glyphs.shown(text))

    def _language(self) -> str:
        language = self._order.language[:2].lower()
        return language if language.isascii() and language.isalpha() and len(language) == 2 else "en"
