"""Notify renderers, and a content delivery network in front of the sites, about stale cached content."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

import msgspec

from octavo.core.url_parts import host_of, own_address
from octavo.errors import Unavailable
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.net.fetch import Fetcher, FetchError, Limits
from octavo.kit.work import jobs
from octavo.kit.work.outbox import Event, consumer, emit
from octavo.organization.access.auditing import watch_audit
from octavo.organization.orgs.store import get_organization
from octavo.sites.site.published import published_url
from octavo.sites.site.store import list_published_sites, list_sites_of_space

_PATH = "/~gitbook/revalidate"
_LIMITS = Limits(size=64 * 1024, seconds=10, follow=False)
_OF_SITES = ("site", "siteSpace", "siteSection", "siteSectionGroup", "siteRedirect", "shareLink")
_AFTER = 500
"""Milliseconds to wait for further changes, so that several changes are sent in one notification."""


@watch_audit
def _note_change(tx: Transaction, organization_id: str, target: tuple[str, str]) -> None:
    """Queue a notification about a change to sites or to a space's title, in the transaction of the change."""
    kind, id = target
    if kind in _OF_SITES:
        emit(tx, "sites_updated", organization_id=organization_id)
    elif kind == "space":
        emit(tx, "space_updated", organization_id=organization_id, space_id=id)


@consumer("renderers")
def _queue(tx: Transaction, event: Event) -> None:
    if event.organization_id is None:
        return
    if event.type in ("space_content_updated", "space_updated") and event.space_id is not None:
        if list_sites_of_space(tx, event.space_id):
            _enqueue(tx, event, f"space:{event.space_id}", space_id=event.space_id)
    elif event.type == "sites_updated":
        _enqueue(tx, event, f"sites:{event.organization_id}", space_id="")
    elif event.type == "openapi_updated":
        slug = str(event.payload["slug"])
        _enqueue(tx, event, f"openapi:{event.organization_id}:{slug}", space_id="", spec=slug)


def _enqueue(tx: Transaction, event: Event, key: str, *, space_id: str, spec: str = "") -> None:
    organization_id = event.organization_id or ""
    jobs.enqueue(
        tx,
        "tellRenderers",
        organization=organization_id,
        key=f"tellRenderers {key}",
        run_at=event.created_at + _AFTER,
        organization_id=organization_id,
        space_id=space_id,
        **({"spec": spec} if spec else {}),
    )


@jobs.job("tellRenderers", bound="one request to each renderer, and one for thirty sites of an organization")
def notify_renderers(context: Context, organization_id: str, space_id: str, spec: str = "") -> None:
    """Notify renderers of a change to a space, to an API specification, or to an organization's sites.
    ``spec``: the slug of the specification. Raises Unavailable if a renderer couldn't be reached, so that the
    job is retried."""
    settings = context.settings
    if not settings.renderers and not settings.purge_url:
        return
    with context.db.read() as tx:
        if spec:
            # Pages that show it change along with their spaces, which have their own notifications.
            sites, tags = [], [f"organization:{organization_id}:openapi:{spec}"]
        elif space_id:
            sites = [site for site in list_sites_of_space(tx, space_id) if site.published]
            tags = [f"space:{space_id}"]
        else:
            sites = list_published_sites(tx, organization_id)
            tags = [f"site:{site.id}" for site in sites]
        addresses = [
            published_url(settings.sites_url, get_organization(tx, site.organization_id), site)
            for site in sites
        ]
    fetcher = Fetcher(settings.allow_private_fetch, tells_trace=True)
    deaf = [] if not tags else _notify(fetcher, context, tags)
    if settings.purge_url and addresses:
        deaf += _purge(fetcher, context, addresses)
    if deaf:
        raise Unavailable(f"These renderers couldn't be notified of a change: {'; '.join(deaf)}")


def parse_renderers(setting: str) -> list[str]:
    """Return the URLs of renderers, without trailing slashes."""
    return [part.strip().rstrip("/") for part in setting.split(",") if part.strip()]


def _notify(fetcher: Fetcher, context: Context, tags: Sequence[str]) -> list[str]:
    body = msgspec.json.encode({"tags": tags})
    headers = {"content-type": "application/json"}
    if context.settings.renderer_secret:
        secret = context.settings.renderer_secret.encode()
        headers["x-gitbook-signature"] = hmac.new(secret, body, hashlib.sha256).hexdigest()
    return [
        trouble
        for renderer in parse_renderers(context.settings.renderers)
        if (trouble := _send(fetcher, f"{renderer}{_PATH}", headers, body))
    ]


def _purge(fetcher: Fetcher, context: Context, addresses: Sequence[str]) -> list[str]:
    prefixes = [f"{parts.authority}{parts.path}".rstrip("/") for parts in map(own_address, addresses)]
    headers = {"content-type": "application/json"}
    if context.settings.purge_token:
        headers["authorization"] = f"Bearer {context.settings.purge_token}"
    found = []
    # Content delivery networks accept about 30 prefixes per request.
    for start in range(0, len(prefixes), 30):
        body = msgspec.json.encode({"prefixes": prefixes[start : start + 30]})
        if trouble := _send(fetcher, context.settings.purge_url, headers, body):
            found.append(trouble)
    return found


def _send(fetcher: Fetcher, url: str, headers: dict[str, str], body: bytes) -> str:
    """Send a request. Return the problem, or an empty string if there is none."""
    host = host_of(url) or url
    try:
        answer = fetcher.fetch(url, "POST", headers, body, _LIMITS)
    except FetchError as error:
        return f"{host}: {error}"
    return "" if answer.status < 300 else f"{host}: the server responded with status {answer.status}"
