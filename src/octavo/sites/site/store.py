"""Read and write sites in the database. Rows are returned as frozen records."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import msgspec
from msgspec import Struct

from octavo.errors import require_found
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Row, Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.organization.access.accounts import like_part
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.roles import SITE, Can, Level, role_from_height, role_height
from octavo.organization.access.visibility import Viewer, select_visible_sites

MAX_PROXY = 512
"""Maximum number of characters in a proxy's host and path together."""


class VisitorAuthSettings(Struct, frozen=True, omit_defaults=True):
    """Sign-in settings for site visitors. ``login_url``: the URL that visitors are redirected to.
    ``key_version``: the version of the key that signs their tokens; see ``audiences.visitor_auth``.
    ``by_integration``: whether an integration on the site takes precedence over the URL. ``logout_url``: the
    URL that visitors are redirected to after signing out."""

    login_url: str | None = None
    key_version: str = ""
    by_integration: bool = False
    logout_url: str | None = None

    @property
    def takes_others(self) -> bool:
        """Return whether visitors can sign in through an integration."""
        return self.by_integration or self.login_url is None


class SiteSettings(Struct, frozen=True, omit_defaults=True):
    """Rarely queried settings, stored as JSON in ``sites.settings``. ``ads``: the ad settings, which have no
    effect."""

    adaptive: bool = False
    visitor_auth: VisitorAuthSettings = VisitorAuthSettings()
    ads: dict[str, Any] | None = None
    hostname_status: str | None = None


class SiteRow(Struct, frozen=True):
    """Site with its settings. ``claimed_hostname`` and ``claimed_proxy``: requested locations that aren't verified yet,
    so they don't serve the site."""

    id: str
    organization_id: str
    type: str
    title: str
    basename: str
    hostname: str | None
    claimed_hostname: str | None
    proxy_host: str | None
    proxy_path: str | None
    claimed_proxy: str | None
    visibility: str
    published: int
    agents_context: str
    default_level: Level
    settings: SiteSettings
    created_at: int
    updated_at: int
    customization: str | None
    styleguide_id: str | None
    last_scan_at: int | None
    site_spaces: int

    @property
    def proxy(self) -> str | None:
        """Return the host and path where the owner's proxy shows the site, without a trailing slash."""
        return f"{self.proxy_host}{self.proxy_path}" if self.proxy_host else None


_SITE = (
    ", ".join(f"t.{name}" for name in SiteRow.__struct_fields__[:-1])
    + """, (SELECT count(*) FROM site_spaces x JOIN spaces s ON s.id = x.space_id AND s.deleted_at IS NULL
            WHERE x.site_id = t.id)"""
)


_SETTINGS = SiteRow.__struct_fields__.index("settings")
_decoder = msgspec.json.Decoder(SiteSettings)


def _site(row: Row) -> SiteRow:
    values = list(row)
    values[_SETTINGS] = _decoder.decode(values[_SETTINGS])
    return SiteRow(*values)


def get_site(tx: Transaction, site_id: str) -> SiteRow:
    return require_found(find_site(tx, site_id), f"There is no site with the ID {site_id!r}.")


def find_site(tx: Transaction, site_id: str) -> SiteRow | None:
    row = tx.one(f"SELECT {_SITE} FROM sites t WHERE t.id = :id", id=site_id)
    return _site(row) if row else None


def list_sites_of_space(tx: Transaction, space_id: str) -> list[SiteRow]:
    """List all sites that show a space."""
    rows = tx.all(
        f"SELECT {_SITE} FROM sites t WHERE t.id IN (SELECT x.site_id FROM site_spaces x WHERE x.space_id = :space)",
        space=space_id,
    )
    return [_site(row) for row in rows]


def list_sites_of_organization(tx: Transaction, organization_id: str) -> list[SiteRow]:
    """List all sites of an organization, whether published or not."""
    rows = tx.all(
        f"SELECT {_SITE} FROM sites t WHERE t.organization_id = :org ORDER BY t.id", org=organization_id
    )
    return [_site(row) for row in rows]


