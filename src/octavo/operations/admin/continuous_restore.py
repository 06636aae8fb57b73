"""Continuous backup: the storage format, restoring to a point in time, and verification.

``log/`` contains generations. Each of them is a chain of ``.pages`` files that are numbered without gaps. A
``.base`` file contains the whole database at the end of the ``.pages`` file with the same number, and a ``.files``
file contains the hashes of all files at that time. The folder ``files/`` next to ``log/`` contains every file,
named by its hash. ``continuous_backup.py`` writes all of this.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sqlite3
import tempfile
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, NamedTuple

import msgspec
from msgspec import Struct

from octavo.content.live.store import renew_epochs
from octavo.content.revisions.deriving import enqueue_outdated
from octavo.errors import BadRequest, NotFound, OctavoError
from octavo.kit.clock import DAY, iso, now
from octavo.kit.db.database import SqliteDatabase
from octavo.kit.db.migrations import load_migrations, migrate
from octavo.kit.db.sqlite_log import LogEnd, write_pages
from octavo.kit.files import CHUNK, open_store
from octavo.kit.private_files import flush_to_disk, make_private_folder
from octavo.kit.secrets.signing import Signer
from octavo.kit.temporary import TemporaryFolder
from octavo.operations.installation import SIGNING, known_keys, load_packages, open_sealer
from octavo.settings import Settings

from .backup import find_unsound, named_content, require_known
from .backup_storage import BackupPlace, StoredBackup
from .reindexing import Progress

_SPOOL = 8 * 1024 * 1024
FORMAT = "octavo-log"
VERSION = 1
_ENTRY = re.compile(r"log/(\d{8}T\d{6}Z-[0-9a-f]{6})/(\d{10})-(\d{13})\.(pages|base|files)")
_ALIVE = re.compile(r"log/([^/]+)/alive")


class ChainEntry(NamedTuple):
    """Entry of a chain. ``time``: the time in milliseconds. All changes in the entry were committed before this
    time."""

    time: int
    generation: str
    number: int
    kind: str

    @property
    def name(self) -> str:
        return f"log/{self.generation}/{self.number:010d}-{self.time:013d}.{self.kind}"


class Head(Struct):
    """First line of an entry.

    ``size``: the number of pages in the database after the entry. ``before``: the end of the previous entry.
    ``url``: the app's URL, which only bases contain. ``files``: whether files are stored along with the entry.
    """

    format: str
    version: int
    number: int
    time: int
    page_size: int
    size: int
    end: LogEnd
    before: LogEnd | None = None
    url: str = ""
    files: bool = True


class RestoreResult(Struct):
    """Result of a restore. ``moment``: the restored point in time, in ISO 8601 format. ``missing``: the
    hashes of files that are missing."""

    moment: str
    files: int
    missing: list[str] = []


# --- entries ------------------------------------------------------------------------------------------


def holds_log(place: BackupPlace) -> bool:
    """Return whether a location contains a continuous backup."""
    return bool(list_entries(place.list("log/")))


def list_entries(kept: Iterable[StoredBackup]) -> list[ChainEntry]:
    matches = [_ENTRY.fullmatch(each.name) for each in kept]
    return [ChainEntry(int(m[3]), m[1], int(m[2]), m[4]) for m in matches if m is not None]


def age(entry: ChainEntry) -> tuple[int, str, int]:
    return entry.time, entry.generation, entry.number


def packed(head: Head, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes of an entry: a line of JSON, the compressed pages, and the SHA-256 hash of both."""
    line = msgspec.json.encode(head) + b"\n"
    digest, packer = hashlib.sha256(line), zlib.compressobj(1)
    yield line
    for piece in pieces:
        if packed := packer.compress(piece):
            digest.update(packed)
            yield packed
    packed = packer.flush()
    digest.update(packed)
    yield packed + digest.digest()


def unpacked(pieces: Iterator[bytes]) -> Generator[bytes]:
    """Yield an entry's line of JSON, and then its pages in chunks. This is the inverse of ``packed``. Raises ValueError
    if the entry is damaged."""
    line = b""
    for piece in pieces:
        line += piece
        if b"\n" in line or len(line) > CHUNK:
            break
    line, _, begin = line.partition(b"\n")
    yield line
    digest, unpacker = hashlib.sha256(line + b"\n"), zlib.decompressobj()
    behind = b""
    try:
        for packed in _joined(begin, pieces):
            if unpacker.eof:
                behind += packed
                continue
            rest = packed
            while rest and not unpacker.eof:
                yield unpacker.decompress(rest, _SPOOL)
                rest = unpacker.unconsumed_tail
            behind = unpacker.unused_data
            digest.update(packed[: len(packed) - len(behind)])
    except zlib.error:
        raise ValueError("the file is damaged") from None
    if not unpacker.eof or behind != digest.digest():
        raise ValueError("the file is damaged")


