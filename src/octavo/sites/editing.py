"""Changing and removing sites."""

from __future__ import annotations

import re
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from ..access import SiteAccess, audit
from ..core.hosts import spell_host
from ..errors import BadRequest, Conflict
from ..kit.db import Transaction
from ..kit.operation import Call
from . import store
from .hostnames import is_own
from .publishing import require_opening_if_published
from .structure.changing import lock, set_defaults
from .wire import UpdateSite

_HOSTNAME = re.compile(r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.]){2,}[a-z0-9][a-z0-9-]{0,61}[a-z0-9]")
_PROXY = re.compile(r"((?:[\w-]+[.])+[a-zA-Z]{2,})((?:/[\w-]+)+)", re.ASCII)
_BASENAME = re.compile(r"\w[\w.-]*")
_AUDIENCES = {"share-link": 0, "visitor-auth": 0, "unlisted": 1, "public": 2}
"""How many people each visibility lets in; nobody knows who holds a key, and who a token."""
_PLAIN = ("title", "visibility", "agents_context")


def update_site(tx: Transaction, call: Call, site: SiteAccess, body: UpdateSite) -> None:
    """Sets what a body gives. Raises BadRequest, Conflict for a basename that is taken, NotFound for a default that
    is not in the site, Forbidden where it would show spaces to more people that the caller may not publish."""
    lock(tx, site.site_id)
    before = store.get_site(tx, site.site_id)
    values: dict[str, Any] = {name: given for name in _PLAIN if (given := getattr(body, name)) is not UNSET}
    if body.basename is not UNSET and body.basename.lower() != before.basename:
        values["basename"] = body.basename.lower()
        _rename(tx, site, before.basename, values["basename"])
    settings = before.settings
    widens = body.visibility not in (UNSET, before.visibility) and (
        _AUDIENCES[body.visibility] >= _AUDIENCES[before.visibility]
    )
    if body.adaptive_content is not UNSET:
        settings = replace(settings, adaptive=body.adaptive_content.enabled)
        widens = widens or settings.adaptive != before.settings.adaptive
    if widens:
        require_opening_if_published(tx, site)
    if body.hostname is not UNSET:
        values["hostname"] = _hostname(tx, call, before, body.hostname)
        settings = replace(settings, hostname_status=None)
    if body.proxy is not UNSET:
        values["proxy_host"], values["proxy_path"] = _proxy(tx, call, before, body.proxy)
    hostname = values.get("hostname", before.hostname)
    if hostname is not None and hostname == values.get("proxy_host", before.proxy_host):
        raise Conflict(f"proxy: all that is at {hostname!r} is this site, by its host name.")
    if settings != before.settings:
        values["settings"] = settings
    if values:
        store.update_site(tx, site.site_id, **values)
    section = body.default_site_section if body.default_site_section is not UNSET else None
    site_space = body.default_site_space if body.default_site_space is not UNSET else None
    if section is not None or site_space is not None:
        set_defaults(tx, site, section, site_space)
    _note(tx, call, site, before, values)


def _rename(tx: Transaction, site: SiteAccess, old: str, new: str) -> None:
    if not _BASENAME.fullmatch(new):
        raise BadRequest("basename: expected letters, digits and `-_.`")
    if store.find_site_by_basename(tx, site.organization_id, new) is not None:
        raise Conflict(f"basename: another site of the organization has the basename {new!r}.")
    store.remove_former_name(tx, site.organization_id, new)
    store.put_former_name(tx, site.organization_id, old, site.site_id)


def _hostname(tx: Transaction, call: Call, before: store.SiteRow, given: str | None) -> str | None:
    """A host name as it is kept. Raises Conflict for one that another site has, BadRequest for the server's own."""
    if given is None:
        return None
    hostname = spell_host(given)
    if not _HOSTNAME.fullmatch(hostname) or len(hostname) > 253:
        raise BadRequest("hostname: expected a host name with three parts or more, as docs.example.com")
    if is_own(call.settings, hostname):
        raise BadRequest("hostname: this server itself is there")
    other = store.find_site_by_hostname(tx, hostname)
    if other is not None and other.id != before.id:
        raise Conflict(f"hostname: {hostname!r} belongs to another site.")
    if store.is_proxied_at(tx, hostname, but=before.id):
        raise Conflict(f"hostname: a proxy shows another site below {hostname!r}.")
    return hostname


def _proxy(
    tx: Transaction, call: Call, before: store.SiteRow, given: str | None
) -> tuple[str | None, str | None]:
    """Host and path of a proxy as they are kept. Raises Conflict for an address that another site has, BadRequest for
    one at the server's own."""
    if given is None:
        return None, None
    name, slash, path = given.partition("/")
    found = _PROXY.fullmatch(f"{spell_host(name)}{slash}{path}")
    if found is None or len(found[1]) > 253:
        raise BadRequest("proxy: expected a host name and a path of letters, digits, - and _")
    host, path = found.groups()
    if is_own(call.settings, host):
        raise BadRequest("proxy: this server itself is there")
    other = store.find_site_by_hostname(tx, host)
    if other is not None and other.id != before.id:
        raise Conflict(f"proxy: {host!r} is the host name of another site, which is all that is there.")
    other = store.find_site_by_proxy(tx, host, path)
    if other is not None and other.id != before.id and other.proxy_path == path:
        raise Conflict(f"proxy: another site is at {host}{path}.")
    return host, path


def _note(
    tx: Transaction, call: Call, site: SiteAccess, before: store.SiteRow, values: dict[str, Any]
) -> None:
    changed = {name: value for name, value in values.items() if getattr(before, name) != value}
    if changed:
        was = {name: getattr(before, name) for name in changed}
        target = ("site", site.site_id)
        audit(tx, call, "site.updated", site.organization_id, target, before=was, after=changed)


def delete_site(tx: Transaction, call: Call, site: SiteAccess) -> bool:
    """Removes a site; True, since whoever has it in hand found it there."""
    title = store.get_site(tx, site.site_id).title
    store.delete_site(tx, site.site_id)
    audit(tx, call, "site.removed", site.organization_id, ("site", site.site_id), before={"title": title})
    return True
