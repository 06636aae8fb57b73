"""Open the database at a URL."""

from __future__ import annotations

import sqlite3

from octavo.errors import Unavailable

from .database import Database, SqliteDatabase, is_damage


def open_database(url: str, connections: int = 8, direct_url: str = "", replica_url: str = "") -> Database:
    """Open the database at ``sqlite:///path`` or ``postgresql://...``.

    ``connections``: the maximum number of connections to PostgreSQL. ``direct_url``: the URL of the server itself, if
    ``url`` points to a connection pooler. ``replica_url``: the URL of a streaming replica that answers reads.
    Raises Unavailable with the problem if the database can't be opened.
    """
    if url.startswith("sqlite:///"):
        try:
            return SqliteDatabase(url.removeprefix("sqlite:///"))
        except (sqlite3.Error, OSError) as error:
            hint = ": restore it from a backup" if is_damage(error) else ""
            raise Unavailable(f"database {url}: {error}{hint}") from None
    if url.startswith(("postgresql://", "postgres://")):
        # Loaded only if it is used, because the driver takes longer to load than all of SQLite.
        from .postgres import PostgresDatabase

        return PostgresDatabase(url, connections, direct_url, replica_url)
    raise Unavailable(f"OCTAVO_DATABASE_URL: must be sqlite:////path or postgresql://..., not {url!r}")
