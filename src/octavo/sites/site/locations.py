"""Where a site may be: its basename below the address of its organization, a host name of its own, or a path at which a
proxy shows it. The same rules hold for what the API is given and for archives of organizations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from octavo.core.hosts import spell_host
from octavo.errors import BadRequest, Conflict
from octavo.kit.db.database import Transaction
from octavo.settings import Settings

from . import store

_HOSTNAME = re.compile(r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.]){2,}[a-z0-9][a-z0-9-]{0,61}[a-z0-9]")
_PROXY = re.compile(r"((?:[\w-]+[.])+[a-zA-Z]{2,})((?:/[\w-]+)+)", re.ASCII)
_BASENAME = re.compile(r"\w[\w.-]{0,99}")


def require_basename(given: str) -> None:
    """Raises BadRequest for what is no basename as it is kept, in lower case."""
    if not _BASENAME.fullmatch(given) or given != given.lower():
        raise BadRequest("basename: expected letters, digits and `-_.`")


def spell_hostname(settings: Settings, given: str) -> str:
    """A host name as it is kept. Raises BadRequest for what is none, and for the server's own."""
    hostname = spell_host(given)
    if not _HOSTNAME.fullmatch(hostname) or len(hostname) > 253:
        raise BadRequest("hostname: expected a host name with three parts or more, as docs.example.com")
    if _is_own(settings, hostname):
        raise BadRequest("hostname: this server itself is there")
    return hostname


def read_hostname(tx: Transaction, settings: Settings, site_id: str, given: str) -> str:
    """``spell_hostname``, of a name that is free. Raises Conflict for one that another site has."""
    hostname = spell_hostname(settings, given)
    other = store.find_site_by_hostname(tx, hostname)
    if other is not None and other.id != site_id:
        raise Conflict(f"hostname: {hostname!r} belongs to another site.")
    if store.is_proxied_at(tx, hostname, but=site_id):
        raise Conflict(f"hostname: a proxy shows another site below {hostname!r}.")
    return hostname


def spell_proxy(settings: Settings, given: str) -> tuple[str, str]:
    """Host and path of a proxy as they are kept. Raises BadRequest for what is none, and for one at the server's own."""
    name, slash, path = given.partition("/")
    found = _PROXY.fullmatch(f"{spell_host(name)}{slash}{path}")
    if found is None or len(found[1]) > 253 or len(given) > store.MAX_PROXY:
        raise BadRequest("proxy: expected a host name and a path of letters, digits, - and _")
    host, path = found.groups()
    if _is_own(settings, host):
        raise BadRequest("proxy: this server itself is there")
    return host, path


def read_proxy(
    tx: Transaction, settings: Settings, site_id: str, organization_id: str, given: str
) -> tuple[str, str]:
    """``spell_proxy``, of an address that is free. Raises Conflict for one that another site has, or that is below or
    above one of another organization."""
    host, path = spell_proxy(settings, given)
    other = store.find_site_by_hostname(tx, host)
    if other is not None and other.id != site_id:
        raise Conflict(f"proxy: {host!r} is the host name of another site, which is all that is there.")
    other = store.find_site_by_proxy(tx, host, path)
    if other is not None and other.id != site_id and other.proxy_path == path:
        raise Conflict(f"proxy: another site is at {host}{path}.")
    if store.is_proxied_near(tx, host, path, but=organization_id):
        raise Conflict(f"proxy: {host}{path} is below or above the address of somebody else's site.")
    return host, path


def require_apart(hostname: str | None, proxy_host: str | None) -> None:
    """Raises Conflict for a site that a proxy shows at its own host name."""
    if hostname is not None and hostname == proxy_host:
        raise Conflict(f"proxy: all that is at {hostname!r} is this site, by its host name.")


def check_site(tx: Transaction, settings: Settings, row: Mapping[str, Any]) -> None:
    """Raises BadRequest or Conflict unless a site of an archive may be here where its row says that it is."""
    require_basename(row["basename"])
    hostname, host, path = row.get("hostname"), row.get("proxy_host"), row.get("proxy_path")
    if hostname is not None and read_hostname(tx, settings, row["id"], hostname) != hostname:
        raise BadRequest("hostname: expected it in lower case, as DNS has it")
    if (host is None) is not (path is None):
        raise BadRequest("proxy_path: expected a host and a path, or neither")
    if host is not None and read_proxy(tx, settings, row["id"], row["organization_id"], f"{host}{path}") != (
        host,
        path,
    ):
        raise BadRequest("proxy_host: expected it in lower case, as DNS has it")
    require_apart(hostname, host)


def check_former_name(tx: Transaction, settings: Settings, row: Mapping[str, Any]) -> None:
    """Raises BadRequest for a former name in an archive that no site can have had."""
    require_basename(row["basename"])


def _is_own(settings: Settings, hostname: str) -> bool:
    """Whether the installation itself is at this host."""
    return hostname in {spell_host(settings.address.host), spell_host(settings.sites_address.host)}
