"""Backup storage in a local folder, or under a prefix in a bucket.

Objects are either complete or absent, and are durable when ``put`` returns.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import obstore
from obstore.store import LocalStore, S3Store

from octavo.errors import NotFound, Unavailable
from octavo.kit.files import CHUNK, FileStore, open_bucket, open_store, store_errors
from octavo.kit.private_files import flush_to_disk, make_private_folder
from octavo.kit.secrets.signing import Signer

_BUCKET = "s3://"
_OWN = "BACKUP_"
"""Prefix for environment variables that apply only to backups."""
_UNDONE = ".part"
_SMALL = 4 * 1024 * 1024
"""Maximum number of bytes to send in one request."""


def is_bucket(address: str) -> bool:
    return address.startswith(_BUCKET)


def _environment() -> Mapping[str, str]:
    """Return the environment for accessing the backup bucket. The bucket can have its own credentials, so that
    leaked credentials for files don't also give access to the backups."""
    own = {
        name.removeprefix(_OWN): value for name, value in os.environ.items() if name.startswith(f"{_OWN}AWS_")
    }
    if not own:
        return os.environ
    found = {**os.environ, **own}
    if "AWS_ACCESS_KEY_ID" in own and "AWS_SESSION_TOKEN" not in own:
        found.pop("AWS_SESSION_TOKEN", None)  # The session token belongs to the other key.
    return found


class StoredBackup(NamedTuple):
    """Stored object. ``modified``: the time of its last change in milliseconds since 1970."""

    name: str
    size: int
    modified: int


class BackupPlace:
    """Backup storage.

    ``address``: the path of a folder, or ``s3://bucket/prefix`` with the usual ``AWS_*`` variables. To override any
    of these variables, add the prefix ``BACKUP_`` to its name. ``new``: whether to create a missing folder. Raises
    NotFound if the folder doesn't exist, and Unavailable if the storage can't be used.
    """

    def __init__(self, address: str, *, new: bool = False) -> None:
        self.address = address.rstrip("/") or address
        environ = _environment()
        self._folder: Path | None = None
        self._store: LocalStore | S3Store
        if is_bucket(address):
            self._store = open_bucket(address, environ)
            files = f"{self.address}/files"
        else:
            self._folder = Path(address).resolve()
            if not new and not self._folder.is_dir():
                raise NotFound(f"{address}: there is no such folder")
            try:
                make_private_folder(self._folder)
            except OSError as error:
                raise Unavailable(f"{address}: {error.strerror or error}") from None
            self._store = LocalStore(self._folder)
            files = f"file://{self._folder}/files"
        self.files: FileStore = open_store(files, Signer(bytes(32)), environ)

    def list(self, prefix: str = "") -> list[StoredBackup]:
        """Return the objects under a prefix that ends with a slash, sorted by name."""
        with store_errors():
            found = [entry for chunk in obstore.list(self._store, prefix or None) for entry in chunk]
        return sorted(
            StoredBackup(entry["path"], entry["size"], round(entry["last_modified"].timestamp() * 1000))
            for entry in found
            if not entry["path"].endswith(_UNDONE)
        )

    def put(self, name: str, pieces: Iterable[bytes]) -> None:
        """Store an object. Raises TemporarilyUnavailable or DiskFull if it can't be stored."""
        with store_errors():
            if self._folder is None:
                obstore.put(self._store, name, _whole_if_small(pieces))
                return
            path = self._folder / name
            made = [folder for folder in path.parents if not folder.exists()]
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            part = path.with_name(path.name + _UNDONE)
            try:
                with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                    for piece in pieces:
                        out.write(piece)
                    out.flush()
                    os.fsync(out.fileno())
                part.rename(path)
            finally:
                part.unlink(missing_ok=True)
            for folder in (path.parent, *(folder.parent for folder in made)):
                flush_to_disk(folder)

    def get(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of an object. Raises NotFound if it doesn't exist, and TemporarilyUnavailable if
        the storage doesn't respond."""
        with store_errors():
            for chunk in obstore.get(self._store, name).stream(min_chunk_size=CHUNK):
                yield bytes(chunk)

    def delete(self, names: Iterable[str]) -> None:
        with store_errors():
            for name in names:
                obstore.delete(self._store, name)


def _whole_if_small(pieces: Iterable[bytes]) -> bytes | Iterator[bytes]:
    """Join content that is small enough for a single request to a bucket. Larger content is returned unchanged, and
    is sent in parts."""
    rest, begin = iter(pieces), b""
    for piece in rest:
        begin += piece
        if len(begin) > _SMALL:
            return _joined(begin, rest)
    return begin


def _joined(begin: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield begin
    yield from rest
