"""All that a print needs, taken from a state of a space into an order and the images beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ..content import Item, State, get_body, list_items, list_pages, list_variables
from ..core.expressions import Shown
from ..core.pages import Page
from ..errors import NotFound
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Transaction
from ..spaces import get_space
from .order import Chapter, Order, Place, Reusable, StoredFile
from .store import Wanted

_IMAGE_MAX = 24 * 1024 * 1024
_ALL_IMAGES_MAX = 400 * 1024 * 1024
_PIXELS_MAX = 60_000_000
_WORD = re.compile(r"[^\s\"'()<>/|=]+")


def gather(context: Context, tx: Transaction, state: State, wanted: Wanted, folder: Path) -> Order:
    """The order of a print, with copies of the images it may show in ``folder``. Raises NotFound for a page that
    is not there."""
    space = get_space(tx, wanted.space_id)
    variables = list_variables(tx, state)
    tree = Tree(list_pages(tx, state), variables)
    chosen = tree.chosen(wanted.page_id, wanted.single)
    chapters = [_chapter(tx, page, level) for page, level in chosen]
    reusables = [
        Reusable(item.id, item.path, get_body(tx, item.content))
        for item in list_items(tx, state, "reusable-content")
        if item.path and item.content
    ]
    files = list_items(tx, state, "file")
    named = _words([*(c.source for c in chapters), *(r.source for r in reusables)])
    head = chosen[0][0] if wanted.page_id else None
    return Order(
        title=(head.title if head else "") or space.title or "Untitled",
        subtitle=wanted.subtitle or (space.title if head else ""),
        date=_date_line(now()),
        language=space.language or "en",
        whole=not wanted.single,
        chapters=chapters,
        places=[
            Place(id=page.id, path=path, title=page.title, file_path=page.file_path,
                  description=page.description, emoji=page.emoji)
            for page, path in tree.paths()
        ],
        files=_files(context, files, named, folder),
        reusables=reusables,
        variables=variables,
        fonts=context.settings.pdf_fonts or None,
    )  # fmt: skip


class Tree:
    """The pages of a state as one who has told nothing about themselves meets them: a page whose condition is
    not met is not there, nor is anything below it."""

    def __init__(self, pages: list[Page], variables: dict[str, Any]) -> None:
        self._variables = variables
        self._by_id = {page.id: page for page in pages}
        self._below: dict[str | None, list[Page]] = {}
        for page in pages:
            if self._shown(page):
                self._below.setdefault(page.parent, []).append(page)

    def _shown(self, page: Page) -> bool:
        return page.condition is None or Shown(self._variables, page.variables).holds(page.condition)

    def paths(self) -> list[tuple[Page, str]]:
        """All pages with the path of their URL, in order."""
        found = []
        stack = [(page, "") for page in reversed(self._below.get(None, []))]
        while stack:
            page, above = stack.pop()
            path = f"{above}/{page.slug}" if above else page.slug
            found.append((page, path))
            stack += [(child, path) for child in reversed(self._below.get(page.id, []))]
        return found

    def chosen(self, page_id: str | None, single: bool) -> list[tuple[Page, int]]:
        """The pages to print with their levels. One that is asked for by its id is printed although hidden."""
        first = self._by_id.get(page_id) if page_id else None
        if page_id and (first is None or first.kind == "link"):
            raise NotFound(f"There is no page {page_id!r}.")
        found = []
        roots = [first] if first else self._below.get(None, [])
        stack = [(page, 1) for page in reversed(roots)]
        while stack:
            page, level = stack.pop()
            if page.kind == "link" or (page.hidden and page is not first):
                continue
            found.append((page, level))
            if not single:
                stack += [(child, level + 1) for child in reversed(self._below.get(page.id, []))]
        return found


def _chapter(tx: Transaction, page: Page, level: int) -> Chapter:
    return Chapter(
        id=page.id,
        kind=page.kind,
        level=level,
        title=page.title,
        emoji=page.emoji,
        description=(page.description or "") if page.layout.description else "",
        file_path=page.file_path,
        source=get_body(tx, page.body) if page.body else "",
        variables=page.variables,
    )


def _words(sources: Iterable[str]) -> set[str]:
    """Everything in the sources that may be (the end of) the name of a file, or its id."""
    found: set[str] = set()
    for source in sources:
        found.update(_WORD.findall(unquote(source)))
    return found


def _files(context: Context, items: list[Item], named: set[str], folder: Path) -> list[StoredFile]:
    """The files as the print knows them. Images are copied where the text names them, unless they are too
    large to be opened."""
    left = _ALL_IMAGES_MAX
    found = []
    for number, item in enumerate(items):
        image = None
        last = item.name.split()[-1] if item.name.split() else item.name
        wanted = item.id in named or last in named
        small = item.size <= min(_IMAGE_MAX, left) and (item.width or 0) * (item.height or 0) <= _PIXELS_MAX
        if wanted and small and item.content:
            image = _copy_image(context, item.content, folder, number)
            left -= item.size if image else 0
        found.append(
            StoredFile(
                id=item.id,
                name=item.name,
                path=item.path,
                image=image,
                width=item.width,
                height=item.height,
                size=item.size,
            )
        )
    return found


def _copy_image(context: Context, content: str, folder: Path, number: int) -> str | None:
    """Copies an image that typst can show; told by its bytes, whatever its name says."""
    data = context.files.read(content)
    kind = image_kind(data)
    if kind is None:
        return None
    name = f"file{number}.{kind}"
    (folder / name).write_bytes(data)
    return name


def image_kind(data: bytes) -> str | None:
    """png, jpg, gif, webp or svg; None for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if data.startswith(b"\xff\xd8\xff"):
        return "jpg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    head = data[:2000].lstrip(b"\xef\xbb\xbf \t\r\n")
    return (
        "svg"
        if head.startswith((b"<svg", b"<?xml", b"<!--", b"<!DOCTYPE svg")) and b"<svg" in data[:20000]
        else None
    )


def _date_line(moment: int) -> str:
    """A day as a title page says it; ``moment`` in milliseconds."""
    day = datetime.fromtimestamp(moment / 1000, UTC)
    return f"{day.day} {day:%B} {day.year}"
