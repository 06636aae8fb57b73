"""Choose the reader for a source, and convert its layout to one source of Octavo Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec.structs import replace

from octavo.core.docs_config import DOCS_PATH, DocsEntry
from octavo.core.languages import space_language
from octavo.core.problems import Problem
from octavo.core.sources import Source, SourceError, join_parts
from octavo.core.space_config import CONFIG_PATH
from octavo.core.summary import SUMMARY_PATH

from .gathering import gather, gather_parts
from .layout import Layout, Variant
from .markdown.lines import front_text
from .source_files import Heads, is_index, is_page
from .tools.asciidoc import ANTORA, ASCIIDOC
from .tools.bookstack import BOOKSTACK
from .tools.confluence_xml import CONFLUENCE_XML
from .tools.docmost import DOCMOST
from .tools.docusaurus import DOCUSAURUS
from .tools.exports import EXPORTS
from .tools.fumadocs import FUMADOCS
from .tools.hugo import HUGO
from .tools.jekyll import JEKYLL
from .tools.mintlify import MINTLIFY
from .tools.mkdocs import MKDOCS
from .tools.nextra import NEXTRA
from .tools.outline import OUTLINE
from .tools.plain import PLAIN
from .tools.readme import README
from .tools.sites import SITE
from .tools.sphinx import SPHINX
from .tools.starlight import STARLIGHT
from .tools.vaults import GITHUB_WIKI, OBSIDIAN
from .tools.vitepress import VITEPRESS
from .tools.wikijs import WIKIJS
from .types import Add, Reader, Tick

READERS: tuple[Reader, ...] = (
    CONFLUENCE_XML,
    ANTORA,
    README,
    BOOKSTACK,
    WIKIJS,
    DOCMOST,
    OUTLINE,
    DOCUSAURUS,
    MKDOCS,
    MINTLIFY,
    VITEPRESS,
    STARLIGHT,
    FUMADOCS,
    NEXTRA,
    HUGO,
    JEKYLL,
    GITHUB_WIKI,
    OBSIDIAN,
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
"""Kinds of sources, with their display names."""

_OWN = (SUMMARY_PATH, CONFIG_PATH, DOCS_PATH)
_ORDERING = re.compile(
    r"^(?:title|slug|order|nav_order|weight|position|sidebar\w*|aliases|redirect_from)[ \t]*[:=]",
    re.MULTILINE,
)
_CONSTRUCTS = re.compile(
    (
        r"^[ \t]*>[ \t]*\[!(?!(?i:note|tip|important|warning|caution)\][ \t]*$)\w|^[ \t]*:::[ \t]*\w"
        r"|^[ ]{0,3}:[ \t]+\S|\{:?[ \t]*[.#][\w-]+[^{}\n]*\}[ \t]*$|^[ \t]*(?:```|~~~)[^\n]*(?:\{"
        r"|title=)"
    ),
    re.MULTILINE,
)


def _find(files: Heads) -> tuple[str, str | None]:
    """Return the kind and the folder of a source. If no reader matches, the folder is None, and each file is
    converted individually."""
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
    """Convert a source to one source of Octavo Markdown. ``convert``: a function that converts HTML and office
    documents to Markdown. ``kind``: the kind that a person specified, if any. ``several``: whether to add versions
    and languages as parts; otherwise, all variants except one are skipped and reported. Raises SourceError if the
    source isn't of this kind."""
    files = Heads(source)
    found, folder = _find(files)
    if kind is not None and kind != found:
        reader = next((reader for reader in READERS if reader.kind == kind), None)
        given = (reader.find_specified or reader.find)(files) if reader is not None else ""
        if given is None:
            raise SourceError(
                f"this isn't a {KINDS[kind]} source, because it has no {KINDS[kind]} configuration. Choose"
                " another kind, or omit the kind."
            )
        found, folder = kind, given
    if found == "octavo":
        return replace(source, kind=found)
    reader = next((reader for reader in READERS if reader.kind == found), None)
    if reader is None or folder is None:
        return replace(_plain(convert(source), add, tick), kind=found)
    layout = reader.lay_out(files, folder)
    if several and len(layout.variants) > 1:
        return _in_parts(files, found, layout, folder, add, tick)
    layout = replace(layout, problems=[*layout.problems, *layout.left])
    structure = tuple(map(_entry, layout.variants)) if len(layout.variants) > 1 else ()
    return replace(_gathered(files, layout, folder, add, tick), kind=found, structure=structure)


def _in_parts(files: Heads, kind: str, layout: Layout, folder: str, add: Add, tick: Tick) -> Source:
    """Convert each variant to a source. Return the default variant, which contains all variants as parts."""
    if layout.close is not None:
        layout.close()
    gathered = gather_parts(files, layout.variants, folder, add, tick)
    parts: dict[str, Source] = {}
    # Report problems of the source itself only once.
    reported: set[Problem] = set()
    for variant in layout.variants:
        part = gathered[variant.key]
        parts[variant.key] = replace(
            part,
            kind=kind,
            name=layout.title or part.name,
            language=variant.language or part.language,
            problems=tuple(one for one in part.problems if one not in reported),
        )
        reported.update(part.problems)
    return join_parts(parts, tuple(map(_entry, layout.variants)))


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
    """Return a folder of Markdown unchanged if it uses only Octavo's own syntax; otherwise, convert it."""
    files = Heads(source)
    became = source.became
    if not any(
        _is_foreign(files, path) or (became and _OTHER_FORMAT.search(files.text(path) or ""))
        for path in files.paths
        if is_page(path)
    ):
        return source
    layout = PLAIN.lay_out(files, "")
    return gather(files, replace(layout, same={**layout.same, **became}), "", add, tick)


_OTHER_FORMAT = re.compile(r"\]\(<?[^()<>\n]{1,500}\.(?:docx|odt|fodt|html?|xhtml)[)#?>]", re.IGNORECASE)
"""Pattern for links to pages in other formats. The links are rewritten, because these pages are now Markdown."""


def _is_foreign(files: Heads, path: str) -> bool:
    if path.lower().endswith(".mdx") or (
        is_index(path) and not path.rpartition("/")[2].startswith(("README", "readme"))
    ):
        return True
    text = files.text(path) or ""
    front, _ = front_text(text)
    return bool((front and _ORDERING.search(front)) or _CONSTRUCTS.search(text))
