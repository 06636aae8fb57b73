"""Uploads and import runs: rows in, frozen records out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ..core.problems import Problem
from ..errors import BadRequest, NotFound
from ..kit import ids
from ..kit.clock import now
from ..kit.db import Transaction
from ..kit.pagination import Slice, decode_token, slice_rows

MAX_PROBLEMS = 1000


class UploadRow(Struct, frozen=True):
    """``hash`` is None until the bytes came."""

    id: str
    organization_id: str
    user_id: str
    kind: str
    name: str
    content_type: str
    size: int
    hash: str | None
    expires_at: int


_UPLOAD = ", ".join(UploadRow.__struct_fields__)


def insert_upload(tx: Transaction, row: UploadRow) -> None:
    values = ", ".join(f":{name}" for name in UploadRow.__struct_fields__)
    tx.run(f"INSERT INTO uploads ({_UPLOAD}) VALUES ({values})", **msgspec.structs.asdict(row))


def find_upload(tx: Transaction, upload_id: str) -> UploadRow | None:
    """None for one that is not there, or no more."""
    row = tx.one(
        f"SELECT {_UPLOAD} FROM uploads WHERE id = :id AND expires_at > :now", id=upload_id, now=now()
    )
    return UploadRow(*row) if row else None


def get_uploads(
    tx: Transaction, organization_id: str, user_id: str, kind: str, keys: Sequence[str]
) -> list[UploadRow]:
    """What somebody uploaded under these keys, in their order. Raises NotFound for keys that are not theirs,
    BadRequest where the bytes did not come yet."""
    found = []
    for number, key in enumerate(keys):
        upload = find_upload(tx, key)
        if (
            upload is None
            or (upload.organization_id, upload.user_id) != (organization_id, user_id)
            or upload.kind != kind
        ):
            raise NotFound(f"files[{number}]: there is no uploaded file {key!r}.")
        if upload.hash is None:
            raise BadRequest(f"files[{number}]: nothing was uploaded to the URL of {key!r} yet.")
        found.append(upload)
    return found


def count_waiting_uploads(tx: Transaction, organization_id: str, user_id: str) -> int:
    count: int = tx.value(
        "SELECT count(*) FROM uploads WHERE user_id = :user AND organization_id = :org AND expires_at > :now"
        " AND hash IS NULL",
        user=user_id,
        org=organization_id,
        now=now(),
    )
    return count


def set_uploaded(tx: Transaction, upload_id: str, hash: str) -> bool:
    """False when other bytes came first, or the time is over."""
    return bool(
        tx.run(
            "UPDATE uploads SET hash = :hash WHERE id = :id AND expires_at > :now AND (hash IS NULL OR hash = :hash)",
            hash=hash,
            id=upload_id,
            now=now(),
        )
    )


def delete_expired_uploads(tx: Transaction, before: int) -> int:
    return tx.run("DELETE FROM uploads WHERE expires_at <= :before", before=before)


class RunRow(Struct, frozen=True):
    """An import run. ``source``, ``pages`` and ``problems`` are JSON."""

    id: str
    organization_id: str
    space_id: str
    change_id: str | None
    page_id: str | None
    user_id: str
    source: str
    status: str
    attempts: int
    done: int
    total: int
    pages: str
    problems: str
    error: str | None
    revision: str | None
    created_at: int
    started_at: int | None
    completed_at: int | None


_RUN = ", ".join(RunRow.__struct_fields__)


def insert_run(
    tx: Transaction,
    *,
    organization_id: str,
    space_id: str,
    change_id: str | None,
    page_id: str | None,
    user_id: str,
    source: Any,
) -> RunRow:
    run_id = ids.new_id()
    tx.run(
        """INSERT INTO import_runs (id, organization_id, space_id, change_id, page_id, user_id, source, status,
                                    created_at)
           VALUES (:id, :org, :space, :change, :page, :user, :source, 'pending', :at)""",
        id=run_id,
        org=organization_id,
        space=space_id,
        change=change_id,
        page=page_id,
        user=user_id,
        source=msgspec.json.encode(source).decode(),
        at=now(),
    )
    return get_run(tx, run_id)


def find_run(tx: Transaction, run_id: str) -> RunRow | None:
    row = tx.one(f"SELECT {_RUN} FROM import_runs WHERE id = :id", id=run_id)
    return RunRow(*row) if row else None


def get_run(tx: Transaction, run_id: str) -> RunRow:
    run = find_run(tx, run_id)
    if run is None:
        raise NotFound(f"There is no import run {run_id!r}.")
    return run


def list_runs(
    tx: Transaction, organization_id: str, user_id: str | None, limit: int, page: str | None
) -> Slice[RunRow]:
    """Those that somebody started (None: anybody), newest first."""
    after = decode_token(page, str)
    where, given = "organization_id = :org", {"org": organization_id}
    if user_id is not None:
        where, given = f"{where} AND user_id = :user", {**given, "user": user_id}
    rows = tx.all(
        f"SELECT {_RUN} FROM import_runs WHERE {where} AND id < :after ORDER BY id DESC LIMIT :limit",
        after=after[0] if after else "~",
        limit=limit + 1,
        **given,
    )
    count = tx.value(f"SELECT count(*) FROM import_runs WHERE {where}", **given)
    return slice_rows([RunRow(*row) for row in rows], limit, count, lambda run: (run.id,))


def begin_run(tx: Transaction, run_id: str) -> RunRow | None:
    """Marks that an attempt begins; None when the run is over, or never was."""
    begun = tx.run(
        """UPDATE import_runs SET status = 'in-progress', attempts = attempts + 1, done = 0, total = 0,
                                  started_at = coalesce(started_at, :at)
           WHERE id = :id AND status IN ('pending', 'in-progress')""",
        id=run_id,
        at=now(),
    )
    return get_run(tx, run_id) if begun else None


def set_progress(tx: Transaction, run_id: str, done: int, total: int) -> bool:
    """False when the run is no longer in progress: it was cancelled."""
    return bool(
        tx.run(
            "UPDATE import_runs SET done = :done, total = :total WHERE id = :id AND status = 'in-progress'",
            id=run_id,
            done=done,
            total=total,
        )
    )


def end_run(
    tx: Transaction,
    run_id: str,
    status: str,
    *,
    problems: Sequence[Problem] = (),
    pages: Sequence[Any] = (),
    error: str | None = None,
    revision: str | None = None,
) -> bool:
    """Ends a run that is not over; False for one that is. Past ``MAX_PROBLEMS`` only their number is kept."""
    kept = list(problems[:MAX_PROBLEMS])
    if len(problems) > len(kept):
        more = len(problems) - len(kept)
        kept.append(Problem("", 0, "more_problems", f"{more} more problems are not listed"))
    return bool(
        tx.run(
            """UPDATE import_runs SET status = :status, completed_at = :at, problems = :problems, pages = :pages,
                 error = :error, revision = :revision,
                 done = CASE WHEN :status = 'completed' THEN :made ELSE done END,
                 total = CASE WHEN :status = 'completed' THEN :made ELSE total END
               WHERE id = :id AND status IN ('pending', 'in-progress')""",
            id=run_id,
            status=status,
            at=now(),
            problems=msgspec.json.encode(kept).decode(),
            pages=msgspec.json.encode(pages).decode(),
            made=len(pages),
            error=error,
            revision=revision,
        )
    )
