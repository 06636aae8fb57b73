"""View of one page: navigation, text, and adjacent pages. All links on the page are resolved."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from itertools import groupby, islice
from urllib.parse import quote, urlencode
from weakref import WeakKeyDictionary

from markupsafe import Markup
from msgspec import Struct

from octavo.content.images.making import is_scaled
from octavo.content.images.store import ScaledImage, find_scaled_images, variant_name
from octavo.content.references.lookup import Owner
from octavo.content.references.resolving import Resolver, meta_link_refs, page_owner
from octavo.content.references.showing import ViewDocuments
from octavo.content.references.viewing import ViewFiles
from octavo.content.revisions.expanding import markdown_page, requester_at
from octavo.content.revisions.item_versions import Item
from octavo.core.document.html import render
from octavo.core.document.html_context import COLUMN, Asset, Html, HtmlContext, HtmlTarget, ImageSource
from octavo.core.document.nodes import Block, Document, plain_text, walk
from octavo.core.document.parts import emoji, text_of
from octavo.core.document.portable import portable
from octavo.core.document.urls import safe_url
from octavo.core.freshness import read_date
from octavo.core.icons import icon
from octavo.core.json_types import JsonObject
from octavo.core.page_tree import PageTree
from octavo.core.pages import Page
from octavo.core.sentences import sentences, shorten
from octavo.core.url_parts import escape_address
from octavo.delivery.visits.authorization import OtherSpaces, SpaceVisit
from octavo.extensions.integrations.blocks import list_code_blocks
from octavo.kit.db.cache import ByteCache, share
from octavo.kit.db.database import Transaction
from octavo.kit.http.edge import Answer
from octavo.kit.locales import date_words
from octavo.kit.processes.highlighting import Highlighter
from octavo.organization.spaces.store import get_space
from octavo.sites.openapi.description import ApiDescription, DescribedOperation
from octavo.sites.openapi.pages import (
    OPERATIONS,
    can_export,
    find_operation,
    group_of,
    list_operations,
    lists_models,
    method_of,
)
from octavo.sites.openapi.trying import token_origins

from .blocks import KeptBlock, block_key
from .entries import FEED, DatedEntry
from .facts import Facts, Notes, RecordedFacts
from .locales import direction
from .operations import count_operations, find_access_form, find_authentication, shows_operations
from .questions import ASK_PATH
from .styling import SiteLook
from .tags import used_tags, view_tag, view_tags
from .views import (
    CoverView,
    Crumb,
    Feedback,
    LayoutView,
    LinkView,
    NavItem,
    SitePageView,
    SiteView,
    VariantView,
)

_WHOLE_TREE = 400
"""Maximum number of pages for a complete side navigation. If there are more pages, closed branches are omitted, and
long lists show only the pages around the current page."""
_AROUND = 100
"""Number of pages to show before and after the current page in a long list."""
_OF_GROUP = 20
"""Maximum number of pages to show in a group that isn't open."""
_VARIANTS = 4
"""Number of cached versions of a page's text. Visitors can see different versions of a page."""
_NOTE_BYTES = 400
_ITEM_BYTES = 400
_HEADING_BYTES = 240
_MANY_LINKS = 100
_WIDE_COLUMN = 1120
"""Maximum width of the text on a wide page, in pixels."""
_TEXT_COLUMN, _WHOLE_WIDTH, _COVER_HEIGHT = 736, 1280, 240
"""Sizes in pixels for which cover positions are computed."""
FEEDBACK_PATH = "~feedback"
"""Path for posting page ratings, relative to the base URL of the space."""
_ORIGINS = 50
"""Maximum number of hosts that a page's script can connect to."""

_PAGES, _TEXTS = share("pages of sites", 32), share("page texts", 16)
_WRITTEN = share("pages as Markdown", 8)
_NAVIGATIONS, _BLOCKS = share("navigations", 8), share("integration blocks on sites", 8)

_highlighter = Highlighter()
_closed: WeakKeyDictionary[PageTree, tuple[str, dict[str, NavItem]]] = WeakKeyDictionary()


