"""Operations for user accounts and the audit log."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import assert_never

import msgspec
from msgspec import UNSET

from octavo.errors import Forbidden, NotFound
from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import MAX_LIMIT, Listing, present_slice
from octavo.kit.http.bodies import or_none
from octavo.kit.http.operation import Area, Call, Stream

from . import accounts, avatars
from .auditing import AuditFilter, AuditRow, audit_person, list_actions, source_of
from .auditing import get_audit_event as find_event
from .auditing import list_audit_events as list_events
from .authorization import OrgAccess, SignedIn, Visiting
from .members import is_member_of_any
from .reach import list_reachable_organizations
from .roles import Can
from .wire import (
    AuditEvent,
    AuditEventActions,
    AuditEventDetails,
    AuditQuery,
    OwnUser,
    SetAvatar,
    UpdateUser,
    User,
    audit_filter,
    present_audit_actions,
    present_audit_details,
    present_audit_event,
    present_user,
)

operation = Area("access").operation


@operation("getAuthenticatedUser", "GET", "/user", needs=Can.OWN_TOKEN, quick=True)
def get_authenticated_user(call: Call, caller: SignedIn) -> OwnUser:
    """Get the user whose token or session was used for the request."""
    with call.db.read() as tx:
        user = accounts.find_user(tx, caller.user_id)
        assert user is not None, "a token's user exists as long as the token"
        operator = accounts.is_operator(tx, call.settings, caller.user_id)
        email_needed = accounts.lacks_email(tx, call.settings, user)
    shown = msgspec.structs.asdict(present_user(call, user))
    return OwnUser(**shown, operator=operator, email_needed=email_needed)


@operation("getUserById", "GET", "/users/{userId}", needs=Can.SIGN_IN, errors=(404,), visitors=True)
def get_user(call: Call, caller: SignedIn | Visiting, user_id: str) -> User:
    """Get your own account, or a person in an organization that you can access. Site visitors can get the names and
    photos of people mentioned on a page."""
    with call.db.read() as tx:
        user = accounts.find_user(tx, user_id)
        match caller:
            case Visiting():
                organization_id = caller.visitor.organization_id
                is_named = caller.visitor.named == ("user", user_id)
                is_seen = is_named and is_member_of_any(tx, user_id, [organization_id])
            case SignedIn():
                is_seen = user_id == caller.user_id or _is_colleague(tx, caller, user_id)
            case _:
                assert_never(caller)
        if user is None or not is_seen:
            raise NotFound(f"There is no user with the ID {user_id!r}, or you can't see this user.")
    shown = present_user(call, user)
    return msgspec.structs.replace(shown, email=UNSET) if isinstance(caller, Visiting) else shown


def _is_colleague(tx: Transaction, caller: SignedIn, user_id: str) -> bool:
    return is_member_of_any(tx, user_id, list_reachable_organizations(tx, caller.actor))


@operation("updateUserById", "PATCH", "/users/{userId}", needs=Can.OWN_ACCOUNT, errors=(404,))
def update_user(call: Call, caller: SignedIn, user_id: str, body: UpdateUser) -> User:
    """Update your own name and photo."""
    if user_id != caller.user_id:
        with call.db.read() as tx:
            if _is_colleague(tx, caller, user_id):
                raise Forbidden("You can only update your own account.")
        raise NotFound(f"There is no user with the ID {user_id!r}, or you can't see this user.")
    with call.db.write() as tx, _audited(tx, call, caller):
        if body.photo_url is not UNSET:
            avatars.delete_avatar(tx, user_id)
        accounts.update_user(
            tx,
            user_id,
            display_name=None if body.display_name is UNSET else body.display_name.strip(),
            photo_url=or_none(body.photo_url),
        )
        user = accounts.find_user(tx, user_id)
    assert user is not None
    return present_user(call, user)


@contextmanager
def _audited(tx: Transaction, call: Call, caller: SignedIn) -> Iterator[None]:
    """Record in the audit log the changes that the ``with`` block makes to the caller's name and photo."""
    before = accounts.find_user(tx, caller.user_id)
    yield
    after = accounts.find_user(tx, caller.user_id)
    assert before is not None and after is not None
    if before != after:
        audit_person(
            tx,
            "user.updated",
            caller.user_id,
            client=call.client,
            token=caller.actor.token_id,
            source=source_of(caller.actor),
            before={"displayName": before.display_name, "photoURL": before.photo_url},
            after={"displayName": after.display_name, "photoURL": after.photo_url},
        )


