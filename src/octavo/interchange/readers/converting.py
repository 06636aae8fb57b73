"""Convert uploaded files to one Markdown source. This unpacks archives, and converts HTML and office documents."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote

from msgspec.structs import replace

from octavo.core.document.json import DocumentError
from octavo.core.free_names import free_name
from octavo.core.links import relative_href
from octavo.core.paths import numbered_path
from octavo.core.sources import Source, SourceError, SourceFiles, source_of
from octavo.core.space_config import ASSETS

from .choosing import read_source
from .formats.html import convert, parse_html
from .formats.inline_images import MAX_INLINE_IMAGE, name_image, read_data_url
from .formats.opendocument import read_opendocument
from .opening import open_archive
from .scratch import TemporaryFiles, opening_of
from .types import Tick

MAX_PAGE = 10 * 1024 * 1024
"""Maximum size in bytes of HTML, or of the text of an office document, that becomes one page."""
MAX_UNPACKED = 200 * 1024 * 1024
"""Maximum unpacked size of an office document in bytes."""
_HTML = (".html", ".htm", ".xhtml", ".aspx")
_MARKDOWN = (".md", ".markdown")
_OFFICE = (".docx", ".odt", ".fodt")
_JUNK = frozenset([".ds_store", "thumbs.db", "desktop.ini"])
CONVERTED = (*_HTML, *_MARKDOWN, *_OFFICE)
"""Extensions of individual files that can be imported."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def read_files(
    raw: Source,
    folder: TemporaryFiles,
    tick: Tick = lambda: None,
    kind: str | None = None,
    several: bool = False,
) -> Source:
    """Convert files of any kind to one source of Octavo Markdown. ``several``: whether to include all versions and
    languages. Raises SourceError if the files can't be imported."""
    return read_source(
        raw, lambda source: _Conversion(source, folder, tick).convert(), folder.add, tick, kind, several
    )


def convert_file(file: Path, folder: TemporaryFiles) -> Source:
    """Convert an uploaded file to a source with one page."""
    raw = SourceFiles(file.stem)
    raw.add(file.name, file.stat().st_size, opening_of(file))
    return _Conversion(source_of(raw), folder, lambda: None).convert()


