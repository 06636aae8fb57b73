"""Collect the data for creating a PDF of a space in a given state: a ``PrintOrder``, and the images to print."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from octavo.content.references.resolving import NobodyViewer, Resolver
from octavo.content.references.showing import ViewDocuments
from octavo.content.references.viewing import ViewFiles, load_view
from octavo.content.revisions.item_versions import Item
from octavo.content.revisions.states import State
from octavo.core.document.nodes import Document
from octavo.core.document.references import references
from octavo.core.links import app_hosts
from octavo.core.page_tree import PageTree
from octavo.core.pages import Page
from octavo.errors import NotFound
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.locales import date_words
from octavo.organization.spaces.store import get_space

from .order import LinkedPage, PrintChapter, PrintOrder, StoredFile, write_document
from .store import PrintSubject
from .words import find_words

_IMAGE_MAX = 24 * 1024 * 1024
_ALL_IMAGES_MAX = 400 * 1024 * 1024
_PIXELS_MAX = 60_000_000


def collect_order(
    context: Context, tx: Transaction, state: State, wanted: PrintSubject, folder: Path
) -> PrintOrder:
    """Return the order for a PDF, and write the documents of its chapters and copies of their images to
    ``folder``. Raises NotFound if an anonymous reader can't see the page."""
    space = get_space(tx, wanted.space_id)
    view = load_view(tx, state)
    chosen = chosen_pages(view.tree, wanted.page_id, wanted.single)
    resolver = Resolver(ViewFiles(tx, view, withheld=True), app_hosts(context.settings.url), NobodyViewer())
    documents = ViewDocuments(tx, view, resolver)
    used = _UsedReferences()
    chapters = []
    for number, (page, level) in enumerate(chosen):
        document = documents.for_rendering(page, folded=False)
        used.note(document)
        write_document(folder, number, document)
        chapters.append(_chapter(page, level))
    head = chosen[0][0] if wanted.page_id else None
    first = next((chapter for chapter in chapters if chapter.kind != "group"), None)
    language, words = find_words(space.language)
    places = (page for page in view.tree if page.id in used.pages)
    return PrintOrder(
        title=(head.title if head else "") or space.title or "Untitled",
        about=first.description if first else "",
        subtitle=wanted.subtitle or (space.title if head else ""),
        date=date_words(datetime.fromtimestamp(now() / 1000, UTC).date(), language),
        language=space.language or "en",
        whole=not wanted.single,
        chapters=chapters,
        places=[
            LinkedPage(id=page.id, title=page.title, description=page.description, emoji=page.emoji)
            for page in places
        ],
        files=_files(context, [item for id in used.files if (item := view.item(id, "file"))], folder),
        words=words,
        fonts=context.settings.pdf_fonts or None,
    )


class _UsedReferences:
    """Pages that documents link to, and files that they show. Dicts are used because they preserve the order."""

    def __init__(self) -> None:
        self.pages: dict[str, None] = {}
        self.files: dict[str, None] = {}

    def note(self, document: Document) -> None:
        for reference in references(document):
            ref = reference.ref
            if ref.get("kind") in ("page", "anchor") and isinstance(ref.get("page"), str):
                self.pages[ref["page"]] = None
            # File columns of tables refer to each file by its id alone.
            file = ref.get("file") if ref.get("kind") == "file" else ref.get("url")
            if isinstance(file, str):
                self.files[file] = None


def chosen_pages(tree: PageTree, page_id: str | None, single: bool) -> list[tuple[Page, int]]:
    """Return the pages to print, with their levels. A page requested by ID is printed even if it is hidden."""
    first = tree.page(page_id) if page_id else None
    if page_id and (first is None or first.kind == "link"):
        raise NotFound(f"There is no page with the ID {page_id!r}.")
    found = []
    roots = [first] if first else tree.children.get(None, [])
    stack = [(page, 1) for page in reversed(roots)]
    while stack:
        page, level = stack.pop()
        if page.kind == "link" or (page.hidden and page is not first):
            continue
        found.append((page, level))
        if not single:
            stack += [(child, level + 1) for child in reversed(tree.children.get(page.id, []))]
    return found


def _chapter(page: Page, level: int) -> PrintChapter:
    return PrintChapter(
        id=page.id,
        kind=page.kind,
        level=level,
        title=page.title,
        emoji=page.emoji,
        description=(page.description or "") if page.layout.description else "",
    )


def _files(context: Context, items: list[Item], folder: Path) -> list[StoredFile]:
    """Return the files as records for the PDF order. Images are copied unless they are too large to open."""
    left = _ALL_IMAGES_MAX
    found = []
    for number, item in enumerate(items):
        image = None
        small = item.size <= min(_IMAGE_MAX, left) and (item.width or 0) * (item.height or 0) <= _PIXELS_MAX
        if small and item.content:
            image = _copy_image(context, item.content, folder, number)
            left -= item.size if image else 0
        found.append(
            StoredFile(
                id=item.id,
                name=item.name,
                image=image,
                width=item.width,
                height=item.height,
                size=item.size,
            )
        )
    return found


def _copy_image(context: Context, content: str, folder: Path, number: int) -> str | None:
    """Copy an image that typst can show. The format is detected from its content, regardless of its name."""
    data = context.files.read(content)
    kind = image_kind(data)
    if kind is None:
        return None
    name = f"file{number}.{kind}"
    (folder / name).write_bytes(data)
    return name


def image_kind(data: bytes) -> str | None:
    """Return the format of an image (png, jpg, gif, webp, or svg), or None for any other data."""
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