def _closed_entries(tree: PageTree, base: str) -> dict[str, NavItem]:
    """Return the cached entries of pages that aren't open, which are the same on every page of a large
    tree. Only the entries for the most recently requested base are cached."""
    kept = _closed.get(tree)
    if kept is None or kept[0] != base:
        kept = _closed[tree] = (base, {})
    return kept[1]


def _with_headings(entries: Iterable[tuple[str, NavItem]]) -> Iterator[NavItem]:
    """Yield entries grouped under their headings. Entries with an empty heading are yielded unchanged."""
    for heading, some in groupby(entries, key=lambda entry: entry[0]):
        items = (item for _, item in some)
        if heading:
            yield NavItem(title=heading, children=tuple(items))
        else:
            yield from items


_PARAGRAPH = re.compile(r"<p(?:\s[^<>]*)?>(.*?)</p>", re.DOTALL)
_LOOKED_AT = 5
"""Number of paragraphs to search for the first paragraph with words, which becomes the page's description."""
_SHOWN = 160
"""Number of description characters that search engines show."""


def first_sentence(body: Markup) -> str | None:
    """Return the first sentence of a page. It is used as the page's description if the page has none."""
    for found in islice(_PARAGRAPH.finditer(body), _LOOKED_AT):
        found_sentences = sentences(Markup(found[1]).striptags())  # noqa: S704 - a part of what is Markup
        if found_sentences and any(map(str.isalnum, found_sentences[0])):
            return shorten(found_sentences[0], _SHOWN)
    return None


class DrawnText(Struct, frozen=True):
    """Rendered text of a page, valid until a lookup recorded in ``notes`` gives a different result."""

    notes: Notes
    html: Html
    varies: bool
    """Whether the text shows data that can change without a new revision."""
    origins: tuple[str, ...] | None
    """Hosts of operations that can be tried out from the text; None if there are none."""
    blocks: tuple[str, ...]
    """Integrations that have blocks in the text."""


def _measure(text: DrawnText) -> int:
    """Return the approximate size of a rendered text in memory, in bytes."""
    outline = _HEADING_BYTES * len(text.html.outline)
    return len(text.html.body) + outline + _NOTE_BYTES * (1 + len(text.notes))


class MarkdownText(Struct, frozen=True):
    """Markdown text of a page or section, valid until a lookup recorded in ``notes`` gives a different
    result. ``text``: the text; None if the visitor can't see this section. ``varies``: see ``DrawnText``."""

    notes: Notes
    text: str | None
    varies: bool


class PageCaches:
    """Caches of pages, each keyed by its dependencies. ``pages``: the rendered pages, with the views that they were
    rendered from. Equal views result in the same page."""

    def __init__(self) -> None:
        self.pages: ByteCache[tuple[SiteView, SitePageView, Answer]] = ByteCache(_PAGES)
        self.texts: ByteCache[tuple[DrawnText, ...]] = ByteCache(_TEXTS)
        self.written: ByteCache[tuple[MarkdownText, ...]] = ByteCache(_WRITTEN)
        self.navigations: ByteCache[tuple[NavItem, ...]] = ByteCache(_NAVIGATIONS)
        self.blocks: ByteCache[KeptBlock] = ByteCache(_BLOCKS)


def _column(page: Page) -> int:
    return COLUMN if page.layout.width == "default" else _WIDE_COLUMN


