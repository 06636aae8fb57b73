"""Convert visitor events to anonymous rows, and write them in batches.

Data from browsers is never trusted: locations must belong to the site, claims must be signed, and times must be within
the last day. Bots are recorded separately from people. IP addresses and cookies are dropped, except for the visitor's
cookie consent, which is passed to hooks but not stored."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import parse_qs

import msgspec

from octavo.core.json_types import JsonObject
from octavo.core.url_parts import host_of, read_address
from octavo.errors import NotFound
from octavo.kit import ids
from octavo.kit.clock import DAY, now, parse_iso
from octavo.kit.context import Context
from octavo.kit.db.database import Database, Transaction
from octavo.kit.work.jobs import job, run_parts, schedule
from octavo.sites.site.audiences.adaptive import get_schema as get_visitor_schema
from octavo.sites.site.audiences.schema import admit as admit_claims
from octavo.sites.site.audiences.share_links import find_link_by_key
from octavo.sites.site.audiences.visitor_auth import read_token as read_visitor_token
from octavo.sites.site.store import SiteRow, get_site
from octavo.sites.site.structure.store import Structure, load_structure

from . import store
from .agents import BotKind, detect_bot, parse_user_agent
from .store import EventRow
from .types import (
    CONSENT,
    AdClick,
    AdDisplay,
    AgentFeedback,
    ApiClientOpen,
    ApiClientRequest,
    AskQuestion,
    AskRateResponse,
    Event,
    LinkClick,
    LlmsRequest,
    PageMarkdownRequest,
    PageMissing,
    PagePostFeedback,
    PagePostFeedbackComment,
    SearchMissing,
    SearchOpenResult,
    SearchTypeQuery,
    TrademarkClick,
)

_on_events: list[Callable[[Transaction, Sequence[EventRow]], None]] = []
_CHUNK = 5000


def on_events(hook: Callable[[Transaction, Sequence[EventRow]], None]) -> None:
    """Register ``hook(tx, rows)``, which is called in the write transaction with the events of people, not bots."""
    _on_events.append(hook)


class _Batches:
    """Rows from several requests that are written in one transaction. A writer also writes the rows that other requests
    queued in the meantime."""

    def __init__(self) -> None:
        self._waiting: list[Sequence[EventRow]] = []
        self._lock, self._writing = threading.Lock(), threading.Lock()

    def write(self, database: Database, rows: Sequence[EventRow]) -> None:
        """Write the rows, and return when they are stored. If the transaction fails, raise its error, and keep rows
        from other requests in the queue."""
        with self._lock:
            self._waiting.append(rows)
        with self._writing:
            with self._lock:
                batch, self._waiting = self._waiting, []
            if not batch:
                return
            try:
                together = [row for part in batch for row in part]
                with database.write() as tx:
                    store.insert_events(tx, together)
                    people = [row for row in together if row.bot is None]
                    for hook in _on_events:
                        hook(tx, people)
            except BaseException:
                with self._lock:
                    self._waiting = [part for part in batch if part is not rows] + self._waiting
                raise


_batches = _Batches()


Visitor = dict[str, Any]
"""Value of ``visitor`` for evaluating conditions, based on verified claims."""


def collect(
    context: Context,
    organization_id: str,
    site_id: str,
    events: Sequence[Event],
    visitor: Visitor | None = None,
) -> int:
    """Record events from visitors of a published site, and return the number of recorded events. ``visitor``: the
    visitors' claims, if already verified; by default, they are read from the token of each event. Raises NotFound if
    there is no such published site."""
    with context.db.read() as tx:
        rows = _rows(context, tx, organization_id, site_id, [(event, visitor) for event in events])
    if rows:
        _batches.write(context.db, rows)
    return len(rows)


def collect_of_sites(context: Context, events: Iterable[tuple[str, str, Event, Visitor]]) -> None:
    """Record events from many sites, each with its organization, site, and visitor. Events from sites that
    are no longer published are dropped."""
    by_site: dict[tuple[str, str], list[tuple[Event, Visitor | None]]] = {}
    for organization_id, site_id, event, visitor in events:
        by_site.setdefault((organization_id, site_id), []).append((event, visitor))
    rows: list[EventRow] = []
    with context.db.read() as tx:
        for (organization_id, site_id), found in by_site.items():
            with suppress(NotFound):
                rows += _rows(context, tx, organization_id, site_id, found)
    if rows:
        _batches.write(context.db, rows)


def _rows(
    context: Context,
    tx: Transaction,
    organization_id: str,
    site_id: str,
    events: Sequence[tuple[Event, Visitor | None]],
) -> list[EventRow]:
    """Convert events to rows. Raises NotFound if the site isn't published."""
    missing = NotFound(f"There is no published site with the ID {site_id!r}.")
    try:
        site = get_site(tx, site_id)
    except NotFound:
        raise missing from None
    if not site.published or site.organization_id != organization_id:
        raise missing
    structure = load_structure(tx, site_id)
    # Most events on a site have the same share key or none, and the same schema applies to all of them.
    find_link = cache(lambda key: find_link_by_key(tx, site_id, key))
    read_schema = cache(lambda: get_visitor_schema(tx, site_id))
    rows = []
    for event, visitor in events:
        program = _bot_kind(event)
        if _is_counted(context, event, program):
            key = event.location.site_share_key
            link = find_link(key) if key else None
            row = _row(site, structure, event, link.id if link else None)
            row.bot = program
            token = event.session.visitor_auth_token
            if visitor is None and token:
                signed = read_visitor_token(tx, context, site, token)
                visitor = admit_claims(read_schema(), signed.claims if signed else {}, {})
            row.claims = _flatten_claims(visitor) if visitor is not None else None
            rows.append(row)
    return rows


