"""Resolve URLs of the app and of published sites to content."""

from __future__ import annotations

from urllib.parse import unquote

from msgspec import UNSET

from octavo.content.changes.store import find_change
from octavo.content.changes.wire import present_change
from octavo.content.pages.reading import ContentReader
from octavo.content.revisions.restrictions import main_seen_by, seen_by
from octavo.core.app_urls import change_view
from octavo.core.hosts import spell_host
from octavo.core.url_parts import read_address
from octavo.errors import NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient
from octavo.organization.access.authorization import (
    SignedIn,
    SpaceAccess,
    collection_access,
    find_space_access,
)
from octavo.organization.access.roles import Can
from octavo.organization.orgs.store import find_organization_by_hostname
from octavo.organization.spaces.store import get_collection, get_space
from octavo.organization.spaces.wire import present_collection, present_space

from . import store
from .structure.store import load_structure
from .urls_wire import CollectionAt, SpaceAt


def present_address(tx: Transaction, to: Recipient, caller: SignedIn, url: str) -> CollectionAt | SpaceAt:
    """Return the collection or space at a URL, with the change request and the page, if specified in the URL. Raises
    NotFound if the URL doesn't exist or if the caller can't see its content."""
    missing = NotFound("url: there is nothing at this URL, or you don't have access to it")
    parts = read_address(url)
    if parts is None:
        raise missing
    segments = [unquote(part) for part in parts.path.split("/") if part]
    own = to.settings.address
    if (parts.host, parts.port) == (own.host, own.port):
        found = _in_application(tx, to, caller, segments)
    else:
        found = _in_site(tx, to, caller, parts.host, segments)
    if found is None:
        raise missing
    return found


def _in_application(
    tx: Transaction, to: Recipient, caller: SignedIn, segments: list[str]
) -> CollectionAt | SpaceAt | None:
    match segments:
        case ["c", collection_id]:
            try:
                access = collection_access(tx, caller.actor, Can.VIEW, collection_id)
            except NotFound:
                return None
            return CollectionAt(present_collection(to, get_collection(tx, collection_id), access.role))
        case ["s", space_id, "~", "changes", number, *path]:
            space = find_space_access(tx, caller.actor, Can.VIEW, space_id)
            change = find_change(tx, space_id, number) if space is not None else None
            if space is None or change is None:
                return None
            page = ContentReader(
                to, tx, seen_by(tx, space, change.state), change_view(change.number)
            ).found_at("/".join(path))
            shown = present_space(to, tx, get_space(tx, space_id), space.role)
            return SpaceAt(shown, present_change(to, tx, change), page if page is not None else UNSET)
        case ["s", space_id, *path]:
            space = find_space_access(tx, caller.actor, Can.VIEW, space_id)
            return _space(tx, to, space, "/".join(path)) if space is not None else None
        case _:
            return None


def _space(tx: Transaction, to: Recipient, space: SpaceAccess, path: str = "") -> SpaceAt:
    shown = present_space(to, tx, get_space(tx, space.space_id), space.role)
    page = ContentReader(to, tx, main_seen_by(tx, space)).found_at(path)
    return SpaceAt(shown, page=page if page is not None else UNSET)


def _in_site(
    tx: Transaction, to: Recipient, caller: SignedIn, host: str, segments: list[str]
) -> SpaceAt | None:
    name = spell_host(host)
    site = store.find_site_by_hostname(tx, name) if name else None
    proxied = store.find_site_by_proxy(tx, name, "/".join(segments)) if site is None else None
    if proxied is not None and proxied.proxy_path is not None:
        site, segments = proxied, segments[proxied.proxy_path.count("/") :]
    if site is None:
        if host != to.settings.sites_address.host or len(segments) < 2:
            return None
        organization = find_organization_by_hostname(tx, segments[0].lower())
        if organization is None:
            return None
        site = store.find_site_by_basename(tx, organization.id, segments[1].lower())
        segments = segments[2:]
    if site is None:
        return None
    shown, path = load_structure(tx, site.id).find_at(segments)
    space = find_space_access(tx, caller.actor, Can.VIEW, shown.space_id) if shown is not None else None
    return _space(tx, to, space, path) if space is not None else None
