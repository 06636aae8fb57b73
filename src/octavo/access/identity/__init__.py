"""Signing in, and what proves it afterwards."""

from .departing import disable_member, end_everywhere, end_in_organization, require_another_admin
from .passwords import hash_password, require_good, set_password
from .sessions import SessionRow, begin, end, end_others, list_sessions
from .signing_in import agent
from .store import TokenRow, list_tokens, revoke_token
from .wire import SignedInResult, present_new_session

__all__ = [
    "SessionRow", "SignedInResult", "TokenRow", "agent", "begin", "disable_member", "end", "end_everywhere", "end_in_organization", "end_others",
    "hash_password", "list_sessions", "list_tokens", "present_new_session", "require_another_admin", "require_good", "revoke_token",
    "set_password",
]  # fmt: skip
