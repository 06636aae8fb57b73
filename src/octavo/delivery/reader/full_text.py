"""Write all pages of a site as a single response, streamed in parts. Streaming limits memory use, regardless of
the number of pages, and lets other requests run between parts. The result is cached in compressed form until the
site's content changes."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import quote

import msgspec

from octavo.core.pages import Page
from octavo.delivery.visits.authorization import SiteVisit, SpaceVisit
from octavo.kit.context import Context
from octavo.kit.db.cache import ByteCache, share
from octavo.kit.db.database import Transaction
from octavo.kit.scheduling.permits import compute

from .pages import PageBuilder

PAGES = 16
"""Number of pages per part."""
_PIECES = share("pages of llms-full.txt", 16)
_LEVEL = 1

Build = Callable[[Transaction, SpaceVisit], PageBuilder]


class SiteTextCache:
    """Cache of the full text of sites. ``pieces``: a function that returns a response in parts."""

    def __init__(self) -> None:
        self._kept: ByteCache[bytes] = ByteCache(_PIECES)

    def pieces(
        self, context: Context, visit: SiteVisit, pages: Sequence[tuple[SpaceVisit, Page]], build: Build
    ) -> Iterator[bytes]:
        """Yield the text of these pages in parts, limited to the content that a visitor can see. Each part is read in
        its own transaction. ``build``: a function that returns the page builder of a space."""
        dependencies = visit.dependencies
        shown = msgspec.json.encode((dependencies.visitor, visit.base, visit.published), order="sorted")
        key = (visit.site.id, dependencies.version, frozenset(dependencies.revisions.items()), shown)
        keeps = not visit.admission.personal
        yield f"# {visit.site.title}\n".encode()
        for start in range(0, len(pages), PAGES):
            kept = self._kept.get((key, start)) if keeps else None
            if kept is not None:
                yield zlib.decompress(kept)
                continue
            piece, varies = compute(_write, context, visit, pages[start : start + PAGES], build)
            if keeps and not varies:
                packed = zlib.compress(piece, _LEVEL)
                self._kept.put((key, start), packed, len(packed))
            yield piece


def _write(
    context: Context, visit: SiteVisit, pages: Sequence[tuple[SpaceVisit, Page]], build: Build
) -> tuple[bytes, bool]:
    """Return pages as Markdown, and whether the text can change without a new revision."""
    parts, varies = [], False
    builder: PageBuilder | None = None
    at: SpaceVisit | None = None
    with context.db.read() as tx:
        for space, page in pages:
            if builder is None or space is not at:
                builder, at = build(tx, space), space
            url = visit.public(f"{space.base}{quote(space.view.tree.url_path(page))}")
            parts.append(f"\nSource: {url}\n\n{builder.markdown(page, alone=False)}")
            varies = varies or builder.varies
    return "".join(parts).encode(), varies