def _bot_kind(event: Event) -> BotKind | None:
    """Return the kind of bot that caused the event, or None for a person. Only agents use the MCP
    protocol."""
    found = detect_bot(event.session.user_agent)
    return "unknown" if found is None and event.location.display_context == "mcp" else found


def _is_counted(context: Context, event: Event, program: BotKind | None) -> bool:
    if program is not None:
        return context.settings.count_bots
    # People who open the Markdown have already been counted on the page itself, and they can see for
    # themselves if a page or result is missing.
    return event.location.display_context != "markdown" and not isinstance(event, PageMissing | SearchMissing)


def _row(site: SiteRow, structure: Structure, event: Event, share_link: str | None) -> EventRow:
    session, location = event.session, event.location
    at = _moment(event.timestamp if isinstance(event.timestamp, str) else None)
    day = datetime.fromtimestamp(at / 1000, UTC)
    agent = parse_user_agent(session.user_agent)
    shown = structure.site_spaces.get(location.site_space or "")
    section = structure.sections.get((shown.section_id if shown else location.site_section) or "")
    referrer = session.referrer
    row = EventRow(
        id=ids.new_id(),
        site_id=site.id,
        at=at,
        month=day.year * 100 + day.month,
        type=str(event.__struct_config__.tag),
        visitor=_pseudonym(site, session.visitor_id),
        session=_pseudonym(site, session.session_id),
        url=_without_key(_without_query(location.url), location.site_share_key),
        display_context=location.display_context,
        device=agent.device,
        browser=agent.browser,
        os=agent.os,
        section_id=section.id if section else None,
        site_space_id=shown.id if shown else None,
        space_id=shown.space_id if shown else None,
        page_id=location.page if shown else None,
        share_link_id=share_link,
        language=session.language,
        referrer=_without_query(referrer) if referrer else None,
        referrer_domain=host_of(referrer) or None if referrer else None,
        consent=session.cookies.get(CONSENT) if session.cookies.get(CONSENT) in ("yes", "no") else None,
    )
    for name, value in {**_campaign(location.url), **_details(event)}.items():
        setattr(row, name, value)
    return row


