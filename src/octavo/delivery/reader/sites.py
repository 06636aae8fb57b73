"""Site-wide parts: the frame of pages, robots.txt, and sitemap.xml."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from unicodedata import east_asian_width
from urllib.parse import quote
from xml.sax.saxutils import escape

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from octavo.core.document.html_context import HtmlTarget
from octavo.core.document.parts import emoji
from octavo.core.document.urls import safe_url
from octavo.core.expressions import Shown
from octavo.core.icons import icon
from octavo.core.pages import Page
from octavo.delivery.visits.authorization import SiteVisit, SpaceVisit, list_spaces, visit_space
from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.organization.spaces.store import get_titles
from octavo.sites.fonts.serving import find_fonts
from octavo.sites.site.customization.editing import find_customization
from octavo.sites.site.customization.model import (
    ContentLink,
    ContentRef,
    Customization,
    FontDefinition,
    HeaderItem,
)
from octavo.sites.site.localized import text_in
from octavo.sites.site.structure.store import ExternalLinkRow, Node, SectionGroupRow, localize

from .locales import direction
from .pages import PageBuilder
from .questions import ASK_PATH
from .styling import SiteLook, read_look, themed_image
from .views import AnnouncementView, LinkView, SiteView, Tab, VariantView

ASSETS_PATH = "/~assets"
FONTS_PATH = "~fonts"
"""Path of the organization's own fonts, relative to a site's base URL."""
FEED_PATH = "~feed.xml"
"""Path of a site's feed, relative to its base URL. No page has a path that starts with a tilde."""
_HEADER, _SEARCH, _GAP = 1216, 360, 52
"""Widths in pixels: the header in a window that is 1,280 pixels wide, the search field and theme switch, and the space
around a tab or a link with an icon."""
_FEW_VARIANTS = 12
"""Maximum number of variants for which links point to the same page in each variant. On sites with more variants, links
point to start pages, because looking up the page in every variant would be slow."""


def find_look(tx: Transaction, space: SpaceVisit) -> SiteLook:
    """Return the appearance of a space's pages on the site."""
    visit = space.visit
    admission = visit.admission
    customization, theme = find_customization(tx, space.site_space.id, admission.look)
    if admission.theme is not None:
        # Show one theme, regardless of any choice by the visitor.
        theme = admission.theme
        customization = replace(customization, themes=replace(customization.themes, toggeable=False))
    styling = customization.styling
    used = (styling.font, styling.heading_font, styling.monospace_font)
    named = [font.id for font in used if isinstance(font, FontDefinition)]
    fonts = find_fonts(tx, visit.organization_id, named, f"{visit.base}{FONTS_PATH}/")
    language = get_titles(tx, [space.site_space.space_id])[space.site_space.space_id].language
    return read_look(customization, language, fonts, _assets_path(visit), theme)


def _assets_path(visit: SiteVisit) -> str:
    """Return the path of static files. It is under the site's path, because an owner's proxy forwards only paths under
    the site's path."""
    return f"{visit.site.proxy_path}{ASSETS_PATH}" if visit.proxied else ASSETS_PATH


def own_frame(
    title: str, home: str, base: str, *, links: tuple[LinkView, ...] = (), searched: bool = False
) -> SiteView:
    """Return the frame of a page that doesn't belong to any site, with the default appearance. ``searched``: whether
    ``~search`` exists under the base URL."""
    look = read_look(Customization(), None, (), ASSETS_PATH)
    return SiteView(
        title=title,
        home=home,
        brand=home,
        base=base,
        assets=ASSETS_PATH,
        theme_css=look.theme_css,
        look=look.classes,
        font_file=look.font_file,
        links=links,
        search=f"{base}~search" if searched else None,
        search_json=f"{base}~search.json" if searched else None,
        no_index=True,
    )


