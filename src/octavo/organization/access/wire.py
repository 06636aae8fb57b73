"""Wire format of users, teams, and the audit log."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from octavo.errors import BadRequest
from octavo.kit.clock import iso, parse_iso
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import PageQuery
from octavo.kit.http.operation import Recipient
from octavo.kit.texts import NOT_BLANK
from octavo.kit.urls import HttpUrl

from .accounts import DELETED, UserRow, list_users_by_id
from .auditing import AuditFilter, AuditRow, label_action
from .auditing import Source as AuditSource
from .avatars import avatar_url
from .roles import Role
from .teams import TeamRow

RoleOrGuest = Role | None
"""Role in an organization or on an object. None represents a guest, who has no access."""


class UserUrls(Struct):
    location: str


class User(Struct, rename={"display_name": "displayName", "photo_url": "photoURL"}, kw_only=True):
    id: str
    display_name: str
    urls: UserUrls
    object: Literal["user"] = "user"
    email: str | UnsetType = UNSET
    photo_url: str | UnsetType = UNSET


class OwnUser(User, rename="camel", kw_only=True):
    """The caller. ``operator``: whether the caller is a server administrator. ``email_needed``: whether the account
    still has the placeholder email address from the server's first start. Both are Octavo extensions."""

    operator: bool = False
    email_needed: bool = False


def present_user(to: Recipient, user: UserRow) -> User:
    return User(
        id=user.id,
        display_name=user.display_name,
        urls=UserUrls(to.url(f"/users/{user.id}")),
        email=user.email,
        photo_url=user.photo_url or UNSET,
    )


class _People(dict[str, User]):
    """Users by ID. Deleted accounts appear without a name."""

    def __init__(self, to: Recipient, known: dict[str, User]) -> None:
        super().__init__(known)
        self._to = to

    def __missing__(self, user_id: str) -> User:
        return present_user(self._to, UserRow(user_id, "", DELETED, None, 1, 0))


def present_people(to: Recipient, tx: Transaction, user_ids: list[str]) -> dict[str, User]:
    """Return the users with these IDs, by ID, including deleted users."""
    found = list_users_by_id(tx, user_ids)
    return _People(to, {user_id: present_user(to, row) for user_id, row in found.items()})


DisplayName = Annotated[str, Meta(min_length=1, max_length=64, pattern=NOT_BLANK)]


class UpdateUser(Struct, rename={"display_name": "displayName", "photo_url": "photoURL"}):
    display_name: DisplayName | UnsetType = UNSET
    photo_url: HttpUrl | UnsetType = UNSET


class SetAvatar(Struct):
    image: str


class Team(Struct, rename="camel", kw_only=True):
    id: str
    title: str
    members: int
    spaces: int
    created_at: str
    permissions: dict[str, bool]
    object: Literal["team"] = "team"
    picture: str | UnsetType = UNSET


def present_team(to: Recipient, team: TeamRow, *, admin: bool) -> Team:
    """Return a team. ``admin``: whether the caller manages the team."""
    return Team(
        id=team.id,
        title=team.title,
        members=team.members,
        spaces=team.spaces,
        created_at=iso(team.created_at),
        permissions={"admin": admin, "view": True},
        picture=avatar_url(to.context.settings.sites_url, team.avatar_id) if team.avatar_id else UNSET,
    )


# --- the audit log --------------------------------------------------------------------------------------


class AuditQuery(PageQuery, rename="camel", kw_only=True):
    """Query parameters of the audit log. ``from`` and ``to``: inclusive ISO 8601 times. ``format``: with
    `ndjson` or `csv`, the response contains all matching events, one per line."""

    action: str | None = None
    actor: str | None = None
    target_type: str | None = None
    target: str | None = None
    since: str | None = field(name="from", default=None)
    until: str | None = field(name="to", default=None)
    format: Literal["json", "ndjson", "csv"] = "json"


class AuditTarget(Struct):
    type: str
    id: str
    label: str | UnsetType = UNSET


