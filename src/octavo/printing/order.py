"""What is to be printed, all of it, as the process that sets it gets it: it asks nobody anything."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ..core.pages import PageKind


class Chapter(Struct, frozen=True, kw_only=True):
    """A page to print. ``source`` is its Markdown file; ``level`` its depth in the print, from 1."""

    id: str
    kind: PageKind
    level: int
    title: str
    emoji: str | None = None
    description: str = ""
    file_path: str | None = None
    source: str = ""
    variables: dict[str, Any] = {}


class Place(Struct, frozen=True, kw_only=True):
    """A page that a link may lead to, printed or not. ``path`` is that of its URL."""

    id: str
    path: str
    title: str
    file_path: str | None = None
    description: str | None = None
    emoji: str | None = None


class StoredFile(Struct, frozen=True, kw_only=True):
    """A file of the space. ``image`` is the name of its copy in the print's folder, None when it has none."""

    id: str
    name: str
    path: str | None = None
    image: str | None = None
    width: int | None = None
    height: int | None = None
    size: int | None = None


class Reusable(Struct, frozen=True):
    id: str
    path: str
    source: str


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
    reusables: list[Reusable]
    variables: dict[str, Any] = {}
    fonts: str | None = None


class Result(Struct, frozen=True):
    """How it went: chapters that could only be printed as plain text, and images that could not be read."""

    plain: list[str]
    broken: list[str]