class _Conversion:
    """Conversion of a source. Pages in other formats become Markdown files, and links to them are updated."""

    def __init__(self, raw: Source, folder: TemporaryFiles, tick: Tick) -> None:
        self.raw = raw
        self.folder = folder
        self.tick = tick
        self.made = SourceFiles(raw.name)
        self.made.problems += raw.problems
        self.paths = [path for path in raw.paths() if posixpath.basename(path).lower() not in _JUNK]
        self.known = set(self.paths)
        self.becomes: dict[str, str] = {}
        self.assets: set[str] = set()

    def convert(self) -> Source:
        taken = {path.casefold() for path in self.paths}
        for path in self.paths:
            stem, ending = posixpath.splitext(path)
            if ending.lower() in (*_HTML, *_OFFICE):
                folder, name = posixpath.split(stem)
                wanted = posixpath.join(folder, "README") if name.lower() == "index" else stem
                self.becomes[path] = _free(f"{wanted}.md", taken)
        for path in self.paths:
            self.tick()
            if path not in self.becomes:
                self.made.add(path, self.raw.size(path), self._raw_opening(path))
            elif path.lower().endswith(".docx"):
                self._word(path)
            elif path.lower().endswith(_OFFICE):
                self._opendocument(path)
            else:
                self._html(path, self.raw.read(path))
        kept = set(self.made.paths())
        became = {path: new for path, new in self.becomes.items() if path not in kept}
        return replace(source_of(self.made, self.raw.commit), became=became)

    def _raw_opening(self, path: str) -> Callable[[], IO[bytes]]:
        return self.raw.opening(path)

    def _keep_as_file(self, path: str, code: str, message: str) -> None:
        self.made.add(path, self.raw.size(path), self._raw_opening(path))
        self.made.problem(path, code, f"the page was kept as a file: {message}")

    def _html(self, path: str, data: bytes | str) -> None:
        if len(data) > MAX_PAGE:
            self._keep_as_file(path, "too_large", f"it is larger than {MAX_PAGE // 1024**2} MB")
            return
        tree = parse_html(data)
        new = self.becomes[path]
        name = posixpath.splitext(posixpath.basename(path))[0]
        try:
            if tree is None:
                raise DocumentError("the file is empty")
            page = convert(
                tree,
                link=lambda href: self._link(path, new, href),
                image=lambda source: self._image(path, new, source),
                fallback_title=re.sub(r"[-_]+", " ", name),
            )
        except DocumentError as error:
            self._keep_as_file(path, "not_converted", str(error)[:200])
            return
        self.folder.add(self.made, new, page.text.encode())

    def _word(self, path: str) -> None:
        import mammoth

        try:
            place = self.folder.new(".zip")
            place.write_bytes(self.raw.read(path))
            _check_word(place)
            with place.open("rb") as file:
                keep = mammoth.images.img_element(lambda image: self._word_image(path, image))
                comments: list[Any] = []

                def arranged(document: Any) -> Any:
                    comments.extend(document.comments)
                    return _move_headings_below_title(document)

                found = mammoth.convert_to_html(
                    file, convert_image=keep, style_map=_STYLES, transform_document=arranged
                )
        except SourceError as error:
            self._keep_as_file(path, "not_converted", str(error))
            return
        except Exception as error:  # The library can raise any exception for a damaged document.
            self._keep_as_file(path, "not_converted", f"the file can't be read ({type(error).__name__})")
            return
        if comments:
            self.made.problem(path, "comments_left_out", f"comments were skipped ({len(comments)})")
        for message in dict.fromkeys(str(entry.message) for entry in found.messages):
            # A custom style is read as plain text, as intended.
            if " style" not in message:
                self.made.problem(path, "word", message[:300])
        self._html(path, f"<body>{found.value}</body>")

    def _opendocument(self, path: str) -> None:
        place = self.folder.new(".zip")
        try:
            with ExitStack() as stack:
                packed, flat, names = None, None, set[str]()
                if path.lower().endswith(".fodt"):
                    _check_text(self.raw.size(path))
                    flat = self.raw.read(path)
                else:
                    place.write_bytes(self.raw.read(path))
                    packed = open_archive(str(place), stack, whole=True)
                    if packed.files.total > MAX_UNPACKED:
                        raise SourceError(f"the unpacked file is larger than {MAX_UNPACKED // 1024**2} MB")
                    names.update(packed.paths())
                text = read_opendocument(
                    lambda name: _part(packed, name) if packed and name in names else None,
                    lambda image: self._asset(path, image),
                    lambda code, message: self.made.problem(path, code, message),
                    MAX_PAGE,
                    flat,
                )
        except SourceError as error:
            self._keep_as_file(path, "not_converted", str(error))
            return
        self._html(path, text)

    def _word_image(self, path: str, image: Any) -> dict[str, str]:
        with image.open() as stream:
            data = stream.read(MAX_INLINE_IMAGE + 1)
        asset = self._asset(path, data)
        return {"src": asset or "", **({"alt": image.alt_text} if image.alt_text else {})}

    def _asset(self, path: str, data: bytes) -> str | None:
        """Return the path of an image that is embedded in a page. The path starts with a slash and is relative to
        the root."""
        name = name_image(data)
        if name is None:
            self.made.problem(
                path, "image_left_out", "an embedded image is too large or has an unknown format"
            )
            return None
        asset = f"{ASSETS}/{name}"
        if asset not in self.assets and asset not in self.known:
            self.assets.add(asset)
            self.folder.add(self.made, asset, data)
        return f"/{asset}"

    def _find(self, path: str, href: str) -> str | None:
        name = unquote(re.split(r"[?#]", href, maxsplit=1)[0])
        folder = "" if name.startswith("/") else posixpath.dirname(path)
        found = posixpath.normpath(posixpath.join(folder, name.lstrip("/"))) if name else path
        candidates = (found, f"{found}/index.html", f"{found}/index.htm", f"{found}.html")
        return next((each for each in candidates if each in self.known or each in self.assets), None)

    def _link(self, path: str, new: str, href: str) -> str | None:
        if _SCHEME.match(href):
            return href
        found = self._find(path, href)
        anchor = unquote(href.partition("#")[2]) or None
        if found is None:
            return href
        if found == path and anchor:
            return f"#{anchor}"
        return relative_href(self.becomes.get(found, found), new, anchor)

    def _image(self, path: str, new: str, source: str) -> str | None:
        if source.lower().startswith("data:"):
            data = read_data_url(source)
            source = (self._asset(path, data) if data else None) or ""
            if not source:
                return None
        if _SCHEME.match(source):
            return source if re.match(r"https?:|//", source, re.IGNORECASE) else None
        found = self._find(path, source)
        if found is None:
            self.made.problem(path, "missing_image", f"{source[:200]} doesn't exist")
            return source
        return relative_href(found, new)