def site_view(
    tx: Transaction, space: SpaceVisit, look: SiteLook, builder: PageBuilder, page: Page | None = None
) -> SiteView:
    """Return the frame of a site's page, or of a view without a page. All links point to content that this
    visitor can see."""
    visit = space.visit
    site, base, outline = visit.site, visit.base, visit.outline
    chosen = look.customization
    favicon = chosen.favicon
    links = _Links(space, builder, look)
    variants = _variants(tx, space, builder, look.language, page)
    nodes = outline.children(None)
    shown = nodes if len(outline.sections) > 1 or len(nodes) > 1 else ()
    sections = tuple(_tab(space, node, look.language) for node in shown)
    header = links.header(chosen.header.links) if chosen.header.preset != "none" else ()
    title = text_in(look.language, chosen.localized_title) or chosen.title or site.title
    header_titles = [
        title,
        *(variant.title for variant in variants if variant.current),
        *(one.title for one in header),
    ]
    below = _tabs_overflow([*header_titles, *(tab.title for tab in sections)])
    languages = {variant.language for variant in variants}
    return SiteView(
        title=title,
        home=base,
        brand=links.brand() or base,
        base=base,
        assets=_assets_path(visit),
        language=look.language,
        direction=direction(look.language),
        labels=look.labels,
        theme_css=look.theme_css,
        look=(*look.classes, *(("sections-below",) if sections and below else ())),
        font_file=look.font_file,
        theme=look.theme,
        theme_toggle=chosen.themes.toggeable,
        logo=themed_image(chosen.header.logo),
        icon=themed_image(favicon.icon),
        emoji=emoji(favicon.emoji) if isinstance(favicon.emoji, str) else None,
        sections=sections,
        variants=variants,
        variants_by_language=None not in languages and len(languages) == len(variants),
        links=header,
        search=f"{base}~search",
        search_json=f"{base}~search.json",
        ask=f"{space.base}{ASK_PATH}" if look.asks else None,
        assistant=chosen.ai.mode == "assistant",
        greeting=text_in(look.language, chosen.ai.localized_greeting) or chosen.ai.greeting or None,
        announcement=links.announcement(),
        footer_logo=themed_image(chosen.footer.logo),
        footer_links=links.groups(),
        copyright=chosen.footer.copyright if isinstance(chosen.footer.copyright, str) else None,
        privacy=chosen.privacy_policy.url if isinstance(chosen.privacy_policy.url, str) else None,
        powered=chosen.trademark.enabled,
        social_image=chosen.social_preview.url if isinstance(chosen.social_preview.url, str) else None,
        no_index=not visit.indexed,
        feed=f"{base}{FEED_PATH}" if visit.indexed else None,
    )


def _variants(
    tx: Transaction, space: SpaceVisit, builder: PageBuilder, language: str, page: Page | None
) -> tuple[VariantView, ...]:
    """Return the variants of a section. Each variant links to the same page if it has that page. The page is found by
    its ID, as in translations and duplicates, or by its path."""
    outline = space.visit.outline
    shown = outline.listed(outline.section(space.site_space.section_id), space.site_space)
    if len(shown) < 2:
        return ()
    titles = get_titles(tx, [other.space_id for other in shown])
    found = []
    for other in shown:
        href, has_it = f"{space.visit.base}{quote(space.visit.outline.base(other))}", False
        if page is not None and other.id != space.site_space.id and len(shown) <= _FEW_VARIANTS:
            there = visit_space(tx, space.visit, other)
            same = there.view.tree.page(page.id) or there.view.tree.find(space.view.tree.url_path(page))
            target = there.view.tree.first_document(same) if same is not None else None
            if target is not None:
                href, has_it = builder.href(target, visit=there), True
        own = titles[other.space_id]
        title = localize(other, "title", language) or other.title or own.title
        current = other.id == space.site_space.id
        found.append(VariantView(title=title, href=href, current=current, same=has_it, language=own.language))
    return tuple(found)


