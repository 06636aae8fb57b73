"""PDF order: all the data that the typesetting process receives. That process doesn't make any requests."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from octavo.core.document.nodes import Document
from octavo.core.document.typst import PrintLabels
from octavo.core.page_fields import PageKind


class PrintChapter(Struct, frozen=True, kw_only=True):
    """Page to print, whose document is in the PDF's folder (``write_document``). ``level``: its depth in the
    PDF, from 1."""

    id: str
    kind: PageKind
    level: int
    title: str
    emoji: str | None = None
    description: str = ""


class LinkedPage(Struct, frozen=True, kw_only=True):
    """Target of a link. The PDF doesn't necessarily contain the page."""

    id: str
    title: str
    description: str | None = None
    emoji: str | None = None


class StoredFile(Struct, frozen=True, kw_only=True):
    """File that the PDF shows or links to. ``image``: the name of its copy in the PDF's folder; None if there is no
    copy."""

    id: str
    name: str
    image: str | None = None
    width: int | None = None
    height: int | None = None
    size: int | None = None


class PrintWords(PrintLabels, frozen=True, kw_only=True):
    """Labels that Octavo adds to a PDF, such as the title of the table of contents."""

    contents: str = "Contents"
    untitled: str = "Untitled"
    not_set: str = "This page couldn't be laid out. Its text follows."


class PrintFace(Struct, frozen=True, kw_only=True):
    """Font file in the folder where the PDF is typeset. ``weights``: the weights of ``family`` to create from
    ``file``."""

    file: str
    family: str
    weights: list[int]
    italic: bool = False


class OrderLook(Struct, frozen=True, kw_only=True):
    """Appearance of a PDF, from the site that shows its space. ``logo``: a file in the PDF's folder.
    ``colors``: lightness, chroma, and hue."""

    site: str = ""
    address: str = ""
    logo: str | None = None
    colors: dict[str, tuple[float, float, float]] = {}
    text: list[PrintFace] = []
    mono: list[PrintFace] = []


class PrintOrder(Struct, frozen=True, kw_only=True):
    """Order for a PDF. ``whole``: whether to include a title page and a table of contents. ``about``: the subject of
    the PDF. ``subtitle``: the state of the printed content. ``fonts``: a folder with additional fonts."""

    title: str
    about: str = ""
    subtitle: str = ""
    date: str = ""
    language: str = "en"
    whole: bool = True
    chapters: list[PrintChapter]
    places: list[LinkedPage]
    files: list[StoredFile]
    look: OrderLook = OrderLook()
    words: PrintWords = PrintWords()
    fonts: str | None = None


class ContainedFailure(Struct, frozen=True):
    """Failure in Octavo's code that affected only individual blocks: its stage, its message, and the number
    of times it occurred."""

    stage: str
    error: str
    count: int


class PrintResult(Struct, frozen=True):
    """Result of creating a PDF: chapters that could be printed only as plain text, images that couldn't be
    read, and failures in individual blocks."""

    plain: list[str]
    broken: list[str]
    contained: list[ContainedFailure] = []


def write_document(folder: Path, number: int, document: Document) -> None:
    """Write a chapter's document to the PDF's folder, as presented to its reader, with references resolved."""
    for block in document.nodes:
        block.source = None
    _path(folder, number).write_bytes(msgspec.json.encode(document))


def read_document(folder: Path, number: int) -> Document:
    return msgspec.json.decode(_path(folder, number).read_bytes(), type=Document)


def read_stored_document(folder: Path, number: int) -> str:
    """Return a chapter's stored document as JSON."""
    return _path(folder, number).read_text()


def _path(folder: Path, number: int) -> Path:
    return folder / f"chapter{number}.json"
