"""Choice of the reader for a source, and conversion of its layout to one source of Octavo Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable

from octavo.core.docs_config import DOCS_PATH, DocsEntry
from octavo.core.problems import Problem
from octavo.core.space_config import CONFIG_PATH
from octavo.core.summary import SUMMARY_PATH

from ..sampling import space_language
from ..sources import Source, SourceError
from .asciidoc import ANTORA, ASCIIDOC
from .confluence_xml import CONFLUENCE_XML
from .exports import EXPORTS
from .gathering import Add, Tick, gather, gather_parts
from .layout import Layout, Variant
from .markdown import front_text
from .readme import README
from .sites import SITE
from .source_files import Heads, is_index, is_page
from .sphinx import SPHINX
from .tools import PLAIN, TOOLS
from .types import Reader
from .wikis import WIKIS

READERS: tuple[Reader, ...] = (
    CONFLUENCE_XML,
    ANTORA,
    README,
    *WIKIS,
    *TOOLS,
    SPHINX,
    *EXPORTS,
    ASCIIDOC,
    SITE,
)
KINDS = {
    "octavo": "Octavo",
    **{reader.kind: reader.name for reader in READERS},
    "markdown": "Markdown",
}
"""The kinds of sources, with their display names."""

_OWN = (SUMMARY_PATH, CONFIG_PATH, DOCS_PATH)
_ORDERING = re.compile(
    r"^(?:title|slug|order|nav_order|weight|position|sidebar\w*|aliases|redirect_from)[ \t]*[:=]",
    re.MULTILINE,
)
_CONSTRUCTS = re.compile(
    r"^[ \t]*>[ \t]*\[!(?!(?i:note|tip|important|warning|caution)\][ \t]*$)\w|^[ \t]*:::[ \t]*\w|^[ ]{0,3}:[ \t]+\S|\{:?[ \t]*[.#][\w-]+[^{}\n]*\}[ \t]*$|^[ \t]*(?:```|~~~)[^\n]*(?:\{|title=)",
    re.MULTILINE,
)


def _find(files: Heads) -> tuple[str, str | None]:
    """Return the kind of a source and the folder it is in, or None if no reader matches and files are converted
    one by one."""
    if any(name in files.known for name in _OWN):
        return "octavo", ""
    for reader in READERS:
        folder = reader.find(files)
        if folder is not None:
            return reader.kind, folder
    pages = sum(map(is_page, files.paths))
    htmls = sum(path.lower().endswith((".html", ".htm", ".xhtml", ".aspx")) for path in files.paths)
    return ("html" if htmls > pages else "markdown"), None


def read_source(
    source: Source,
    convert: Callable[[Source], Source],
    add: Add,
    tick: Tick,
    kind: str | None = None,
    several: bool = False,
) -> Source:
    """Return a source as one source of Octavo Markdown. ``convert`` turns HTML and office documents into Markdown.
    ``kind`` is the stated kind, if any. ``several`` adds versions and languages as parts; otherwise all but one
    are skipped and reported. Raises SourceError for a kind that the source can't be."""
    files = Heads(source)
    found, folder = _find(files)
    if kind is not None and kind != found:
        reader = next((reader for reader in READERS if reader.kind == kind), None)
        given = (reader.told or reader.find)(files) if reader is not None else ""
        if given is None:
            raise SourceError(
                f"this isn't a {KINDS[kind]} source: its configuration is missing. Choose another kind or leave it out"
            )
        found, folder = kind, given
    if found == "octavo":
        source.kind = found
        return source
    reader = next((reader for reader in READERS if reader.kind == found), None)
    if reader is None or folder is None:
        made = _plain(convert(source), add, tick)
    else:
        layout = reader.lay_out(files, folder)
        if several and len(layout.variants) > 1:
            made = _in_parts(files, layout, folder, add, tick)
        else:
            layout.problems += layout.left
            made = _gathered(files, layout, folder, add, tick)
            if len(layout.variants) > 1:
                made.structure = list(map(_entry, layout.variants))
    made.kind = found
    for part in made.parts.values():
        part.kind = found
    return made


def _in_parts(files: Heads, layout: Layout, folder: str, add: Add, tick: Tick) -> Source:
    """Return each variant as a source. The result itself is the default variant."""
    if layout.close is not None:
        layout.close()
    parts = gather_parts(files, layout.variants, folder, add, tick)
    for variant in layout.variants:
        part = parts[variant.key]
        part.name = layout.title or part.name
        part.language = variant.language or part.language
    structure = list(map(_entry, layout.variants))
    # Report problems of the source itself only once.
    told: set[Problem] = set()
    for part in parts.values():
        part.problems = [one for one in part.problems if one not in told]
        told.update(part.problems)
    first = next((entry.key for entry in structure if entry.default), structure[0].key)
    made = parts[first]
    made.parts, made.structure = parts, structure
    return made


def _entry(variant: Variant) -> DocsEntry:
    return DocsEntry(
        type="space",
        key=variant.key,
        title=variant.title[:50],
        path=variant.path,
        language=space_language(variant.language),
        default=variant.default,
        directory=f"{variant.key}/",
    )


def _gathered(files: Heads, layout: Layout, folder: str, add: Add, tick: Tick) -> Source:
    try:
        return gather(files, layout, folder, add, tick)
    finally:
        if layout.close is not None:
            layout.close()


def _plain(source: Source, add: Add, tick: Tick) -> Source:
    """Return a folder of Markdown unchanged if it uses only Octavo's own syntax."""
    files = Heads(source)
    became = source.became
    if not any(
        _is_foreign(files, path) or (became and _OTHER_FORMAT.search(files.text(path) or ""))
        for path in files.paths
        if is_page(path)
    ):
        return source
    layout = PLAIN.lay_out(files, "")
    layout.same = {**layout.same, **became}
    return gather(files, layout, "", add, tick)


_OTHER_FORMAT = re.compile(r"\]\(<?[^()<>\n]{1,500}\.(?:docx|odt|fodt|html?|xhtml)[)#?>]", re.IGNORECASE)
"""Rewrite links to pages of other formats, which are Markdown now."""


def _is_foreign(files: Heads, path: str) -> bool:
    if path.lower().endswith(".mdx") or (
        is_index(path) and not path.rpartition("/")[2].startswith(("README", "readme"))
    ):
        return True
    text = files.text(path) or ""
    front, _ = front_text(text)
    return bool((front and _ORDERING.search(front)) or _CONSTRUCTS.search(text))