def _details(event: Event) -> JsonObject:
    """Return the values of columns that only some types of events have."""
    match event:
        case SearchTypeQuery() | SearchOpenResult() | SearchMissing() | AskQuestion():
            return {"query": event.query}
        case PagePostFeedback():
            return {"page_rating": event.feedback.rating}
        case PagePostFeedbackComment():
            return {"page_rating": event.feedback.rating, "comment": event.feedback.comment}
        case AskRateResponse():
            return {"query": event.query, "rating": event.rating, "response_id": event.response_id}
        case LinkClick():
            target = event.link.target
            return {
                "link_target": msgspec.json.encode(target).decode(),
                "link_kind": target.kind,
                "link_domain": host_of(target.url) or None if isinstance(target.url, str) else None,
                "link_position": event.link.position,
            }
        case ApiClientOpen() | ApiClientRequest():
            return {"api_path": event.operation.path, "api_method": event.operation.method}
        case AgentFeedback():
            return {"comment": event.comment or event.goal or None}
        case LlmsRequest():
            return {"llms_variant": event.llms_variant}
        case PageMarkdownRequest():
            return {"markdown_source": event.markdown_source or None}
        case TrademarkClick():
            return {"placement": event.placement}
        case AdClick() | AdDisplay():
            return {"ad_domain": event.ad.domain, "placement": event.ad.placement}
        case _:
            return {}


def _moment(timestamp: str | None) -> int:
    """Return the time of the event if it is within the last day; otherwise, return the current time."""
    moment = now()
    if timestamp is not None:
        try:
            at = parse_iso(timestamp)
        except ValueError:
            return moment
        if moment - DAY <= at <= moment:
            return at
    return moment


def _pseudonym(site: SiteRow, given: str) -> str:
    """Return a pseudonym that is always the same on one site, but different on other sites."""
    return hashlib.blake2b(f"{site.id}\0{given}".encode(), digest_size=12).hexdigest()


def _without_key(url: str, key: str | None) -> str:
    """Return the URL without the key of a share link, because the key would grant access to the site."""
    return f"{url}/".replace(f"/{key}/", "/", 1).removesuffix("/") if key else url


def _without_query(url: str) -> str:
    """Return the URL without query and fragment, which can contain tokens, keys, and names."""
    return url.partition("?")[0].partition("#")[0]


_UTM = {
    "utm_source": "utm_source",
    "utm_medium": "utm_medium",
    "utm_campaign": "utm_campaign",
    "utm_term": "utm_term",
    "utm_content": "utm_variant",
}


def _campaign(url: str) -> dict[str, str]:
    if "?" not in url:
        return {}
    address = read_address(url)
    try:
        query = parse_qs(address.query if address is not None else "", max_num_fields=200)
    except ValueError:
        return {}
    # PostgreSQL doesn't accept NUL characters (%00) in text.
    return {column: query[name][0][:256].replace("\0", "") for name, column in _UTM.items() if name in query}


def _flatten_claims(visitor: Visitor) -> str | None:
    """Return signed claims as a JSON object of strings, with dotted names for nested claims; None if there
    are none."""
    found: dict[str, str] = {}

    def walk(claims: Mapping[str, object], above: str) -> None:
        for name, value in claims.items():
            if isinstance(value, dict):
                walk(value, f"{above}{name}.")
            elif isinstance(value, bool | str | int | float):
                found[f"{above}{name}"] = str(value).lower() if isinstance(value, bool) else str(value)

    walk({name: value for name, value in visitor["claims"].items() if name != "unsigned"}, "")
    return msgspec.json.encode(found, order="sorted").decode() if found else None


@job("forgetSiteEvents", bound=None)
def forget_events(context: Context) -> None:
    """Delete events older than the retention period, in batches, so that other writes can happen in
    between."""
    days = timedelta(days=context.settings.insight_days)
    moment = now() - int(days.total_seconds() * 1000)
    run_parts(context.db, lambda tx: store.delete_events_before(tx, moment, _CHUNK))


schedule("forgetSiteEvents", 3600, "forgetSiteEvents")
