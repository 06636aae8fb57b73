"""Check external links in the background, a few at a time, according to each host's rules.

A link isn't reported after one failure, because servers restart and networks fail. If a host rejects bots or limits
requests, the state of its links is unknown. The same is true if this server can't reach any host."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from octavo.core.checks.faults import CheckedPage
from octavo.core.url_parts import join_address, read_address
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.net.fetch import (
    Fetcher,
    FetchError,
    FetchNotAllowed,
    FetchTimeout,
    Limits,
    TlsFailure,
    UnknownHost,
)
from octavo.kit.work import jobs

from . import outbound_store as store
from .outbound_store import FailureKind, OutboundLinkRow

MOST_LINKS = 5_000
"""Maximum number of links per space to check."""
_ROUND = 200
_EACH = 10
"""Maximum number of links on one host to check in one round."""
_AT_ONCE = 4
_ROUND_SECONDS = 240.0
_PAUSE = 2.0
_LONGEST_PAUSE = 10.0
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 5
_REFUSED = frozenset({401, 403, 405, 406, 407, 418, 429, 451, 503, 999})
"""Status codes that servers use to reject bots or report that they are busy, although people may be able to
open the page."""
_AGENT = "Octavo"
_ROBOTS = Limits(size=512 * 1024, seconds=10)
_PAGE = Limits(seconds=15)
_HOUR = 3_600_000
_DAY = 24 * _HOUR
_RETRIES = (_HOUR, 6 * _HOUR)
"""Milliseconds until a failed link is checked again. If the last retry also fails, the link is broken."""
_RESERVED = (".example", ".test", ".invalid", ".localhost", ".local", ".internal", ".home.arpa")
_EXAMPLES = ("localhost", "example.com", "example.org", "example.net")


class LinkVisit(Struct, frozen=True):
    """Result of a check. ``worked``: whether the link works; None if that is unknown. ``allowed``: whether the
    host's rules allow checking the link."""

    worked: bool | None = None
    failure: FailureKind | None = None
    http_status: int | None = None
    allowed: bool = True

    @property
    def is_network(self) -> bool:
        """Return whether the check failed because the host didn't respond."""
        return self.failure in ("dns", "connection", "timeout")


_UNKNOWN = LinkVisit()
_NOT_ALLOWED = LinkVisit(allowed=False)


def list_urls(checks: Iterable[CheckedPage]) -> dict[str, str]:
    """Return the URLs of links that can be checked, each with its host. Reserved hostnames and placeholders are
    skipped."""
    found: dict[str, str] = {}
    for checked in checks:
        for url in checked.urls:
            address = read_address(url)
            if len(found) >= MOST_LINKS:
                return found
            if address is not None and address.is_web and _is_checkable(url, address.host):
                found[url] = address.host
    return found


def _is_checkable(url: str, host: str) -> bool:
    if len(url) > 2_000 or not url.isprintable() or any(mark in url for mark in "{}<>$"):
        return False
    is_example = any(host == name or host.endswith(f".{name}") for name in _EXAMPLES)
    return "." in host and not is_example and not host.endswith(_RESERVED)


def next_row(row: OutboundLinkRow, visit: LinkVisit, at: int) -> OutboundLinkRow:
    """Return the new state of a link after a check. ``at``: the time of the check in milliseconds."""
    if not visit.allowed:
        return replace(row, status="canceled", failures=0, failure_kind=None, next_at=at + 30 * _DAY)
    if visit.worked is None:
        return replace(row, checked_at=at, next_at=at + _DAY)
    status, failures = row.status, row.failures
    if visit.worked:
        is_recovering = status == "failed"
        return replace(
            row,
            status="recovering" if is_recovering else "healthy",
            failures=0,
            failure_kind=None,
            http_status=visit.http_status,
            checked_at=at,
            next_at=at + (6 * _HOUR if is_recovering else 7 * _DAY),
        )
    has_failed = status in ("failed", "recovering") or failures >= len(_RETRIES)
    return replace(
        row,
        status="failed" if has_failed else "suspect",
        failures=failures + 1,
        failure_kind=visit.failure,
        http_status=visit.http_status,
        checked_at=at,
        next_at=at + (_DAY if has_failed else _RETRIES[failures]),
    )


def check_links(context: Context, sleep: Callable[[float], None] = time.sleep) -> set[str]:
    """Check the links that are due, and return the IDs of the spaces whose findings changed."""
    with context.db.read() as tx:
        due = store.list_due(tx, _ROUND, _EACH)
    if not due:
        return set()
    fetcher = Fetcher(context.settings.allow_private_fetch)
    hosts: dict[str, dict[str, None]] = {}
    for row in due:
        hosts.setdefault(row.host, {})[row.url] = None
    visits = visit_hosts(fetcher, hosts, sleep)
    if not _is_online(context, fetcher, visits, list(hosts)):
        # Without a network, every link seems broken.
        changed = [replace(row, next_at=now() + _HOUR) for row in due]
    else:
        # A link that wasn't checked for lack of time stays due.
        changed = [next_row(row, visits[row.url], now()) for row in due if row.url in visits]
    with context.db.write() as tx:
        store.update_links(tx, changed)
        jobs.advance(tx)
    before = {(row.space_id, row.url_key): _is_reported(row) for row in due}
    return {row.space_id for row in changed if _is_reported(row) != before[row.space_id, row.url_key]}


