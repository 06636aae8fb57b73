"""Authentication and authorization: who can do what, and where."""

from ..kit.operation import Actor, Person, Script, Visitor
from . import tables as tables
from .accounts import (
    UserRow,
    disable_account,
    erase_account,
    find_user,
    find_user_by_email,
    hand_over_account,
    has_verified_email,
    insert_managed,
    insert_user,
    is_operator,
    list_users_by_id,
    set_manager,
    set_password_hash,
    update_user,
)
from .api_scopes import API_SCOPES, ApiScope
from .auditing import Stranger, audit, audit_person, watch_audit
from .entering import (
    RESTORE_DAYS,
    CollectionAccess,
    KeptSpaceAccess,
    OrgAccess,
    OtherMember,
    SignedIn,
    SiteAccess,
    SpaceAccess,
    VisitedSite,
    VisitedSpace,
    Visiting,
    actor_or_stranger,
    collection_access,
    enter_collection,
    enter_organization,
    enter_site,
    enter_space,
    find_kept_space_access,
    find_member,
    find_space_access,
    organization_access,
    require_actor,
    require_visitor,
    role_of_member,
    role_of_person,
    site_access,
    space_access,
    visit_space,
)
from .evaluation import Kind, evaluate_steps, list_step_grants, list_steps, list_steps_of_spaces, role_along
from .members import (
    accept_membership,
    delete_membership,
    disable_membership,
    enable_membership,
    find_first_administrator,
    find_membership,
    note_member_seen,
    notify_joined,
    on_joined,
    require_members,
    set_member_role,
    set_sso,
    upsert_member,
    withdraw_acceptance,
)
from .permitting import can_write, permissions, reach_for
from .reach import (
    PROOF_LASTS,
    actor_for_job,
    is_session,
    list_reachable_organizations,
    require_account,
    require_person,
)
from .rights.entering import ObjectAccess
from .rights.granting import grant_by_link, grant_installation, guard_roles, keep_own_role
from .rights.store import copy_grants, delete_grants
from .rights.wire import PermissionSource, present_source
from .roles import (
    COLLECTION,
    ORDER,
    ORGANIZATION,
    SITE,
    SPACE,
    Can,
    Level,
    Role,
    at_least,
    role_from_height,
    role_height,
)
from .scopes import AGENT_SCOPES, FULL_REACH, SCRIPTS_REACH, is_within_scopes
from .store import revoke_token
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
)
from .tokens import (
    AGENT_PREFIX,
    API_PREFIX,
    SESSION_IDLE,
    SESSION_PREFIX,
    AgentOwner,
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
    recognize_agents,
    recognize_visitors,
    require_same_origin,
    revoke_tokens,
)
from .visibility import Viewer, VisibleRows, select_visible_collections, select_visible_spaces
from .wire import RoleOrGuest, Team, User, present_people, present_team, present_user

__all__ = [
    "AGENT_PREFIX", "AGENT_SCOPES", "API_PREFIX", "API_SCOPES", "Actor", "AgentOwner", "ApiScope",
    "COLLECTION", "Can", "CollectionAccess", "FULL_REACH", "Grantor", "KeptSpaceAccess", "Kind",
    "LastUse", "Level", "ORDER", "ORGANIZATION", "ObjectAccess", "OrgAccess", "OtherMember",
    "PROOF_LASTS", "PermissionSource", "Person", "RESTORE_DAYS", "Role", "RoleOrGuest", "SCRIPTS_REACH",
    "SESSION_IDLE", "SESSION_PREFIX", "SITE", "SPACE", "Script", "SignedIn", "SiteAccess", "SpaceAccess",
    "Stranger", "TEAM", "Team", "TeamRole", "TeamRow", "User", "UserRow", "Viewer", "VisibleRows",
    "VisitedSite", "VisitedSpace", "Visiting", "Visitor", "accept_membership", "actor_for_job",
    "actor_or_stranger", "at_least", "audit", "audit_person", "authenticate", "can_write", "clear_team",
    "collection_access", "cookie", "cookie_header", "copy_grants", "create_integration_token",
    "create_token", "delete_grants", "delete_membership", "delete_team", "disable_account",
    "disable_membership", "enable_membership", "enter_collection", "enter_organization", "enter_site",
    "enter_space", "erase_account", "evaluate_steps", "find_first_administrator", "find_grantor",
    "find_kept_space_access", "find_member", "find_membership", "find_space_access", "find_team",
    "find_user", "find_user_by_email", "grant_by_link", "grant_installation", "grantor_of", "guard_roles",
    "hand_over_account", "has_verified_email", "hash_token", "insert_managed", "insert_team",
    "insert_user", "is_operator", "is_session", "is_within_scopes", "join_teams", "keep_own_role",
    "list_reachable_organizations", "list_step_grants", "list_steps", "list_steps_of_spaces",
    "list_users_by_id", "new_token", "note_member_seen", "notify_joined", "on_joined", "on_team_removed",
    "organization_access", "permissions", "present_people", "present_source", "present_team",
    "present_user", "put_team_member", "reach_for", "recognize_agents", "recognize_visitors",
    "remove_team_members", "rename_team", "require_account", "require_actor", "require_members",
    "require_person", "require_same_origin", "require_visitor", "revoke_token", "revoke_tokens",
    "role_along", "role_from_height", "role_height", "role_of_member", "role_of_person",
    "select_visible_collections", "select_visible_spaces", "set_manager", "set_member_role",
    "set_password_hash", "set_sso", "site_access", "space_access", "update_user", "upsert_member",
    "visit_space", "watch_audit", "withdraw_acceptance",
]  # fmt: skip
