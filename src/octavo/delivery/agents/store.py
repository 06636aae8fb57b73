"""Read and write clients, connected agents, and their activity in the database."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from msgspec import Struct

from octavo.kit import ids
from octavo.kit.clock import DAY, WEEK, now
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.organization.access.limits import counts, within_limit
from octavo.organization.access.tokens import hash_token

_UNUSED = WEEK
"""Milliseconds after which an unconnected client is deleted."""
MAX_CLIENTS = 10_000
"""Maximum number of unconnected clients."""
_CONNECTED = """SELECT 1 FROM agents a
    WHERE a.client_id = agent_clients.id AND a.revoked_at IS NULL AND a.expires_at > :now
  UNION ALL SELECT 1 FROM site_agents s WHERE s.client_id = agent_clients.id AND s.access_hash IS NOT NULL"""


class ClientRow(Struct, frozen=True):
    """Registered client. ``fresh_until``: the expiration time of the client's metadata document, in milliseconds; None
    for clients that registered themselves."""

    id: str
    name: str
    redirects: tuple[str, ...]
    fresh_until: int | None = None


def insert_client(tx: Transaction, name: str, redirects: list[str]) -> ClientRow:
    """Register a client."""
    client = ClientRow(ids.new_id(), name, tuple(redirects))
    put_client(tx, client)
    return client


def put_client(tx: Transaction, client: ClientRow) -> None:
    """Insert or update the data from a client's metadata document."""
    tx.run(
        """INSERT INTO agent_clients (id, name, redirects, created_at, fresh_until)
           VALUES (:id, :name, :redirects, :at, :fresh_until)
           ON CONFLICT (id) DO UPDATE SET name = excluded.name, redirects = excluded.redirects,
                                          created_at = excluded.created_at, fresh_until = excluded.fresh_until""",
        id=client.id,
        name=client.name,
        redirects=msgspec.json.encode(client.redirects).decode(),
        at=now(),
        fresh_until=client.fresh_until,
    )


def forget_clients(tx: Transaction) -> int:
    """Delete unconnected clients that are older than a week, and the oldest clients beyond ``MAX_CLIENTS``. Return the
    number of deleted clients."""
    return tx.run(
        f"""DELETE FROM agent_clients WHERE NOT EXISTS ({_CONNECTED}) AND (created_at < :old OR id NOT IN
              (SELECT id FROM agent_clients ORDER BY created_at DESC, id DESC LIMIT {MAX_CLIENTS}))""",
        now=now(),
        old=now() - _UNUSED,
    )


def count_clients(tx: Transaction) -> int:
    return int(tx.value("SELECT count(*) FROM agent_clients"))


def make_room(tx: Transaction) -> None:
    """Delete unconnected clients without waiting for the scheduled job, to make room for another client."""
    if count_clients(tx) >= 2 * MAX_CLIENTS:
        forget_clients(tx)


def find_client(tx: Transaction, client_id: str) -> ClientRow | None:
    row = tx.one("SELECT id, name, redirects, fresh_until FROM agent_clients WHERE id = :id", id=client_id)
    if row is None:
        return None
    return ClientRow(row[0], row[1], msgspec.json.decode(row[2], type=tuple[str, ...]), row[3])


# --- codes ------------------------------------------------------------------------------------------------


class CodeRow(Struct, frozen=True):
    user_id: str
    organization_id: str
    client_id: str
    name: str
    redirect: str
    challenge: str
    scopes: str
    agent_until: int
    expires_at: int
    agent_id: str | None


_CODE = ", ".join(CodeRow.__struct_fields__)


def insert_code(tx: Transaction, secret: str, code: CodeRow) -> None:
    tx.run("DELETE FROM agent_codes WHERE expires_at < :old", old=now() - DAY)
    tx.run(
        f"""INSERT INTO agent_codes (hash, {_CODE}) VALUES (:hash, :user_id, :organization_id, :client_id, :name,
            :redirect, :challenge, :scopes, :agent_until, :expires_at, :agent_id)""",
        hash=hash_token(secret),
        **msgspec.structs.asdict(code),
    )


def find_code(tx: Transaction, secret: str) -> CodeRow | None:
    row = tx.one(f"SELECT {_CODE} FROM agent_codes WHERE hash = :hash", hash=hash_token(secret))
    return CodeRow(*row) if row else None


def use_code(tx: Transaction, secret: str, agent_id: str) -> bool:
    """Mark a code as used. Return False if it was already used."""
    changed = tx.run(
        "UPDATE agent_codes SET agent_id = :agent WHERE hash = :hash AND agent_id IS NULL",
        agent=agent_id,
        hash=hash_token(secret),
    )
    return changed == 1


def delete_codes(tx: Transaction, user_id: str, *, only: str | None) -> None:
    """Delete a person's unused codes. ``only``: the organization to limit the deletion to."""
    tx.run(
        f"DELETE FROM agent_codes WHERE user_id = :user {'AND organization_id = :only' if only else ''}",
        user=user_id,
        only=only,
    )