_STYLES = """
p.Quote => blockquote > p:fresh
p.IntenseQuote => blockquote > p:fresh
p[style-name='Quote'] => blockquote > p:fresh
p[style-name='Intense Quote'] => blockquote > p:fresh
p.Caption => figcaption:fresh
p[style-name='caption'] => figcaption:fresh
p[style-name='Caption'] => figcaption:fresh
p.Subtitle => p > em:fresh
p[style-name='Subtitle'] => p > em:fresh
"""
_LEVEL = re.compile(r"heading ?(\d)\Z", re.IGNORECASE)


def _move_headings_below_title(document: Any) -> Any:
    """Convert the title of a Word document to a heading at level 1, and move all other headings one level down. Return
    the document."""
    from mammoth import documents, transforms

    def style(paragraph: Any) -> str:
        return str(paragraph.style_name or paragraph.style_id or "")

    paragraphs = transforms.get_descendants_of_type(document, documents.Paragraph)
    if not any(style(paragraph).lower() == "title" for paragraph in paragraphs):
        return document

    def lower(paragraph: Any) -> Any:
        level = _LEVEL.match(style(paragraph))
        if style(paragraph).lower() == "title":
            return paragraph.copy(style_id="", style_name="heading 1")
        if level:
            return paragraph.copy(style_id="", style_name=f"heading {min(int(level[1]) + 1, 6)}")
        return paragraph

    return transforms.paragraph(lower)(document)


def _free(path: str, taken: set[str]) -> str:
    path = free_name(path, lambda name: name.casefold() in taken, lambda number: numbered_path(path, number))
    taken.add(path.casefold())
    return path


def _part(packed: Source, name: str) -> bytes:
    """Return a part of an OpenDocument file; empty if it is an image that is damaged or too large. Raises
    SourceError if the file is damaged."""
    if name.endswith(".xml"):
        _check_text(packed.size(name))
        return packed.read(name)
    try:
        return packed.read(name) if packed.size(name) <= MAX_INLINE_IMAGE else b""
    except SourceError:
        return b""


def _check_text(size: int) -> None:
    if size > MAX_PAGE:
        raise SourceError(f"the file contains more than {MAX_PAGE // 1024**2} MB of text")


def _check_word(place: Path) -> None:
    """Raise SourceError if a Word file unpacks to too many bytes, or if its XML has a document type declaration."""
    with ExitStack() as stack, zipfile.ZipFile(place) as archive:
        if open_archive(str(place), stack).files.total > MAX_UNPACKED:
            raise SourceError(f"the unpacked file is larger than {MAX_UNPACKED // 1024**2} MB")
        for info in archive.infolist():
            if not info.filename.lower().endswith((".xml", ".rels")):
                continue
            _check_text(info.file_size)
            if b"<!DOCTYPE" in archive.read(info).replace(b"\0", b""):
                raise SourceError("the file's XML has a document type declaration, which isn't allowed")
