"""Conversion of uploaded files to one source of Markdown. Archives are opened; HTML and office documents are
converted."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote

from octavo.content.uploads.store import UploadRow
from octavo.core.document.json import DocumentError
from octavo.core.free_names import free_name
from octavo.core.links import relative_href
from octavo.core.paths import numbered_path
from octavo.kit.files import FileStore

from .inline_images import MAX_INLINE_IMAGE, name_image, read_data_url
from .opening import open_source
from .readers.choosing import read_source
from .sources import Source, SourceError

MAX_PAGE = 10 * 1024 * 1024
"""Maximum size in bytes of HTML, or of the text of an office document, that becomes one page."""
MAX_UNPACKED = 200 * 1024 * 1024
"""Maximum number of bytes that an office document may unpack to."""
MAX_PARTS = 100
"""Maximum number of archives inside an archive that are read as one. They stay open while they are read."""
ASSETS = ".gitbook/assets"
_HTML = (".html", ".htm", ".xhtml", ".aspx")
_MARKDOWN = (".md", ".markdown")
_OFFICE = (".docx", ".odt", ".fodt")
_JUNK = frozenset([".ds_store", "thumbs.db", "desktop.ini"])
CONVERTED = (*_HTML, *_MARKDOWN, *_OFFICE)
"""File extensions of single files that can be imported."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")

Tick = Callable[[], None]
"""Callback between files. It raises when the run is over."""


