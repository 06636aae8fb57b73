"""The caller and other people; the audit log."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import UNSET

from ..errors import Forbidden, NotFound
from ..kit.operation import Call, Stream, operation
from ..kit.pagination import MAX_LIMIT, Listing, present_slice
from . import store
from .auditing import list_audit_events as list_events
from .entering import OrgAccess, SignedIn
from .roles import Can
from .wire import AuditEvent, AuditQuery, UpdateUser, User, audit_filter, present_audit_event, present_user


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


@operation("updateUserById", "PATCH", "/users/{userId}", needs=Can.OWN_ACCOUNT, returns=User, errors=(404,))
def update_user(call: Call, caller: SignedIn, user_id: str, body: UpdateUser) -> User:
    """Changes one's own name and picture."""
    if user_id != caller.user_id:
        with call.db.read() as tx:
            if store.find_user(tx, user_id) and store.share_an_organization(tx, caller.user_id, user_id):
                raise Forbidden("An account is changed by its owner only.")
        raise NotFound(f"There is no user {user_id!r}.")
    with call.db.write() as tx:
        store.update_user(
            tx,
            user_id,
            display_name=None if body.display_name is UNSET else body.display_name.strip(),
            photo_url=None if body.photo_url is UNSET else body.photo_url,
        )
        user = store.find_user(tx, user_id)
    assert user is not None
    return present_user(call, user)


@operation(
    "listAuditEvents",
    "GET",
    "/orgs/{organizationId}/audit-events",
    needs=Can.ADMIN,
    returns=Listing[AuditEvent],
    extension=True,
    heavy=True,
)
def list_audit_events(call: Call, org: OrgAccess, query: AuditQuery) -> Listing[AuditEvent] | Stream:
    """Who did what to what in the organization, newest first: from where, and how it was before and after.

    With `format=ndjson` the whole log that matches is sent, one event a line.
    """
    wanted = audit_filter(query)
    if query.format == "ndjson":
        return Stream(_lines(call, org.organization_id, query), "application/x-ndjson")
    with call.db.read() as tx:
        found = list_events(tx, org.organization_id, wanted, query.limit, query.page)
    return present_slice(found, present_audit_event)


def _lines(call: Call, organization_id: str, query: AuditQuery) -> Iterator[bytes]:
    wanted, page = audit_filter(query), query.page
    while True:
        with call.db.read() as tx:
            found = list_events(tx, organization_id, wanted, MAX_LIMIT, page)
        yield b"".join(msgspec.json.encode(present_audit_event(row)) + b"\n" for row in found.rows)
        page = found.next_token
        if page is None:
            return
