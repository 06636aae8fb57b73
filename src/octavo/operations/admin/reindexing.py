"""Rebuild all derived data, after a restore or an import, or with ``octavo reindex``."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from octavo.content.revisions.deriving import note_derivation, rebuild_derived
from octavo.errors import NotFound
from octavo.kit.db.database import Database
from octavo.kit.db.tables import TABLES, recount
from octavo.organization.orgs.store import get_organization

Progress = Callable[[int, int], None]


class Rebuilt(Struct):
    """Result of a rebuild. ``spaces``: the number of spaces that were read. ``counts``: the number of counts that
    were wrong."""

    spaces: int
    counts: int


def reindex(
    database: Database,
    hosts: tuple[str, ...],
    organization_id: str | None = None,
    progress: Progress = lambda done, total: None,
) -> Rebuilt:
    """Rebuild the search index, references, and counts of one organization or of all organizations. The server
    keeps running, because spaces are rebuilt one at a time.

    ``hosts``: the hosts of this server (``core.links.app_hosts``). ``progress``: a function that counts spaces.
    Raises NotFound if the organization doesn't exist.
    """
    where = TABLES["spaces"].rows_of_organization if organization_id else "1 = 1"
    with database.read() as tx:
        if organization_id is not None:
            get_organization(tx, organization_id)
        rows = tx.all(f"SELECT id FROM spaces WHERE {where} ORDER BY id", org=organization_id)
    with database.write() as tx:
        counts = recount(tx, organization_id)
    done = 0
    for done, (space_id,) in enumerate(rows, 1):
        try:
            rebuild_derived(database, space_id, hosts)
        except NotFound:
            pass  # Deleted in the meantime.
        progress(done, len(rows))
    if organization_id is None:
        with database.write() as tx:
            note_derivation(tx)
    return Rebuilt(done, counts)
