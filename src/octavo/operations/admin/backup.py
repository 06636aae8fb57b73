"""Back up the whole server in one file, restore it on either engine, and verify a server's data.

A backup is a ZIP archive: ``rows/TABLE.jsonl`` from one snapshot of the database, ``files/HASH``, and finally
``manifest.json`` with the SHA-256 hash of every part. A restore rebuilds derived data (the search index and
references). Secrets are stored in the same form as in the database: encrypted or as hashes.
"""

from __future__ import annotations

import base64
import hashlib
import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import msgspec
from msgspec import Struct

from octavo.content.live.store import renew_epochs
from octavo.content.revisions.bodies import get_body
from octavo.content.revisions.deriving import check_derived, list_outdated
from octavo.core.links import app_hosts
from octavo.errors import BadRequest, NotFound, Unavailable
from octavo.kit.context import Context
from octavo.kit.db import databases
from octavo.kit.db.database import Database, Transaction
from octavo.kit.db.migrations import Migration, load_migrations, migrate
from octavo.kit.db.rows import (
    BATCH,
    RowDict,
    Schema,
    insert_rows,
    parents_first,
    read_rows,
    read_schema,
    set_counters,
)
from octavo.kit.db.tables import TABLES, Content, content_columns, find_wrong
from octavo.kit.files import FileStore, open_store
from octavo.kit.private_files import flush_to_disk, make_private_folder
from octavo.kit.secrets.signing import Signer
from octavo.operations.installation import (
    SIGNING,
    is_empty,
    is_installed,
    known_keys,
    load_packages,
    open_sealer,
)
from octavo.organization.spaces.trash import BEING_REMOVED
from octavo.settings import Settings

from .reindexing import Progress, reindex

FORMAT = "octavo-backup"
VERSION = 1
_MANIFEST = "manifest.json"
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    LookupError,
)
"""Exceptions that are raised when reading an archive that is damaged, or whose compression, encryption, or names
are unknown."""


_NEEDED = {"secrets", "spaces"}
"""Tables that every backup contains."""


class _Part(Struct):
    """Part of the archive: the number of its rows or bytes, and its SHA-256 hash."""

    count: int
    hash: str


class _Manifest(Struct):
    format: str
    version: int
    engine: str
    migrations: list[int]
    tables: dict[str, _Part]
    files: int
    missing: list[str]


class BackupOutcome(Struct):
    """Counts of a backup. ``missing``: the hashes of files that the database refers to but that aren't in the file
    store."""

    rows: int
    files: int
    missing: list[str] = []


# --- backing up ---------------------------------------------------------------------------------------


