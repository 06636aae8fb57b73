"""Signing in, and what proves it afterwards."""

from .departing import disable_member, end_everywhere, end_in_organization, require_another_admin
from .passwords import hash_password, require_good, set_password
from .sessions import SessionRow, end, end_others, list_sessions
from .store import TokenRow, list_tokens, revoke_token

__all__ = [
    "SessionRow", "TokenRow", "disable_member", "end", "end_everywhere", "end_in_organization", "end_others",
    "hash_password", "list_sessions", "list_tokens", "require_another_admin", "require_good", "revoke_token",
    "set_password",
]  # fmt: skip
