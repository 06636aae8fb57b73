"""Roles, what each may do where, and how the role of a person at an object is found.

The tables here are the only ones: the permission check and every ``permissions`` object on the wire (see
``permitting``) read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Literal, NamedTuple

Role = Literal["read", "comment", "edit", "review", "create", "admin"]
Level = Role | Literal["inherit"] | None
"""What an object gives by default: a role, ``inherit`` (what its parent gives), or None (nothing)."""

ORDER: tuple[Role, ...] = ("read", "comment", "edit", "review", "create", "admin")
_HEIGHT: dict[str | None, int] = {None: 0, **{role: i + 1 for i, role in enumerate(ORDER)}}


def at_least(role: str | None, wanted: str | None) -> bool:
    """Whether ``role`` allows what ``wanted`` does; None (a guest) is below every role."""
    return _HEIGHT[role] >= _HEIGHT[wanted]


def height(role: str | None) -> int:
    """0 for a guest, then one more for each role in ``ORDER``."""
    return _HEIGHT[role]


def role_at(height: int) -> Role | None:
    """The role of a height."""
    return ORDER[height - 1] if height else None


def highest(roles: Iterable[str | None]) -> str | None:
    return max(roles, key=_HEIGHT.__getitem__, default=None)


class Can(Enum):
    """An ability; its value is the key in ``permissions`` objects. Those over one's own account are in ``ACCOUNT``."""

    SIGN_IN = "signedIn"
    OWN_ACCOUNT = "ownAccount"
    OWN_TOKEN = "ownToken"  # noqa: S105
    RENEW_PROOF = "renewProof"
    CREATE_TOKEN = "createToken"  # noqa: S105
    END_SIGN_INS = "endSignIns"
    CONNECT_AGENT = "connectAgent"
    CHANGE_SIGN_IN = "changeSignIn"
    OPERATE = "operate"
    VIEW = "view"
    ACCESS = "access"
    ADMIN = "admin"
    VIEW_INVITE_LINKS = "viewInviteLinks"
    EDIT = "edit"
    TRIGGER_GIT_SYNC = "triggerGitSync"
    COMMENT = "comment"
    MERGE = "merge"
    REVIEW = "review"
    CREATE = "create"
    INSTALL_INTEGRATION = "installIntegration"
    OWN_TEAM = "ownTeam"
    CREATE_CONTENT = "createContent"
    CREATE_OPENAPI_SPEC = "createOpenAPISpec"
    INGEST_CONVERSATIONS = "ingestConversations"
    VIEW_CONVERSATIONS = "viewConversations"
    VIEW_BILLING = "viewBilling"
    LIST_MEMBERS = "listMembers"
    LIST_TEAMS = "listTeams"
    LIST_INTEGRATIONS = "listIntegrations"
    LIST_INSTALLATIONS = "listInstallations"


Abilities = dict[Can, Role | None]

# The least role that has the ability. None: everybody who can see the object at all.
SPACE: Abilities = {
    Can.VIEW: "read",
    Can.ACCESS: "read",
    Can.ADMIN: "create",
    Can.VIEW_INVITE_LINKS: "create",
    Can.EDIT: "edit",
    Can.TRIGGER_GIT_SYNC: "create",
    Can.COMMENT: "comment",
    Can.MERGE: "review",
    Can.REVIEW: "review",
    Can.INSTALL_INTEGRATION: "create",
}
COLLECTION: Abilities = {
    Can.VIEW: "read",
    Can.ADMIN: "create",
    Can.VIEW_INVITE_LINKS: "create",
    Can.CREATE: "create",
}
SITE: Abilities = {
    Can.VIEW: "read",
    Can.EDIT: "edit",
    Can.ADMIN: "create",
}
ORGANIZATION: Abilities = {
    Can.VIEW: None,
    Can.ADMIN: "admin",
    Can.OWN_TEAM: "admin",
    Can.CREATE_CONTENT: "create",
    Can.CREATE_OPENAPI_SPEC: "create",
    Can.INGEST_CONVERSATIONS: "create",
    Can.VIEW_CONVERSATIONS: "edit",
    Can.VIEW_BILLING: "admin",
    Can.LIST_MEMBERS: "read",
    Can.LIST_TEAMS: "read",
    Can.LIST_INTEGRATIONS: "read",
    Can.LIST_INSTALLATIONS: "read",
    Can.INSTALL_INTEGRATION: "admin",
}


class AccountNeed(NamedTuple):
    """What an ability over one's own account asks of the token or session.

    ``whole``: that it is not bound to one organization. ``session``: a session, no token. ``proved``: of a session,
    that the person proved a short while ago who they are.
    """

    whole: bool = False
    session: bool = False
    proved: bool = False


ACCOUNT: dict[Can, AccountNeed] = {
    Can.SIGN_IN: AccountNeed(),
    Can.OWN_TOKEN: AccountNeed(),
    Can.OWN_ACCOUNT: AccountNeed(whole=True),
    Can.RENEW_PROOF: AccountNeed(whole=True, session=True),
    Can.CREATE_TOKEN: AccountNeed(proved=True),
    Can.END_SIGN_INS: AccountNeed(session=True, proved=True),
    Can.CONNECT_AGENT: AccountNeed(session=True, proved=True),
    Can.CHANGE_SIGN_IN: AccountNeed(whole=True, session=True, proved=True),
    Can.OPERATE: AccountNeed(whole=True, session=True),
}


class Rung(NamedTuple):
    """One object on the way from the asked one up to the organization."""

    user_grants: Sequence[str | None]
    team_grants: Sequence[str | None]
    default_level: str | None


class Decision(NamedTuple):
    """A role, and why: ``by`` what kind of grant, at which rung (its index; None outside all of them)."""

    role: str | None
    by: Literal["administrator", "user", "team", "default", "organization"]
    rung: int | None = None


def decide(member_role: str | None, rungs: Iterable[Rung]) -> Decision:
    """The role at an object (None: no access) and what gives it. Pure; ``rungs`` run from the object outwards.

    An administrator of the organization is one everywhere. Otherwise the most direct grant decides: at each
    rung a grant to the person, else the highest grant to their teams, else the default level unless it says
    ``inherit``. Past the last rung the role in the organization decides.
    """
    if member_role == "admin":
        return Decision("admin", "administrator")
    for index, rung in enumerate(rungs):
        if rung.user_grants:
            return Decision(highest(rung.user_grants), "user", index)
        if rung.team_grants:
            return Decision(highest(rung.team_grants), "team", index)
        if rung.default_level != "inherit":
            # A default level is for members; a guest gets only what was granted to them.
            return Decision(rung.default_level if member_role is not None else None, "default", index)
    return Decision(member_role, "organization")


def effective_role(member_role: str | None, rungs: Iterable[Rung]) -> str | None:
    """The role at an object, or None for no access: see ``decide``."""
    return decide(member_role, rungs).role