class AuditActor(Struct):
    """Actor of an entry in the audit log. ``system``: the server itself, or an unknown person. ``label``: the actor's
    current name."""

    type: Literal["user", "installation", "system"]
    id: str
    label: str | UnsetType = UNSET


class AuditUrls(Struct):
    location: str


class AuditEvent(Struct, rename="camel", kw_only=True):
    """Event of the audit log. ``token``: the ID of the token or session used. ``agent``: the agent or app that the
    actor used."""

    id: str
    action: str
    target: AuditTarget
    occurred_at: str
    urls: AuditUrls
    object: Literal["audit-event"] = "audit-event"
    actor: AuditActor
    source: AuditSource
    token: str | UnsetType = UNSET
    agent: str | UnsetType = UNSET
    client: str | UnsetType = UNSET
    before: Any = UNSET
    after: Any = UNSET


class AuditEventDetails(AuditEvent, rename="camel", kw_only=True):
    """Event with all recorded details. ``payload`` has the states ``before`` and ``after``."""

    payload: dict[str, Any]
    schema_version: int = 1
    correlation_id: str | UnsetType = UNSET


class AuditEventAction(Struct):
    id: str
    label: str
    object: Literal["audit-event-action"] = "audit-event-action"


class AuditEventActions(Struct):
    items: list[AuditEventAction]


def audit_filter(query: AuditQuery) -> AuditFilter:
    """Return the filter of a query. Raises BadRequest if a field is invalid."""
    return AuditFilter(
        action=query.action,
        actor=query.actor,
        target_type=query.target_type,
        target=query.target,
        since=parse_time("from", query.since),
        until=parse_time("to", query.until),
    )


def parse_time(name: str, text: str | None) -> int | None:
    """Return an ISO 8601 time from a field, in milliseconds. Raises BadRequest if it is invalid."""
    try:
        return None if text is None else parse_iso(text)
    except ValueError:
        raise BadRequest(f"{name}: must be an ISO 8601 time, such as 2026-01-31T12:00:00Z") from None


_LABELS = ("title", "displayName", "name", "label", "slug", "email")
"""State fields that contain the object's name."""


def present_audit_event(to: Recipient, organization_id: str, row: AuditRow) -> AuditEvent:
    script = row.actor_kind == "integration"
    return AuditEvent(
        id=row.id,
        action=row.action,
        target=AuditTarget(row.target_type, row.target_id, _label_of(row)),
        occurred_at=iso(row.created_at),
        urls=AuditUrls(to.url(f"/orgs/{organization_id}/audit-events/{row.id}")),
        actor=AuditActor(
            "system" if row.actor_id is None else "installation" if script else "user",
            row.actor_id or "system",
            row.actor_name or UNSET,
        ),
        # Earlier versions didn't record it.
        source=row.source or ("integration" if script else "api" if row.token_id else "workflow"),
        token=row.token_id or UNSET,
        agent=row.agent or UNSET,
        client=row.client or UNSET,
        before=UNSET if row.before is None else Raw(row.before.encode()),
        after=UNSET if row.after is None else Raw(row.after.encode()),
    )


def present_audit_details(to: Recipient, organization_id: str, row: AuditRow) -> AuditEventDetails:
    states = {"before": row.before, "after": row.after}
    return AuditEventDetails(
        **msgspec.structs.asdict(present_audit_event(to, organization_id, row)),
        payload={name: Raw(state.encode()) for name, state in states.items() if state is not None},
        correlation_id=row.correlation or UNSET,
    )


def _label_of(row: AuditRow) -> str | UnsetType:
    """Return the name that the target had when the event was recorded, if its state contains a name."""
    for state in (row.after, row.before):
        value = msgspec.json.decode(state) if state is not None else None
        if isinstance(value, dict):
            for name in _LABELS:
                if isinstance(value.get(name), str) and value[name]:
                    return value[name]  # type: ignore[no-any-return]
    return UNSET


def present_audit_actions(actions: list[str]) -> AuditEventActions:
    return AuditEventActions([AuditEventAction(action, label_action(action)) for action in actions])
