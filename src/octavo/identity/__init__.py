"""Sign-in: accounts, sessions, two-factor authentication, passkeys, OpenID Connect, and SAML."""

from . import tables as tables
from .linked_accounts import is_created_by
from .passwords import hash_password, require_acceptable_password, set_password
from .removal import disable_member, remove_member, require_another_admin
from .routes import browser_of
from .saml.store import list_active_providers
from .sessions import begin as begin_session
from .sessions import end as end_session
from .sessions import list_sessions, mark_never_signed_in, require_still_signed_in
from .signing_in import issue_first_link, issue_link
from .store import list_tokens
from .verification import verify_address
from .wire import SignedInResult, present_new_session

__all__ = [
    "SignedInResult", "begin_session", "browser_of", "disable_member", "end_session", "hash_password",
    "is_created_by", "issue_first_link", "issue_link", "list_active_providers", "list_sessions",
    "list_tokens", "mark_never_signed_in", "present_new_session", "remove_member",
    "require_acceptable_password", "require_another_admin", "require_still_signed_in", "set_password",
    "verify_address",
]  # fmt: skip
