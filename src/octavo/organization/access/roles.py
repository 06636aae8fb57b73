"""Roles, their abilities, and the rule that determines a person's role on an object.

All tables of roles and abilities are in this module. The authorization check and all ``permissions`` objects in
responses (see ``permitting``) use them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Literal, NamedTuple

Role = Literal["read", "comment", "edit", "review", "create", "admin"]
Level = Role | Literal["inherit"] | None
"""Default level of an object: a role, ``inherit`` (the level of its parent), or None (no access)."""

ORDER: tuple[Role, ...] = ("read", "comment", "edit", "review", "create", "admin")
_HEIGHT: dict[str | None, int] = {None: 0, **{role: i + 1 for i, role in enumerate(ORDER)}}


def at_least(role: str | None, wanted: str | None) -> bool:
    """Return whether ``role`` includes ``wanted``. None (a guest) is below all roles."""
    return _HEIGHT[role] >= _HEIGHT[wanted]


def role_height(role: str | None) -> int:
    """Return the rank of a role: its position in ``ORDER``, counting from 1, or 0 for a guest."""
    return _HEIGHT[role]


def role_from_height(height: int) -> Role | None:
    """Return the role with this rank; see ``role_height``."""
    return ORDER[height - 1] if height else None


def highest(roles: Iterable[str | None]) -> str | None:
    return max(roles, key=_HEIGHT.__getitem__, default=None)


class Can(Enum):
    """Ability. The value is the key in ``permissions`` objects. Abilities for the caller's own account are in
    ``ACCOUNT``."""

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
    VIEW_ADAPTIVE_SCHEMA = "viewAdaptiveSchema"
    EDIT_ADAPTIVE_SCHEMA = "editAdaptiveSchema"


Abilities = dict[Can, Role | None]

# The lowest role with the ability. None: everyone who can see the object.
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
    Can.ACCESS: "read",
    Can.EDIT: "edit",
    Can.CREATE: "create",
    Can.ADMIN: "create",
    Can.INSTALL_INTEGRATION: "create",
    Can.VIEW_ADAPTIVE_SCHEMA: "read",
    Can.EDIT_ADAPTIVE_SCHEMA: "create",
}
ORGANIZATION: Abilities = {
    Can.VIEW: None,
    Can.ACCESS: None,
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
    """Requirements on the token or session for an ability over the caller's own account.

    ``whole``: whether the token or session must work in all of the person's organizations, instead of being bound to
    one of them. ``session``: whether it must be a session instead of a token. ``proved``: whether the person must have
    recently confirmed their identity in the session."""

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
    """Grants and default level of one object on the path from the requested object up to its organization."""

    user_grants: Sequence[str | None]
    team_grants: Sequence[str | None]
    default_level: str | None


class RoleDecision(NamedTuple):
    """Role and the reason for it. ``by``: the kind of grant that determines the role. ``rung``: the index of the
    rung that determines the role; None if no rung does."""

    role: str | None
    by: Literal["administrator", "user", "team", "default", "organization"]
    rung: int | None = None


def decide(member_role: str | None, rungs: Iterable[Rung]) -> RoleDecision:
    """Return the role on an object (None means no access) and the reason for it. ``rungs``: ordered from the
    object outward. This function does no I/O.

    An administrator of the organization is an administrator everywhere. Otherwise, the most specific rung with a
    setting determines the role. Within a rung, a grant to the person comes first, then the highest grant to the
    person's teams, then the default level unless it is ``inherit``. If no rung has a setting, the role in the
    organization applies."""
    if member_role == "admin":
        return RoleDecision("admin", "administrator")
    for index, rung in enumerate(rungs):
        if rung.user_grants:
            return RoleDecision(highest(rung.user_grants), "user", index)
        if rung.team_grants:
            return RoleDecision(highest(rung.team_grants), "team", index)
        if rung.default_level != "inherit":
            # A default level is for members; guests have only the roles granted to them.
            return RoleDecision(rung.default_level if member_role is not None else None, "default", index)
    return RoleDecision(member_role, "organization")


def effective_role(member_role: str | None, rungs: Iterable[Rung]) -> str | None:
    """Return the role on an object, or None for no access; see ``decide``."""
    return decide(member_role, rungs).role
