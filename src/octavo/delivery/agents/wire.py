"""Wire format of agents."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from octavo.kit.clock import iso
from octavo.organization.access.wire import User

from .store import ActRow, AgentRow
from .undoing import UndoneAct


class AgentConnection(Struct):
    """Result of connecting an app. ``url``: the URL that the person's browser is redirected to, which
    delivers the code to the app."""

    url: str


class Agent(Struct, rename="camel", kw_only=True):
    id: str
    name: str
    organization: str
    scopes: list[str]
    created_at: str
    expires_at: str
    last_used_at: str | None
    object: Literal["agent"] = "agent"


class MemberAgent(Agent, rename="camel", kw_only=True):
    """Agent with the member who connected it."""

    user: User


class AgentAct(Struct, rename="camel", kw_only=True):
    """Change made by an agent. ``operation``: the ID of the API operation that made the change."""

    id: str
    operation: str
    space: str | None
    change_request: str | None
    created_at: str
    undone_at: str | None
    object: Literal["agent-act"] = "agent-act"


class UndoActs(Struct):
    """Request to undo changes. ``since``: an ISO 8601 time; by default, a day ago. ``before``: the ``next``
    value of an earlier response."""

    since: Annotated[str, Meta(max_length=40)] | None = None
    before: Annotated[str, Meta(max_length=100)] | None = None


class UndoneActs(Struct):
    """Undone changes. ``next``: the value to send as ``before`` if one call couldn't undo all changes."""

    items: list[UndoneAct]
    next: str | None


def present_agent(row: AgentRow) -> Agent:
    used = iso(row.last_used_at) if row.last_used_at is not None else None
    return Agent(
        id=row.id,
        name=row.name,
        organization=row.organization_id,
        scopes=row.granted,
        created_at=iso(row.created_at),
        expires_at=iso(row.expires_at),
        last_used_at=used,
    )


def present_member_agent(row: AgentRow, user: User) -> MemberAgent:
    return MemberAgent(**msgspec.structs.asdict(present_agent(row)), user=user)


def present_act(row: ActRow) -> AgentAct:
    undone = iso(row.undone_at) if row.undone_at is not None else None
    return AgentAct(
        id=row.id,
        operation=row.operation,
        space=row.space_id,
        change_request=row.change_request_id,
        created_at=iso(row.created_at),
        undone_at=undone,
    )
