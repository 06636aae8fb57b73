"""Storage that each kind of data uses. It is measured once a day, because measuring it reads the whole database and
lists all files."""

from __future__ import annotations

import logging
from typing import Literal, get_args

from msgspec import Struct

from octavo.errors import OctavoError
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Live, Transaction
from octavo.kit.work import jobs

from .backup_storage import BackupPlace

log = logging.getLogger(__name__)

StorageKind = Literal["files", "pages", "search", "other", "backups"]
STORAGE_KINDS: tuple[StorageKind, ...] = get_args(StorageKind)

_EVERY = 24 * 3600.0
_PAGES = {
    "bodies",
    "branches",
    "derived_versions",
    "item_versions",
    "node_keys",
    "node_whereabouts",
    "page_live",
    "page_snapshots",
    "page_steps",
    "page_versions",
    "revision_authors",
    "revisions",
    "set_aside",
    "staged_versions",
    "versioned",
}
"""Tables with pages and their history. Tables of the search index start with ``search_``, and all other tables
count as ``other``."""


class StorageUsage(Struct, frozen=True):
    """Storage that one kind of data uses. ``measured_at``: the time in milliseconds."""

    kind: StorageKind
    bytes: int
    measured_at: int


def list_storage(tx: Transaction) -> list[StorageUsage]:
    """Return the results of the last measurement, in the order of ``STORAGE_KINDS``; empty if there hasn't been one
    yet."""
    rows = [StorageUsage(*row) for row in tx.all("SELECT kind, bytes, measured_at FROM storage_usage")]
    return sorted(rows, key=lambda row: STORAGE_KINDS.index(row.kind))


@jobs.job("measureStorage", bound=None, seconds=600, in_maintenance=True)
def measure_storage(context: Context) -> None:
    """Measure and record the storage that each kind of data uses."""
    sizes: dict[StorageKind, int] = dict.fromkeys(STORAGE_KINDS, 0)
    with context.db.read() as tx:
        for table, size in _list_table_sizes(tx):
            sizes[_kind_of(table)] += size
    for _, size, _ in context.files.list_all():
        jobs.renew()
        sizes["files"] += size
    sizes["backups"] = _measure_backups(context.settings.backup_place)
    with context.db.write() as tx:
        for kind, size in sizes.items():
            tx.run(
                """INSERT INTO storage_usage (kind, bytes, measured_at) VALUES (:kind, :bytes, :now)
                   ON CONFLICT (kind) DO UPDATE
                   SET bytes = excluded.bytes, measured_at = excluded.measured_at""",
                kind=kind,
                bytes=size,
                now=now(),
            )


jobs.schedule("measureStorage", _EVERY, "measureStorage")


def _measure_backups(address: str) -> int:
    """Return the total size in bytes of all backups in a backup location; 0 if there is none or if it can't be read
    right now."""
    if not address:
        return 0
    try:
        return sum(each.size for each in BackupPlace(address).list())
    except OctavoError as error:
        log.warning("backups can't be measured: %s", error.message)
        return 0


def _list_table_sizes(tx: Transaction) -> list[tuple[str, int]]:
    """Return the size of each table in bytes, including its indexes. On SQLite, a table can occur more than once."""
    if tx.engine == "postgresql":
        found = tx.all(
            Live(
                """SELECT c.relname, pg_total_relation_size(c.oid) FROM pg_class c
                   WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace"""
            )
        )
    else:
        found = tx.all(
            """SELECT coalesce(s.tbl_name, d.name), d.pgsize FROM dbstat d
               LEFT JOIN sqlite_master s ON s.name = d.name WHERE d.aggregate = TRUE"""
        )
    return [(row[0], int(row[1])) for row in found]


def _kind_of(table: str) -> StorageKind:
    if table.startswith("search_"):
        return "search"
    return "pages" if table in _PAGES else "other"
