"""List of the pages with a tag, as a page and as a feed."""

from __future__ import annotations

from urllib.parse import quote

from octavo.delivery.visits.authorization import SpaceVisit
from octavo.kit.http.edge import Answer

from ..answers import Frame, feed_answer, html_answer, not_found
from ..drawing import draw_tag
from ..table import View, route
from ..tags import FEED_ENDING, TAGS_PATH, tagged_pages, view_tag
from ..views import LinkView, TaggedPage


@route("readTag", f"{TAGS_PATH}/{{slug}}", kept=True)
def read_tag(view: View, visit: SpaceVisit, slug: str) -> Answer:
    name = slug.removesuffix(FEED_ENDING)
    pages = tagged_pages(visit, name)
    if not pages:
        return not_found(view, visit)
    tag = view_tag(visit, name)
    feed = f"{tag.href}{FEED_ENDING}"
    if name != slug:
        from ..feeds import pages_feed_xml

        title = f"{tag.title} · {visit.visit.site.title}"
        written = pages_feed_xml(
            visit.visit,
            [(visit, page) for page in pages],
            title,
            visit.visit.public(feed),
            visit.visit.public(tag.href),
        )
        return feed_answer(written, "application/atom+xml")
    frame = Frame(view, visit)
    site = frame.site()
    tree = visit.view.tree
    listed = [
        TaggedPage(
            title=page.title,
            href=f"{visit.base}{quote(tree.url_path(page))}",
            crumbs=tuple(above.title for above in tree.ancestors(page)),
            description=page.description,
        )
        for page in pages
    ]
    return html_answer(
        site, draw_tag(site, tag, listed, LinkView(title=tag.title, href=feed), frame.builder.nav(None))
    )
