"""Audit log: the actor, action, target, time, and client of each change, with the states before and after.

An event is written in the transaction of the change, and never modified afterward; the database enforces
this."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files
from typing import Literal

import msgspec
from msgspec import Struct

from octavo.errors import NotFound
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.kit.http.operation import Actor, Person, Script

Source = Literal["ui", "api", "integration", "workflow", "script"]
"""Origin of an event: the app, another client with a token, an integration script, the server itself, or the
command line."""
ACTIONS = frozenset((files(__package__) / "audit_actions.txt").read_text().split("\n")[1:-1])


class AuditRow(Struct, frozen=True):
    """Event of the audit log. ``actor_kind`` and ``actor_name``: the kind and name of the actor's account; None if
    there is no account, or if it no longer exists. ``source``: the origin of the event. ``correlation``: the ID of the
    transaction that recorded the event. Both are None in events recorded by earlier versions."""

    id: str
    action: str
    actor_id: str | None
    actor_kind: str | None
    actor_name: str | None
    token_id: str | None
    agent: str | None
    client: str | None
    target_type: str
    target_id: str
    before: str | None
    after: str | None
    created_at: int
    source: Source | None
    correlation: str | None


class Stranger(Struct, frozen=True):
    """Caller who isn't signed in, identified by the request's IP address."""

    client: str


class AuditFilter(Struct, frozen=True):
    """Filter for the audit log. ``since`` and ``until`` are inclusive, in milliseconds; the other values must
    match exactly."""

    action: str | None = None
    actor: str | None = None
    target_type: str | None = None
    target: str | None = None
    since: int | None = None
    until: int | None = None


_COLUMNS = """e.id, e.action, e.actor_id, (SELECT kind FROM users WHERE id = e.actor_id),
              (SELECT display_name FROM users WHERE id = e.actor_id), e.token_id, e.agent, e.client, e.target_type,
              e.target_id, e.before_state, e.after_state, e.created_at, e.source, e.correlation"""
_CONDITIONS = {
    "action": "action = :action",
    "actor": "actor_id = :actor",
    "target_type": "target_type = :target_type",
    "target": "target_id = :target",
    "since": "created_at >= :since",
    "until": "created_at <= :until",
}


Watch = Callable[[Transaction, str, tuple[str, str]], None]
_watches: list[Watch] = []


def watch_audit(watch: Watch) -> Watch:
    """Register a function to call with the organization and target of each recorded event, in the transaction that
    records it."""
    _watches.append(watch)
    return watch


def audit(
    tx: Transaction,
    by: Actor | Stranger | None,
    action: str,
    organization_id: str,
    target: tuple[str, str],
    *,
    before: object = None,
    after: object = None,
) -> None:
    """Record ``action`` (``noun.done``) on ``target`` (type, ID). If ``by`` is None, the actor is the
    server itself.

    ``before`` and ``after``: the state before and after the change, as any JSON value. These values must not contain
    secrets.
    """
    actor = by if isinstance(by, Person | Script) else None
    _insert(
        tx,
        organization_id,
        action,
        target,
        actor=actor.user_id if actor is not None else None,
        token=actor.token_id if actor is not None else None,
        agent=actor.agent if actor is not None else None,
        client=by.client if by is not None else None,
        source=source_of(by),
        before=before,
        after=after,
    )
    for watch in _watches:
        watch(tx, organization_id, target)


def source_of(by: Actor | Stranger | None) -> Source:
    match by:
        case None:
            return "workflow"
        case Script():
            return "integration"
        case Person(session=False):
            return "api"
        case _:
            return "ui"


def audit_everywhere(
    tx: Transaction, by: Actor | Stranger, action: str, *, before: object = None, after: object = None
) -> None:
    """Record a server-wide action in every organization."""
    for (organization_id,) in tx.all("SELECT id FROM organizations ORDER BY id"):
        audit(tx, by, action, organization_id, ("organization", organization_id), before=before, after=after)


def audit_person(
    tx: Transaction,
    action: str,
    user_id: str,
    *,
    client: str | None,
    token: str | None = None,
    only: str | None = None,
    actor: str | None = None,
    source: Source = "ui",
    before: object = None,
    after: object = None,
) -> None:
    """Record an action on a user's own account in every organization that the user is a member of.

    ``only``: the only organization that the session or token can access, if it is limited to one. ``actor``:
    the actor, if it isn't the user; an empty string for an unknown person."""
    rows = tx.all(
        "SELECT organization_id FROM members WHERE user_id = :user AND disabled = 0 ORDER BY organization_id",
        user=user_id,
    )
    by = user_id if actor is None else actor or None
    for (organization_id,) in rows:
        if only in (None, organization_id):
            _insert(
                tx,
                organization_id,
                action,
                ("user", user_id),
                actor=by,
                token=token,
                client=client,
                source=source,
                before=before,
                after=after,
            )


def _insert(
    tx: Transaction,
    organization_id: str,
    action: str,
    target: tuple[str, str],
    *,
    actor: str | None,
    token: str | None,
    client: str | None,
    source: Source,
    before: object,
    after: object,
    agent: str | None = None,
) -> None:
    tx.insert(
        "audit_events",
        id=ids.new_id(),
        organization_id=organization_id,
        action=action,
        actor_id=actor,
        token_id=token,
        agent=agent,
        client=client,
        target_type=target[0],
        target_id=target[1],
        before_state=_json(before),
        after_state=_json(after),
        created_at=now(),
        source=source,
        correlation=tx.id,
    )


def list_actions(tx: Transaction, organization_id: str) -> list[str]:
    """Return the actions that can occur in an organization's audit log, including actions that only earlier versions
    recorded."""
    rows = tx.all(
        "SELECT DISTINCT action FROM audit_totals WHERE organization_id = :org", org=organization_id
    )
    return sorted(ACTIONS.union(row[0] for row in rows))


def label_action(action: str) -> str:
    """Return the label of an action, such as `Invite link created` for `invite-link.created`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[._-]", " ", action).lower()
    return words[:1].upper() + words[1:]


def _json(state: object) -> str | None:
    return None if state is None else msgspec.json.encode(state).decode()


def get_audit_event(tx: Transaction, organization_id: str, event_id: str) -> AuditRow:
    row = tx.one(
        f"SELECT {_COLUMNS} FROM audit_events e WHERE organization_id = :org AND id = :id",
        org=organization_id,
        id=event_id,
    )
    if row is None:
        raise NotFound(f"There is no audit event with the ID {event_id!r} in this organization.")
    return AuditRow(*row)


def list_audit_events(
    tx: Transaction, organization_id: str, wanted: AuditFilter, limit: int, page: str | None
) -> Slice[AuditRow]:
    """Return the matching events, newest first."""
    given = {name: value for name, value in msgspec.structs.asdict(wanted).items() if value is not None}
    where = " AND ".join(["organization_id = :org", *(_CONDITIONS[name] for name in given)])
    # Totals by actor, action, and target type are stored with the events.
    counting = "CAST(COALESCE(sum(events), 0) AS BIGINT) FROM audit_totals"
    if not given.keys() <= {"actor", "action", "target_type"}:
        counting = "count(*) FROM audit_events"
    count = tx.value(f"SELECT {counting} WHERE {where}", org=organization_id, **given)
    return list_page(
        tx,
        limit,
        page,
        _COLUMNS,
        f"FROM audit_events e WHERE {where}",
        lambda row: AuditRow(*row),
        by="created_at, id",
        key_types=(int, str),
        descending=True,
        count=count,
        org=organization_id,
        **given,
    )
