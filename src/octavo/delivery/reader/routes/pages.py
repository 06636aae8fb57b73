"""Pages, as HTML and as Markdown, and their feeds."""

from __future__ import annotations

from urllib.parse import quote

import msgspec

from octavo.core.pages import Page
from octavo.delivery.visits.admission import MCP_PATHS, RedirectBeforeVisit
from octavo.delivery.visits.authorization import SiteVisit, SpaceVisit, enter_space
from octavo.extensions.integrations.framing import find_frames
from octavo.kit.http.edge import Answer

from ..answers import (
    MARKDOWN,
    VARIES,
    Frame,
    feed_answer,
    html_answer,
    link_header,
    not_found,
    redirect,
    revalidated_answer,
    with_headers,
    with_query,
)
from ..cards import HEIGHT, WIDTH, card_of
from ..drawing import draw_page
from ..entries import FEED
from ..forms import prefers_markdown
from ..questions import (
    answer_in_markdown,
    has_question,
    make_asker,
    read_agent_question,
    refuse_cross_origin,
    require_asking,
)
from ..styling import SiteLook
from ..table import Later, View, route
from ..tracking import location_of, record_question
from ..views import Image, LinkView, SitePageView, SiteView, VariantView

_ASSISTANTS = (("ChatGPT", "https://chatgpt.com/?q="), ("Claude", "https://claude.ai/new?q="))
_VIEW_BYTES = 2048


def _find_start(view: View, visit: SpaceVisit) -> str | None:
    """Return the Markdown path of the first page in a section or variant, if the URL of the section or
    variant was requested with `.md` appended."""
    address, mark, rest = visit.visit.rest.rpartition(".md")
    if not mark or rest:
        return None
    try:
        there = enter_space(view.tx, msgspec.structs.replace(visit.visit, rest=address))
    except RedirectBeforeVisit:
        return None
    home = there.view.tree.home if there is not None and not there.rest else None
    return f"{there.base}{quote(there.view.tree.path(home))}.md" if there is not None and home else None


@route("readPage", "{path*}", kept=True)
def read_page(view: View, visit: SpaceVisit, path: str) -> Answer | Later:
    tree = visit.view.tree
    page = tree.find(path.removesuffix(".md"))
    shown = tree.first_document(page) if page is not None else None
    if shown is None:
        above, _, last = path.rpartition("/")
        if last == FEED:
            return _read_feed(view, visit, above)
        start = _find_start(view, visit)
        return redirect(start) if start is not None else not_found(view, visit)
    frame = Frame(view, visit)
    builder = frame.builder
    by_address = path.endswith(".md")
    wanted = f"{tree.path(shown)}.md" if by_address else tree.url_path(shown)
    if path != wanted:
        # Each page has one canonical URL; redirect variations of it.
        return redirect(with_query(view, f"{visit.base}{quote(wanted)}"))
    own = visit.visit.public(f"{visit.base}{quote(tree.url_path(shown))}")
    specified, others = builder.meta_links(shown)
    canonical = specified or own
    if by_address or prefers_markdown(view.request.header(b"accept")):
        if has_question(view.request.query_string):
            return _answer_question(view, visit, frame.look, shown)
        written = builder.markdown(shown)
        visit.visit.dependencies.depend_on_more(builder.varies)
        if not visit.visit.admission.preview:
            visit.visit.dependencies.count_view(location_of(visit, shown, "markdown"))
        links = link_header(visit.visit, f'<{canonical}>; rel="canonical"')
        return with_headers(
            revalidated_answer(written, MARKDOWN), {"link": links, **({} if by_address else VARIES)}
        )
    site = frame.site(shown)
    drawn = _with_addresses(builder.page(shown), site, frame.look, visit, own)
    alternates = _merge_alternates(drawn.alternates, others)
    drawn = msgspec.structs.replace(drawn, canonical=canonical, alternates=alternates)
    if site.social_image is None and not visit.visit.admission.personal:
        card = card_of(drawn, site, frame.look)
        address = visit.visit.public(f"{visit.base}~image/{shown.id}.png?v={card.version}")
        image = Image(url=address, width=WIDTH, height=HEIGHT)
        drawn = msgspec.structs.replace(drawn, social_image=image)
    dependencies = visit.visit.dependencies
    dependencies.depend_on_more(builder.varies)
    # A reader who expands all fields has already been counted.
    if not visit.visit.admission.preview and not frame.whole:
        dependencies.count_view(location_of(visit, shown))
    return _drawn(view, visit, shown.id, site, drawn, whole=frame.whole)