# --- agents -----------------------------------------------------------------------------------------------


class AgentRow(Struct, frozen=True):
    id: str
    user_id: str
    organization_id: str
    client_id: str
    name: str
    scopes: str
    access_until: int
    created_at: int
    expires_at: int
    last_used_at: int | None
    revoked_at: int | None

    @property
    def granted(self) -> list[str]:
        return msgspec.json.decode(self.scopes, type=list[str])


_AGENT = ", ".join(f"a.{name}" for name in AgentRow.__struct_fields__)
_GOOD = """JOIN users u ON u.id = a.user_id AND u.disabled = 0
  JOIN members m ON m.organization_id = a.organization_id AND m.user_id = a.user_id AND m.disabled = 0
  WHERE a.revoked_at IS NULL"""


@counts("agents")
def count_agents(tx: Transaction, organization_id: str) -> int:
    """Return the number of agents that are connected to an organization."""
    query = "SELECT count(*) FROM agents WHERE organization_id = :org AND revoked_at IS NULL"
    return int(tx.value(query, org=organization_id))


def insert_agent(tx: Transaction, id: str, code: CodeRow, access: str, until: int, refresh: str) -> None:
    with within_limit(tx, code.organization_id, "agents"):
        tx.insert(
            "agents",
            id=id,
            user_id=code.user_id,
            organization_id=code.organization_id,
            client_id=code.client_id,
            name=code.name,
            scopes=code.scopes,
            access_hash=hash_token(access),
            access_until=until,
            refresh_hash=hash_token(refresh),
            created_at=now(),
            expires_at=code.agent_until,
        )


def find_by_access(tx: Transaction, hashed: str) -> AgentRow | None:
    """Return the agent with this token, if the person who connected it still has access and hasn't revoked
    it."""
    row = tx.one(f"SELECT {_AGENT} FROM agents a {_GOOD} AND a.access_hash = :hash", hash=hashed)
    return AgentRow(*row) if row else None


def find_good_by_id(tx: Transaction, agent_id: str) -> AgentRow | None:
    """Return the agent with this ID, if the person who connected it is a member and hasn't revoked it."""
    row = tx.one(f"SELECT {_AGENT} FROM agents a {_GOOD} AND a.id = :id", id=agent_id)
    return AgentRow(*row) if row else None


def find_by_refresh(tx: Transaction, secret: str) -> AgentRow | None:
    row = tx.one(f"SELECT {_AGENT} FROM agents a {_GOOD} AND a.refresh_hash = :hash", hash=hash_token(secret))
    return AgentRow(*row) if row else None


def find_by_former_refresh(tx: Transaction, secret: str) -> AgentRow | None:
    row = tx.one(
        f"SELECT {_AGENT} FROM agents a WHERE a.former_refresh_hash = :hash AND a.revoked_at IS NULL",
        hash=hash_token(secret),
    )
    return AgentRow(*row) if row else None


def renew(tx: Transaction, agent_id: str, former: str, access: str, until: int, refresh: str) -> bool:
    """Assign new secrets to an agent. Return False if another request already replaced the old secrets."""
    changed = tx.run(
        """UPDATE agents SET access_hash = :access, access_until = :until, refresh_hash = :refresh,
             former_refresh_hash = :former, last_used_at = :at WHERE id = :id AND refresh_hash = :former""",
        id=agent_id,
        access=hash_token(access),
        until=until,
        refresh=hash_token(refresh),
        former=hash_token(former),
        at=now(),
    )
    return changed == 1


def list_agents(
    tx: Transaction, user_id: str, limit: int, page: str | None, *, only: str | None
) -> Slice[AgentRow]:
    """Return a person's active agents, newest first. ``only``: an organization to limit the list to."""
    of_one = " AND a.organization_id = :org" if only is not None else ""
    return _list_active(tx, f"a.user_id = :user{of_one}", limit, page, user_id, only)


def _list_active(
    tx: Transaction, where: str, limit: int, page: str | None, user: str | None, org: str | None
) -> Slice[AgentRow]:
    return list_page(
        tx,
        limit,
        page,
        _AGENT,
        f"FROM agents a WHERE {where} AND a.revoked_at IS NULL AND a.expires_at > :now",
        lambda row: AgentRow(*row),
        by="a.id",
        descending=True,
        now=now(),
        user=user,
        org=org,
    )


def find_good(tx: Transaction, user_id: str, *, only: str | None) -> list[AgentRow]:
    """Return all of a person's agents that aren't revoked. ``only``: an organization to limit the list to."""
    rows = tx.all(
        f"""SELECT {_AGENT} FROM agents a WHERE a.user_id = :user AND a.revoked_at IS NULL
            {"AND a.organization_id = :only" if only else ""}""",
        user=user_id,
        only=only,
    )
    return [AgentRow(*row) for row in rows]


