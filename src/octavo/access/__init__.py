"""Who may do what where."""

from ..kit.operation import Actor
from . import tables as tables
from .accounts import (
    UserRow,
    disable_account,
    find_user,
    find_user_by_email,
    hand_over_account,
    has_verified_email,
    insert_managed,
    insert_user,
    list_users_by_id,
    set_manager,
    set_password_hash,
    update_user,
)
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
    find_kept_space_access,
    find_member,
    find_space_access,
    organization_access,
    require_actor,
    role_of_member,
    role_of_person,
    space_access,
)
from .evaluation import Kind, list_standings, list_steps, role_along
from .members import (
    Membership,
    accept_membership,
    delete_membership,
    disable_membership,
    enable_membership,
    find_membership,
    joined,
    note_member_seen,
    on_joined,
    require_members,
    set_member_role,
    set_sso,
    upsert_member,
    withdraw_acceptance,
)
from .permitting import may_write, permissions, scopes_of
from .reach import PROOF_LASTS, act_for, list_reached
from .rights.entering import ObjectAccess
from .rights.granting import grant_by_link, grant_installation, guard_roles, keep_own_role
from .rights.store import copy_grants, delete_grants
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
from .store import revoke_token, revoke_tokens
from .teams import (
    TEAM,
    TeamRole,
    TeamRow,
    clear_team,
    delete_team,
    find_team,
    insert_team,
    join_teams,
    on_team_removed,
    put_team_member,
    remove_team_members,
    rename_team,
    require_teams,
)
from .tokens import (
    SESSION_IDLE,
    SESSION_PREFIX,
    Grantor,
    LastUse,
    authenticate,
    cookie,
    cookie_header,
    create_integration_token,
    create_token,
    find_grantor,
    grantor_of,
    hash_token,
    new_token,
    recognize_visitors,
    require_same_origin,
)
from .visibility import Seen, Viewer, seen_collections, seen_spaces
from .wire import RoleOrGuest, Team, User, present_people, present_team, present_user

__all__ = [
    "ACCOUNT", "Actor", "COLLECTION", "Can", "CollectionAccess", "Grantor", "KeptSpaceAccess", "Kind",
    "LastUse", "Level", "Member", "Membership", "ORDER", "ORGANIZATION", "ObjectAccess", "OrgAccess",
    "PROOF_LASTS", "RESTORE_DAYS", "Role", "RoleOrGuest", "Rung", "SESSION_IDLE", "SESSION_PREFIX",
    "SITE", "SPACE", "Seen", "SignedIn", "SiteAccess", "SpaceAccess", "TEAM", "Team", "TeamRole",
    "TeamRow", "User", "UserRow", "Viewer", "accept_membership", "act_for", "at_least", "audit",
    "audit_person", "authenticate", "clear_team", "collection_access", "cookie", "cookie_header",
    "copy_grants", "create_integration_token", "create_token", "delete_grants", "delete_membership",
    "delete_team", "disable_account", "disable_membership", "effective_role", "enable_membership",
    "enter_organization", "enter_site", "enter_space", "find_grantor", "find_kept_space_access",
    "find_member", "find_membership", "find_space_access", "find_team", "find_user",
    "find_user_by_email", "grant_by_link", "grant_installation", "grantor_of", "guard_roles",
    "hand_over_account", "has_verified_email", "hash_token", "height", "insert_managed", "insert_team",
    "insert_user", "join_teams", "joined", "keep_own_role", "list_reached", "list_standings",
    "list_steps", "list_users_by_id", "may_write", "narrower", "new_token", "note_member_seen",
    "on_joined", "on_team_removed", "organization_access", "permissions", "present_people",
    "present_team", "present_user", "put_team_member", "recognize_visitors", "remove_team_members",
    "rename_team", "require_actor", "require_members", "require_same_origin", "require_teams",
    "revoke_token", "revoke_tokens", "role_along", "role_at", "role_of_member", "role_of_person",
    "scopes_of", "seen_collections", "seen_spaces", "set_manager", "set_member_role",
    "set_password_hash", "set_sso", "space_access", "tables", "update_user", "upsert_member",
    "watch_audit", "withdraw_acceptance",
]  # fmt: skip