def _joined(begin: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield begin
    yield from rest


def read_head(pieces: Iterator[bytes]) -> Head:
    try:
        head = msgspec.json.decode(next(pieces), type=Head)
    except (StopIteration, msgspec.MsgspecError):
        raise ValueError("the file is damaged") from None
    if (head.format, head.version) != (FORMAT, VERSION):
        raise ValueError(f"the format must be {FORMAT} {VERSION}, not {head.format} {head.version}")
    return head


def _unpack(place: BackupPlace, entry: ChainEntry, out: IO[bytes] | None) -> Head:
    """Write all pages of an entry to ``out``. Raises BadRequest if the entry is damaged."""
    pieces = unpacked(place.get(entry.name))
    try:
        head = read_head(pieces)
        if (head.number, head.time) != (entry.number, entry.time):
            raise ValueError("the file has the same name as another one")
        for piece in pieces:
            if out is not None:
                out.write(piece)
    except ValueError as error:
        raise BadRequest(f"{entry.name}: {error}") from None
    return head


# --- restoring ----------------------------------------------------------------------------------------


def restore_followed(
    settings: Settings,
    place: BackupPlace,
    until: int | None = None,
    progress: Progress = lambda done, total: None,
) -> RestoreResult:
    """Restore the latest state of the database, or its state at the time ``until``, and copy its files. The database
    must not exist yet.

    ``progress``: a function that counts bytes, then files. Raises BadRequest if a database exists or the backup is
    incomplete, and Unavailable if the backup can't be read.
    """
    if not settings.database.startswith("sqlite:///"):
        raise BadRequest(
            "This backup can only be restored to SQLite. To move to PostgreSQL, restore the backup to SQLite,"
            " then use `octavo backup` and `octavo restore`."
        )
    load_packages()
    target = Path(settings.database.removeprefix("sqlite:///"))
    for path in (target, target.with_name(f"{target.name}-wal")):
        if path.exists():
            raise BadRequest(
                f"{path}: the file already exists. Stop Octavo, and move the file to another folder first."
            )
    make_private_folder(settings.data_folder)
    # The database is moved to its final path last, complete and up to date, so that an interrupted restore
    # can be repeated.
    folder = target.with_name(f"{target.name}.part")
    shutil.rmtree(folder, ignore_errors=True)
    make_private_folder(folder)
    try:
        part = folder / target.name
        head, _ = _rebuild(place, part, until, progress)
        known = load_migrations("octavo.operations.migrations")
        with closing(sqlite3.connect(f"file:{part}?mode=ro&immutable=1", uri=True)) as found:
            numbers = {row[0] for row in found.execute("SELECT number FROM migrations")}
            sealed = found.execute("SELECT value FROM secrets WHERE name = ?", (SIGNING,)).fetchone()
        require_known(place.address, numbers, known)
        known_keys(settings, sealed and sealed[0])
        database = SqliteDatabase(str(part))
        try:
            migrate(database, known)
            with database.write() as tx:
                renew_epochs(tx)
            open_sealer(settings, database)
            with database.read() as tx:
                wanted = sorted(named_content(tx, "file"))
        finally:
            database.close()
        missing = _copy_files(place, settings, wanted, progress)
        flush_to_disk(part)
        part.rename(target)
        flush_to_disk(target.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return RestoreResult(iso(head.time), len(wanted) - len(missing), missing)


def _copy_files(place: BackupPlace, settings: Settings, wanted: list[str], progress: Progress) -> list[str]:
    """Copy the files that are missing on the server, and return those that aren't in the backup."""
    store = open_store(settings.files, Signer(bytes(32)))
    missing = []
    for done, digest in enumerate(wanted, 1):
        if not store.exists(digest):
            try:
                store.put(place.files.open(digest))
            except NotFound:
                missing.append(digest)
        progress(done, len(wanted))
    return missing


def _rebuild(
    place: BackupPlace, target: Path, until: int | None, progress: Progress = lambda done, total: None
) -> tuple[Head, Head]:
    """Write the database, and return the heads of the last entry and of the base. Raises BadRequest if the
    backup is incomplete or damaged."""
    kept = {entry.name: entry for entry in place.list("log/")}
    chain = _chain(place, list_entries(kept.values()), until)
    total, done = sum(kept[entry.name].size for entry in chain), 0
    last: Head | None = None
    base: Head | None = None
    with os.fdopen(os.open(target, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "r+b") as out:
        for entry in chain:
            with tempfile.SpooledTemporaryFile(_SPOOL) as spool:
                # Pages of an entry are written to the database only once the whole entry is known to be undamaged.
                head = _unpack(place, entry, out if entry.kind == "base" else spool)
                if entry.kind == "base":
                    base = head
                else:
                    if last is not None and head.before != last.end:
                        raise BadRequest(f"{entry.name}: the file doesn't follow the previous one")
                    spool.seek(0)
                    try:
                        write_pages(out, spool, head.page_size, head.size)
                    except ValueError as error:
                        raise BadRequest(f"{entry.name}: {error}") from None
            last = head
            done += kept[entry.name].size
            progress(done, total)
        out.flush()
        os.fsync(out.fileno())
    assert last is not None and base is not None
    with closing(sqlite3.connect(f"file:{target}?mode=ro&immutable=1", uri=True)) as found:
        said = found.execute("PRAGMA quick_check(1)").fetchone()[0]
        if said != "ok":
            raise BadRequest(f"{place.address}: the restored database is damaged ({said})")
    return last, base


def _chain(place: BackupPlace, entries: list[ChainEntry], until: int | None) -> list[ChainEntry]:
    """Return a base, followed by the entries with the pages that changed after it, up to the requested time. Raises
    BadRequest if there is no suitable base."""
    bases = [entry for entry in entries if entry.kind == "base"]
    if not bases:
        raise BadRequest(f"{place.address}: there is no full backup written by --follow")
    early = [base for base in bases if until is None or base.time <= until]
    if not early:
        first = min(base.time for base in bases)
        raise BadRequest(f"{place.address}: the earliest point in time that you can restore is {iso(first)}")
    base = max(early, key=age)
    later = sorted(
        (entry.number, entry)
        for entry in entries
        if entry.kind == "pages"
        and entry.generation == base.generation
        and entry.number > base.number
        and (until is None or entry.time <= until)
    )
    found = [base]
    for expected, (number, entry) in enumerate(later, base.number + 1):
        if number != expected:
            raise BadRequest(
                f"{place.address}: file {expected} of the backup {base.generation} is missing. Use --until to restore"
                f" to a point in time no later than {iso(found[-1].time)}."
            )
        found.append(entry)
    return found


# --- verifying ----------------------------------------------------------------------------------------


def verify_followed(place: BackupPlace, fresh: int | None = None) -> list[str]:
    """Return the problems with a continuous backup.

    These are damaged or missing entries, and damage to the newest state, which is found by restoring that state. If
    ``fresh`` is given, it is also a problem if the last entry is older than this number of milliseconds.
    """
    load_packages()
    kept = place.list("log/")
    entries = sorted(list_entries(kept), key=age)
    findings: list[str] = []
    ends: dict[tuple[str, int], LogEnd] = {}
    for entry in entries:
        if entry.kind == "files":
            continue
        try:
            head = _unpack(place, entry, None)
        except OctavoError as error:
            findings.append(error.message)
            continue
        before = ends.get((entry.generation, entry.number - 1))
        if entry.kind == "pages" and before is not None and head.before != before:
            findings.append(f"{entry.name}: the file doesn't follow the previous one")
        ends[entry.generation, entry.number] = head.end
    if fresh is not None:
        last = max((entry.time for entry in entries), default=0)
        for each in kept:
            if _ALIVE.fullmatch(each.name) and (said := b"".join(place.get(each.name))).isdigit():
                last = max(last, int(said))
        if last < now() - fresh:
            findings.append(
                f"nothing has been backed up since {iso(last)}" if last else "nothing has been backed up"
            )
    if not findings:
        findings += _try_restore(place)
    return findings


def _try_restore(place: BackupPlace) -> list[str]:
    with TemporaryFolder("verify") as folder:
        target = Path(folder, "octavo.db")
        try:
            _, base = _rebuild(place, target, None)
            database = SqliteDatabase(str(target))
            try:
                migrate(database, load_migrations("octavo.operations.migrations"))
                enqueue_outdated(database)
                return find_unsound(database, place.files if base.files else None, base.url)
            finally:
                database.close()
        except OctavoError as error:
            return [error.message]


# --- pruning ------------------------------------------------------------------------------------------


def prune(place: BackupPlace, moments: int, bases: int, files: set[str]) -> None:
    """Delete entries that aren't needed to restore any point in time after ``moments`` or any base after ``bases``
    (both in milliseconds since 1970). ``files``: the hashes of the server's current files."""
    kept = place.list("log/")
    entries = list_entries(kept)
    whole = sorted((entry for entry in entries if entry.kind == "base"), key=age)
    if not whole:
        return
    # Starting with this base, every point in time can be restored.
    first = max((base for base in whole if base.time <= moments), default=whole[0], key=age)
    stay = {base for base in whole if base.time >= min(first.time, bases)}

    def stays(entry: ChainEntry) -> bool:
        if entry.kind == "pages":
            return entry.time > first.time
        # A list of files is written before its base, so a newer list may not have a base yet.
        return entry._replace(kind="base") in stay or entry.time > first.time

    generations = {entry.generation for entry in entries if stays(entry)}
    place.delete(entry.name for entry in entries if not stays(entry))
    place.delete(
        each.name
        for each in kept
        if (alive := _ALIVE.fullmatch(each.name)) is not None and alive[1] not in generations
    )
    oldest = min(stay, key=age)
    try:
        listed = b"".join(place.get(oldest._replace(kind="files").name))
    except NotFound:
        return
    try:
        wanted = files | set(zlib.decompress(listed).decode().split())
    except (zlib.error, UnicodeDecodeError):
        return  # A damaged list does not say which files are needed.
    for digest, _, came in list(place.files.list_all()):
        # Store clocks may differ from the local clock, and new files are in no list yet.
        if digest not in wanted and came < oldest.time - DAY // 24:
            place.files.delete(digest)
