"""What is to be printed, all of it, as the process that sets it gets it: it asks nobody anything."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from ..core.document import Document
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


class Place(Struct, frozen=True, kw_only=True):
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


class Order(Struct, frozen=True, kw_only=True):
    """``whole``: with a title page and contents. ``subtitle`` says what state it is; ``fonts`` is a folder of
    further fonts."""

    title: str
    subtitle: str = ""
    date: str = ""
    language: str = "en"
    whole: bool = True
    chapters: list[Chapter]
    places: list[Place]
    files: list[StoredFile]
    fonts: str | None = None


class Result(Struct, frozen=True):
    """How it went: chapters that could only be printed as plain text, and images that could not be read."""

    plain: list[str]
    broken: list[str]


def write_document(folder: Path, number: int, document: Document) -> None:
    """Puts the document of a chapter, as its reader sees it and with references resolved, into the print's folder."""
    for block in document.nodes:
        block.source = None
    _path(folder, number).write_bytes(msgspec.json.encode(document))


def read_document(folder: Path, number: int) -> Document:
    return msgspec.json.decode(_path(folder, number).read_bytes(), type=Document)


def _path(folder: Path, number: int) -> Path:
    return folder / f"chapter{number}.json"
