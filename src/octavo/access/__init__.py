"""Who may do what where."""

from ..kit.operation import Actor
from . import tables as tables
from .auditing import audit, audit_person, watch_audit
from .entering import (
    RESTORE_DAYS,
    CollectionAccess,
    KeptSpaceAccess,
    Member,
    OrgAccess,
    SignedIn,
    SiteAccess,
    SpaceAccess,
    collection_access,
    enter_organization,
    enter_site,
    enter_space,
    find_member,
    find_space_access,
    organization_access,
    require_actor,
    role_of_member,
    role_of_person,
    space_access,
)
from .evaluation import Kind, list_standings, list_steps, role_along
from .permitting import may_write, permissions, scopes_of
from .reach import PROOF_LASTS, act_for, list_reached
from .rights.entering import ObjectAccess
from .rights.granting import grant_by_link, grant_installation, guard_roles, keep_own_role
from .roles import (
    ACCOUNT,
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
    role_at,
)
from .scopes import narrower
from .store import (
    TEAM,
    Membership,
    TeamRow,
    UserRow,
    accept_membership,
    find_membership,
    find_team,
    find_user,
    find_user_by_email,
    has_verified_email,
    insert_user,
    list_users_by_id,
    require_members,
    require_teams,
    update_user,
    upsert_member,
)
from .tokens import (
    SESSION_IDLE,
    SESSION_PREFIX,
    LastUse,
    authenticate,
    cookie,
    cookie_header,
    create_integration_token,
    create_token,
    hash_token,
    new_token,
    recognize_visitors,
    require_same_origin,
)
from .visibility import Seen, Viewer, seen_collections, seen_spaces
from .wire import RoleOrGuest, Team, User, present_people, present_team, present_user

__all__ = [
    "ACCOUNT", "Actor", "COLLECTION", "Can", "CollectionAccess", "KeptSpaceAccess", "Kind", "LastUse",
    "Level", "Member", "Membership", "ORDER", "ORGANIZATION", "ObjectAccess", "OrgAccess", "PROOF_LASTS",
    "RESTORE_DAYS", "Role", "RoleOrGuest", "Rung", "SESSION_IDLE", "SESSION_PREFIX", "SITE", "SPACE",
    "Seen", "SignedIn", "SiteAccess", "SpaceAccess", "TEAM", "Team", "TeamRow", "User", "UserRow", "Viewer",
    "accept_membership", "act_for", "at_least", "audit", "audit_person", "authenticate",
    "collection_access", "cookie", "cookie_header", "create_integration_token", "create_token",
    "effective_role", "enter_organization", "enter_site", "enter_space", "find_member", "find_membership",
    "find_space_access", "find_team", "find_user", "find_user_by_email", "grant_by_link",
    "grant_installation", "guard_roles", "has_verified_email", "hash_token", "height", "insert_user",
    "keep_own_role", "list_reached", "list_standings", "list_steps", "list_users_by_id", "may_write",
    "narrower", "new_token", "organization_access", "permissions", "present_people", "present_team",
    "present_user", "recognize_visitors", "require_actor", "require_members", "require_same_origin",
    "require_teams", "role_along", "role_at", "role_of_member", "role_of_person", "scopes_of",
    "seen_collections", "seen_spaces", "space_access", "tables", "update_user", "upsert_member",
    "watch_audit",
]  # fmt: skip
