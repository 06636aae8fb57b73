"""What belongs to a site as a whole: its frame, robots.txt, sitemap.xml, llms.txt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import quote
from xml.sax.saxutils import escape

from ..core.colour import theme
from ..core.pages import Page
from ..kit.clock import iso
from ..kit.db import Transaction
from ..sites import GroupRow, SectionRow
from ..spaces import get_titles
from .pages import PageBuilder
from .resolving import SiteVisit, SpaceVisit, list_spaces
from .views import SiteView, Tab, Variant

ASSETS_PATH = "/~assets"


def site_view(tx: Transaction, space: SpaceVisit) -> SiteView:
    """The frame of every page of a site."""
    visit = space.visit
    site, base, outline = visit.site, visit.base, visit.outline
    titles = get_titles(tx, [space.site_space.space_id, *(shown.space_id for shown in space.site_spaces)])
    variants: tuple[Variant, ...] = ()
    if len(space.site_spaces) > 1:
        variants = tuple(
            Variant(
                title=titles[other.space_id].title,
                href=f"{base}{quote(outline.base(other))}",
                current=other.id == space.site_space.id,
            )
            for other in space.site_spaces
        )
    language = titles[space.site_space.space_id].language
    return SiteView(
        title=site.title,
        home=base,
        base=base,
        assets=ASSETS_PATH,
        language=language or "en",
        direction="rtl" if language in ("ar", "he") else "ltr",
        theme_css=theme().css(),
        sections=tuple(_tab(space, node) for node in outline.children(None))
        if len(outline.sections) > 1
        else (),
        variants=variants,
        search=f"{base}~search",
        search_json=f"{base}~search.json",
        no_index=not visit.indexed,
    )


def _tab(space: SpaceVisit, node: SectionRow | GroupRow) -> Tab:
    """A section; or a group with all sections in it, however deep."""
    visit = space.visit
    if isinstance(node, GroupRow):
        inside = [_tab(space, child) for child in visit.outline.children(node.id)]
        flat = tuple(leaf for tab in inside for leaf in (tab.children or (tab,)))
        return Tab(title=node.title, current=any(tab.current for tab in flat), children=flat)
    start = visit.outline.start(node)
    assert start is not None, "a section that is seen has something to show"
    return Tab(
        title=node.title,
        href=f"{visit.base}{quote(visit.outline.base(start))}",
        current=node.id == space.site_space.section_id,
        description=node.description,
    )


def robots_text(site_url: str, indexed: bool) -> str:
    if not indexed:
        return "User-agent: *\nDisallow: /\n"
    return f"User-agent: *\nAllow: /\nSitemap: {site_url}sitemap.xml\n"


def _listed(tx: Transaction, visit: SiteVisit) -> Iterator[tuple[SpaceVisit, Page]]:
    """Every page of the site that may be told to strangers, in reading order."""
    for space in list_spaces(tx, visit):
        tree = space.view.tree
        for page in tree.documents():
            kept = any(p.no_robots_index for p in [*tree.ancestors(page), page])
            if not kept and not tree.is_hidden(page):
                yield space, page


def sitemap_xml(tx: Transaction, visit: SiteVisit, origin: str) -> str:
    rows = "".join(
        f"<url><loc>{escape(f'{origin}{space.base}{quote(space.view.tree.url_path(page))}')}</loc>"
        f"<lastmod>{iso(page.updated_at)}</lastmod></url>"
        for space, page in _listed(tx, visit)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'
    )


def llms_text(tx: Transaction, visit: SiteVisit, origin: str) -> str:
    """The index of a site for language models: a list of its pages as Markdown."""
    lines = [f"# {visit.site.title}", ""]
    for space, page in _listed(tx, visit):
        about = f": {page.description}" if page.description else ""
        lines.append(f"- [{page.title}]({origin}{space.base}{quote(space.view.tree.path(page))}.md){about}")
    return "\n".join(lines) + "\n"


_WHOLE = 16 * 1024 * 1024
"""Characters of all pages in one text."""


def whole_text(
    tx: Transaction, visit: SiteVisit, origin: str, build: Callable[[SpaceVisit], PageBuilder]
) -> str:
    """All pages of a site in one text, each as its Markdown; of a site that is larger, those that fit, and at the end
    how many are left out."""
    parts = [f"# {visit.site.title}\n"]
    size, left = 0, 0
    builder: PageBuilder | None = None
    at: SpaceVisit | None = None
    for space, page in _listed(tx, visit):
        if size > _WHOLE:
            left += 1
            continue
        if builder is None or space is not at:
            builder, at = build(space), space
        url = f"{origin}{space.base}{quote(space.view.tree.url_path(page))}"
        parts.append(f"\nSource: {url}\n\n{builder.markdown(page)}")
        size += len(parts[-1])
    if left:
        parts.append(f"\n{left} more pages are left out here; llms.txt lists all.\n")
    return "".join(parts)
