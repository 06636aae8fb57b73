"""Locations of sites: a basename under the organization's URL, a custom domain, or a path where a proxy shows
the site. The same rules apply to API requests and to archives of organizations."""

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
    """Raise BadRequest if a basename is invalid or isn't in lowercase."""
    if not _BASENAME.fullmatch(given) or given != given.lower():
        raise BadRequest("basename: must contain only lowercase letters, digits, and `-_.`")


def normalize_hostname(settings: Settings, given: str) -> str:
    """Return a normalized hostname. Raises BadRequest if the hostname is invalid or is the server's own."""
    hostname = spell_host(given)
    if not _HOSTNAME.fullmatch(hostname) or len(hostname) > 253:
        raise BadRequest("hostname: must be a hostname with at least three parts, such as docs.example.com")
    if _is_own(settings, hostname):
        raise BadRequest("hostname: must not be the Octavo server's hostname. Choose another hostname.")
    return hostname


def read_hostname(tx: Transaction, settings: Settings, site_id: str, given: str) -> str:
    """Return the result of ``normalize_hostname`` if the hostname is available. Raises Conflict if another site has
    it."""
    hostname = normalize_hostname(settings, given)
    other = store.find_site_by_hostname(tx, hostname)
    if other is not None and other.id != site_id:
        raise Conflict(f"hostname: {hostname!r} is already used by another site. Choose another one.")
    if store.is_proxied_at(tx, hostname, but=site_id):
        raise Conflict(
            f"hostname: {hostname!r} is already used by a proxy for another site. Choose another one."
        )
    return hostname


def normalize_proxy(settings: Settings, given: str) -> tuple[str, str]:
    """Return the normalized host and path of a proxy. Raises BadRequest if a value is invalid or the host
    is the server's own."""
    name, slash, path = given.partition("/")
    found = _PROXY.fullmatch(f"{spell_host(name)}{slash}{path}")
    if found is None or len(found[1]) > 253 or len(given) > store.MAX_PROXY:
        raise BadRequest(
            "proxy: must be a hostname and a path of letters, digits, `-`, and `_`, such as example.com/docs"
        )
    host, path = found.groups()
    if _is_own(settings, host):
        raise BadRequest("proxy: must not use the Octavo server's hostname. Choose another hostname.")
    return host, path


def read_proxy(
    tx: Transaction, settings: Settings, site_id: str, organization_id: str, given: str
) -> tuple[str, str]:
    """Return the result of ``normalize_proxy`` if the location is available. Raises Conflict if another site
    has it, or if another organization's site is at a parent or child of this path."""
    host, path = normalize_proxy(settings, given)
    other = store.find_site_by_hostname(tx, host)
    if other is not None and other.id != site_id:
        raise Conflict(
            f"proxy: {host!r} is already the custom domain of another site. Choose another hostname."
        )
    other = store.find_site_by_proxy(tx, host, path)
    if other is not None and other.id != site_id and other.proxy_path == path:
        raise Conflict(f"proxy: {host}{path} is already used by another site. Choose another path.")
    if store.is_proxied_near(tx, host, path, but=organization_id):
        raise Conflict(
            f"proxy: {host}{path} overlaps with the path of another organization's site. Choose another path."
        )
    return host, path


def require_apart(hostname: str | None, proxy_host: str | None) -> None:
    """Raise Conflict if a site's proxy uses the site's own hostname."""
    if hostname is not None and hostname == proxy_host:
        raise Conflict(
            f"proxy: {hostname!r} is already the custom domain of this site. Choose another hostname."
        )


def check_site(tx: Transaction, settings: Settings, row: Mapping[str, Any]) -> None:
    """Raise BadRequest or Conflict if a site from an archive can't use the hostname or path in its row."""
    require_basename(row["basename"])
    hostname, host, path = row.get("hostname"), row.get("proxy_host"), row.get("proxy_path")
    if hostname is not None and read_hostname(tx, settings, row["id"], hostname) != hostname:
        raise BadRequest("hostname: must be in lowercase")
    if (host is None) is not (path is None):
        raise BadRequest("proxy_path: must be set if `proxy_host` is set, and null otherwise")
    if host is not None and read_proxy(tx, settings, row["id"], row["organization_id"], f"{host}{path}") != (
        host,
        path,
    ):
        raise BadRequest("proxy_host: must be in lowercase")
    require_apart(hostname, host)


def check_former_name(tx: Transaction, settings: Settings, row: Mapping[str, Any]) -> None:
    """Raise BadRequest if an archive contains a former name that a site can't have."""
    require_basename(row["basename"])


def _is_own(settings: Settings, hostname: str) -> bool:
    """Return whether Octavo itself runs at this host."""
    return hostname in {spell_host(settings.address.host), spell_host(settings.sites_address.host)}
