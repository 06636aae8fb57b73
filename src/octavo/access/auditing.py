"""The audit log: who did what to what, when, from where, and how it was before and after.

An event is written in the transaction of the change it tells of, and never changed: the database refuses it.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ..kit import ids
from ..kit.clock import now
from ..kit.db import Transaction
from ..kit.operation import Call
from ..kit.pagination import Slice, decode_token, slice_rows


class AuditRow(Struct, frozen=True):
    id: str
    action: str
    actor_id: str | None
    token_id: str | None
    client: str | None
    target_type: str
    target_id: str
    before: str | None
    after: str | None
    created_at: int


class AuditFilter(Struct, frozen=True):
    """``since`` and ``until`` in milliseconds; the rest must be equal where it is given."""

    action: str | None = None
    actor: str | None = None
    target_type: str | None = None
    target: str | None = None
    since: int | None = None
    until: int | None = None


_COLUMNS = (
    "id, action, actor_id, token_id, client, target_type, target_id, before_state, after_state, created_at"
)
_CONDITIONS = {
    "action": "action = :action",
    "actor": "actor_id = :actor",
    "target_type": "target_type = :target_type",
    "target": "target_id = :target",
    "since": "created_at >= :since",
    "until": "created_at < :until",
}


def audit(
    tx: Transaction,
    call: Call | None,
    action: str,
    organization_id: str,
    target: tuple[str, str],
    *,
    before: Any = None,
    after: Any = None,
) -> None:
    """Records ``action`` (``noun.done``) on ``target`` (type, id) by the actor of ``call``; None: by ourselves.

    ``before`` and ``after``: what changed, anything that goes into JSON. Secrets do not belong there.
    """
    actor = call.actor if call is not None else None
    tx.run(
        """INSERT INTO audit_events (id, organization_id, action, actor_id, token_id, client, target_type,
                                     target_id, before_state, after_state, created_at)
           VALUES (:id, :org, :action, :actor, :token, :client, :type, :target, :before, :after, :at)""",
        id=ids.new_id(),
        org=organization_id,
        action=action,
        actor=actor.user_id if actor is not None else None,
        token=actor.token_id if actor is not None else None,
        client=call.client if call is not None else None,
        type=target[0],
        target=target[1],
        before=_json(before),
        after=_json(after),
        at=now(),
    )


def _json(state: Any) -> str | None:
    return None if state is None else msgspec.json.encode(state).decode()


def list_audit_events(
    tx: Transaction, organization_id: str, wanted: AuditFilter, limit: int, page: str | None
) -> Slice[AuditRow]:
    """Newest first."""
    after = decode_token(page, str)
    given = {name: value for name, value in msgspec.structs.asdict(wanted).items() if value is not None}
    where = " AND ".join(["organization_id = :org", *(_CONDITIONS[name] for name in given)])
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM audit_events WHERE {where} AND id < :after ORDER BY id DESC LIMIT :limit",
        org=organization_id,
        after=after[0] if after else "~",
        limit=limit + 1,
        **given,
    )
    count = tx.value(f"SELECT count(*) FROM audit_events WHERE {where}", org=organization_id, **given)
    return slice_rows([AuditRow(*row) for row in rows], limit, count, lambda row: (row.id,))