def list_published_sites(tx: Transaction, organization_id: str) -> list[SiteRow]:
    """List all published sites of an organization."""
    rows = tx.all(
        f"SELECT {_SITE} FROM sites t WHERE t.organization_id = :org AND t.published = 1 ORDER BY t.id",
        org=organization_id,
    )
    return [_site(row) for row in rows]


def list_public_sites(tx: Transaction, limit: int, page: str | None) -> Slice[SiteRow]:
    """List all of the server's sites that are published for everyone, including search engines, newest
    first."""
    public = "t.published = 1 AND t.visibility = 'public'"
    return list_page(
        tx, limit, page, _SITE, f"FROM sites t WHERE {public}", _site, by="t.id", descending=True
    )


def find_site_by_basename(tx: Transaction, organization_id: str, basename: str) -> SiteRow | None:
    row = tx.one(
        f"SELECT {_SITE} FROM sites t WHERE t.organization_id = :org AND t.basename = :basename",
        org=organization_id,
        basename=basename,
    )
    return _site(row) if row else None


def find_site_by_hostname(tx: Transaction, hostname: str) -> SiteRow | None:
    row = tx.one(f"SELECT {_SITE} FROM sites t WHERE t.hostname = :hostname", hostname=hostname)
    return _site(row) if row else None


def find_site_by_proxy(tx: Transaction, host: str, path: str) -> SiteRow | None:
    """Return the site that a proxy shows at this location or at its nearest parent. ``path``: the decoded
    path."""
    parts = path.strip("/").split("/")
    above = list(accumulate(parts, lambda whole, part: f"{whole}/{part}"))[:MAX_PROXY]
    row = tx.one(
        f"""SELECT {_SITE} FROM sites t WHERE t.proxy_host = :host AND t.proxy_path IN :paths
            ORDER BY length(t.proxy_path) DESC LIMIT 1""",
        host=host,
        paths=[f"/{one}" for one in above if len(one) < MAX_PROXY],
    )
    return _site(row) if row else None


def is_proxied_at(tx: Transaction, host: str, *, but: str) -> bool:
    """Return whether a proxy shows a site at this host. ``but``: the site to ignore."""
    found = tx.value(
        "SELECT 1 FROM sites WHERE proxy_host = :host AND id <> :but LIMIT 1", host=host, but=but
    )
    return found is not None


def is_proxied_near(tx: Transaction, host: str, path: str, *, but: str) -> bool:
    """Return whether an organization other than ``but`` has a proxied site on this host at this path, a parent
    path, or a child path."""
    rows = tx.all(
        "SELECT proxy_path FROM sites WHERE proxy_host = :host AND organization_id <> :but",
        host=host,
        but=but,
    )
    return any(f"{path}/".startswith(f"{one}/") or f"{one}/".startswith(f"{path}/") for (one,) in rows)


def list_claiming(tx: Transaction, hostname: str) -> list[SiteRow]:
    """List the sites that claim a hostname, oldest first."""
    rows = tx.all(
        f"SELECT {_SITE} FROM sites t WHERE t.claimed_hostname = :hostname ORDER BY t.id", hostname=hostname
    )
    return [_site(row) for row in rows]


def list_all_sites(tx: Transaction) -> list[SiteRow]:
    """List all sites of the server, oldest first."""
    return [_site(row) for row in tx.all(f"SELECT {_SITE} FROM sites t ORDER BY t.id")]


def find_site_by_docs_source(tx: Transaction, organization_id: str, source: str) -> str | None:
    """Return the ID of the organization's site that was last created or updated from this source."""
    found = tx.value(
        "SELECT id FROM sites WHERE organization_id = :org AND docs_source = :source",
        org=organization_id,
        source=source,
    )
    return None if found is None else str(found)


def set_docs_source(tx: Transaction, site: SiteRow, source: str) -> None:
    """Record the source of a site, and remove that source from the organization's other sites."""
    if find_site_by_docs_source(tx, site.organization_id, source) != site.id:
        names = {"org": site.organization_id, "source": source}
        tx.run(
            "UPDATE sites SET docs_source = NULL WHERE organization_id = :org AND docs_source = :source",
            **names,
        )
        tx.run("UPDATE sites SET docs_source = :source WHERE id = :site", source=source, site=site.id)


