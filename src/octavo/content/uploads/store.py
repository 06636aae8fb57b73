"""Read and write uploads in the database."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from octavo.errors import BadRequest, NotFound
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction


class UploadRow(Struct, frozen=True):
    """Upload of a file. ``hash``: the hash of the file; None until all bytes have arrived. ``received``:
    the number of bytes so far."""

    id: str
    organization_id: str
    user_id: str
    kind: str
    name: str
    content_type: str
    size: int
    hash: str | None
    expires_at: int
    received: int = 0


_UPLOAD = ", ".join(UploadRow.__struct_fields__)


def insert_upload(tx: Transaction, row: UploadRow) -> None:
    values = ", ".join(f":{name}" for name in UploadRow.__struct_fields__)
    tx.run(f"INSERT INTO uploads ({_UPLOAD}) VALUES ({values})", **msgspec.structs.asdict(row))


def find_upload(tx: Transaction, upload_id: str) -> UploadRow | None:
    """Return an upload; None if it doesn't exist or has expired."""
    row = tx.one(
        f"SELECT {_UPLOAD} FROM uploads WHERE id = :id AND expires_at > :now", id=upload_id, now=now()
    )
    return UploadRow(*row) if row else None


def get_uploads(
    tx: Transaction,
    organization_id: str,
    user_id: str,
    kind: str,
    keys: Sequence[str],
    places: Sequence[str] | None = None,
) -> list[UploadRow]:
    """Return the files that a person uploaded under these keys, in the same order. ``places``: the names of the fields
    that contain the keys; by default, items of ``files``.

    Raises NotFound if a key belongs to another person, and BadRequest if the bytes haven't arrived yet.
    """
    found = []
    for key, place in zip(keys, places or [f"files[{n}]" for n in range(len(keys))], strict=True):
        upload = find_upload(tx, key)
        if (
            upload is None
            or (upload.organization_id, upload.user_id) != (organization_id, user_id)
            or upload.kind != kind
        ):
            raise NotFound(
                f"{place}: the uploaded file {key!r} doesn't exist or has expired. Upload it again."
            )
        if upload.hash is None:
            raise BadRequest(f"{place}: the file {key!r} hasn't been uploaded yet. Send it to its URL first.")
        found.append(upload)
    return found


class UploadUsage(Struct, frozen=True):
    """Totals of the uploads that a person has declared: the number of files, the number of bytes, and the number of
    files that haven't arrived yet."""

    files: int
    size: int
    waiting: int


def measure_uploads(tx: Transaction, user_id: str) -> UploadUsage:
    """Return the totals of a user's uploads in all organizations."""
    row = tx.one(
        "SELECT count(*), coalesce(sum(size), 0), count(*) - count(hash) FROM uploads"
        " WHERE user_id = :user AND expires_at > :now",
        user=user_id,
        now=now(),
    )
    files, size, waiting = row or (0, 0, 0)
    return UploadUsage(int(files), int(size), int(waiting))


def set_uploaded(tx: Transaction, upload_id: str, hash: str) -> bool:
    """Set the hash of a complete upload. Return False if other bytes arrived first or the upload has
    expired."""
    return bool(
        tx.run(
            "UPDATE uploads SET hash = :hash WHERE id = :id AND expires_at > :now AND (hash IS NULL OR hash = :hash)",
            hash=hash,
            id=upload_id,
            now=now(),
        )
    )


def add_part(tx: Transaction, upload_id: str, start: int, end: int, hash: str) -> bool:
    """Record a range of bytes. Return False if other bytes were already recorded at this position or the
    file is complete."""
    is_next = tx.run(
        """UPDATE uploads SET received = :end
           WHERE id = :id AND expires_at > :now AND received = :start AND hash IS NULL""",
        id=upload_id,
        start=start,
        end=end,
        now=now(),
    )
    if is_next:
        tx.insert("upload_parts", upload_id=upload_id, start=start, hash=hash)
    return bool(is_next)


def list_parts(tx: Transaction, upload_id: str) -> list[str]:
    """Return the hashes of the parts in order."""
    rows = tx.all("SELECT hash FROM upload_parts WHERE upload_id = :id ORDER BY start", id=upload_id)
    return [row[0] for row in rows]


def delete_parts(tx: Transaction, upload_id: str) -> None:
    tx.run("DELETE FROM upload_parts WHERE upload_id = :id", id=upload_id)


def delete_expired_uploads(tx: Transaction, before: int) -> int:
    return tx.run("DELETE FROM uploads WHERE expires_at <= :before", before=before)