def back_up(context: Context, target: Path, progress: Progress = lambda done, total: None) -> BackupOutcome:
    """Write a backup while the server keeps running.

    ``progress``: a function that counts files. It is called outside of transactions. Raises BadRequest if the file
    exists, and Unavailable if it can't be written. A partial file is deleted."""
    if target.exists():
        raise BadRequest(f"{target}: the file already exists. Choose another path, or delete the file.")
    part = target.with_name(f"{target.name}.part")
    try:
        # Only its owner can read the file, because it contains all secrets.
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                outcome = _write(context, archive, progress)
            out.flush()
            os.fsync(out.fileno())
        part.rename(target)
        flush_to_disk(target.parent)
    except OSError as error:
        raise Unavailable(f"{target}: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)
    return outcome


def _write(context: Context, archive: zipfile.ZipFile, progress: Progress) -> BackupOutcome:
    with context.db.read() as tx:
        tables = read_schema(context.db, tx)
        numbers = [row[0] for row in tx.all("SELECT number FROM migrations ORDER BY number")]
        parts = {
            name: _write_table(archive, tx, table)
            for name, table in tables.items()
            if not TABLES[name].derived
        }
        # Files of derived rows are rebuilt with these rows.
        wanted = sorted(named_content(tx, "file", derived=False))
    missing = []
    for done, digest in enumerate(wanted):
        progress(done, len(wanted))
        if not _write_file(context.files, archive, digest):
            missing.append(digest)
    found = len(wanted) - len(missing)
    manifest = _Manifest(FORMAT, VERSION, context.db.engine, numbers, parts, found, missing)
    archive.writestr(_MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
    return BackupOutcome(sum(part.count for part in parts.values()), found, missing)


def _write_table(archive: zipfile.ZipFile, tx: Transaction, table: Schema) -> _Part:
    digest, count = hashlib.sha256(), 0
    with archive.open(f"rows/{table.name}.jsonl", "w", force_zip64=True) as out:
        for row in read_rows(tx, table):
            line = msgspec.json.encode(row) + b"\n"  # Bytes are encoded as base64.
            digest.update(line)
            out.write(line)
            count += 1
    return _Part(count, digest.hexdigest())


def named_content(tx: Transaction, content: Content, *, derived: bool = True) -> set[str]:
    """Return the hashes of all Markdown sources, or of all files, that rows refer to. ``derived``: whether to
    include content that is derived from other content."""
    return {
        row[0]
        for table, column in content_columns(content)
        if derived or not table.derived
        for row in tx.all(f"SELECT DISTINCT {column.name} FROM {table.name} WHERE {column.condition}")
    }


def _write_file(files: FileStore, archive: zipfile.ZipFile, digest: str) -> bool:
    try:
        pieces = files.open(digest)
        # Most files are compressed already.
        info = zipfile.ZipInfo(f"files/{digest}")
        with archive.open(info, "w", force_zip64=True) as out:
            for piece in pieces:
                out.write(piece)
    except NotFound:
        return False
    return True


_HOLDS_SOMETHING = "The server already has data. Restore into an empty data folder or database."

# --- restoring ----------------------------------------------------------------------------------------


def restore(settings: Settings, source: Path, progress: Progress = lambda done, total: None) -> BackupOutcome:
    """Restore a backup into an empty server, on either engine.

    The schema is created in the backup's version, the rows are inserted in one transaction, and the schema is
    upgraded. Derived data is then rebuilt. ``progress``: a function that counts files and spaces. Raises BadRequest
    if the backup is damaged, too old, or too new, and Unavailable if the key for the backup's secrets isn't
    configured.
    """
    load_packages()
    make_private_folder(settings.data_folder)
    with _opened(source) as archive:
        manifest = _read_manifest(archive)
        findings = list(_damage(archive, manifest))
        if findings:
            raise BadRequest(f"{source}: {findings[0]}")
        known = load_migrations("octavo.operations.migrations")
        require_known(source, set(manifest.migrations), known)
        _require_key(settings, archive)
        if is_installed(
            settings
        ):  # This is checked first, because an existing schema may differ from that of the backup.
            raise BadRequest(_HOLDS_SOMETHING)
        database = databases.open_database(
            settings.database, settings.database_connections, settings.database_direct_url
        )
        try:
            migrate(database, [each for each in known if each.number in manifest.migrations])
            store = open_store(settings.files, Signer(bytes(32)))
            _require_empty(database)
            names = [name for name in archive.namelist() if name.startswith("files/")]
            spaces = manifest.tables["spaces"].count
            for done, name in enumerate(names, 1):
                with archive.open(name) as stream:
                    store.put(stream)
                progress(done, len(names) + spaces)
            with database.write() as tx:
                rows = _fill(database, tx, archive, manifest)
            migrate(database, known)
            with database.write() as tx:
                renew_epochs(tx)
            open_sealer(settings, database)
            reindex(
                database,
                app_hosts(settings.url),
                progress=lambda done, total: progress(len(names) + done, len(names) + total),
            )
        finally:
            database.close()
    return BackupOutcome(rows, manifest.files, manifest.missing)


def _opened(source: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(source)
    except OSError as error:
        raise BadRequest(f"{source}: {error.strerror or error}") from None
    except _UNREADABLE:
        raise BadRequest(
            f"{source}: this isn't an Octavo backup, or the file is damaged or truncated"
        ) from None


def _read_manifest(archive: zipfile.ZipFile) -> _Manifest:
    try:
        manifest = msgspec.json.decode(archive.read(_MANIFEST), type=_Manifest)
        if not manifest.tables.keys() >= _NEEDED:
            raise ValueError("tables are missing")
    except _UNREADABLE:
        raise BadRequest("this isn't a complete backup: its manifest is missing or damaged") from None
    if (manifest.format, manifest.version) != (FORMAT, VERSION):
        raise BadRequest(
            f"{manifest.format} {manifest.version}: this version of Octavo can only read {FORMAT} {VERSION}."
            " If a newer version of Octavo created the backup, upgrade first."
        )
    return manifest


def require_known(source: object, numbers: set[int], known: list[Migration]) -> None:
    """Check that a backup with these migrations can be restored. Raises BadRequest if the backup is too old or too
    new."""
    for migration in known:
        if migration.upgrade is not None and numbers <= migration.upgrade.replaces:
            raise BadRequest(
                f"{source}: the backup was created by a version of Octavo that is too old. Restore it with"
                f" {migration.upgrade.first}, upgrade that server, and create a new backup."
            )
    if unknown := sorted(numbers - {migration.number for migration in known}):
        raise BadRequest(
            f"{source}: the backup was created by a newer version of Octavo (migration {unknown[-1]})."
            " Upgrade Octavo first."
        )


def _require_key(settings: Settings, archive: zipfile.ZipFile) -> None:
    """Raise Unavailable if the key for the backup's secrets isn't configured."""
    with archive.open("rows/secrets.jsonl") as lines:
        for line in lines:
            row = msgspec.json.decode(line)
            if row["name"] == SIGNING:
                known_keys(settings, row["value"])


def _require_empty(database: Database) -> None:
    with database.read() as tx:
        if not is_empty(tx):
            raise BadRequest(_HOLDS_SOMETHING)


def _fill(database: Database, tx: Transaction, archive: zipfile.ZipFile, manifest: _Manifest) -> int:
    tables = read_schema(database, tx)
    count = 0
    for name, table in tables.items():
        if name in manifest.tables:
            # An empty server has already created its own secrets and schedules.
            tx.run(f"DELETE FROM {name}")
            with archive.open(f"rows/{name}.jsonl") as lines:
                count += insert_rows(tx, table, parents_first(table, _rows(lines, table)))
    set_counters(database, tx, tables.values())
    return count


def _rows(lines: IO[bytes], table: Schema) -> Iterator[RowDict]:
    for line in lines:
        row: dict[str, Any] = msgspec.json.decode(line)
        for column in table.binary:
            if row.get(column) is not None:
                row[column] = base64.b64decode(row[column])
        yield row


# --- verifying ----------------------------------------------------------------------------------------


def verify_backup(source: Path) -> list[str]:
    """Return the problems with a backup. The result is empty if this version can restore the backup completely."""
    with _opened(source) as archive:
        try:
            manifest = _read_manifest(archive)
        except BadRequest as error:
            return [error.message]
        unreadable = []
        try:
            require_known(source, set(manifest.migrations), load_migrations("octavo.operations.migrations"))
        except BadRequest as error:
            unreadable.append(error.message)
        return [
            *unreadable,
            *_damage(archive, manifest),
            *(f"file {digest} was missing when the backup was created" for digest in manifest.missing),
        ]


def _damage(archive: zipfile.ZipFile, manifest: _Manifest) -> Iterator[str]:
    names = set(archive.namelist())
    for table, part in manifest.tables.items():
        name = f"rows/{table}.jsonl"
        found = _digest(archive, name) if name in names else None
        if found != part.hash:
            yield f"{name} is missing or damaged"
    files = [name for name in names if name.startswith("files/")]
    if len(files) != manifest.files:
        yield f"the backup contains {len(files)} files instead of {manifest.files}"
    for name in sorted(files):
        if _digest(archive, name) != name.removeprefix("files/"):
            yield f"{name} is damaged"


def _digest(archive: zipfile.ZipFile, name: str) -> str | None:
    try:
        with archive.open(name) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
    except _UNREADABLE:
        return None


def verify_installation(context: Context) -> list[str]:
    """Return the problems with a server's data.

    These are Markdown sources and files that are missing or don't match their hash, rows that refer to missing
    rows, wrong counts, and derived tables that don't match the content. Derived tables of spaces with a pending
    rebuild after an upgrade aren't checked.
    """
    return find_unsound(context.db, context.files, context.settings.url)


def list_damage(settings: Settings) -> list[str]:
    """Return the damage that prevents a database from being opened. Raises Unavailable if the database
    can't be opened for another reason."""
    database = databases.open_database(
        settings.database, settings.database_connections, settings.database_direct_url
    )
    try:
        return _damage_of(database)
    finally:
        database.close()


def _damage_of(db: Database) -> list[str]:
    damage = [f"database: {line}" for line in db.find_damage()]
    return [*damage, "the database is damaged; restore it from a backup"] if damage else []


def find_unsound(db: Database, store: FileStore | None, url: str) -> list[str]:
    """Verify a database as ``verify_installation`` does, and return the problems. ``url``: the app's URL, whose hosts
    are used in links to the app. ``store``: the file store; None to skip the files."""
    if damage := _damage_of(db):
        # No data read from a damaged database is reliable.
        return damage
    findings: list[str] = []
    with db.read() as tx:
        tables = read_schema(db, tx)
        there: set[str] = set()
        for row in read_rows(tx, tables["bodies"]):
            there.add(row["hash"])
            if not _is_sound_text(tx, row["hash"]):
                findings.append(f"Markdown source {row['hash']} is damaged")
        findings += [
            f"Markdown source {gone} is missing" for gone in sorted(named_content(tx, "text") - there)
        ]
        files = sorted(named_content(tx, "file"))
        for what, query in _STATES.items():
            findings += [f"{what}: {row[0]}" for row in tx.all(f"{query} LIMIT {BATCH}")]
        findings += find_wrong(tx, BATCH)
        if not findings:
            # Data derived from damaged content proves nothing.
            hosts = app_hosts(url)
            outdated = list_outdated(tx)
            whole = "deleted_at IS NULL OR deleted_at > :removed"
            for (space_id,) in tx.all(
                f"SELECT id FROM spaces WHERE {whole} ORDER BY id", removed=BEING_REMOVED
            ):
                if space_id not in outdated:
                    findings += _check_space(tx, space_id, hosts)
    for digest in files:
        if store is None:
            break
        try:
            found = hashlib.sha256()
            for piece in store.open(digest):
                found.update(piece)
        except NotFound:
            findings.append(f"file {digest} is missing")
        except Unavailable as error:
            findings.append(f"file {digest}: {error.message}")
        else:
            if found.hexdigest() != digest:
                findings.append(f"file {digest} is damaged")
    return findings


def _check_space(tx: Transaction, space_id: str, hosts: tuple[str, ...]) -> list[str]:
    try:
        return [f"space {space_id}: {what}" for what in check_derived(tx, space_id, hosts)]
    except (ValueError, LookupError, TypeError) as error:  # Values that Octavo never writes.
        return [f"space {space_id}: the space can't be checked ({error})"]


def _is_sound_text(tx: Transaction, digest: str) -> bool:
    try:
        return hashlib.sha256(get_body(tx, digest).encode()).hexdigest() == digest
    except Exception:  # Decompressing damaged bytes may raise any exception.
        return False


_STATES = {
    "a space's main revision isn't the head of its main branch": (
        "SELECT s.id FROM spaces s LEFT JOIN branches b ON b.id = s.main_branch AND b.revision = s.main_revision"
        " WHERE b.id IS NULL"
    ),
    "branch without its latest revision": (
        "SELECT b.id FROM branches b LEFT JOIN revisions r ON r.id = b.revision AND r.branch_id = b.id"
        " AND r.sequence = b.sequence WHERE r.id IS NULL"
    ),
    "page with two current versions": (
        "SELECT a.page_id FROM page_versions a JOIN page_versions b ON b.branch_id = a.branch_id"
        " AND b.page_id = a.page_id AND b.from_seq > a.from_seq AND b.from_seq < a.to_seq"
        " JOIN branches c ON c.id = b.branch_id AND b.from_seq <= c.sequence"
    ),
}
"""Invalid states other than references to missing rows, each with the query that finds them."""
