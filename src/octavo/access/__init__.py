"""Who may do what where."""

from .admission import admit
from .entering import (
    CollectionAccess,
    OrgAccess,
    SignedIn,
    SiteAccess,
    SpaceAccess,
    collection_access,
    enter_space,
    member_role,
    space_access,
)
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
    effective_role,
    permissions,
)
from .store import UserRow, find_user, find_user_by_email, insert_user, list_users_by_id, upsert_member
from .tokens import Actor, LastUse, authenticate, create_token
from .visibility import COLLECTION_IS_VISIBLE, OPEN_COLLECTIONS, SPACE_IS_VISIBLE, viewer_parameters
from .wire import User, present_user

__all__ = [
    "COLLECTION", "COLLECTION_IS_VISIBLE", "OPEN_COLLECTIONS", "ORDER", "ORGANIZATION", "SITE", "SPACE", "SPACE_IS_VISIBLE", "Actor", "Can", "CollectionAccess", "LastUse", "Level",
    "OrgAccess", "Role", "SignedIn", "SiteAccess", "SpaceAccess", "User", "UserRow", "admit", "at_least", "authenticate",
    "collection_access", "create_token", "effective_role", "enter_space", "find_user", "find_user_by_email",
    "insert_user", "list_users_by_id", "member_role", "permissions", "present_user", "space_access",
    "upsert_member", "viewer_parameters",
]  # fmt: skip
