"""Sign-in: accounts, sessions, factors, OpenID Connect, SAML."""

from . import tables as tables
from .linked_accounts import is_made_by
from .passwords import hash_password, require_good, set_password
from .removal import disable_member, remove_member, require_another_admin
from .routes import browser_of
from .saml.store import list_active_providers
from .sessions import begin as begin_session
from .sessions import end as end_session
from .sessions import expect_first, list_sessions, require_still_in
from .signing_in import issue_first_link, issue_link
from .store import list_tokens
from .verification import verify_address
from .wire import SignedInResult, present_new_session

__all__ = [
    "SignedInResult", "begin_session", "browser_of", "disable_member", "end_session", "expect_first",
    "hash_password", "is_made_by", "issue_first_link", "issue_link", "list_active_providers", "list_sessions", "list_tokens",
    "present_new_session", "remove_member", "require_another_admin", "require_good", "require_still_in",
    "set_password", "verify_address",
]  # fmt: skip