def list_sites(
    tx: Transaction,
    org: Viewer,
    limit: int,
    page: str | None,
    *,
    space: str | None = None,
    title: str | None = None,
    published: bool | None = None,
    types: list[str] | None = None,
) -> Slice[tuple[SiteRow, str | None]]:
    """List an organization's sites that the viewer can see, newest first, each with the viewer's role. ``title``:
    part of the title, ignoring case."""
    where, given = ["TRUE"], dict[str, Any]()
    if space is not None:
        where.append("EXISTS (SELECT 1 FROM site_spaces x WHERE x.site_id = t.id AND x.space_id = :space)")
        given["space"] = space
    if title:
        where.append("lower(t.title) LIKE :title ESCAPE '!'")
        given["title"] = like_part(title)
    if published is not None:
        where.append("t.published = :published")
        given["published"] = int(published)
    if types:
        where.append("t.type IN :types")
        given["types"] = types
    seen = select_visible_sites(org, " AND ".join(where), **given)
    return list_page(
        tx,
        limit,
        page,
        f"{seen.height}, {_SITE}",
        f"FROM {seen.source} WHERE {seen.where}",
        lambda row: (_site(row[1:]), role_from_height(row[0])),
        by="t.id",
        descending=True,
        before=seen.prefix,
        **seen.parameters,
    )


def list_sites_by_id(tx: Transaction, site_ids: list[str], limit: int, page: str | None) -> Slice[SiteRow]:
    """List the sites with these IDs, oldest first."""
    return list_page(
        tx, limit, page, _SITE, "FROM sites t WHERE t.id IN :ids", _site, by="t.id", ids=site_ids
    )


def list_managed_with_ads(tx: Transaction, org: OrgAccess, status: str) -> list[str]:
    """List an organization's sites that have this ad status and that the caller manages."""
    seen = select_visible_sites(org, "t.ads_status = :status AND t.ads_status IS NOT NULL", status=status)
    least = role_height(SITE[Can.ADMIN])
    rows = tx.all(
        f"{seen.prefix} SELECT v.id FROM {seen.visible} v WHERE v.height >= :least",
        least=least,
        **seen.parameters,
    )
    return [row[0] for row in rows]


def insert_site(
    tx: Transaction, *, organization_id: str, type: str, title: str, basename: str, visibility: str
) -> str:
    site_id, moment = ids.new_id(), now()
    tx.insert(
        "sites",
        id=site_id,
        organization_id=organization_id,
        type=type,
        title=title,
        basename=basename,
        visibility=visibility,
        created_at=moment,
        updated_at=moment,
    )
    return site_id


def set_last_scan(tx: Transaction, site_id: str, moment: int) -> None:
    """Record the end of the last completed scan of a site, in milliseconds."""
    tx.run("UPDATE sites SET last_scan_at = :at WHERE id = :id", id=site_id, at=moment)


def set_published(tx: Transaction, site_id: str, published: bool) -> None:
    tx.run(
        "UPDATE sites SET published = :published, updated_at = :at WHERE id = :id",
        published=int(published),
        at=now(),
        id=site_id,
    )


def find_site_of_space(tx: Transaction, space_id: str) -> str | None:
    """Return the ID of the oldest site that shows a space."""
    found = tx.value("SELECT min(site_id) FROM site_spaces WHERE space_id = :space", space=space_id)
    return None if found is None else str(found)


def update_site(tx: Transaction, site_id: str, **values: Any) -> None:
    """Update columns of a site. ``settings``: the settings, not yet encoded as JSON."""
    if "settings" in values:
        values["ads_status"] = (values["settings"].ads or {}).get("status")
        values["settings"] = msgspec.json.encode(values["settings"]).decode()
    if "hostname" in values:
        _record_former_hostname(tx, site_id)
        tx.run("DELETE FROM site_former_hostnames WHERE hostname = :name", name=values["hostname"])
    columns = ", ".join(f"{name} = :{name}" for name in values)
    tx.run(f"UPDATE sites SET {columns}, updated_at = :at WHERE id = :site", at=now(), site=site_id, **values)


