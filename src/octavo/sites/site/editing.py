"""Changing and removing sites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from octavo.errors import Conflict
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.orgs.store import forget_default_site

from . import store
from .hostnames import hostname_columns, is_proved, proxy_columns
from .locations import require_apart, require_basename, spell_hostname, spell_proxy
from .publishing import require_opening_if_published
from .structure.changing import lock, set_defaults

_AUDIENCES = {"share-link": 0, "visitor-auth": 0, "unlisted": 1, "public": 2}
"""How many people each visibility lets in; nobody knows who holds a key, and who a token."""
_PLAIN = ("title", "visibility", "agents_context")


class Proved(NamedTuple):
    """Whether the host name and the proxy that a body gives are proved to be the organization's."""

    hostname: bool = False
    proxy: bool = False


def find_proofs(context: Context, site: SiteAccess, given: Mapping[str, Any]) -> Proved:
    """Asks the network about the hostname and the proxy that are given. Raises BadRequest for what is no address."""
    organization_id, hostname, proxy = site.organization_id, False, False
    if given.get("hostname") is not None:
        name = spell_hostname(context.settings, given["hostname"])
        hostname = is_proved(context, organization_id, name, leading_here=True)
    if given.get("proxy") is not None:
        host, _ = spell_proxy(context.settings, given["proxy"])
        proxy = is_proved(context, organization_id, host, leading_here=False)
    return Proved(hostname, proxy)


def update_site(
    tx: Transaction, context: Context, site: SiteAccess, given: Mapping[str, Any], proved: Proved
) -> None:
    """Sets what is given, by the names of ``UpdateSite``. Raises BadRequest, Conflict for a basename that is taken, NotFound for a default that
    is not in the site, Forbidden where it would show spaces to more people that the caller may not publish."""
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
    # Visitors are sent there with the tokens that let them in.
    elsewhere = any(given.get(name) is not None for name in ("hostname", "proxy"))
    if widens or elsewhere:
        require_opening_if_published(tx, site)
    if "hostname" in given:
        values |= hostname_columns(tx, context.settings, before, given["hostname"], proved.hostname)
        settings = replace(settings, hostname_status=None)
    if "proxy" in given:
        values |= proxy_columns(tx, context.settings, before, given["proxy"], proved.proxy)
    require_apart(values.get("hostname", before.hostname), values.get("proxy_host", before.proxy_host))
    if settings != before.settings:
        values["settings"] = settings
    if values:
        store.update_site(tx, site.site_id, **values)
    section, site_space = given.get("default_site_section"), given.get("default_site_space")
    if section is not None or site_space is not None:
        set_defaults(tx, site, section, site_space)
    _note(tx, site, before, values)


def _rename(tx: Transaction, site: SiteAccess, old: str, new: str) -> None:
    require_basename(new)
    if store.find_site_by_basename(tx, site.organization_id, new) is not None:
        raise Conflict(f"basename: another site of the organization has the basename {new!r}.")
    store.remove_former_name(tx, site.organization_id, new)
    store.put_former_name(tx, site.organization_id, old, site.site_id)


def _note(tx: Transaction, site: SiteAccess, before: store.SiteRow, values: dict[str, Any]) -> None:
    changed = {name: value for name, value in values.items() if getattr(before, name) != value}
    if changed:
        was = {name: getattr(before, name) for name in changed}
        target = ("site", site.site_id)
        audit(tx, site.actor, "site.updated", site.organization_id, target, before=was, after=changed)


def delete_site(tx: Transaction, site: SiteAccess) -> bool:
    """Removes a site; True, since whoever has it in hand found it there."""
    title = store.get_site(tx, site.site_id).title
    store.delete_site(tx, site.site_id)
    forget_default_site(tx, site.organization_id, site.site_id)
    audit(
        tx, site.actor, "site.removed", site.organization_id, ("site", site.site_id), before={"title": title}
    )
    return True
