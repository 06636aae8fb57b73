"""Write, find, and delete backups in a folder or a bucket. The name of each backup contains its time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from octavo.errors import BadRequest, OctavoError
from octavo.kit.clock import iso, now, parse_iso
from octavo.kit.context import Context
from octavo.kit.files import CHUNK
from octavo.kit.temporary import TemporaryFolder

from .backup import BackupOutcome, back_up, verify_backup
from .backup_storage import BackupPlace, is_bucket
from .reindexing import Progress

_NAME = re.compile(r"octavo-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.backup")
SUFFIX = ".backup"


def is_place(address: str) -> bool:
    """Return whether an address is a folder or bucket for several backups, rather than a single file."""
    if is_bucket(address):
        return not address.endswith(SUFFIX)
    return address.endswith("/") or Path(address).is_dir()


def back_up_into(
    context: Context,
    place: BackupPlace,
    keep: int | None = None,
    progress: Progress = lambda done, total: None,
) -> tuple[str, BackupOutcome]:
    """Write a backup whose name contains the current time, verify it, and return its name.

    ``keep``: the maximum age of backups in milliseconds. Older backups are deleted afterward. ``progress``: a
    function that counts files. Raises BadRequest if the written backup is damaged, and Unavailable if it can't be
    written.
    """
    name = f"octavo-{iso(now())[:19].replace(':', '-')}Z{SUFFIX}"
    with TemporaryFolder("backup") as folder:
        written = Path(folder, name)
        outcome = back_up(context, written, progress)
        with written.open("rb") as read:
            place.put(name, iter(lambda: read.read(CHUNK), b""))
        written.unlink()
        _fetch(place, name, written)
        # Files that were missing on the server aren't damage to the backup. They are found last.
        if len(damage := verify_backup(written)) > len(outcome.missing):
            raise BadRequest(f"{place.address}/{name}: {damage[0]}")
    if keep is not None:
        place.delete(each for each in _dated(place) if each != name and _moment(each) < now() - keep)
    return name, outcome


@contextmanager
def opened_backup(address: str) -> Iterator[Path]:
    """Open a backup as a local file. The backup is a single file, either local or in a bucket, or the newest backup in
    a folder or bucket. Raises BadRequest if there is no backup, NotFound if the folder, or the file in a bucket,
    doesn't exist, and Unavailable if the location can't be read."""
    if is_place(address):
        place = BackupPlace(address)
        names = _dated(place)
        if not names:
            raise BadRequest(f"{place.address}: there is no backup in this location")
        name = max(names)
    elif is_bucket(address):
        folder, _, name = address.rpartition("/")
        place = BackupPlace(folder)
    else:
        yield Path(address)
        return
    with TemporaryFolder("backup") as temporary:
        fetched = Path(temporary, name)
        _fetch(place, name, fetched)
        yield fetched


def _dated(place: BackupPlace) -> list[str]:
    return [each.name for each in place.list() if _NAME.fullmatch(each.name)]


def _moment(name: str) -> int:
    date, _, clock = name.removeprefix("octavo-").removesuffix(SUFFIX).partition("T")
    return parse_iso(f"{date}T{clock.replace('-', ':')}")


def _fetch(place: BackupPlace, name: str, target: Path) -> None:
    try:
        with target.open("wb") as out:
            for piece in place.get(name):
                out.write(piece)
    except OctavoError:
        target.unlink(missing_ok=True)
        raise
