"""Requests and answers about agents."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from octavo.kit.clock import iso
from octavo.organization.access.wire import User

from .store import ActRow, AgentRow
from .undoing import UndoneAct


class AgentConnection(Struct):
    """``url``: where the person's browser takes the code to the program."""

    url: str


class Agent(Struct, rename="camel"):
    id: str
    name: str
    organization: str
    scopes: list[str]
    created_at: str
    expires_at: str
    last_used_at: str | None
    object: Literal["agent"] = "agent"


class MemberAgent(Agent, rename="camel", kw_only=True):
    """An agent and the member who connected it."""

    user: User


class AgentAct(Struct, rename="camel"):
    """Something that an agent did; ``operation`` is that of the API that it was."""

    id: str
    operation: str
    space: str | None
    change_request: str | None
    created_at: str
    undone_at: str | None
    object: Literal["agent-act"] = "agent-act"


class UndoActs(Struct):
    """``since``: a moment as ISO 8601; by default a day ago. ``before``: the ``next`` of an earlier answer."""

    since: Annotated[str, Meta(max_length=40)] | None = None
    before: Annotated[str, Meta(max_length=100)] | None = None


class UndoneActs(Struct):
    """``next``: where there was more than is undone in one call, what to send as ``before`` to go on."""

    items: list[UndoneAct]
    next: str | None


def present_agent(row: AgentRow) -> Agent:
    used = iso(row.last_used_at) if row.last_used_at is not None else None
    return Agent(
        row.id,
        row.name,
        row.organization_id,
        row.granted,
        iso(row.created_at),
        iso(row.expires_at),
        used,
    )


def present_member_agent(row: AgentRow, user: User) -> MemberAgent:
    return MemberAgent(**msgspec.structs.asdict(present_agent(row)), user=user)


def present_act(row: ActRow) -> AgentAct:
    undone = iso(row.undone_at) if row.undone_at is not None else None
    return AgentAct(row.id, row.operation, row.space_id, row.change_request_id, iso(row.created_at), undone)