class TemporaryFiles:
    """Temporary files of a run, named by number."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._count = 0

    def new(self, ending: str = "") -> Path:
        self._count += 1
        return self.path / f"{self._count}{ending}"

    def add(self, source: Source, path: str, data: bytes) -> None:
        """Add bytes to a source by way of a temporary file."""
        place = self.new()
        place.write_bytes(data)
        source.add(path, len(data), _opening(place))


def _opening(place: Path) -> Callable[[], IO[bytes]]:
    return lambda: place.open("rb")


def gather_uploads(
    uploads: Iterable[UploadRow],
    files: FileStore,
    folder: TemporaryFiles,
    stack: ExitStack,
    tick: Tick,
    kind: str | None = None,
    several: bool = False,
) -> Source:
    """Return the uploaded files as one source. Each archive gets its own folder if there are several files.
    ``kind`` is the stated kind of source, if any. ``several`` includes all versions and languages.

    Raises SourceError for an archive that can't be read or looks like an attack.
    """
    uploads = list(uploads)
    raw = Source(posixpath.splitext(uploads[0].name)[0])
    for upload in uploads:
        tick()
        place = folder.new(".zip")
        with place.open("wb") as out:
            for piece in files.open(upload.hash or ""):
                out.write(piece)
        stem, ending = posixpath.splitext(upload.name)
        if ending.lower() == ".zip":
            archive = unpack_parts(_open(place, upload.name, stack), folder, stack, tick)
            prefix = "" if len(uploads) == 1 else f"{stem}/"
            raw.count(archive.seen)
            raw.problems += archive.problems
            for path in archive.paths():
                raw.add(prefix + path, archive.size(path), _entry_opening(archive, path, folder))
        elif ending.lower() in CONVERTED:
            raw.add(upload.name, upload.size, _opening(place))
        else:
            message = "skipped: only Markdown, HTML, .docx, .odt, and .zip files can be imported"
            raw.problem(upload.name, "unknown_format", message)
    return read_files(raw, folder, tick, kind, several)


def read_files(
    raw: Source,
    folder: TemporaryFiles,
    tick: Tick = lambda: None,
    kind: str | None = None,
    several: bool = False,
) -> Source:
    """Return files of any kind as one source of Octavo Markdown. ``several`` includes all versions and languages.
    Raises SourceError."""
    return read_source(
        raw, lambda source: _Conversion(source, folder, tick).convert(), folder.add, tick, kind, several
    )


def unpack_parts(
    archive: Source, folder: TemporaryFiles, stack: ExitStack, tick: Tick = lambda: None
) -> Source:
    """Join an export that consists only of archives into the one source that they form. Return any other source
    unchanged. Archives inside these archives stay closed. Raises SourceError."""
    paths = archive.paths()
    if not 0 < len(paths) <= MAX_PARTS or not all(path.lower().endswith(".zip") for path in paths):
        return archive
    made = Source(archive.name)
    made.commit, made.problems = archive.commit, archive.problems
    for path in paths:
        tick()
        place = folder.new(".zip")
        with place.open("wb") as out:
            for piece in archive.pieces(path):
                out.write(piece)
        part = _open(place, path, stack, whole=True)
        made.count(part.seen)
        made.problems += part.problems
        for name in part.paths():
            made.add(name, part.size(name), _entry_opening(part, name, folder))
    return made


def _open(place: Path, name: str, stack: ExitStack, whole: bool = False) -> Source:
    """Open an archive, which messages call by its name."""
    try:
        return stack.enter_context(open_source(str(place), allow_url=_refuse, local=True, whole=whole))
    except SourceError as error:
        raise SourceError(str(error).replace(str(place), name)) from error


def convert_file(file: Path, folder: TemporaryFiles) -> Source:
    """Convert an uploaded file to a source of one page."""
    raw = Source(file.stem)
    raw.add(file.name, file.stat().st_size, _opening(file))
    return _Conversion(raw, folder, lambda: None).convert()


def _refuse(url: str) -> str:
    raise ValueError("uploads are local")


def _entry_opening(archive: Source, path: str, folder: TemporaryFiles) -> Callable[[], IO[bytes]]:
    def opening() -> IO[bytes]:
        # Read through the archive, which measures the actual unpacked size.
        place = folder.new()
        with place.open("wb") as out:
            for piece in archive.pieces(path):
                out.write(piece)
        return place.open("rb")

    return opening


class _Conversion:
    """A source in which pages of other formats become Markdown files, and links between them follow."""

    def __init__(self, raw: Source, folder: TemporaryFiles, tick: Tick) -> None:
        self.raw = raw
        self.folder = folder
        self.tick = tick
        self.made = Source(raw.name)
        self.made.problems = raw.problems
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
        self.made.became = {path: new for path, new in self.becomes.items() if path not in kept}
        return self.made

    def _raw_opening(self, path: str) -> Callable[[], IO[bytes]]:
        return self.raw.opening(path)

    def _keep_as_file(self, path: str, code: str, message: str) -> None:
        self.made.add(path, self.raw.size(path), self._raw_opening(path))
        self.made.problem(path, code, f"kept as a file: {message}")

    def _html(self, path: str, data: bytes | str) -> None:
        # Imported here because it loads slowly.
        from .html import convert, parse_html

        if len(data) > MAX_PAGE:
            self._keep_as_file(path, "too_large", f"a page of more than {MAX_PAGE // 1024**2} MB")
            return
        tree = parse_html(data)
        new = self.becomes[path]
        name = posixpath.splitext(posixpath.basename(path))[0]
        try:
            if tree is None:
                raise DocumentError("it is empty")
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
        except Exception as error:  # Whatever a damaged document makes the library raise.
            self._keep_as_file(path, "not_converted", f"it can't be read ({type(error).__name__})")
            return
        if comments:
            self.made.problem(path, "comments_left_out", f"comments were skipped ({len(comments)})")
        for message in dict.fromkeys(str(entry.message) for entry in found.messages):
            # A custom style is read as plain text, as intended.
            if " style" not in message:
                self.made.problem(path, "word", message[:300])
        self._html(path, f"<body>{found.value}</body>")

    def _opendocument(self, path: str) -> None:
        from .opendocument import read_opendocument

        place = self.folder.new(".zip")
        try:
            with ExitStack() as stack:
                packed, flat, names = None, None, set[str]()
                if path.lower().endswith(".fodt"):
                    _check_text(self.raw.size(path))
                    flat = self.raw.read(path)
                else:
                    place.write_bytes(self.raw.read(path))
                    packed = stack.enter_context(
                        open_source(str(place), allow_url=_refuse, local=True, whole=True)
                    )
                    if packed.total > MAX_UNPACKED:
                        raise SourceError(f"it unpacks to more than {MAX_UNPACKED // 1024**2} MB")
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
        """Return the path of an image embedded in a page, from the root, with a leading slash."""
        name = name_image(data)
        if name is None:
            self.made.problem(
                path, "image_left_out", "an embedded image is too large or in an unknown format"
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
    """Return a Word document whose title style marks the title as the first heading, with all others moved one
    level down."""
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
    """Return a part of an OpenDocument file, or None for an image that is damaged or too large. Raises
    SourceError."""
    if name.endswith(".xml"):
        _check_text(packed.size(name))
        return packed.read(name)
    try:
        return packed.read(name) if packed.size(name) <= MAX_INLINE_IMAGE else b""
    except SourceError:
        return b""


def _check_text(size: int) -> None:
    if size > MAX_PAGE:
        raise SourceError(f"it has more than {MAX_PAGE // 1024**2} MB of text")


def _check_word(place: Path) -> None:
    """Check an archive. Raises SourceError if it unpacks to too much, or for XML with a document type."""
    with open_source(str(place), allow_url=_refuse, local=True) as source, zipfile.ZipFile(place) as archive:
        if source.total > MAX_UNPACKED:
            raise SourceError(f"it unpacks to more than {MAX_UNPACKED // 1024**2} MB")
        for info in archive.infolist():
            if not info.filename.lower().endswith((".xml", ".rels")):
                continue
            _check_text(info.file_size)
            if b"<!DOCTYPE" in archive.read(info).replace(b"\0", b""):
                raise SourceError("its XML has a document type declaration, which isn't allowed")