def list_of_organization(
    tx: Transaction, organization_id: str, limit: int, page: str | None
) -> Slice[AgentRow]:
    """Return the active agents that members have connected to an organization, newest first."""
    return _list_active(tx, "a.organization_id = :org", limit, page, None, organization_id)


def find_in_organization(tx: Transaction, organization_id: str, agent_id: str) -> AgentRow | None:
    row = tx.one(
        f"SELECT {_AGENT} FROM agents a WHERE a.id = :id AND a.organization_id = :org",
        id=agent_id,
        org=organization_id,
    )
    return AgentRow(*row) if row else None


def find_agent(tx: Transaction, user_id: str, agent_id: str, *, only: str | None) -> AgentRow | None:
    row = tx.one(
        f"SELECT {_AGENT} FROM agents a WHERE a.id = :id AND a.user_id = :user", id=agent_id, user=user_id
    )
    found = AgentRow(*row) if row else None
    return found if found is not None and only in (None, found.organization_id) else None


def revoke(tx: Transaction, agent_id: str) -> bool:
    return bool(
        tx.run(
            "UPDATE agents SET revoked_at = :at WHERE id = :id AND revoked_at IS NULL", id=agent_id, at=now()
        )
    )


# --- acts -------------------------------------------------------------------------------------------------


class ActRow(Struct, frozen=True):
    id: str
    operation: str
    space_id: str | None
    change_request_id: str | None
    object_id: str | None
    parent_id: str | None
    pages: int
    created_at: int
    undone_at: int | None


_ACT = ", ".join(ActRow.__struct_fields__)


def insert_act(tx: Transaction, agent_id: str, act: ActRow) -> None:
    tx.run(
        f"""INSERT INTO agent_acts (agent_id, {_ACT}) VALUES (:agent, :id, :operation, :space_id,
            :change_request_id, :object_id, :parent_id, :pages, :created_at, :undone_at)""",
        agent=agent_id,
        **msgspec.structs.asdict(act),
    )


def list_acts(tx: Transaction, agent_id: str, limit: int, page: str | None) -> Slice[ActRow]:
    """Return an agent's actions, newest first."""
    source = "FROM agent_acts WHERE agent_id = :agent"
    return list_page(tx, limit, page, _ACT, source, lambda row: ActRow(*row), descending=True, agent=agent_id)


def list_acts_since(
    tx: Transaction, agent_id: str, since: int, before: str | None, most: int
) -> list[ActRow]:
    """Return an agent's changes since a given time that haven't been undone, newest first. ``before``: the ID of
    the action after which the list continues."""
    rows = tx.all(
        f"""SELECT {_ACT} FROM agent_acts WHERE agent_id = :agent AND created_at >= :since AND undone_at IS NULL
            {"AND id < :before" if before else ""} ORDER BY id DESC LIMIT :most""",
        agent=agent_id,
        since=since,
        before=before,
        most=most,
    )
    return [ActRow(*row) for row in rows]


def made_by(tx: Transaction, agent_id: str, change_request_ids: list[str]) -> set[str]:
    """Return the given change requests that the agent created."""
    rows = tx.all(
        """SELECT change_request_id FROM agent_acts WHERE agent_id = :agent AND operation = 'createChangeRequest'
             AND change_request_id IN :ids""",
        agent=agent_id,
        ids=change_request_ids,
    )
    return {id for (id,) in rows}


def mark_undone(tx: Transaction, act_ids: list[str]) -> None:
    tx.run("UPDATE agent_acts SET undone_at = :at WHERE id IN :ids", at=now(), ids=act_ids)


class Day(NamedTuple):
    """An agent's activity in the last day: how many change requests it created, how many pages it edited, and how
    many other actions it performed."""

    drafts: int
    pages: int
    others: int


def count_day(tx: Transaction, agent_id: str) -> Day:
    row = tx.one(
        """SELECT COALESCE(sum(CASE WHEN operation = 'createChangeRequest' THEN 1 ELSE 0 END), 0),
             COALESCE(sum(pages), 0),
             COALESCE(sum(CASE WHEN operation <> 'createChangeRequest' AND pages = 0 THEN 1 ELSE 0 END), 0)
           FROM agent_acts WHERE agent_id = :agent AND created_at >= :since""",
        agent=agent_id,
        since=now() - DAY,
    )
    assert row is not None, "a count always returns a row"
    return Day(*map(int, row))


def count_waiting(tx: Transaction, agent_id: str) -> int:
    """Return the number of an agent's change requests that aren't merged or archived yet."""
    found: int = tx.value(
        """SELECT count(*) FROM agent_acts a JOIN change_requests c ON c.id = a.change_request_id
           WHERE a.agent_id = :agent AND a.operation = 'createChangeRequest' AND c.status IN ('draft', 'open')""",
        agent=agent_id,
    )
    return found
