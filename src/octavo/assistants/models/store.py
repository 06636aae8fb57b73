"""Database access for agent instructions, the log of model calls, and vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, list_page


class InstructionsRow(Struct, frozen=True):
    """Instructions for the language model. ``instructions``: a document as JSON."""

    instructions: str
    updated_at: int
    updated_by: str


class CallRow(Struct, frozen=True):
    """Model call. ``duration``: the duration in milliseconds. ``cost_micros``: the cost in millionths of the
    pricing currency."""

    id: str
    user_id: str | None
    purpose: str
    model: str
    status: str
    error: str | None
    input_tokens: int
    output_tokens: int
    cost_micros: int
    duration: int
    created_at: int
    request: str | None
    answer: str | None


_CALL = ", ".join(CallRow.__struct_fields__)


def find_instructions(tx: Transaction, organization_id: str) -> InstructionsRow | None:
    row = tx.one(
        "SELECT instructions, updated_at, updated_by FROM agent_instructions WHERE organization_id = :org",
        org=organization_id,
    )
    return InstructionsRow(*row) if row else None


def put_instructions(tx: Transaction, organization_id: str, instructions: str, by: str) -> None:
    tx.run(
        """INSERT INTO agent_instructions (organization_id, instructions, updated_at, updated_by)
           VALUES (:org, :instructions, :at, :by)
           ON CONFLICT (organization_id) DO UPDATE SET instructions = excluded.instructions,
             updated_at = excluded.updated_at, updated_by = excluded.updated_by""",
        org=organization_id,
        instructions=instructions,
        at=now(),
        by=by,
    )


def insert_call(tx: Transaction, **columns: object) -> None:
    names = ["id", "created_at", *columns]
    tx.run(
        f"INSERT INTO model_calls ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})",
        id=ids.new_id(),
        created_at=now(),
        **columns,
    )


def list_calls(tx: Transaction, organization_id: str, limit: int, page: str | None) -> Slice[CallRow]:
    """Return the calls, newest first."""
    return list_page(
        tx,
        limit,
        page,
        _CALL,
        "FROM model_calls WHERE organization_id = :org",
        lambda row: CallRow(*row),
        descending=True,
        org=organization_id,
    )


def prune_calls(tx: Transaction, before: int, limit: int = 500) -> int:
    """Delete at most ``limit`` calls older than ``before`` (milliseconds). Returns the number of deleted
    calls."""
    return tx.run(
        """DELETE FROM model_calls WHERE id IN
             (SELECT id FROM model_calls WHERE created_at < :before ORDER BY created_at LIMIT :limit)""",
        before=before,
        limit=limit,
    )


def find_vectors(tx: Transaction, organization_id: str, keys: Sequence[str]) -> dict[str, tuple[bytes, int]]:
    """Return the cached vectors by text key, each with the time at which its use was last recorded (in
    milliseconds)."""
    rows = tx.all(
        "SELECT digest, vector, used_at FROM embeddings WHERE organization_id = :org AND digest IN :keys",
        org=organization_id,
        keys=keys,
    )
    return {key: (bytes(vector), used_at) for key, vector, used_at in rows}


def touch_vectors(tx: Transaction, organization_id: str, keys: Sequence[str]) -> None:
    """Record the use of vectors."""
    tx.run(
        "UPDATE embeddings SET used_at = :now WHERE organization_id = :org AND digest IN :keys",
        now=now(),
        org=organization_id,
        keys=keys,
    )


def put_vectors(tx: Transaction, organization_id: str, vectors: Mapping[str, bytes]) -> None:
    tx.run_many(
        """INSERT INTO embeddings (organization_id, digest, vector, used_at) VALUES (:org, :key, :vector, :now)
           ON CONFLICT (organization_id, digest) DO UPDATE SET vector = excluded.vector, used_at = excluded.used_at""",
        [
            {"org": organization_id, "key": key, "vector": vectors[key], "now": now()}
            for key in sorted(vectors)
        ],
    )


def find_oldest_kept(tx: Transaction, most: int) -> int:
    """Return the time, in milliseconds, at which the most recently used vector beyond the limit was last used; 0 if
    the limit isn't exceeded. ``most``: the maximum number of vectors to keep."""
    found = tx.value("SELECT used_at FROM embeddings ORDER BY used_at DESC LIMIT 1 OFFSET :most", most=most)
    return int(found or 0)


def prune_vectors(tx: Transaction, until: int, limit: int = 500) -> int:
    """Delete at most ``limit`` vectors that were last used at or before ``until`` (milliseconds). Returns the
    number of deleted vectors."""
    return tx.run(
        """DELETE FROM embeddings WHERE (organization_id, digest) IN
             (SELECT organization_id, digest FROM embeddings WHERE used_at <= :until ORDER BY used_at LIMIT :limit)""",
        until=until,
        limit=limit,
    )
