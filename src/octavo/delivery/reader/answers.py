"""Common parts of site responses: formats, headers, the frame, and "not found" responses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from urllib.parse import parse_qs, quote, unquote

import msgspec

from octavo.content.search.querying import MAX_SEARCH
from octavo.core.links import app_hosts
from octavo.core.pages import Page
from octavo.delivery.visits.admission import Admission
from octavo.delivery.visits.authorization import SiteVisit, SpaceVisit, find_redirect
from octavo.errors import BadRequest, NotFound
from octavo.kit.context import Context
from octavo.kit.files import FileGrant, file_headers
from octavo.kit.http.edge import Answer, Content, Request, etag_of
from octavo.kit.locales import date_words
from octavo.sites.openapi.former_urls import Gone, find_former

from .drawing import content_security_policy, draw_not_found
from .forms import prefers_markdown, shows_all_fields
from .pages import PageBuilder
from .scripts import scripts_of
from .searching import search_site
from .sites import find_look, site_view
from .table import View
from .tracking import SEEN_PATH, record_missing_page
from .views import Crumb, GoneView, MessageView, SearchHit, SiteView

HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
MARKDOWN = "text/markdown; charset=utf-8"
FOREVER = "public, max-age=31536000, immutable"
REVALIDATE = "public, max-age=0, must-revalidate"
_WORD = re.compile(r"[^\W_]{2,}")
_SUGGESTED = 5


def revalidated_answer(
    body: bytes | str, content_type: str, *, status: int = 200, policy: str = ""
) -> Answer:
    """Return a response that browsers revalidate with each request, using an entity tag computed from its
    content."""
    raw = body.encode() if isinstance(body, str) else body
    headers = {"cache-control": REVALIDATE}
    if policy:
        headers["content-security-policy"] = policy
    return Answer(status, raw, content_type, headers, etag_of(raw), again=True)


class Frame:
    """Common parts of every HTML response for a space: the site's appearance and the builder of its pages."""

    def __init__(self, view: View, visit: SpaceVisit) -> None:
        self._view, self._visit = view, visit
        self.look = find_look(view.tx, visit)
        self.whole = shows_all_fields(view.request.query_string)
        self.builder = PageBuilder(
            view.tx, visit, app_hosts(view.context.settings.url), view.kept, self.look, whole=self.whole
        )

    def site(self, page: Page | None = None) -> SiteView:
        view, visit = self._view, self._visit
        site = site_view(view.tx, visit, self.look, self.builder, page)
        if page is not None and not visit.visit.admission.preview:
            site = msgspec.structs.replace(site, seen=f"{visit.base}{SEEN_PATH}?page={page.id}")
        scripts, sources = scripts_of(view.tx, view.context, visit.visit, self.look.customization)
        if visit.visit.admission.framed:
            sources = (*sources, ("frame-ancestors", (view.context.settings.address.origin,)))
        if visit.visit.embedded:
            sources = (*sources, ("frame-ancestors", tuple(view.context.settings.embed_origins.split())))
        return msgspec.structs.replace(site, scripts=scripts, sources=sources)


def html_answer(
    site: SiteView,
    text: str,
    status: int = 200,
    connect: tuple[str, ...] = (),
) -> Answer:
    policy = content_security_policy(site.theme_css, connect, site.sources)
    return revalidated_answer(text, HTML, status=status, policy=policy)


def with_query(view: View, location: str) -> str:
    """Return the URL of another location with the request's query (claims and search terms)."""
    query = view.request.query_string.decode("latin-1")
    return f"{location}?{query}" if query else location


_ESCAPED = {code: f"%{code:02X}" for code in (*range(32), 127)}
"""Replacements for control characters, which stored URLs can contain but headers can't."""
VARIES = {"vary": "Accept"}
"""Header of responses whose format depends on ``Accept``."""


def with_headers(answer: Answer, headers: dict[str, str]) -> Answer:
    return msgspec.structs.replace(answer, headers={**answer.headers, **headers})


def feed_answer(feed: bytes, media_type: str) -> Answer:
    """Return a feed. Search engines index the listed pages instead of the feed."""
    return with_headers(revalidated_answer(feed, f"{media_type}; charset=utf-8"), {"x-robots-tag": "noindex"})


def link_header(visit: SiteVisit, first: str) -> str:
    return (
        f'{first}, <{visit.published}llms.txt>; rel="llms-txt", <{visit.published}llms-full.txt>; '
        f'rel="llms-full-txt"'
    )


def redirect(location: str, cookies: tuple[str, ...] = (), *, permanent: bool = False) -> Answer:
    headers = {
        "location": location.translate(_ESCAPED),
        "cache-control": "no-store" if cookies else "no-cache",
    }
    return Answer(308 if permanent else 307, headers=headers, cookies=cookies)


def not_found(view: View, space: SpaceVisit) -> Answer:
    """Redirect the visitor if a redirect matches; otherwise respond that the page doesn't exist."""
    target = find_redirect(view.tx, space.visit, view.context.settings.sites_url)
    if target is not None:
        return redirect(target.target, permanent=target.permanent)
    as_markdown = space.rest.endswith(".md")
    state, tree = space.view.state, space.view.tree
    former = find_former(view.tx, state, tree, space.rest.removesuffix(".md"))
    if isinstance(former, Page):
        suffix = ".md" if as_markdown else ""
        return redirect(with_query(view, f"{space.base}{quote(tree.url_path(former))}{suffix}"))
    record_missing_page(view.events, view.request, space)
    if as_markdown or prefers_markdown(view.request.header(b"accept")):
        return with_headers(_not_found_in_markdown(space, former), VARIES)
    frame = Frame(view, space)
    if former is not None:
        return with_headers(_gone_answer(frame, former), VARIES)
    site = frame.site()
    words = " ".join(_WORD.findall(space.rest))[:MAX_SEARCH]
    empty = not space.rest and space.view.tree.home is None
    message = MessageView(
        title=site.labels.no_pages if empty else site.labels.not_found,
        text=site.labels.no_pages_text if empty else site.labels.not_found_text,
        nav=frame.builder.nav(None),
        suggestions=_filter_related(space.rest, search_site(view.tx, space.visit, words).hits)[:_SUGGESTED],
    )
    return with_headers(html_answer(site, draw_not_found(site, message), status=404), VARIES)


