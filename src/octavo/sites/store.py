"""Sites and the spaces they show."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ..core.pages import rank_between
from ..errors import NotFound
from ..kit import ids
from ..kit.clock import now
from ..kit.db import Transaction
from ..kit.pagination import Slice, decode_token, slice_rows


class SiteRow(Struct, frozen=True):
    id: str
    organization_id: str
    type: str
    title: str
    basename: str
    hostname: str | None
    visibility: str
    published: int
    agents_context: str
    settings: str
    created_at: int
    updated_at: int
    site_spaces: int


_SITE = (
    ", ".join(f"t.{name}" for name in SiteRow.__struct_fields__[:-1])
    + """, (SELECT count(*) FROM site_spaces x JOIN spaces s ON s.id = x.space_id AND s.deleted_at IS NULL
            WHERE x.site_id = t.id)"""
)


class SiteSpaceRow(Struct, frozen=True):
    id: str
    site_id: str
    space_id: str
    section_id: str | None
    rank: str
    path: str
    is_default: int
    condition: str | None
    created_at: int


_SITE_SPACE = ", ".join(f"x.{name}" for name in SiteSpaceRow.__struct_fields__)


def get_site(tx: Transaction, site_id: str) -> SiteRow:
    row = tx.one(f"SELECT {_SITE} FROM sites t WHERE t.id = :id", id=site_id)
    if row is None:
        raise NotFound(f"There is no site {site_id!r}.")
    return SiteRow(*row)


def find_site_by_basename(tx: Transaction, organization_id: str, basename: str) -> SiteRow | None:
    row = tx.one(
        f"SELECT {_SITE} FROM sites t WHERE t.organization_id = :org AND t.basename = :basename",
        org=organization_id,
        basename=basename,
    )
    return SiteRow(*row) if row else None


def find_site_by_hostname(tx: Transaction, hostname: str) -> SiteRow | None:
    row = tx.one(f"SELECT {_SITE} FROM sites t WHERE t.hostname = :hostname", hostname=hostname)
    return SiteRow(*row) if row else None


def list_sites(
    tx: Transaction,
    organization_id: str,
    limit: int,
    page: str | None,
    *,
    space: str | None = None,
    title: str | None = None,
    published: bool | None = None,
    types: list[str] | None = None,
) -> Slice[SiteRow]:
    """Sites of an organization, newest first; ``title`` matches any part, whatever the case."""
    after = decode_token(page, str)
    where, parameters = ["t.organization_id = :org"], {"org": organization_id}
    given: dict[str, Any] = {}
    if space is not None:
        where.append("EXISTS (SELECT 1 FROM site_spaces x WHERE x.site_id = t.id AND x.space_id = :space)")
        given["space"] = space
    if title:
        where.append("lower(t.title) LIKE :title ESCAPE '!'")
        escaped = title.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_")
        given["title"] = f"%{escaped}%"
    if published is not None:
        where.append("t.published = :published")
        given["published"] = int(published)
    if types:
        where.append("t.type IN :types")
        given["types"] = types
    condition = " AND ".join(where)
    rows = tx.all(
        f"SELECT {_SITE} FROM sites t WHERE {condition} AND t.id < :after ORDER BY t.id DESC LIMIT :limit",
        after=after[0] if after else "~",
        limit=limit + 1,
        **parameters,
        **given,
    )
    count = tx.value(f"SELECT count(*) FROM sites t WHERE {condition}", **parameters, **given)
    return slice_rows([SiteRow(*row) for row in rows], limit, count, lambda site: (site.id,))


def insert_site(
    tx: Transaction, *, organization_id: str, type: str, title: str, basename: str, visibility: str
) -> str:
    site_id, moment = ids.new_id(), now()
    tx.run(
        """INSERT INTO sites (id, organization_id, type, title, basename, visibility, created_at, updated_at)
           VALUES (:id, :org, :type, :title, :basename, :visibility, :at, :at)""",
        id=site_id,
        org=organization_id,
        type=type,
        title=title,
        basename=basename,
        visibility=visibility,
        at=moment,
    )
    return site_id


def set_published(tx: Transaction, site_id: str, published: bool) -> None:
    tx.run(
        "UPDATE sites SET published = :published, updated_at = :at WHERE id = :id",
        published=int(published),
        at=now(),
        id=site_id,
    )


def find_site_of_space(tx: Transaction, space_id: str) -> str | None:
    """The oldest site that shows a space."""
    found = tx.value("SELECT min(site_id) FROM site_spaces WHERE space_id = :space", space=space_id)
    return None if found is None else str(found)


def list_site_spaces(tx: Transaction, site_id: str) -> list[SiteSpaceRow]:
    """The spaces of a site that are not in the trash, in order."""
    rows = tx.all(
        f"""SELECT {_SITE_SPACE} FROM site_spaces x JOIN spaces s ON s.id = x.space_id AND s.deleted_at IS NULL
            WHERE x.site_id = :site ORDER BY x.rank, x.id""",
        site=site_id,
    )
    return [SiteSpaceRow(*row) for row in rows]


def insert_site_space(tx: Transaction, site_id: str, space_id: str, path: str) -> str:
    """Shows a space on a site, behind the others; the first one is the default."""
    last = tx.value("SELECT max(rank) FROM site_spaces WHERE site_id = :site", site=site_id)
    site_space_id = ids.new_id()
    tx.run(
        """INSERT INTO site_spaces (id, site_id, space_id, rank, path, is_default, created_at)
           VALUES (:id, :site, :space, :rank, :path, :is_default, :at)""",
        id=site_space_id,
        site=site_id,
        space=space_id,
        rank=rank_between(last, None),
        path=path,
        is_default=int(last is None),
        at=now(),
    )
    return site_space_id