def _record_former_hostname(tx: Transaction, site_id: str) -> None:
    tx.run(
        """INSERT INTO site_former_hostnames (hostname, organization_id, given_up_at)
           SELECT hostname, organization_id, :at FROM sites WHERE id = :site AND hostname IS NOT NULL
           ON CONFLICT (hostname) DO UPDATE SET organization_id = excluded.organization_id,
                                                given_up_at = excluded.given_up_at""",
        at=now(),
        site=site_id,
    )


def list_hosts(tx: Transaction, organization_id: str) -> list[str]:
    """Return the hostnames that the sites of an organization have or had, including the hostnames of proxies."""
    rows = tx.all(
        """SELECT hostname FROM sites WHERE organization_id = :org AND hostname IS NOT NULL
           UNION SELECT proxy_host FROM sites WHERE organization_id = :org AND proxy_host IS NOT NULL
           UNION SELECT hostname FROM site_former_hostnames WHERE organization_id = :org""",
        org=organization_id,
    )
    return [row[0].partition(":")[0] for row in rows]


def is_given_up(tx: Transaction, hostname: str) -> bool:
    """Return whether this hostname belonged to a site and no longer belongs to any site. Its DNS record may still
    point to this server."""
    row = tx.one(
        """SELECT 1 FROM site_former_hostnames f WHERE f.hostname = :name
             AND NOT EXISTS (SELECT 1 FROM sites s WHERE s.proxy_host = f.hostname)""",
        name=hostname,
    )
    return row is not None


def is_former_hostname(tx: Transaction, hostname: str, *, but: str) -> bool:
    """Return whether another organization's site was the last to have this hostname."""
    row = tx.one(
        "SELECT 1 FROM site_former_hostnames WHERE hostname = :name AND organization_id <> :org",
        name=hostname,
        org=but,
    )
    return row is not None


def find_version(tx: Transaction, site_id: str) -> int | None:
    """Return a number that changes whenever data that site visitors can see changes, not counting the content of
    spaces."""
    found: int | None = tx.value("SELECT version FROM site_versions WHERE site_id = :site", site=site_id)
    return found


def touch_site(tx: Transaction, site_id: str) -> None:
    tx.run("UPDATE sites SET updated_at = :at WHERE id = :site", at=now(), site=site_id)


def delete_site(tx: Transaction, site_id: str) -> None:
    """Delete a site and all of its data. The content of its spaces is kept."""
    _record_former_hostname(tx, site_id)
    tx.run("DELETE FROM sites WHERE id = :site", site=site_id)


def put_former_name(tx: Transaction, organization_id: str, basename: str, site_id: str) -> None:
    """Record the former basename of a site."""
    tx.run(
        """INSERT INTO site_former_names (organization_id, basename, site_id, created_at)
           VALUES (:org, :basename, :site, :at)
           ON CONFLICT (organization_id, basename) DO UPDATE SET site_id = :site, created_at = :at""",
        org=organization_id,
        basename=basename,
        site=site_id,
        at=now(),
    )


def remove_former_name(tx: Transaction, organization_id: str, basename: str) -> None:
    tx.run(
        "DELETE FROM site_former_names WHERE organization_id = :org AND basename = :basename",
        org=organization_id,
        basename=basename,
    )


def find_site_by_former_name(tx: Transaction, organization_id: str, basename: str) -> SiteRow | None:
    row = tx.one(
        f"""SELECT {_SITE} FROM site_former_names f JOIN sites t ON t.id = f.site_id
            WHERE f.organization_id = :org AND f.basename = :basename""",
        org=organization_id,
        basename=basename,
    )
    return _site(row) if row else None


def touch_sites(tx: Transaction, organization_id: str) -> None:
    """Invalidate cached data of an organization's sites."""
    tx.run(
        "UPDATE site_versions SET version = version + 1"
        " WHERE site_id IN (SELECT id FROM sites WHERE organization_id = :org)",
        org=organization_id,
    )
