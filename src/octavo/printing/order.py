"""What is to be printed, all of it, as the process that sets it gets it: it asks nobody anything."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from ..core.document import Document
from ..core.document.typst import Labels
from ..core.pages import PageKind


class Chapter(Struct, frozen=True, kw_only=True):
    """A page to print; its document is in the print's folder (``write_document``). ``level`` is its depth in the
    print, from 1."""

    id: str
    kind: PageKind
    level: int
    title: str
    emoji: str | None = None
    description: str = ""


class LinkedPage(Struct, frozen=True, kw_only=True):
    """A page that a link leads to, printed or not."""

    id: str
    title: str
    description: str | None = None
    emoji: str | None = None


class StoredFile(Struct, frozen=True, kw_only=True):
    """A file that the print shows or names. ``image`` is the name of its copy in the print's folder, None when it has
    none."""

    id: str
    name: str
    image: str | None = None
    width: int | None = None
    height: int | None = None
    size: int | None = None


class PrintWords(Labels, frozen=True, kw_only=True):
    """The words of a print that nobody wrote."""

    contents: str = "Contents"
    untitled: str = "Untitled"
    not_set: str = "This page couldn't be laid out. Its text follows."


class Face(Struct, frozen=True, kw_only=True):
    """A font in the print's folder: ``weights`` to make of the ``file``, as faces of ``family``."""

    file: str
    family: str
    weights: list[int]
    italic: bool = False


class Look(Struct, frozen=True, kw_only=True):
    """What a print has of the site that shows its space. ``logo`` is a file in the print's folder, ``colours`` are
    lightness, chroma and hue."""

    site: str = ""
    address: str = ""
    logo: str | None = None
    colours: dict[str, tuple[float, float, float]] = {}
    text: list[Face] = []
    mono: list[Face] = []


class Order(Struct, frozen=True, kw_only=True):
    """``whole``: with a title page and contents. ``about`` says what it is about, ``subtitle`` what state it is;
    ``fonts`` is a folder of further fonts."""

    title: str
    about: str = ""
    subtitle: str = ""
    date: str = ""
    language: str = "en"
    whole: bool = True
    chapters: list[Chapter]
    places: list[LinkedPage]
    files: list[StoredFile]
    look: Look = Look()
    words: PrintWords = PrintWords()
    fonts: str | None = None


class Contained(Struct, frozen=True):
    """A failure of our own code that stayed in the blocks where it was: at which stage, what it said, at how many."""

    stage: str
    error: str
    count: int


class Result(Struct, frozen=True):
    """How it went: chapters that could only be printed as plain text, images that could not be read, and what failed in
    single blocks."""

    plain: list[str]
    broken: list[str]
    contained: list[Contained] = []


def write_document(folder: Path, number: int, document: Document) -> None:
    """Puts the document of a chapter, as its reader sees it and with references resolved, into the print's folder."""
    for block in document.nodes:
        block.source = None
    _path(folder, number).write_bytes(msgspec.json.encode(document))


def read_document(folder: Path, number: int) -> Document:
    return msgspec.json.decode(_path(folder, number).read_bytes(), type=Document)


def read_written(folder: Path, number: int) -> str:
    """The document of a chapter as it was written: JSON."""
    return _path(folder, number).read_text()


def _path(folder: Path, number: int) -> Path:
    return folder / f"chapter{number}.json"
