"""All pages of a site in one text, written a few at a time as it is sent: so it takes no more memory than these, however
many there are, and others read in between. What was written is kept, compressed, until something is published."""

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
"""Pages of one piece."""
_PIECES = share("pages in one text", 16)
_LEVEL = 1

Build = Callable[[Transaction, SpaceVisit], PageBuilder]


class Whole:
    """The texts of sites. ``pieces`` gives one."""

    def __init__(self) -> None:
        self._kept: ByteCache[bytes] = ByteCache(_PIECES)

    def pieces(
        self, context: Context, visit: SiteVisit, pages: Sequence[tuple[SpaceVisit, Page]], build: Build
    ) -> Iterator[bytes]:
        """The text of these pages, all that a visitor is shown, in pieces; it is read in transactions of its own, a
        piece each. ``build`` gives the builder of pages of a space."""
        made_of = visit.made_of
        shown = msgspec.json.encode((made_of.visitor, visit.base, visit.published), order="sorted")
        key = (visit.site.id, made_of.version, frozenset(made_of.revisions.items()), shown)
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
    """Pages as their Markdown, and whether something in it may change without a revision."""
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