def _answer_question(view: View, visit: SpaceVisit, look: SiteLook, page: Page) -> Later:
    """Answer a question that an agent appended to a page's Markdown URL."""
    require_asking(look)
    request, context = view.request, view.context
    refuse_cross_origin(
        request.header(b"origin"),
        visit.visit.host(request.header(b"host")),
        request.header(b"sec-fetch-site"),
    )
    question = read_agent_question(request.query_string)
    location = location_of(visit, page, "markdown")
    record_question(view.events, request, visit.visit, location, question.text)
    asker = make_asker(context, look, visit, "api")
    headers = {"cache-control": "no-store", "x-robots-tag": "noindex", **VARIES}

    def answer() -> Answer:
        text = answer_in_markdown(context, asker, question, visit.visit).text
        return Answer(200, text.encode(), MARKDOWN, headers)

    return Later(visit.visit.organization_id, answer, "questions", "questions")


def _read_feed(view: View, visit: SpaceVisit, path: str) -> Answer:
    """Return the feed of the page at a path. Pages without dated entries don't have a feed."""
    tree = visit.view.tree
    page = tree.find(path)
    shown = tree.first_document(page) if page is not None else None
    frame = Frame(view, visit)
    drawn = frame.builder.page(shown) if shown is not None else None
    address = drawn.feed if drawn is not None else None
    visit.visit.dependencies.depend_on_more(frame.builder.varies)
    if shown is None or drawn is None or address is None:
        return not_found(view, visit)
    if address != f"{visit.base}{quote(visit.rest)}":
        return redirect(address)
    from ..feeds import feed_xml

    entries = frame.builder.entries(shown)
    canonical = visit.visit.public(f"{visit.base}{quote(tree.url_path(shown))}")
    drawn = msgspec.structs.replace(drawn, canonical=canonical)
    written = feed_xml(frame.site(shown), drawn, entries, visit.visit.public(address))
    return feed_answer(written, "application/rss+xml")


def _drawn(
    view: View, visit: SpaceVisit, page_id: str, site: SiteView, page: SitePageView, *, whole: bool
) -> Answer:
    """Return the rendered page, from the cache if it was rendered from an equal view."""
    key = (visit.base, visit.site_space.id, page_id, visit.visit.admission.audience, whole)
    frames = tuple(
        source for name in page.blocks for source in find_frames(view.tx, view.context, name).sources
    )
    if page.diagrams:
        frames = (*frames, "'self'")
    # Hosts of integrations become part of the site's view, so that all dependencies of the rendered page are
    # compared.
    site = msgspec.structs.replace(site, sources=(*site.sources, ("frame-src", frames)))
    kept = view.kept.pages.get(key)
    if kept is None or kept[0] != site or kept[1] != page:
        assert page.markdown is not None, "pages of sites have one"
        other = f'<{visit.visit.public(page.markdown)}>; rel="alternate"; type="text/markdown"'
        answer = html_answer(site, draw_page(site, page), connect=page.connect)
        kept = (site, page, with_headers(answer, {"link": link_header(visit.visit, other), **VARIES}))
        view.kept.pages.put(key, kept, len(kept[2].body) + _VIEW_BYTES)
    return kept[2]


def _with_addresses(
    page: SitePageView, site: SiteView, look: SiteLook, visit: SpaceVisit, canonical: str
) -> SitePageView:
    """Add the parts that contain the page's public URL, and return the page."""
    actions = look.customization.page_actions
    assistants: tuple[LinkView, ...] = ()
    if actions.external_ai and visit.visit.site.visibility in ("public", "unlisted"):
        # Assistants can't read restricted sites.
        assert page.markdown is not None, "pages of sites have one"
        prompt = quote(look.labels.read_this.replace("{url}", visit.visit.public(page.markdown)))
        assistants = tuple(
            LinkView(
                title=look.labels.open_in.replace("{provider}", name),
                href=f"{address}{prompt}",
                external=True,
            )
            for name, address in _ASSISTANTS
        )
    mcp = f"{visit.visit.published}{MCP_PATHS[0]}" if actions.mcp else None
    return msgspec.structs.replace(
        page,
        canonical=canonical,
        index=f"{visit.visit.base}llms.txt",
        alternates=_alternates(site, visit.visit, canonical),
        assistants=assistants,
        mcp=mcp,
    )


def _merge_alternates(
    variants: tuple[VariantView, ...], specified: list[VariantView]
) -> tuple[VariantView, ...]:
    """Return the alternates that the page specifies, and variants for all other languages."""
    languages = {one.language for one in specified}
    return (*(one for one in variants if one.language not in languages), *specified)


def _alternates(site: SiteView, visit: SiteVisit, canonical: str) -> tuple[VariantView, ...]:
    """Return the same page in each available language, including the visited page's own language. The result is empty
    if the variants are versions."""
    if not site.variants_by_language or not any(variant.same for variant in site.variants):
        return ()
    return tuple(
        msgspec.structs.replace(variant, href=canonical if variant.current else visit.public(variant.href))
        for variant in site.variants
        if variant.current or variant.same
    )
