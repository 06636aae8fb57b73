"""Update and delete sites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from octavo.errors import BadRequest, Conflict
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess, find_space_access
from octavo.organization.access.rights.authorization import ObjectAccess
from octavo.organization.access.rights.granting import guard_default_level
from octavo.organization.access.rights.store import delete_grants
from octavo.organization.access.roles import Can
from octavo.organization.orgs.store import forget_default_site
from octavo.organization.spaces.store import get_space

from . import store
from .hostnames import hostname_columns, is_verified, proxy_columns
from .locations import normalize_hostname, normalize_proxy, require_apart, require_basename
from .publishing import require_publish_permission_if_published
from .structure.changing import lock, set_defaults
from .types import SiteStyleguide

_AUDIENCES = {"share-link": 0, "visitor-auth": 0, "unlisted": 1, "public": 2}
"""Visibilities, ranked by the size of the audience. Share links and visitor authentication have the same rank,
because their audiences can't be compared."""
_PLAIN = ("title", "visibility", "agents_context")


class VerifiedLocations(NamedTuple):
    """Result of verifying that the requested hostname and proxy belong to the organization."""

    hostname: bool = False
    proxy: bool = False


def verify_locations(context: Context, site: SiteAccess, given: Mapping[str, Any]) -> VerifiedLocations:
    """Check on the network whether the requested hostname and proxy are verified. Raises BadRequest if a
    value is invalid."""
    organization_id, hostname, proxy = site.organization_id, False, False
    if given.get("hostname") is not None:
        name = normalize_hostname(context.settings, given["hostname"])
        hostname = is_verified(context, organization_id, name, points_here=True)
    if given.get("proxy") is not None:
        host, _ = normalize_proxy(context.settings, given["proxy"])
        proxy = is_verified(context, organization_id, host, points_here=False)
    return VerifiedLocations(hostname, proxy)


def update_site(
    tx: Transaction, context: Context, site: SiteAccess, given: Mapping[str, Any], proved: VerifiedLocations
) -> None:
    """Update the given fields, named as in ``UpdateSite``. Raises BadRequest if a value is invalid, Conflict if
    the basename is in use, NotFound if the default section or site space isn't on the site, and Forbidden if more
    people would see spaces that the caller can't publish, or if the default level is above the caller's own role."""
    lock(tx, site.site_id)
    before = store.get_site(tx, site.site_id)
    values = {name: given[name] for name in _PLAIN if name in given}
    basename = given.get("basename", before.basename).lower()
    if basename != before.basename:
        values["basename"] = basename
        _rename(tx, site, before.basename, basename)
    settings = before.settings
    visibility = given.get("visibility", before.visibility)
    widens = visibility != before.visibility and _AUDIENCES[visibility] >= _AUDIENCES[before.visibility]
    if "adaptive_content" in given:
        settings = replace(settings, adaptive=given["adaptive_content"].enabled)
        widens = widens or settings.adaptive != before.settings.adaptive
    # Visitors are redirected to this URL with the tokens that grant them access.
    elsewhere = any(given.get(name) is not None for name in ("hostname", "proxy"))
    if widens or elsewhere:
        require_publish_permission_if_published(tx, site)
    if "hostname" in given:
        values |= hostname_columns(tx, context.settings, before, given["hostname"], proved.hostname)
        settings = replace(settings, hostname_status=None)
    if "proxy" in given:
        values |= proxy_columns(tx, context.settings, before, given["proxy"], proved.proxy)
    require_apart(values.get("hostname", before.hostname), values.get("proxy_host", before.proxy_host))
    if settings != before.settings:
        values["settings"] = settings
    if "default_level" in given:
        values["default_level"] = given["default_level"]
    if "styleguide" in given:
        values["styleguide_id"] = _find_styleguide(tx, site, given["styleguide"])
    if values:
        with guard_default_level(tx, ObjectAccess.of(site), values):
            store.update_site(tx, site.site_id, **values)
    section, site_space = given.get("default_site_section"), given.get("default_site_space")
    if section is not None or site_space is not None:
        set_defaults(tx, site, section, site_space)
    _note(tx, site, before, values)


def _find_styleguide(tx: Transaction, site: SiteAccess, styleguide: SiteStyleguide | None) -> str | None:
    """Return the ID of the space that becomes the style guide. Raises BadRequest if the space isn't a style
    guide."""
    if styleguide is None:
        return None
    access = find_space_access(tx, site.actor, Can.VIEW, styleguide.space)
    if access is None or access.organization_id != site.organization_id:
        raise BadRequest("styleguide.space: must be a space in this organization")
    if get_space(tx, styleguide.space).type != "styleguide":
        raise BadRequest("styleguide.space: must be a style guide")
    return styleguide.space


def _rename(tx: Transaction, site: SiteAccess, old: str, new: str) -> None:
    require_basename(new)
    if store.find_site_by_basename(tx, site.organization_id, new) is not None:
        raise Conflict(
            f"basename: {new!r} is already used by another site in the organization. Choose another one."
        )
    store.remove_former_name(tx, site.organization_id, new)
    store.put_former_name(tx, site.organization_id, old, site.site_id)


def _note(tx: Transaction, site: SiteAccess, before: store.SiteRow, values: Mapping[str, object]) -> None:
    changed = {name: value for name, value in values.items() if getattr(before, name) != value}
    if changed:
        was = {name: getattr(before, name) for name in changed}
        target = ("site", site.site_id)
        audit(tx, site.actor, "site.updated", site.organization_id, target, before=was, after=changed)


def delete_site(tx: Transaction, site: SiteAccess) -> bool:
    """Delete a site. Always returns True, because the caller has just loaded the site."""
    title = store.get_site(tx, site.site_id).title
    store.delete_site(tx, site.site_id)
    delete_grants(tx, "site", [site.site_id])
    forget_default_site(tx, site.organization_id, site.site_id)
    audit(
        tx, site.actor, "site.removed", site.organization_id, ("site", site.site_id), before={"title": title}
    )
    return True
