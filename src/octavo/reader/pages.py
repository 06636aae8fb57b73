"""One page as its view: navigation, text, neighbours. Everything a page links to is resolved here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from urllib.parse import quote, urlencode

from ..content import Asker, Drawn, asker_at, computed_state, drawn_states, markdown_page
from ..core.document import Block
from ..core.document.html import Asset, Context, Html, Target, render
from ..core.document.parts import emoji
from ..core.document.urls import safe_url
from ..core.pages import Page
from ..kit.cache import ByteCache
from ..kit.db import Transaction
from ..kit.highlighting import Highlighter
from ..kit.icons import icon
from ..openapi import OPERATIONS, Description, Operation, find_operation
from ..references import Documents, Resolver, ViewFiles, page_owner
from ..sites import look_of
from ..spaces import get_space
from .resolving import SpaceVisit, Visitor
from .views import CoverView, Crumb, Layout, NavItem, PageView

_WHOLE_TREE = 400
"""Up to this many pages the tree at the side is complete; beyond, closed branches are left out."""

_ORIGINS = 50
"""Hosts that the script of one page may speak to."""

_asked: ByteCache[tuple[str, ...]] = ByteCache(16 * 1024 * 1024)
"""In which other spaces the links of a page were looked up."""

_drawn: ByteCache[tuple[Drawn, ...]] = ByteCache(16 * 1024 * 1024)
"""What a page was drawn of besides its text."""

_highlighter = Highlighter()


class PageBuilder:
    """Builds the view of one page, or what else a visit asks for. ``hosts``: the addresses of this installation."""

    def __init__(self, tx: Transaction, visit: SpaceVisit, hosts: tuple[str, ...]) -> None:
        self._tx = tx
        self._visit = visit
        self._view = visit.view
        self._tree = visit.view.tree
        self._visitor = Visitor(tx, visit)
        self._resolver = Resolver(ViewFiles(tx, visit.view, withheld=True), hosts, self._visitor)
        self._documents = Documents(tx, visit.view, self._resolver)
        self._origins: dict[str, None] = {}
        self._tries = False

    def key(self, page: Page | None) -> tuple[object, ...]:
        """What the drawn page depends on, or without one the navigation alone: the same key, the same page."""
        visit = self._visit
        own = (
            self._view.state.revision_id,
            self._view.computed,
            page.id if page is not None else None,
            visit.visit.site,
            visit.visit.outline.rows,
            visit.visit.admission.audience,
            visit.site_space,
            self._has_playground,
            computed_state(self._tx, self._view.state.space_id, page)
            if page is not None and page.computed
            else b"",
        )
        if self._resolver.asked:
            _asked.put(own, self._resolver.asked, 200 + 40 * len(self._resolver.asked))
        drawn = tuple(sorted(self._documents.drawn, key=lambda each: (each.type, each.ref)))
        if drawn:
            _drawn.put(own, drawn, sum(100 + len(each.ref) for each in drawn))
        states = drawn_states(self._tx, self._asker(), _drawn.get(own) or ())
        return (*own, self._resolver.revisions(_asked.get(own) or ()), states)

    def _asker(self) -> Asker:
        return asker_at(self._tx, self._view.state.space_id, None)

    @cached_property
    def _has_playground(self) -> bool:
        look = look_of(self._tx, self._visit.visit.site.id, self._visit.site_space.id)
        return look.api_playground.enabled

    # --- addresses ----------------------------------------------------------------------------------------

    def href(self, page: Page, anchor: str | None = None, visit: SpaceVisit | None = None) -> str:
        there = visit or self._visit
        path = quote(there.view.tree.url_path(page))
        return f"{there.base}{path}{f'#{quote(anchor)}' if anchor else ''}"

    def _file_url(self, file_id: str) -> Asset | None:
        item = self._view.item(file_id, "file")
        if item is None:
            return None
        # A file that was replaced has another address, so that what browsers keep is never the old one.
        url = f"{self._visit.base}~files/{item.id}/{quote(item.name, safe='')}?v={(item.content or '')[:12]}"
        return Asset(url=url, name=item.name, width=item.width, height=item.height, size=item.size)

    def link(self, ref: dict[str, Any]) -> Target | None:
        """Where a resolved reference leads from here."""
        kind = ref.get("kind")
        if kind == "anchor" and "page" not in ref:
            return Target(href=f"#{quote(ref['anchor'])}")
        if kind in ("page", "anchor"):
            return self._page_target(ref)
        if kind == "space":
            there = self._visitor.visit(ref["space"])
            title = get_space(self._tx, ref["space"]).title if there is not None else None
            return Target(href=there.base, title=title) if there is not None else None
        if kind == "file":
            asset = self._file_url(ref["file"])
            return Target(href=asset.url, title=asset.name) if asset else None
        if kind == "url" and isinstance(ref.get("url"), str):
            url = ref["url"]
            if url.startswith(("http://", "https://", "mailto:", "tel:", "//")):
                return Target(href=safe_url(url), external=True)
            # What is left relative here was found in no file of the space.
        return None

    def _page_target(self, ref: dict[str, Any]) -> Target | None:
        there = self._visitor.visit(ref["space"]) if "space" in ref else self._visit
        page = there.view.tree.page(ref["page"]) if there is not None else None
        shown = there.view.tree.first_document(page) if there is not None and page is not None else None
        if page is None or shown is None:
            return None
        return Target(
            href=self.href(shown, ref.get("anchor"), there),
            title=page.title,
            description=page.description,
            emoji=page.emoji,
            icon=page.icon,
        )

    def _file(self, ref: dict[str, Any]) -> Asset | None:
        if ref.get("kind") == "file":
            return self._file_url(ref["file"])
        url = ref.get("url")
        if ref.get("kind") != "url" or not isinstance(url, str):
            return None
        # Lists of files in tables name each by its id alone.
        if (asset := self._file_url(url)) is not None:
            return asset
        if url.startswith(("http://", "https://")):
            return Asset(url=url, name=url.rsplit("/", 1)[-1])
        return None

    # --- text ---------------------------------------------------------------------------------------------

    def _try_it(self, page: Page) -> Callable[[dict[str, Any]], str]:
        def address(data: dict[str, Any]) -> str:
            self._tries = True
            self._origins |= dict.fromkeys(data["origins"])
            query = {"page": page.id, "spec": data["spec"], "operation": data["operation"]}
            return f"{self._visit.base}~try?{urlencode(query)}"

        return address

    def find_operation(self, page: Page, spec: str, key: str) -> tuple[Description, Operation] | None:
        """An operation that the page shows to its visitor and that can be tried, by what its button says."""
        if not self._has_playground:
            return None
        blocks = self._documents.to_find(page, OPERATIONS)
        return find_operation(self._tx, self._asker(), blocks, spec, key)

    def _context(self, page: Page) -> Context:
        search = f"{self._visit.visit.base}~search"
        return Context(
            try_it=self._try_it(page) if self._has_playground else lambda data: None,
            link=self.link,
            file=self._file,
            icon=icon,
            highlight=_highlighter.for_page(),
            search=lambda query: f"{search}?q={quote(query or '')}",
        )

    def body(self, page: Page) -> Html:
        document = self._documents.to_draw(page, folded=True)
        if not document.nodes:
            # An empty page shows what is below it.
            document.nodes = [
                Block("content-ref", {"ref": {"kind": "page", "page": child.id}})
                for child in self._tree.children.get(page.id, [])
                if child.kind in ("document", "group") and not child.hidden
            ]
        return render(document, self._context(page))

    # --- the view -----------------------------------------------------------------------------------------

    def nav(self, current: Page | None) -> tuple[NavItem, ...]:
        tree = self._tree
        opened = {page.id for page in [*tree.ancestors(current), current]} if current else set()
        whole = len(tree) <= _WHOLE_TREE

        def items(parent: str | None) -> tuple[NavItem, ...]:
            found = []
            for page in tree.children.get(parent, []):
                if page.hidden:
                    continue
                below = whole or page.id in opened or page.kind == "group"
                target = self._target(page) if page.kind == "link" else None
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

    def _target(self, page: Page) -> Target | None:
        """Where a link among the pages leads."""
        return self.link(self._resolver.content_ref(page_owner(page), page.target or {}, "link"))

    def _cover(self, page: Page) -> CoverView | None:
        cover = page.cover
        if cover is None or not page.layout.cover:
            return None

        def url(written: str | None) -> str | None:
            if written is None:
                return None
            ref = {"kind": "url", "url": written}
            asset = self._file(self._resolver.content_ref(page_owner(page), ref, "image"))
            return asset.url if asset else None

        light = url(cover.light)
        if light is None:
            return None
        hero = page.layout.cover_size != "hero"
        return CoverView(light=light, dark=url(cover.dark), hero=hero, height=cover.height or 240)

    def page(self, page: Page) -> PageView:
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
            nav=self.nav(page),
            crumbs=tuple(
                Crumb(title=p.link_title or p.title, href=self.href(p) if p.kind == "document" else None)
                for p in self._tree.ancestors(page)
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
            tries=self._tries,
            connect=tuple(self._origins)[:_ORIGINS],
            markdown=f"{self._visit.base}{quote(self._tree.paths[page.id])}.md",
            no_index=self._visit.visit.site.visibility != "public" or self._is_kept_from_robots(page),
        )

    def _is_kept_from_robots(self, page: Page) -> bool:
        """The switches are inherited downward and a child cannot undo them."""
        return any(p.no_robots_index for p in [*self._tree.ancestors(page), page])

    def _neighbours(self, page: Page) -> tuple[Crumb | None, Crumb | None]:
        shown = [p for p in self._tree.order if not self._tree.is_hidden(p) or p.id == page.id]
        place = next((n for n, p in enumerate(shown) if p.id == page.id), None)
        if place is None:
            return None, None

        def crumb(n: int) -> Crumb | None:
            if not 0 <= n < len(shown):
                return None
            return Crumb(title=shown[n].link_title or shown[n].title, href=self.href(shown[n]))

        return crumb(place - 1), crumb(place + 1)

    def markdown(self, page: Page) -> str:
        """The page as Markdown, as this visitor sees it."""

        def address(ref: dict[str, Any]) -> str | None:
            target = self.link(ref)
            return target.href if target is not None else None

        return markdown_page(page, self._documents.to_write(page, address))