def _is_reported(row: OutboundLinkRow) -> bool:
    return row.status in ("failed", "recovering")


def _is_online(
    context: Context, fetcher: Fetcher, visits: Mapping[str, LinkVisit], hosts: Sequence[str]
) -> bool:
    """Return whether this server is online: whether a host responded in this round, or a host from an earlier check
    still responds."""
    tried = [visit for visit in visits.values() if visit.worked is not None]
    if not tried or not all(visit.is_network for visit in tried):
        return True
    with context.db.read() as tx:
        known = store.find_healthy(tx, hosts)
    return known is not None and not _visit(fetcher, known.url).is_network


def visit_hosts(
    fetcher: Fetcher, hosts: Mapping[str, Iterable[str]], sleep: Callable[[float], None] = time.sleep
) -> dict[str, LinkVisit]:
    """Request the URLs of the hosts, one at a time per host. The result omits URLs that couldn't be requested in
    time. If a host may have rejected a request because it came from a bot, it is unknown whether the link works."""
    until = time.monotonic() + _ROUND_SECONDS
    visits: dict[str, LinkVisit] = {}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for found in pool.map(lambda urls: _visit_host(fetcher, list(urls), until, sleep), hosts.values()):
            visits |= found
    return visits


def _visit_host(
    fetcher: Fetcher, urls: Sequence[str], until: float, sleep: Callable[[float], None]
) -> dict[str, LinkVisit]:
    visits: dict[str, LinkVisit] = {}
    rules: dict[str, Any] = {}
    responded, refused = False, 0
    for url in urls:
        if time.monotonic() > until:
            return visits
        if refused >= 2:
            visits[url] = _UNKNOWN
            continue
        address = read_address(url)
        origin = address.origin if address is not None else ""
        if origin not in rules:
            rules[origin] = _read_robots(fetcher, origin)
        robots = rules[origin]
        if isinstance(robots, LinkVisit):
            visits[url] = robots
            continue
        if not robots.can_fetch(url, _AGENT):
            visits[url] = _NOT_ALLOWED
            continue
        delay = float(robots.crawl_delay(_AGENT) or 0)
        sleep(min(delay, _LONGEST_PAUSE) if delay > _PAUSE else _PAUSE)
        visit = _visit(fetcher, url)
        if responded and visit.is_network:
            # Hosts that responded before may block clients that send too many requests.
            visit = _UNKNOWN
        refused = refused + 1 if visit.worked is None else 0
        responded = responded or visit.http_status is not None
        visits[url] = visit
    return visits


def _read_robots(fetcher: Fetcher, origin: str) -> Any:
    """Return a host's rules from its robots.txt. If the file can't be read, return the result to use for all of the
    host's links."""
    try:
        answer = fetcher.fetch(f"{origin}/robots.txt", limits=_ROBOTS)
    except FetchError as error:
        failed = _failed(error)
        # The links may work even if this file is too large or in a redirect loop.
        return failed if failed.is_network or failed.failure == "tls" or not failed.allowed else _UNKNOWN
    from protego import Protego

    if answer.status >= 500:
        return _UNKNOWN  # As RFC 9309 requires, unreachable rules disallow everything.
    return Protego.parse(answer.body.decode("utf-8", "replace") if answer.status == 200 else "")


def _visit(fetcher: Fetcher, url: str) -> LinkVisit:
    """Check a URL without reading the body of the response."""
    for _ in range(_MOST_REDIRECTS + 1):
        try:
            with fetcher.stream(url, limits=_PAGE) as answer:
                status, location = answer.status, answer.headers.get("location")
        except FetchError as error:
            return _failed(error)
        if status in _REDIRECTS and location is not None:
            target = join_address(url, location)
            if target is None:
                return LinkVisit(False, "redirect", status)
            url = target
            continue
        if status in _REFUSED:
            return LinkVisit(http_status=status)
        if status >= 400:
            return LinkVisit(False, "client-error" if status < 500 else "server-error", status)
        return LinkVisit(True, None, status)
    return LinkVisit(False, "redirect")


def _failed(error: FetchError) -> LinkVisit:
    match error:
        case FetchNotAllowed():
            return _NOT_ALLOWED
        case UnknownHost():
            return LinkVisit(False, "dns")
        case TlsFailure():
            return LinkVisit(False, "tls")
        case FetchTimeout():
            return LinkVisit(False, "timeout")
    return LinkVisit(False, "connection")


_REASONS: dict[FailureKind, str] = {
    "client-error": "The page doesn't exist (status {status}).",
    "server-error": "The server returns an error (status {status}).",
    "redirect": "The server redirects in an endless loop.",
    "dns": "The host doesn't exist.",
    "tls": "The host's certificate isn't valid.",
    "connection": "The host refuses connections.",
    "timeout": "The host doesn't respond.",
}


def explain(row: OutboundLinkRow) -> str:
    """Return the reason a link doesn't work."""
    if row.failure_kind is None:
        return "The link works again. This finding will be closed after the next check."
    return _REASONS[row.failure_kind].format(status=row.http_status)
