"""One page as its view: navigation, text, neighbours. Everything a page links to is resolved here."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from ..content import (
    Inclusions,
    computed_document,
    get_body,
    markdown_page,
    read_source,
    resolve,
    resolve_all,
)
from ..core.document import Block, Document
from ..core.document.html import Asset, Context, Html, Target, render
from ..core.document.parts import emoji
from ..core.document.urls import safe_url
from ..core.expressions import Shown
from ..core.pages import Page
from ..errors import BadRequest
from ..kit.db import Transaction
from ..kit.highlighting import Highlighter
from ..kit.icons import icon
from .resolving import SpaceVisit
from .state import SpaceState
from .views import CoverView, Crumb, Layout, NavItem, PageView

_WHOLE_TREE = 400
"""Up to this many pages the tree at the side is complete; beyond, closed branches are left out."""


_highlighter = Highlighter()


class PageBuilder:
    """Builds the view of one page, or what else a visit asks for."""

    def __init__(self, tx: Transaction, visit: SpaceVisit) -> None:
        self._tx = tx
        self._visit = visit
        self._state: SpaceState = visit.state
        self._inclusions = Inclusions()

    # --- addresses ----------------------------------------------------------------------------------------

    def href(self, page: Page, anchor: str | None = None) -> str:
        path = quote(self._state.url_path(page))
        return f"{self._visit.base}{path}{f'#{quote(anchor)}' if anchor else ''}"

    def _file_url(self, file_id: str) -> Asset | None:
        item = self._state.item(file_id)
        if item is None or item.kind != "file":
            return None
        # A file that was replaced has another address, so that what browsers keep is never the old one.
        url = f"{self._visit.base}~files/{item.id}/{quote(item.name, safe='')}?v={(item.content or '')[:12]}"
        return Asset(url=url, name=item.name, width=item.width, height=item.height, size=item.size)

    def link(self, ref: dict[str, Any]) -> Target | None:
        """Where a resolved reference leads from here."""
        state = self._state
        kind = ref.get("kind")
        if kind in ("page", "anchor") and "space" not in ref:
            page = state.page(ref["page"]) if "page" in ref else None
            if page is None:
                return (
                    Target(href=f"#{quote(ref['anchor'])}")
                    if kind == "anchor" and "page" not in ref
                    else None
                )
            shown = state.first_document(page)
            if shown is None:
                return None
            return Target(
                href=self.href(shown, ref.get("anchor")),
                title=page.title,
                description=page.description,
                emoji=page.emoji,
                icon=page.icon,
            )
        if kind == "file":
            asset = self._file_url(ref["file"])
            return Target(href=asset.url, title=asset.name) if asset else None
        if kind == "url" and isinstance(ref.get("url"), str):
            url = ref["url"]
            if url.startswith(("http://", "https://", "mailto:", "tel:", "//")):
                return Target(href=safe_url(url), external=True)
            # What is left relative here was found in no file of the space.
            return None
        return None

    def _file(self, ref: dict[str, Any]) -> Asset | None:
        if ref.get("kind") == "file":
            return self._file_url(ref["file"])
        url = ref.get("url")
        if ref.get("kind") == "url" and isinstance(url, str) and url.startswith(("http://", "https://")):
            return Asset(url=url, name=url.rsplit("/", 1)[-1])
        return None

    # --- text ---------------------------------------------------------------------------------------------

    def _reusable(self, ref: dict[str, Any]) -> Document | None:
        item = self._state.item(ref.get("reusableContent", ""))
        if item is None or item.kind != "reusable-content" or not item.content:
            return None
        content, path = item.content, item.path
        return self._inclusions.admit(
            item.size, lambda: resolve_all(self._state, read_source(self._tx, content), path)
        )

    def _context(self, page: Page) -> Context:
        shown = Shown(self._state.variables, page.variables)
        search = f"{self._visit.visit.base}~search"
        return Context(
            link=self.link,
            file=self._file,
            icon=icon,
            evaluate=shown.text,
            condition=shown.holds,
            reusable=self._reusable,
            highlight=_highlighter.for_page(),
            search=lambda query: f"{search}?q={quote(query or '')}",
        )

    def _document(self, page: Page) -> Document:
        if not page.computed:
            return resolve_all(self._state, read_source(self._tx, page.body), page.file_path)
        try:
            return computed_document(self._tx, self._state.state.space_id, None, page)
        except BadRequest:
            return read_source(self._tx, None)

    def body(self, page: Page) -> Html:
        document = self._document(page)
        if not document.nodes:
            # An empty page shows what is below it.
            document.nodes = [
                Block("content-ref", {"ref": {"kind": "page", "page": child.id}})
                for child in self._state.children.get(page.id, [])
                if child.kind in ("document", "group") and not child.hidden
            ]
        return render(document, self._context(page))

    # --- the view -----------------------------------------------------------------------------------------

    def nav(self, current: Page | None) -> tuple[NavItem, ...]:
        state = self._state
        opened = {page.id for page in [*state.ancestors(current), current]} if current else set()
        whole = len(state.paths) <= _WHOLE_TREE

        def items(parent: str | None) -> tuple[NavItem, ...]:
            found = []
            for page in state.children.get(parent, []):
                if page.hidden:
                    continue
                below = whole or page.id in opened or page.kind == "group"
                target = self.link(page.target or {}) if page.kind == "link" else None
                if page.kind == "link" and (target is None or target.href is None):
                    continue
                found.append(
                    NavItem(
                        title=page.link_title or page.title,
                        href=target.href if target else self.href(page) if page.kind == "document" else None,
                        emoji=emoji(page.emoji) if page.emoji else None,
                        icon=icon(page.icon) if page.icon else None,
                        current=current is not None and page.id == current.id,
                        open=page.id in opened,
                        external=bool(target and target.external),
                        children=items(page.id) if below else (),
                    )
                )
            return tuple(found)

        return items(None)

    def _cover(self, page: Page) -> CoverView | None:
        cover = page.cover
        if cover is None or not page.layout.cover:
            return None

        def url(written: str | None) -> str | None:
            if written is None:
                return None
            asset = self._file(resolve(self._state, page.file_path, {"kind": "url", "url": written}, "image"))
            return asset.url if asset else None

        light = url(cover.light)
        if light is None:
            return None
        hero = page.layout.cover_size != "hero"
        return CoverView(light=light, dark=url(cover.dark), hero=hero, height=cover.height or 240)

    def page(self, page: Page) -> PageView:
        state = self._state
        drawn = self.body(page)
        layout = page.layout
        previous, following = self._neighbours(page) if layout.pagination else (None, None)
        moment = datetime.fromtimestamp(page.updated_at / 1000, UTC)
        return PageView(
            title=page.title,
            body=drawn.body,
            outline=drawn.outline if layout.outline else (),
            description=page.description if layout.description else None,
            emoji=emoji(page.emoji) if page.emoji else None,
            icon=icon(page.icon) if page.icon else None,
            cover=self._cover(page),
            nav=self.nav(page) if layout.table_of_contents else (),
            crumbs=tuple(
                Crumb(title=p.link_title or p.title, href=self.href(p) if p.kind == "document" else None)
                for p in state.ancestors(page)
            ),
            previous=previous,
            next=following,
            updated=moment.date().isoformat(),
            updated_text=f"{moment.day} {moment:%B %Y}",
            layout=Layout(
                width=layout.width if layout.width in ("default", "wide", "landing") else "wide",  # type: ignore[arg-type]
                title=layout.title,
                description=layout.description,
                navigation=layout.table_of_contents,
                outline=layout.outline,
                pagination=layout.pagination,
                updated=layout.metadata,
            ),
            markdown=f"{self._visit.base}{quote(state.paths[page.id])}.md",
            no_index=self._visit.visit.site.visibility != "public" or self._is_kept_from_robots(page),
        )

    def _is_kept_from_robots(self, page: Page) -> bool:
        """The switches are inherited downward and a child cannot undo them."""
        return any(p.no_robots_index for p in [*self._state.ancestors(page), page])

    def _neighbours(self, page: Page) -> tuple[Crumb | None, Crumb | None]:
        shown = [p for p in self._state.order if not p.hidden or p.id == page.id]
        place = next((n for n, p in enumerate(shown) if p.id == page.id), None)
        if place is None:
            return None, None

        def crumb(n: int) -> Crumb | None:
            if not 0 <= n < len(shown):
                return None
            return Crumb(title=shown[n].link_title or shown[n].title, href=self.href(shown[n]))

        return crumb(place - 1), crumb(place + 1)

    def markdown(self, page: Page) -> str:
        """The page's source as it was written; of a computed page the file that it would be."""
        if page.computed:
            return markdown_page(page, self._document(page))
        return get_body(self._tx, page.body) if page.body else f"# {page.title}\n"
