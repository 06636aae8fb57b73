"""Find organizations, sites, collections, and spaces by ID, URL, or title."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from octavo.core.app_urls import AppAddresses
from octavo.errors import BadRequest, NotFound
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.orgs.store import get_organization
from octavo.sites.site.published import published_url
from octavo.sites.site.store import list_all_sites

Kind = Literal["organization", "site", "collection", "space"]
_SHOWN = 40


class Named(Struct, frozen=True):
    kind: Kind
    id: str
    title: str
    address: str
    short: tuple[str, ...] = ()
    """Shorter forms of the URL that can also be used to find the object."""


def find_named(
    context: Context,
    given: str,
    kinds: Sequence[Kind],
    organization_id: str | None = None,
    *,
    prefers: Kind | None = None,
) -> Named:
    """Return the object of one of these kinds with the given ID, URL, or title, optionally only within one
    organization.

    ``prefers``: the kind to choose if objects of more than one kind match. Raises NotFound if nothing matches, and
    BadRequest with a list of the objects if more than one matches.
    """
    with context.db.read() as tx:
        named = [one for kind in kinds for one in _list(tx, context, kind, organization_id)]
    exact = [one for one in named if one.id == given]
    what = " or ".join(kinds)
    found = exact or [one for one in named if _plain(given) in _names(one)]
    preferred = [one for one in found if one.kind == prefers]
    for meant in (found, preferred):
        if len(meant) == 1:
            return meant[0]
    if found:
        raise BadRequest(f"{given!r} is ambiguous. Use an ID:\n{_table(found)}")
    there = f". Choose one of these:\n{_table(named)}" if named else f", and there is no other {what}"
    raise NotFound(f"There is no {what} {given!r}{there}")


def the_organization(context: Context) -> str:
    """Return the ID of the only organization. Raises BadRequest if there is no organization, or if there is more than
    one, in which case the error lists them."""
    with context.db.read() as tx:
        named = _list(tx, context, "organization", None)
    if len(named) != 1:
        there = (
            f". Choose one of these:\n{_table(named)}"
            if named
            else ", but there is no organization yet. Start Octavo and create one first."
        )
        raise BadRequest(f"--org: is required. Choose an organization for the new space{there}")
    return named[0].id


def _list(tx: Transaction, context: Context, kind: Kind, organization_id: str | None) -> list[Named]:
    if kind == "organization":
        rows = tx.all("SELECT id, title, hostname FROM organizations ORDER BY id")
        return [Named("organization", id, title, hostname or "") for id, title, hostname in rows]
    if kind in ("space", "collection"):
        table, app = f"{kind}s", AppAddresses(context.settings.url)
        address_of = app.space if kind == "space" else app.collection
        rows = tx.all(f"SELECT id, organization_id, title FROM {table} WHERE deleted_at IS NULL ORDER BY id")
        return [
            Named(kind, id, title, address_of(id))
            for id, owner, title in rows
            if organization_id in (None, owner)
        ]
    found = []
    for site in list_all_sites(tx):
        if organization_id in (None, site.organization_id):
            organization = get_organization(tx, site.organization_id)
            below = f"{organization.hostname or organization.id}/{site.basename}"
            address = published_url(context.settings.sites_url, organization, site)
            found.append(Named("site", site.id, site.title, address, (below, site.basename)))
    return found


def _plain(text: str) -> str:
    return text.strip().rpartition("://")[2].rstrip("/").casefold()


def _names(named: Named) -> set[str]:
    return {_plain(name) for name in (named.title, named.address, *named.short) if name}


def _table(named: Sequence[Named]) -> str:
    lines = [f"  {one.kind:10}  {one.id}  {one.title}  {one.address}" for one in named[:_SHOWN]]
    if len(named) > _SHOWN:
        lines.append(f"  and {len(named) - _SHOWN} more")
    return "\n".join(lines)