class _Links:
    """Links in the header, footer, and announcement whose targets this visitor can see."""

    def __init__(self, space: SpaceVisit, builder: PageBuilder, look: SiteLook) -> None:
        self._space = space
        self._builder = builder
        self._look = look
        self._shown = Shown(space.view.variables, {}, space.visit.admission.claims)

    def header(self, items: Sequence[HeaderItem]) -> tuple[LinkView, ...]:
        found = []
        for item in items:
            if isinstance(item.condition, str) and item.condition and not self._shown.holds(item.condition):
                continue
            title = self._text(item.title, item.localized_title)
            own = self._link(title, item.to) if item.to is not None else None
            children = self._list(item.links)
            if children and own is not None:
                children = (own, *children)
            if children:
                found.append(LinkView(title=title, children=children))
            elif own is not None:
                style = item.style if isinstance(item.style, str) else "link"
                found.append(msgspec.structs.replace(own, style=style))
        return tuple(found)

    def groups(self) -> tuple[LinkView, ...]:
        groups = self._look.customization.footer.groups
        found = (
            LinkView(title=self._text(group.title, group.localized_title), children=self._list(group.links))
            for group in groups
        )
        return tuple(group for group in found if group.children)

    def announcement(self) -> AnnouncementView | None:
        chosen = self._look.customization.announcement
        if not isinstance(chosen, msgspec.Struct) or not chosen.enabled:
            return None
        link = chosen.link
        key = hashlib.blake2b(msgspec.json.encode(chosen), digest_size=6).hexdigest()
        return AnnouncementView(
            message=self._text(chosen.message, chosen.localized_message),
            key=key,
            style=chosen.style,
            link=self._content_link(link) if isinstance(link, ContentLink) else None,
        )

    def brand(self) -> str | None:
        """Return the URL that the title and the logo link to; None for the start page of the site."""
        to = self._look.customization.header.primary_link
        link = self._link("", to) if to is not UNSET else None
        return link.href if link is not None else None

    def _list(self, links: Sequence[ContentLink]) -> tuple[LinkView, ...]:
        return tuple(found for link in links if (found := self._content_link(link)) is not None)

    def _content_link(self, link: ContentLink) -> LinkView | None:
        return self._link(self._text(link.title, link.localized_title), link.to)

    def _text(self, text: str, localized: Mapping[str, str] | UnsetType) -> str:
        return text_in(self._look.language, localized) or text

    def _link(self, title: str, to: ContentRef) -> LinkView | None:
        ref = msgspec.to_builtins(to)
        if "page" in ref and "space" not in ref:
            ref |= self._locate_page(ref["page"])
        if ref["kind"] == "url" and ref["url"].startswith("/"):
            target: HtmlTarget | None = HtmlTarget(href=safe_url(ref["url"]))
        else:
            target = self._builder.link(ref)
        if target is None or target.href is None:
            return None
        return LinkView(
            title=title or target.title or target.href,
            href=target.href,
            external=target.external,
            new_tab=target.external and self._look.new_tab,
        )

    def _locate_page(self, page_id: str) -> dict[str, str]:
        """Return the location of a page that was referenced without its space."""
        if self._space.view.tree.page(page_id) is None:
            for shown in self._space.visit.outline.site_spaces():
                there = self._builder.visit(shown.space_id)
                if there is not None and there.view.tree.page(page_id) is not None:
                    return {"space": shown.space_id}
        return {}


def _tab(space: SpaceVisit, node: Node, language: str) -> Tab:
    """Return the tab for a section, an external link, or a group with all its nested sections. Titles are in the
    visitor's language if available."""
    visit = space.visit
    if isinstance(node, SectionGroupRow):
        inside = [_tab(space, child, language) for child in visit.outline.children(node.id)]
        flat = tuple(leaf for tab in inside for leaf in (tab.children or (tab,)))
        return Tab(
            title=localize(node, "title", language) or node.title,
            icon=icon(node.icon) if node.icon else None,
            current=any(tab.current for tab in flat),
            children=flat,
        )
    if isinstance(node, ExternalLinkRow):
        return Tab(
            title=localize(node, "title", language) or node.title,
            icon=icon(node.icon) if node.icon else None,
            href=safe_url(node.url) or "",
            description=localize(node, "description", language) or node.description,
            external=True,
        )
    start = visit.outline.start(node)
    assert start is not None, "a visible section has a start page"
    return Tab(
        title=localize(node, "title", language) or node.title,
        icon=icon(node.icon) if node.icon else None,
        href=f"{visit.base}{quote(visit.outline.base(start))}",
        current=node.id == space.site_space.section_id,
        description=localize(node, "description", language) or node.description,
    )


def _tabs_overflow(titles: Sequence[str]) -> bool:
    """Return whether these tabs are too wide to fit next to the search field in the header, so that they
    need a second row. The width is estimated from average character widths, because only browsers can
    measure text."""
    wide = sum(sum(15 if east_asian_width(one) in "WF" else 8 for one in title) + _GAP for title in titles)
    return wide > _HEADER - _SEARCH


def robots_text(visit: SiteVisit) -> str:
    if not visit.indexed:
        return "User-agent: *\nDisallow: /\n"
    return f"User-agent: *\nAllow: /\nSitemap: {visit.published}sitemap.xml\n"


def listed_pages(tx: Transaction, visit: SiteVisit) -> Iterator[tuple[SpaceVisit, Page]]:
    """Yield each of the site's pages that search engines can index, in reading order."""
    for space in list_spaces(tx, visit):
        tree = space.view.tree
        for page in tree.documents():
            kept = any(p.no_robots_index for p in [*tree.ancestors(page), page])
            if not kept and not tree.is_hidden(page):
                yield space, page


def sitemap_xml(tx: Transaction, visit: SiteVisit) -> str:
    rows = "".join(
        f"<url><loc>{escape(visit.public(f'{space.base}{quote(space.view.tree.url_path(page))}'))}</loc>"
        f"<lastmod>{iso(page.updated_at)}</lastmod></url>"
        for space, page in listed_pages(tx, visit)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'
    )