class PageBuilder:
    """Builder of page views and of other content for a visit. ``hosts``: the hosts of this server. ``look``: the
    appearance of the site. ``whole``: the result of ``shows_all_fields``."""

    def __init__(
        self,
        tx: Transaction,
        visit: SpaceVisit,
        hosts: tuple[str, ...],
        kept: PageCaches,
        look: SiteLook,
        *,
        whole: bool = False,
    ) -> None:
        self._tx = tx
        self._visit = visit
        self._hosts = hosts
        self._kept = kept
        self._look = look
        self._whole = whole
        self._view = visit.view
        self._tree = visit.view.tree
        self._others = OtherSpaces(tx, visit)
        self._visitor = self._others.visitor()
        self._resolver = Resolver(ViewFiles(tx, visit.view, withheld=True), hosts, self._visitor)
        self._used_tags: dict[str, frozenset[str]] = {}
        self.varies = False
        """Whether the result can change without a new revision."""

    # --- URLs ----------------------------------------------------------------------------------------------

    def href(self, page: Page, anchor: str | None = None, visit: SpaceVisit | None = None) -> str:
        there = visit or self._visit
        path = quote(there.view.tree.url_path(page))
        return f"{there.base}{path}{f'#{quote(anchor)}' if anchor else ''}"

    def markdown_href(self, page: Page) -> str:
        return f"{self._visit.base}{quote(self._tree.path(page))}.md"

    def visit(self, space_id: str) -> SpaceVisit | None:
        """Return a visit to the start page of one of the site's spaces, or None if the visitor can't see
        it."""
        return self._others.find(space_id)

    def _file_url(self, file_id: str) -> Asset | None:
        item = self._view.item(file_id, "file")
        if item is None:
            return None
        # A replaced file gets a new URL, so that browsers never use an old copy.
        base = f"{self._visit.base}~files/{item.id}/"
        url = f"{base}{quote(item.name, safe='')}?v={(item.content or '')[:12]}"
        picture = self._picture(item)
        if picture is None:
            return Asset(url=url, name=item.name, width=item.width, height=item.height, size=item.size)
        name = quote(variant_name(item.name), safe="")
        sources = [
            ImageSource(f"{base}{variant.width}/{name}?v={variant.file[:12]}", variant.width)
            for variant in picture.variants
        ]
        if sources and sources[-1].width < picture.width:
            sources.append(ImageSource(url, picture.width))
        return Asset(
            url=url,
            name=item.name,
            width=picture.width,
            height=picture.height,
            size=item.size,
            sources=tuple(sources),
        )

    def _picture(self, item: Item) -> ScaledImage | None:
        if not is_scaled(item):
            return None
        return find_scaled_images(self._tx, self._view.state.space_id, [item.content or ""]).get(
            item.content or ""
        )

    def link(self, ref: JsonObject) -> HtmlTarget | None:
        """Return the target of a resolved reference."""
        kind = ref.get("kind")
        if kind == "anchor" and "page" not in ref:
            return HtmlTarget(href=f"#{quote(ref['anchor'])}")
        if kind in ("page", "anchor"):
            return self._page_target(ref)
        if kind == "space":
            there = self._others.find(ref["space"])
            title = get_space(self._tx, ref["space"]).title if there is not None else None
            return HtmlTarget(href=there.base, title=title) if there is not None else None
        if kind == "file":
            asset = self._file_url(ref["file"])
            return HtmlTarget(href=asset.url, title=asset.name) if asset else None
        if kind == "tag":
            return self._tag_target(ref)
        if kind == "url" and isinstance(ref.get("url"), str):
            url = ref["url"]
            is_whole = url.startswith(("http://", "https://", "mailto:", "tel:", "//"))
            if is_whole and not self._resolver.leads_nowhere(Owner("", "page", None), ref, "link"):
                return HtmlTarget(href=safe_url(url), external=True)
            # A reference that is still relative doesn't match any file in the space.
        return None

    def _tag_target(self, ref: JsonObject) -> HtmlTarget | None:
        there = self._others.find(ref["space"]) if "space" in ref else self._visit
        if there is None:
            return None
        if there.base not in self._used_tags:
            self._used_tags[there.base] = used_tags(there)
        if ref["tag"] not in self._used_tags[there.base]:
            return None
        tag = view_tag(there, ref["tag"])
        return HtmlTarget(href=tag.href, title=tag.title)

    def meta_links(self, page: Page) -> tuple[str | None, list[VariantView]]:
        """Return a page's canonical URL and alternate URLs, if they are specified. URLs of pages that this
        visitor can't see are left out."""

        def view(ref: JsonObject) -> VariantView | None:
            ref = self._resolver.content_ref(page_owner(page), ref, "link")
            target = self.link(ref)
            if target is None or not target.href or ref["kind"] not in ("page", "url"):
                return None
            if ref["kind"] == "url":
                href = escape_address(target.href)
                return VariantView(title=href, href=href) if href.startswith("http") else None
            there = self._others.find(ref["space"]) if "space" in ref else self._visit
            if there is None:
                return None
            language = get_space(self._tx, there.site_space.space_id).language
            href = there.visit.public(target.href)
            return VariantView(title=target.title or href, href=href, language=language)

        canonical, alternates = meta_link_refs(page)
        main = view(canonical) if canonical is not None else None
        return main.href if main is not None else None, [one for ref in alternates if (one := view(ref))]

    def _page_target(self, ref: JsonObject) -> HtmlTarget | None:
        there = self._others.find(ref["space"]) if "space" in ref else self._visit
        page = there.view.tree.page(ref["page"]) if there is not None else None
        shown = there.view.tree.first_document(page) if there is not None and page is not None else None
        if page is None or shown is None:
            return None
        return HtmlTarget(
            href=self.href(shown, ref.get("anchor"), there),
            title=page.title,
            description=page.description,
            emoji=page.emoji,
            icon=page.icon,
        )

    def _file(self, ref: JsonObject) -> Asset | None:
        if ref.get("kind") == "file":
            return self._file_url(ref["file"])
        url = ref.get("url")
        if ref.get("kind") != "url" or not isinstance(url, str):
            return None
        # File columns of tables refer to each file by its id alone.
        if (asset := self._file_url(url)) is not None:
            return asset
        if url.startswith(("http://", "https://")):
            return Asset(url=url, name=url.rsplit("/", 1)[-1])
        return None

    # --- text ---------------------------------------------------------------------------------------------

    def _authentication(self, spec: str, link: Callable[[JsonObject], HtmlTarget | None]) -> str | None:
        """Return the URL of an API's authentication page."""
        found = find_authentication(self._tree, spec)
        target = link({"kind": "page", "page": found}) if found is not None else None
        return target.href if target is not None else None

    def _try_it(self, page: Page, origins: list[str]) -> Callable[[JsonObject], str]:
        def address(data: JsonObject) -> str:
            origins.extend(["", *data["origins"]])
            query = {"page": page.id, "spec": data["spec"], "operation": data["operation"]}
            return f"{self._visit.base}~try?{urlencode(query)}"

        return address

    def find_operation(
        self, page: Page, spec: str | None, key: str
    ) -> tuple[ApiDescription, DescribedOperation] | None:
        """Return an operation that the page shows to the visitor and that can be tried out, by the key of its button.
        ``spec``: the name of the specification; None if the page is generated from only one."""
        if not self._look.customization.api_playground.enabled:
            return None
        blocks = ViewDocuments(self._tx, self._view, self._resolver).find_blocks(page, OPERATIONS)
        asker = requester_at(self._tx, self._view.state.space_id, None)
        return find_operation(self._tx, asker, blocks, spec, key)

    def _block_address(self, page: Page, noted: RecordedFacts) -> Callable[[JsonObject], str | None]:
        def address(data: Mapping[str, object]) -> str | None:
            if not noted.ask("has_block", data["integration"], data["block"]):
                return None
            return f"{self._visit.base}~block?{urlencode({'page': page.id, 'block': block_key(data)})}"

        return address

    def find_block(self, page: Page, key: str) -> JsonObject | None:
        """Return an integration block that the page shows to the visitor, by the key in the block's URL."""
        blocks = ViewDocuments(self._tx, self._view, self._resolver).find_blocks(
            page, ("integration", "code")
        )
        drawing = list_code_blocks(self._tx, self._visit.visit.organization_id, self._view.state.space_id)
        for block in blocks:
            by = drawing.get((text_of(block.data, "syntax") or "").lower()) if block.type == "code" else None
            data = by.data(block) if by is not None else block.data
            if (block.type == "integration" or by is not None) and block_key(data) == key:
                return data
        return None

    def _context(self, page: Page, noted: RecordedFacts, origins: list[str]) -> HtmlContext:
        """Return the rendering context. ``origins``: a list that receives the hosts of operations that can be
        tried out, and an empty string for each of these operations."""
        search = f"{self._visit.visit.base}~search"
        ask = f"{self._visit.base}{ASK_PATH}" if self._look.asks else None
        playground = self._look.customization.api_playground.enabled
        return HtmlContext(
            try_it=self._try_it(page, origins) if playground else lambda data: None,
            authentication=lambda spec: self._authentication(spec, noted.link),
            integration=self._block_address(page, noted),
            code_block=lambda syntax: noted.ask("code_blocks").get(syntax.lower()),
            link=noted.link,
            file=noted.file,
            icon=icon,
            highlight=_highlighter.for_page(),
            search=lambda query: f"{search}?q={quote(query or '')}",
            ask=lambda query: f"{ask}?q={quote(query or '')}" if ask is not None else None,
            labels=self._look.labels,
            new_tab=self._look.new_tab,
            direction=direction(self._look.locale),
            column=_column(page),
        )

    def text(self, page: Page) -> DrawnText:
        """Return the text of a page. If rendering would give the same result, a cached text is used, even if it was
        rendered for another revision or visitor."""
        facts = Facts(self._tx, self._visit, self._visitor, self.link, self._file)
        look, visit = self._look, self._visit.visit
        key = (
            self._view.state.space_id,
            page.id,
            page.body,
            page.file_path,
            page.title,
            visit.base,
            self._visit.base,
            self._hosts,
            look.labels,
            look.new_tab,
            look.asks,
            look.customization.api_playground.enabled,
            _column(page),
            self._whole,
        )
        known = self._kept.texts.get(key) or ()
        found = next((text for text in known if facts.agree_with(text.notes)), None)
        if found is None:
            found = self._draw(page, RecordedFacts(facts, self._visit))
            known = (found, *known[: _VARIANTS - 1])
            size = sum(_measure(text) for text in known)
            self._kept.texts.put(key, known, size)
        self.varies = self.varies or found.varies
        return found

    def _draw(self, page: Page, noted: RecordedFacts) -> DrawnText:
        documents = ViewDocuments(self._tx, noted, Resolver(noted.own_files(), self._hosts, noted))
        document = documents.for_rendering(page, folded=True, whole=self._whole)
        if not document.nodes:
            # An empty page lists its subpages.
            document.nodes = [
                Block("content-ref", {"ref": {"kind": "page", "page": child}})
                for child in noted.ask("below", page.id)
            ]
        origins: list[str] = []
        html = render(document, self._context(page, noted, origins))
        self._record_states(page, noted, documents)
        asked = [(str(rest[0]), answer) for (name, *rest), answer in noted.notes if name == "has_block"]
        blocks = tuple(dict.fromkeys(integration for integration, answer in asked if answer))
        varies = bool(page.computed or documents.drawn or asked)
        hosts = tuple(host for host in dict.fromkeys(origins) if host)[:_ORIGINS]
        return DrawnText(noted.notes, html, varies, hosts if origins else None, blocks)

    # --- the view -----------------------------------------------------------------------------------------

    def nav(self, current: Page | None) -> tuple[NavItem, ...]:
        tree = self._tree
        if len(tree.links) > _MANY_LINKS:
            # Checking the dependencies of all entries would take longer than building the visible ones.
            return self._make_nav(current)[0]
        linked = (page for id in sorted(tree.links) if (page := tree.page(id)) is not None)
        targets = [self._target(page) for page in linked]
        key = (
            tree.shape,
            tree.withheld,
            self._visit.base,
            current.id if current else None,
            *targets,
        )
        kept = self._kept.navigations.get(key)
        if kept is None:
            kept, count = self._make_nav(current)
            self._kept.navigations.put(key, kept, _ITEM_BYTES * (1 + count))
        return kept

    def _make_nav(self, current: Page | None) -> tuple[tuple[NavItem, ...], int]:
        """Return the entries of the side navigation, and their number."""
        tree = self._tree
        opened = {page.id for page in [*tree.ancestors(current), current]} if current else set()
        whole = len(tree) <= _WHOLE_TREE
        closed = _closed_entries(tree, self._visit.base)
        count = 0

        def items(parent: str | None) -> tuple[NavItem, ...]:
            nonlocal count
            listed = [page for page in tree.children.get(parent, []) if not page.hidden]
            start, end = 0, len(listed)
            if not whole:
                at = next((n for n, page in enumerate(listed) if page.id in opened), 0)
                around = _AROUND if parent is None or parent in opened else _OF_GROUP // 2
                start, end = max(0, at - around), min(len(listed), at + around + 1)
            found = [("", each) for each in self._elided_entry(listed[:start][::-1])]
            for page in listed[start:end]:
                if (known := closed.get(page.id)) is not None and page.id not in opened:
                    count += 1
                    found.append((group_of(page), known))
                    continue
                below = whole or page.id in opened or page.kind == "group"
                target = self._target(page) if page.kind == "link" else None
                if page.kind == "link" and (target is None or target.href is None):
                    continue
                inside = items(page.id) if below else ()
                if page.kind in ("group", "computed") and not inside:
                    # The specification was deleted, along with the pages generated from it and the groups
                    # that contained only these pages.
                    continue
                count += 1
                item = NavItem(
                    title=page.link_title or page.title,
                    href=target.href if target else self.href(page) if page.kind == "document" else None,
                    emoji=emoji(page.emoji) if page.emoji else None,
                    icon=icon(page.icon) if page.icon else None,
                    current=current is not None and page.id == current.id,
                    open=page.id in opened,
                    external=bool(target and target.external),
                    method=method_of(page),
                    count=0 if inside or page.id in opened else count_operations(tree, page),
                    children=inside or (self._listed(page) if page.id in opened else ()),
                )
                if not below and page.kind == "document":
                    closed[page.id] = item
                found.append((group_of(page), item))
            return (*_with_headings(found), *self._elided_entry(listed[end:]))

        return items(None), count

    def _exports(self, page: Page) -> tuple[LinkView, ...]:
        """Return links to a page's complete specification, in each available format."""
        if not can_export(page):
            return ()
        forms = {"yaml": "OpenAPI YAML", "json": "OpenAPI JSON", "postman": "Postman", "http": "HTTP"}
        return tuple(
            LinkView(
                title=title,
                href=f"{self._visit.base}~specification?{urlencode({'page': page.id, 'as': form})}",
            )
            for form, title in forms.items()
        )

    def _listed(self, page: Page) -> tuple[NavItem, ...]:
        """Return the operations that have anchors on a page."""
        listed = [each for each in list_operations(page) if each.anchor]
        href = self.href(page)
        return tuple(
            NavItem(title=each.title, href=f"{href}#{quote(each.anchor)}", method=each.method)
            for each in listed
        )

    def _elided_entry(self, pages: list[Page]) -> tuple[NavItem, ...]:
        """Return an entry that replaces the omitted pages of a long list. It links to the nearest omitted page, where
        the navigation shows the pages around that page."""
        nearest = next(
            (found for page in pages if (found := self._tree.first_document(page)) is not None), None
        )
        return (NavItem(title=f"… {len(pages)}", href=self.href(nearest)),) if nearest is not None else ()

    def _target(self, page: Page) -> HtmlTarget | None:
        """Return the target of a page that is only a link."""
        return self.link(self._resolver.content_ref(page_owner(page), page.target or {}, "link"))

    def _cover(self, page: Page) -> CoverView | None:
        cover = page.cover
        if cover is None or not page.layout.cover:
            return None

        def asset(written: str | None) -> Asset | None:
            if written is None:
                return None
            ref = {"kind": "url", "url": written}
            return self._file(self._resolver.content_ref(page_owner(page), ref, "image"))

        light = asset(cover.light)
        if light is None:
            return None
        hero = page.layout.cover_size != "hero"
        height = cover.height or _COVER_HEIGHT
        focus = 50
        if light.width and light.height:
            focus = cover.focus(light.width, light.height, _WHOLE_WIDTH if hero else _TEXT_COLUMN, height)
        return CoverView(
            light=light,
            dark=asset(cover.dark),
            hero=hero,
            behind=page.layout.cover_size == "background",
            fades=page.layout.cover_mask == "radial",
            words=cover.text_color,
            words_dark=cover.text_color_dark or cover.text_color,
            height=height,
            focus=focus,
        )

    def page(self, page: Page) -> SitePageView:
        text = self.text(page)
        access = (
            find_access_form(self._tx, self._visit, page)
            if self._look.customization.api_playground.enabled
            else None
        )
        layout, custom = page.layout, self._look.customization
        turns = layout.pagination and custom.pagination.enabled
        before, behind = self._tree.neighbors(page) if turns else (None, None)
        moment = datetime.fromtimestamp(page.updated_at / 1000, UTC)
        verified = read_date(page.verified_on)
        width = layout.width if layout.width in ("default", "wide", "landing") else "wide"
        return SitePageView(
            title=page.title,
            body=text.html.body,
            outline=text.html.outline if layout.outline else (),
            description=page.description if layout.description else None,
            about=page.description or first_sentence(text.html.body),
            emoji=emoji(page.emoji) if page.emoji else None,
            icon=icon(page.icon) if page.icon else None,
            cover=self._cover(page),
            tags=view_tags(self._visit, page) if layout.tags else (),
            nav=self.nav(page),
            crumbs=tuple(
                Crumb(title=p.link_title or p.title, href=self.href(p) if p.kind == "document" else None)
                for p in self._tree.ancestors(page)
            ),
            previous=self._crumb(before),
            next=self._crumb(behind),
            updated=moment.date().isoformat(),
            updated_text=date_words(moment.date(), self._look.locale),
            verified=verified.isoformat() if verified else None,
            verified_text=date_words(verified, self._look.locale) if verified else None,
            verified_by=page.verified_by,
            layout=LayoutView(
                width=width,  # type: ignore[arg-type]
                title=layout.title,
                description=layout.description,
                navigation=layout.table_of_contents,
                outline=layout.outline,
                pagination=turns,
                updated=layout.metadata,
            ),
            connect=(*(text.origins or ()), *(token_origins(access) if access is not None else ())),
            blocks=text.blocks,
            diagrams=text.html.diagrams,
            filtered=text.html.filtered,
            operations=text.html.operations or access is not None,
            together=text.html.together,
            changes=text.html.changes,
            listing=text.html.listing,
            heads=text.html.heads,
            exports=self._exports(page),
            filter=f"{self._visit.base}~operations.json" if shows_operations(self._tree) else None,
            models=f"{self._visit.base}~models.json?page={page.id}" if lists_models(page) else None,
            access=f"{self._visit.base}~access.json?page={page.id}" if access is not None else None,
            markdown=self.markdown_href(page),
            feed=self._feed(page) if text.html.updates else None,
            markdown_actions=custom.page_actions.markdown,
            printed=custom.pdf.enabled,
            feedback=self._feedback(page) if custom.feedback.enabled else None,
            no_index=self._visit.visit.site.visibility != "public" or self._is_kept_from_robots(page),
        )

    def _feed(self, page: Page) -> str:
        path = self._tree.url_path(page)
        return f"{self._visit.base}{quote(f'{path}/{FEED}' if path else FEED)}"

    def _feedback(self, page: Page) -> Feedback:
        return Feedback(action=f"{self._visit.base}{FEEDBACK_PATH}", page=page.id)

    def _is_kept_from_robots(self, page: Page) -> bool:
        """Return whether search engines must not index a page. The setting is inherited, and subpages can't
        override it."""
        return any(p.no_robots_index for p in [*self._tree.ancestors(page), page])

    def _crumb(self, page: Page | None) -> Crumb | None:
        return Crumb(title=page.link_title or page.title, href=self.href(page)) if page is not None else None

    def entries(self, page: Page) -> list[DatedEntry]:
        """Return a page's dated entries that this visitor can see, in page order."""
        documents = ViewDocuments(self._tx, self._view, self._resolver)
        document = documents.for_rendering(page, folded=True)
        self.varies = self.varies or bool(documents.drawn or page.computed)
        context = HtmlContext(
            link=self.link,
            file=self._file,
            highlight=lambda code, syntax: None,
            labels=self._look.labels,
            anchors=False,
        )
        blocks = (node for node in walk(document) if isinstance(node, Block) and node.type == "update")
        return [self._entry(page, block, context) for block in blocks]

    def _entry(self, page: Page, block: Block, context: HtmlContext) -> DatedEntry:
        written, tags = block.data.get("date"), block.data.get("tags")
        try:
            day = date.fromisoformat(written) if isinstance(written, str) else None
        except ValueError:
            day = None
        heads = (node for node in walk(block) if isinstance(node, Block) and node.type.startswith("heading-"))
        title = next((words for head in heads if (words := plain_text(head).strip())), None)
        if title is None:
            title = date_words(day, self._look.locale) if day is not None else page.title
        inside = Document([node for node in block.nodes if isinstance(node, Block)])
        return DatedEntry(
            anchor=quote(str(block.data.get("id") or "")),
            title=title,
            body=render(inside, context).body,
            day=day,
            tags=tuple(tag.strip() for tag in tags if isinstance(tag, str) and tag.strip())
            if isinstance(tags, list)
            else (),
        )

    def section(self, page: Page, anchor: str) -> str | None:
        """Return a section of the page as Markdown, like ``markdown``; None if this visitor can't see any
        section at this anchor."""
        return self._markdown(page, section=anchor)

    def markdown(self, page: Page, *, alone: bool = True) -> str:
        """Return the page in Markdown, as this visitor sees it, with absolute URLs. ``alone``: whether the page
        is a separate document rather than part of a longer text. If so, links within it are relative, and a note
        points to the index."""
        written = self._markdown(page, alone=alone)
        assert written is not None, "only a section can be missing"
        return written

    def _markdown(self, page: Page, *, alone: bool = True, section: str | None = None) -> str | None:
        """Return the Markdown of a page or of one section, from the cache if the result would be the same. Return None
        if the visitor can't see the section."""
        facts = Facts(self._tx, self._visit, self._visitor, self.link, self._file)
        visit = self._visit.visit
        # Links to other parts of the page need its URL if the text is only one section, or if it includes
        # other pages.
        own = None if alone and section is None else visit.public(self.href(page))
        note = self._note(page) if alone else ""
        key = (
            self._view.state.space_id,
            page.id,
            page.body,
            page.file_path,
            page.title,
            page.description,
            section,
            own,
            note,
            visit.base,
            self._visit.base,
            visit.published,
            self._hosts,
        )
        # The full text uses each page only once; caching the pages would displace those that are requested
        # individually.
        known = (self._kept.written.get(key) or ()) if alone else ()
        found = next((text for text in known if facts.agree_with(text.notes)), None)
        if found is None:
            found = self._write(page, RecordedFacts(facts, self._visit), own, section, note)
        if alone and found not in known:
            known = (found, *known[: _VARIANTS - 1])
            size = sum(len(text.text or "") + _NOTE_BYTES * (1 + len(text.notes)) for text in known)
            self._kept.written.put(key, known, size)
        self.varies = self.varies or found.varies
        return found.text

    def _write(
        self, page: Page, noted: RecordedFacts, own: str | None, section: str | None, note: str
    ) -> MarkdownText:
        public = self._visit.visit.public
        titles: dict[str, str] = {}

        def address(ref: Mapping[str, object]) -> str | None:
            target = noted.link(ref)
            if target is None or target.href is None:
                return None
            if target.href.startswith("#"):
                return f"{own}{target.href}" if own is not None else target.href
            url = public(target.href) if target.href.startswith("/") else target.href
            if target.title:
                titles[url] = target.title
            return url

        documents = ViewDocuments(self._tx, noted, Resolver(noted.own_files(), self._hosts, noted))
        written = documents.for_markdown(page, address, section=section)
        is_there = section is None or bool(written.nodes)
        text = markdown_page(page, portable(written, titles), note) if is_there else None
        self._record_states(page, noted, documents)
        return MarkdownText(noted.notes, text, bool(documents.drawn or page.computed))

    def _record_states(self, page: Page, noted: RecordedFacts, documents: ViewDocuments) -> None:
        """Record a page's dependencies that can change without a new revision."""
        if page.computed:
            noted.ask("computed_state", page.id)
        if documents.drawn:
            noted.ask(
                "list_rendering_states",
                tuple(sorted(documents.drawn, key=lambda each: (each.type, each.ref))),
            )

    def _note(self, page: Page) -> str:
        """Return a note about the rest of the documentation, for agents that read a single page."""
        public, start = self._visit.visit.public, self._visit.visit.published
        verified = f". Verified on {page.verified_on}" if read_date(page.verified_on) else ""
        return (
            f"> Index of this documentation: [llms.txt]({start}llms.txt). "
            f"This page: [HTML]({public(self.href(page))}), [Markdown]({public(self.markdown_href(page))}){verified}"
        )
