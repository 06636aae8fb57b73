"""Who may do what where."""

from .admission import admit
from .auditing import audit, audit_person
from .entering import (
    RESTORE_DAYS,
    CollectionAccess,
    KeptSpaceAccess,
    OrgAccess,
    SignedIn,
    SiteAccess,
    SpaceAccess,
    collection_access,
    enter_organization,
    enter_space,
    member_role,
    require_actor,
    space_access,
)
from .identity.departing import remove_member, require_another_admin
from .identity.passwords import hash_password, require_good, set_password
from .identity.sessions import agent_of as user_agent
from .identity.sessions import begin as begin_session
from .identity.sessions import end as end_session
from .identity.sessions import list_sessions
from .identity.store import list_tokens, revoke_token
from .identity.wire import SignedInResult, present_new_session
from .rights.granting import Shared, guarding, lift, shared, stay
from .roles import (
    COLLECTION,
    ORDER,
    ORGANIZATION,
    SITE,
    SPACE,
    Can,
    Level,
    Role,
    Rung,
    at_least,
    effective_role,
    height,
    permissions,
    role_at,
)
from .saml.store import list_active_providers
from .standing import Kind, list_standings, list_steps, role_along
from .store import (
    TEAM,
    TeamRow,
    UserRow,
    find_team,
    find_user,
    find_user_by_email,
    has_verified_email,
    insert_user,
    list_users_by_id,
    require_members,
    require_teams,
    upsert_member,
)
from .tokens import Actor, LastUse, authenticate, create_token, hash_token
from .visibility import Seen, seen_collections, seen_spaces
from .wire import RoleOrGuest, Team, User, present_team, present_user

__all__ = [
    "Actor", "COLLECTION", "Can", "CollectionAccess", "KeptSpaceAccess", "Kind", "LastUse", "Level", "ORDER",
    "ORGANIZATION", "OrgAccess", "RESTORE_DAYS", "Role", "RoleOrGuest", "Rung", "SITE", "SPACE", "Seen",
    "Shared", "SignedIn", "SignedInResult", "SiteAccess", "SpaceAccess", "TEAM", "Team", "TeamRow", "User",
    "UserRow", "admit", "at_least", "audit", "audit_person", "authenticate", "begin_session",
    "collection_access", "create_token", "effective_role", "end_session", "enter_organization",
    "enter_space", "find_team", "find_user", "find_user_by_email", "guarding", "has_verified_email",
    "hash_password", "hash_token", "height", "insert_user", "lift", "list_active_providers", "list_sessions",
    "list_standings", "list_steps", "list_tokens", "list_users_by_id", "member_role", "permissions",
    "present_new_session", "present_team", "present_user", "remove_member", "require_actor",
    "require_another_admin", "require_good", "require_members", "require_teams", "revoke_token",
    "role_along", "role_at", "seen_collections", "seen_spaces", "set_password", "shared", "space_access",
    "stay", "upsert_member", "user_agent",
]  # fmt: skip