def _not_found_in_markdown(space: SpaceVisit, gone: Gone | None) -> Answer:
    listed = f"All pages are listed in {space.visit.published}llms.txt\n"
    if gone is None:
        text = f"# Page not found\n\nThis documentation has no page at this URL. {listed}"
        return revalidated_answer(text, MARKDOWN, status=404)
    since = ", ".join(filter(None, (gone.since, _day_of(gone).isoformat())))
    instead = f" Use {gone.instead.title} instead." if gone.instead is not None else ""
    text = f"# {gone.title}\n\n{gone.method.upper()} {gone.path} has been unavailable since {since}.{instead} {listed}"
    return revalidated_answer(text, MARKDOWN, status=410)


def _day_of(gone: Gone) -> date:
    return datetime.fromtimestamp(gone.at / 1000, UTC).date()


def _gone_answer(frame: Frame, gone: Gone) -> Answer:
    """Return a response about an operation that was removed from an API."""
    site = frame.site()
    since = ", ".join(filter(None, (gone.since, date_words(_day_of(gone), frame.look.locale))))
    text = site.labels.gone.replace("{name}", since)

    def lead_to(page: Page | None) -> Crumb | None:
        return Crumb(title=page.title, href=frame.builder.href(page)) if page is not None else None

    message = MessageView(
        title=gone.title,
        text=text,
        nav=frame.builder.nav(None),
        gone=GoneView(
            method=gone.method,
            path=gone.path,
            text=text,
            instead=lead_to(gone.instead),
            changes=lead_to(gone.changes),
        ),
    )
    return html_answer(site, draw_not_found(site, message), status=410)


def _filter_related(path: str, hits: Sequence[SearchHit]) -> tuple[SearchHit, ...]:
    """Return the hits whose titles contain a word from the last path segment, or a similar word. Pages that contain the
    word only in their text are probably not the pages that the visitor was looking for."""
    wanted = _split_name(path.strip("/").rpartition("/")[2].removesuffix(".md"))

    def is_like(hit: SearchHit) -> bool:
        called = _split_name(f"{hit.title} {unquote(hit.href).partition('#')[0].rpartition('/')[2]}")
        return any(
            one == other or (min(len(one), len(other)) > 3 and (one[:-1] in other or other[:-1] in one))
            for one in wanted
            for other in called
        )

    return tuple(hit for hit in hits if is_like(hit))


def _split_name(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def file_answer(context: Context, grant: FileGrant, size: int | None, *, public: bool = False) -> Answer:
    """Return a file, with headers that prevent its content from running scripts. ``public``: whether shared caches can
    store it. Raises NotFound if the file isn't stored."""
    found = size if size is not None else context.files.find_size(grant.hash)
    if found is None:
        raise NotFound("This file doesn't exist.")
    headers = {name.lower(): value for name, value in file_headers(grant, public=public).items()}
    headers["cross-origin-resource-policy"] = "cross-origin"
    content = Content(found, lambda start, end: context.files.open(grant.hash, start, end))
    return Answer(
        200, content_type=headers.pop("content-type"), headers=headers, etag=grant.hash[:24], content=content
    )


def decoded_path(request: Request) -> str:
    """Return the decoded path. Raises NotFound if the path changes when decoded again or contains ``..``."""
    for segment in request.segments:
        if segment in {"", ".", ".."} or "/" in segment or "\\" in segment or "\0" in segment:
            raise NotFound("No site is published at this URL.")
    path = "/" + "/".join(request.segments)
    return f"{path}/" if request.ends_with_slash and request.segments else path


def private_answer(admission: Admission, answer: Answer) -> Answer:
    """Return the response of a restricted site. Only the visitor's own browser can store it."""
    if not admission.personal and not admission.key:
        return answer
    headers = dict(answer.headers)
    headers["cache-control"] = headers.get("cache-control", "no-cache").replace("public", "private")
    headers["x-robots-tag"] = "noindex"
    return msgspec.structs.replace(answer, headers=headers)


def is_json(request: Request) -> bool:
    """Return whether the request's body is declared as JSON. HTML forms can't send JSON."""
    return request.header(b"content-type").partition(";")[0].strip().lower() == "application/json"


def is_cross_origin(view: View, visit: SiteVisit) -> bool:
    """Return whether the request may come from another origin, or is a form submission, which a page on any origin can
    send."""
    request = view.request
    origin = request.header(b"origin")
    return not is_json(request) or bool(
        origin and origin.partition("://")[2] != visit.host(request.header(b"host"))
    )


def read_query(view: View) -> str:
    """Return the query ``q`` of a search or question. Raises BadRequest if it is too long."""
    query = parse_qs(view.request.query_string.decode("latin-1")).get("q", [""])[0].replace("\0", "")
    if len(query) > MAX_SEARCH:
        raise BadRequest(f"q: must be at most {MAX_SEARCH:,} characters")
    return query
