"""Redirects: rows in, frozen records out. Sources are looked up decoded and in lowercase."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from msgspec import Struct

from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, list_page

from .types import Destination, ToPage, ToSection, ToSiteSpace, ToUrl

MAX_REDIRECTS = 10_000
_BELOW = "/*"


class RedirectRow(Struct, frozen=True):
    id: str
    source: str
    kind: str
    section_id: str | None
    site_space_id: str | None
    page_id: str | None
    url: str | None


_COLUMNS = ", ".join(RedirectRow.__struct_fields__)


def source_key(source: str) -> str:
    return unquote(source).strip("/").lower()


def find_redirect(tx: Transaction, site_id: str, redirect_id: str) -> RedirectRow | None:
    row = tx.one(
        f"SELECT {_COLUMNS} FROM site_redirects WHERE id = :id AND site_id = :site",
        id=redirect_id,
        site=site_id,
    )
    return RedirectRow(*row) if row else None


def find_by_key(tx: Transaction, site_id: str, key: str) -> RedirectRow | None:
    """Return the redirect with exactly this source."""
    row = tx.one(
        f"SELECT {_COLUMNS} FROM site_redirects WHERE site_id = :site AND source_key = :key",
        site=site_id,
        key=key,
    )
    return RedirectRow(*row) if row else None


def match(tx: Transaction, site_id: str, path: str) -> RedirectRow | None:
    """Return the redirect of a path: the one from exactly that path, otherwise the one from everything below
    its longest matching part."""
    key = source_key(path)
    parts = key.split("/")
    keys = [key, *("/".join(parts[:n]) + _BELOW for n in range(1, len(parts)))]
    row = tx.one(
        f"""SELECT {_COLUMNS} FROM site_redirects WHERE site_id = :site AND source_key IN :keys
            ORDER BY source_key = :key DESC, length(source_key) DESC LIMIT 1""",
        site=site_id,
        keys=keys,
        key=key,
    )
    return RedirectRow(*row) if row else None


def list_redirects(
    tx: Transaction, site_id: str, limit: int, page: str | None, search: str | None
) -> Slice[RedirectRow]:
    """List redirects, newest first. ``search``: part of the source."""
    where, given = "site_id = :site", dict[str, Any](site=site_id)
    if search:
        escaped = search.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_")
        where, given["search"] = f"{where} AND source_key LIKE :search ESCAPE '!'", f"%{escaped.strip('/')}%"
    return list_page(
        tx,
        limit,
        page,
        _COLUMNS,
        f"FROM site_redirects WHERE {where}",
        lambda row: RedirectRow(*row),
        descending=True,
        **given,
    )


def count_redirects(tx: Transaction, site_id: str) -> int:
    return int(tx.value("SELECT count(*) FROM site_redirects WHERE site_id = :site", site=site_id))


def insert_redirect(tx: Transaction, site_id: str, source: str, columns: dict[str, str | None]) -> str:
    redirect_id = ids.new_id()
    tx.run(
        """INSERT INTO site_redirects
             (id, site_id, source, source_key, kind, section_id, site_space_id, page_id, url, created_at)
           VALUES (:id, :site, :source, :key, :kind, :section_id, :site_space_id, :page_id, :url, :at)""",
        id=redirect_id,
        site=site_id,
        source=source,
        key=source_key(source),
        at=now(),
        **columns,
    )
    return redirect_id


def update_redirect(tx: Transaction, redirect_id: str, values: Mapping[str, object]) -> None:
    columns = ", ".join(f"{name} = :{name}" for name in values)
    tx.run(f"UPDATE site_redirects SET {columns} WHERE id = :id", id=redirect_id, **values)


def delete_redirect(tx: Transaction, redirect_id: str) -> None:
    tx.run("DELETE FROM site_redirects WHERE id = :id", id=redirect_id)


def destination_of(row: RedirectRow) -> Destination:
    if row.section_id is not None:
        return ToSection(row.section_id)
    if row.url is not None:
        return ToUrl(row.url)
    assert row.site_space_id is not None, "every row leads somewhere"
    return ToSiteSpace(row.site_space_id) if row.page_id is None else ToPage(row.site_space_id, row.page_id)