@operation(
    "setOwnAvatar",
    "PUT",
    "/user/avatar",
    needs=Can.OWN_ACCOUNT,
    body_limit=avatars.MAX_AVATAR * 2,
    errors=(400,),
)
def set_own_avatar(call: Call, caller: SignedIn, body: SetAvatar) -> User:
    """Set your photo. It is scaled to at most 256 pixels and stored as a PNG; metadata is removed. Everyone
    with its URL can load it."""
    image = avatars.read_avatar(body.image)
    with call.db.write() as tx:
        with _audited(tx, call, caller):
            avatars.set_avatar(tx, call.settings.sites_url, caller.user_id, image)
        user = accounts.find_user(tx, caller.user_id)
    assert user is not None
    return present_user(call, user)


@operation("removeOwnAvatar", "DELETE", "/user/avatar", needs=Can.OWN_ACCOUNT)
def remove_own_avatar(call: Call, caller: SignedIn) -> bool:
    """Remove the photo that you uploaded. Its URL stops working."""
    with call.db.write() as tx, _audited(tx, call, caller):
        return avatars.delete_avatar(tx, caller.user_id)


@operation(
    "listAuditEvents",
    "GET",
    "/orgs/{organizationId}/audit-events",
    needs=Can.ADMIN,
    other_media=("application/x-ndjson", "text/csv"),
)
def list_audit_events(call: Call, org: OrgAccess, query: AuditQuery) -> Listing[AuditEvent] | Stream:
    """List the events of an organization's audit log, newest first, with the states before and after each
    change.

    With `format=ndjson` or `format=csv`, the response contains all matching events, one per line.
    """
    wanted = audit_filter(query)
    if query.format != "json":
        pages = _pages(call, org.organization_id, wanted, query.page)
        if query.format == "csv":
            lines, content_type = _csv_lines(pages), "text/csv; charset=utf-8"
        else:
            lines, content_type = _json_lines(call, org.organization_id, pages), "application/x-ndjson"
        name = f'attachment; filename="audit-events.{query.format}"'
        return Stream(lines, content_type, {"content-disposition": name})
    with call.db.read() as tx:
        found = list_events(tx, org.organization_id, wanted, query.limit, query.page)
    return present_slice(found, lambda row: present_audit_event(call, org.organization_id, row))


@operation(
    "getAuditEvent",
    "GET",
    "/orgs/{organizationId}/audit-events/{auditEventId}",
    needs=Can.ADMIN,
    errors=(404,),
)
def get_audit_event(call: Call, org: OrgAccess, audit_event_id: str) -> AuditEventDetails:
    """Get an event from the audit log."""
    with call.db.read() as tx:
        return present_audit_details(
            call, org.organization_id, find_event(tx, org.organization_id, audit_event_id)
        )


@operation(
    "listOrganizationAuditEventActions",
    "GET",
    "/orgs/{organizationId}/audit-event-actions",
    needs=Can.ADMIN,
    errors=(404,),
)
def list_audit_actions(call: Call, org: OrgAccess) -> AuditEventActions:
    """List the actions that the audit log records, with English labels."""
    with call.db.read() as tx:
        return present_audit_actions(list_actions(tx, org.organization_id))


def _pages(
    call: Call, organization_id: str, wanted: AuditFilter, page: str | None
) -> Iterator[Sequence[AuditRow]]:
    while True:
        with call.db.read() as tx:
            found = list_events(tx, organization_id, wanted, MAX_LIMIT, page)
        yield found.rows
        page = found.next_token
        if page is None:
            return


def _json_lines(call: Call, organization_id: str, pages: Iterator[Sequence[AuditRow]]) -> Iterator[bytes]:
    for rows in pages:
        events = (present_audit_event(call, organization_id, row) for row in rows)
        yield b"".join(msgspec.json.encode(event) + b"\n" for event in events)


def _csv_lines(pages: Iterator[Sequence[AuditRow]]) -> Iterator[bytes]:
    names = AuditRow.__struct_fields__
    yield (",".join(names) + "\r\n").encode()
    for rows in pages:
        text = io.StringIO()
        csv.writer(text).writerows(
            [iso(row.created_at) if name == "created_at" else getattr(row, name) for name in names]
            for row in rows
        )
        yield text.getvalue().encode()
