"""Lists of a site's pages for crawlers and other clients: robots.txt, sitemaps, the feed, and files for language
models."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import msgspec

from octavo.delivery.visits.admission import MCP_PATHS, RedirectBeforeVisit
from octavo.delivery.visits.authorization import SiteVisit, SpaceVisit, enter_space
from octavo.errors import NotFound, require_found
from octavo.kit.db.database import Transaction
from octavo.kit.http.compression import gzip_pieces, takes_gzip
from octavo.kit.http.edge import Answer
from octavo.sites.site.customization.editing import get_customization

from ..answers import MARKDOWN, REVALIDATE, TEXT, Frame, feed_answer, revalidated_answer, with_headers
from ..machine_files import (
    LLMS_PARTS,
    SITEMAP,
    SKILL,
    WELL_KNOWN,
    llms_part,
    llms_text,
    sitemap_markdown,
    skill_text,
    well_known,
)
from ..pages import PageBuilder
from ..sites import FEED_PATH, listed_pages, robots_text, sitemap_xml
from ..table import Later, View, route
from ..tracking import location_at
from .pages import read_page


@route("readRobots", "robots.txt", kept=True)
def read_robots(view: View, visit: SiteVisit) -> Answer:
    return revalidated_answer(robots_text(visit), TEXT)


@route("readSitemap", "sitemap.xml", kept=True)
@route("readPagesSitemap", "sitemap-pages.xml", kept=True)
def read_sitemap(view: View, visit: SiteVisit) -> Answer:
    if not visit.indexed:
        raise NotFound("There is no page at this URL.")
    return revalidated_answer(sitemap_xml(view.tx, visit), "application/xml")


@route("readSiteFeed", FEED_PATH, kept=True)
def read_site_feed(view: View, visit: SiteVisit) -> Answer:
    if not visit.indexed:
        raise NotFound("There is no page at this URL.")
    from ..feeds import site_feed_xml

    return feed_answer(site_feed_xml(visit, listed_pages(view.tx, visit)), "application/atom+xml")


def _count_view(visit: SiteVisit, answer: Answer) -> Answer:
    """Return a response that counts as a view by an agent."""
    if not visit.admission.preview:
        visit.dependencies.count_view(location_at(visit, quote(visit.rest), "markdown"))
    return answer


@route("readIndex", "llms.txt", kept=True)
def read_index(view: View, visit: SiteVisit) -> Answer:
    return _count_view(visit, revalidated_answer(llms_text(view.tx, visit, _mcp_address(view, visit)), TEXT))


def _mcp_address(view: View, visit: SiteVisit) -> str | None:
    acts = get_customization(view.tx, visit.site.id).page_actions
    return f"{visit.published}{MCP_PATHS[0]}" if acts.mcp else None


@route("readIndexPart", f"{LLMS_PARTS}/{{name}}", kept=True)
def read_index_part(view: View, visit: SiteVisit, name: str) -> Answer:
    part = require_found(llms_part(view.tx, visit, name), "This part of llms.txt doesn't exist.")
    return _count_view(visit, revalidated_answer(part, TEXT))


def _page_at(view: View, visit: SiteVisit) -> Answer | Later | None:
    """Return the Markdown of a page whose URL is also the URL of a file on every site, such as ``skill.md``; None if
    there is no such page."""
    try:
        space = enter_space(view.tx, visit)
    except RedirectBeforeVisit:
        return None
    if space is None or space.view.tree.find(space.rest.removesuffix(".md")) is None:
        return None
    return read_page(view, space, space.rest)


@route("readTree", SITEMAP, kept=True)
def read_tree(view: View, visit: SiteVisit) -> Answer | Later:
    return _page_at(view, visit) or _count_view(
        visit, revalidated_answer(sitemap_markdown(view.tx, visit), MARKDOWN)
    )


@route("readSkill", SKILL, kept=True)
def read_skill(view: View, visit: SiteVisit) -> Answer | Later:
    return _page_at(view, visit) or _count_view(
        visit, revalidated_answer(skill_text(view.tx, visit, _mcp_address(view, visit)), MARKDOWN)
    )


@route("readWellKnown", f"{WELL_KNOWN}/{{path*}}", kept=True)
def read_well_known(view: View, visit: SiteVisit, path: str) -> Answer:
    found = well_known(view.tx, visit, path, _mcp_address(view, visit))
    if found is None:
        raise NotFound("There is no page at this URL.")
    body, media_type = found
    return with_headers(revalidated_answer(body, media_type), {"access-control-allow-origin": "*"})


@route("readWhole", "llms-full.txt")
def read_whole(view: View, visit: SiteVisit) -> Answer:
    def build(tx: Transaction, space: SpaceVisit) -> PageBuilder:
        return Frame(msgspec.structs.replace(view, tx=tx), space).builder

    pages = list(listed_pages(view.tx, visit))
    packs = takes_gzip(view.request.header(b"accept-encoding"))

    def pieces() -> Iterator[bytes]:
        found = view.site_texts.pieces(view.context, visit, pages, build)
        return gzip_pieces(found) if packs else found

    headers = {"cache-control": REVALIDATE, "vary": "Accept-Encoding"}
    if packs:
        headers["content-encoding"] = "gzip"
    return _count_view(visit, Answer(200, content_type=TEXT, headers=headers, stream=pieces))
