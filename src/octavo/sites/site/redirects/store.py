"""Read and write redirects in the database. Rows are returned as frozen records. Sources are compared after
decoding, in lowercase."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import unquote

from msgspec import Struct

from octavo.content.revisions.restrictions import HiddenPages
from octavo.core.redirects import MAX_SOURCE
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, list_page

from .types import WILDCARD, Destination, ToExternal, ToPage, ToSection, ToSiteSpace

MAX_REDIRECTS = 10_000
OrderBy = Literal["createdAt", "updatedAt", "source"]
_ORDERS: dict[OrderBy, tuple[str, tuple[type, ...]]] = {
    "createdAt": ("created_at, id", (int, str)),
    "updatedAt": ("COALESCE(updated_at,created_at), id", (int, str)),
    "source": ("source_key, id", (str, str)),
}


class RedirectRow(Struct, frozen=True):
    """Redirect of a site. ``capture``: whether the part of the path that the source's wildcard matches is
    appended to the destination."""

    id: str
    source: str
    kind: str
    section_id: str | None
    site_space_id: str | None
    page_id: str | None
    url: str | None
    draft: int
    capture: int
    permanent: int
    created_at: int
    updated_at: int | None

    @property
    def is_wildcard(self) -> bool:
        return self.source.endswith(WILDCARD)

    def rest_of(self, path: str) -> str:
        """Return the part of a path that the source's wildcard matched, decoded and without slashes at either
        end."""
        prefix = source_key(self.source).removesuffix(WILDCARD)
        plain = path.strip("/")
        # Some letters have a different length in lowercase.
        size = next((n for n in range(len(plain) + 1) if len(plain[:n].lower()) >= len(prefix)), len(plain))
        return plain[size:].strip("/")


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


def find_by_key(tx: Transaction, site_id: str, key: str, *, draft: bool) -> RedirectRow | None:
    """Return the redirect with exactly this source: the draft if ``draft`` is set, and otherwise the live
    redirect."""
    row = tx.one(
        f"""SELECT {_COLUMNS} FROM site_redirects
            WHERE site_id = :site AND source_key = :key AND draft = :draft""",
        site=site_id,
        key=key,
        draft=int(draft),
    )
    return RedirectRow(*row) if row else None


def match(tx: Transaction, site_id: str, path: str, *, drafts: bool = False) -> RedirectRow | None:
    """Return the redirect for a path. A redirect from exactly that path takes precedence over the redirect whose
    wildcard matches the longest prefix. ``drafts``: whether to include drafts, which replace the live redirect from
    the same source."""
    key = source_key(path)
    wildcards = [f"{key[:n]}{WILDCARD}" for n in range(1, min(len(key), MAX_SOURCE) + 1)]
    row = tx.one(
        f"""SELECT {_COLUMNS} FROM site_redirects
            WHERE site_id = :site AND source_key IN :keys AND draft <= :drafts
            ORDER BY source_key = :key DESC, length(source_key) DESC, draft DESC LIMIT 1""",
        site=site_id,
        # `/old/` itself isn't under `/old/*`.
        keys=[key, *(one for one in wildcards if one != f"{key}/{WILDCARD}")],
        key=key,
        drafts=int(drafts),
    )
    return RedirectRow(*row) if row else None


def list_redirects(
    tx: Transaction,
    site_id: str,
    limit: int,
    page: str | None,
    search: str | None,
    *,
    hidden: HiddenPages | None = None,
    draft: bool = False,
    order_by: OrderBy = "createdAt",
) -> Slice[RedirectRow]:
    """List the live redirects or the drafts, sorted by source or newest first. ``search``: part of the source.
    ``hidden``: pages whose redirects are left out."""
    where, given = "site_id = :site AND draft = :draft", dict[str, Any](site=site_id, draft=int(draft))
    if hidden is not None:
        where, given = f"{where}{lead_elsewhere(hidden)}", given | hidden.parameters
    if search:
        escaped = search.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_")
        where, given["search"] = f"{where} AND source_key LIKE :search ESCAPE '!'", f"%{escaped.strip('/')}%"
    by, key_types = _ORDERS[order_by]
    return list_page(
        tx,
        limit,
        page,
        _COLUMNS,
        f"FROM site_redirects WHERE {where}",
        lambda row: RedirectRow(*row),
        by=by,
        key_types=key_types,
        descending=order_by != "source",
        **given,
    )


def lead_elsewhere(hidden: HiddenPages) -> str:
    """Return an SQL condition that excludes ``site_redirects`` to hidden pages, like ``HiddenPages.condition``."""
    space = "(SELECT x.space_id FROM site_spaces x WHERE x.id = site_redirects.site_space_id)"
    return hidden.condition(f"COALESCE({space}, '')", "COALESCE(site_redirects.page_id, '')")


def count_redirects(tx: Transaction, site_id: str) -> int:
    return int(tx.value("SELECT count(*) FROM site_redirects WHERE site_id = :site", site=site_id))


def insert_redirect(
    tx: Transaction,
    site_id: str,
    source: str,
    columns: Mapping[str, str | None],
    *,
    draft: bool = False,
    capture: bool = False,
    permanent: bool = False,
) -> str:
    redirect_id = ids.new_id()
    tx.run(
        """INSERT INTO site_redirects (id, site_id, source, source_key, kind, section_id, site_space_id, page_id,
             url, draft, capture, permanent, created_at)
           VALUES (:id, :site, :source, :key, :kind, :section_id, :site_space_id, :page_id,
             :url, :draft, :capture, :permanent, :at)""",
        id=redirect_id,
        site=site_id,
        source=source,
        key=source_key(source),
        draft=int(draft),
        capture=int(capture),
        permanent=int(permanent),
        at=now(),
        **columns,
    )
    return redirect_id


def update_redirect(tx: Transaction, redirect_id: str, values: Mapping[str, object]) -> None:
    columns = ", ".join(f"{name} = :{name}" for name in values)
    tx.run(
        f"UPDATE site_redirects SET {columns}, updated_at = :at WHERE id = :id",
        id=redirect_id,
        at=now(),
        **values,
    )


def delete_redirect(tx: Transaction, redirect_id: str) -> None:
    tx.run("DELETE FROM site_redirects WHERE id = :id", id=redirect_id)


def destination_of(row: RedirectRow) -> Destination:
    if row.section_id is not None:
        return ToSection(row.section_id)
    if row.url is not None:
        return ToExternal(row.url)
    assert row.site_space_id is not None, "every row has a target"
    return ToSiteSpace(row.site_space_id) if row.page_id is None else ToPage(row.site_space_id, row.page_id)
