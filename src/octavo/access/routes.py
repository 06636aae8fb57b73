"""The caller and other people."""

from __future__ import annotations

from ..errors import NotFound
from ..kit.operation import Call, operation
from . import store
from .entering import SignedIn
from .roles import Can
from .wire import User, present_user


@operation("getAuthenticatedUser", "GET", "/user", needs=Can.OWN_TOKEN, returns=User)
def get_authenticated_user(call: Call, caller: SignedIn) -> User:
    """The person whose token the request carries."""
    with call.db.read() as tx:
        user = store.find_user(tx, caller.user_id)
    assert user is not None, "a token's user is there as long as the token"
    return present_user(call, user)


@operation("getUserById", "GET", "/users/{userId}", needs=Can.SIGN_IN, returns=User, errors=(404,))
def get_user(call: Call, caller: SignedIn, user_id: str) -> User:
    """Oneself, or somebody one shares an organization with."""
    with call.db.read() as tx:
        user = store.find_user(tx, user_id)
        if user is None or (
            user_id != caller.user_id and not store.share_an_organization(tx, caller.user_id, user_id)
        ):
            raise NotFound(f"There is no user {user_id!r}.")
    return present_user(call, user)
