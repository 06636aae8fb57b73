"""What a directory's changes mean: users are members, groups are teams.

Nobody who has an account is made a member by a directory: they are invited, and until they accept the directory is
told what it sent and nothing else. An account that was there before keeps its name and address: the directory of one
organization does not rename somebody who may belong to another one too. What ends a membership ends its sessions and
tokens with it.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ..access import (
    OrgAccess,
    delete_team,
    enable_membership,
    find_user_by_email,
    insert_team,
    insert_user,
    rename_team,
    set_manager,
    update_user,
    upsert_member,
)
from ..errors import BadRequest, Conflict, NotFound
from ..identity import disable_member, is_made_by, remove_member
from ..invitations import invite_account, withdraw
from ..kit import ids
from ..kit.context import Context
from ..kit.db import Transaction
from . import store
from .wire import GroupBody, PatchBody, PatchOperation, ScimMember, UserBody

_FILTER = re.compile(r'\s*([\w.:$-]+)\s+eq\s+"((?:[^"\\]|\\.)*)"\s*', re.I)
_MEMBER_PATH = re.compile(r'members\[\s*value\s+eq\s+"([^"]*)"\s*\]', re.I)
_ADDRESS = re.compile(r"[^\s@]+@[^\s@]+")


def parse_filter(text: str | None, columns: dict[str, str]) -> tuple[str | None, str]:
    """The column and value of ``attribute eq "value"``; raises BadRequest for any other filter."""
    if text is None:
        return None, ""
    match = _FILTER.fullmatch(text)
    attribute = match[1].rpartition(":")[2].lower() if match else ""
    if match is None or attribute not in columns:
        raise BadRequest(f'filter: expected `attribute eq "value"` with one of {", ".join(sorted(columns))}')
    value = re.sub(r"\\(.)", r"\1", match[2])
    return columns[attribute], value.lower() if columns[attribute] == "email" else value


def _address(body: UserBody) -> str:
    """The address of a user: the user name, or the primary of the addresses where that is none."""
    candidates = [body.user_name, *[e.value for e in sorted(body.emails, key=lambda e: not e.primary)]]
    for found in candidates:
        if _ADDRESS.fullmatch(found.strip()):
            return found.strip().lower()
    raise BadRequest("userName: expected an e-mail address, here or in emails")


def _name(body: UserBody) -> str | None:
    name = body.name
    parts = " ".join(part for part in (name.given_name, name.family_name) if part) if name else ""
    found = body.display_name or (name.formatted if name else None) or parts
    return found.strip()[:100] or None if found else None


def get_user(tx: Transaction, organization_id: str, resource_id: str) -> store.UserRow:
    found = store.find_user(tx, organization_id, resource_id)
    if found is None:
        raise NotFound(f"There is no user {resource_id!r} in this organization.")
    return found


def get_group(tx: Transaction, organization_id: str, group_id: str) -> store.GroupRow:
    found = store.find_group(tx, organization_id, group_id)
    if found is None:
        raise NotFound(f"There is no group {group_id!r} in this organization.")
    return found


def create_user(tx: Transaction, context: Context, org: OrgAccess, body: UserBody) -> store.UserRow:
    """A new member with the organization's default role, under a new account; who has an account is invited.

    Raises Conflict for somebody who is a member or invited already.
    """
    email, organization_id = _address(body), org.organization_id
    role = _default_role(tx, organization_id)
    user = find_user_by_email(tx, email)
    taken = store.find_invited(tx, organization_id, email)
    if user is not None:
        taken = taken or store.find_member(tx, organization_id, user.id)
    if taken is not None:
        raise Conflict(f"userName: {email} is a member already")
    name = _name(body) or email.partition("@")[0]
    if user is not None and not is_made_by(tx, user.id, organization_id):
        return _invite(tx, context, org, email, name, body)
    if user is None:
        user = insert_user(tx, email, name, verified=False)
        set_manager(tx, user.id, organization_id)
    # Nobody but the organization has ever had this account.
    upsert_member(tx, organization_id, user.id, role, accepted=True)
    store.note_user(tx, organization_id, user.id, user.id, body.external_id)
    if not body.active:
        disable_member(tx, organization_id, user.id)
    return get_user(tx, organization_id, user.id)


def _default_role(tx: Transaction, organization_id: str) -> str | None:
    """And lets one change by a directory wait for another: it may send somebody twice at once."""
    found = tx.value(
        f"SELECT default_role FROM organizations WHERE id = :id{tx.for_update}", id=organization_id
    )
    return None if found is None else str(found)


def _invite(
    tx: Transaction, context: Context, org: OrgAccess, email: str, name: str, body: UserBody
) -> store.UserRow:
    resource_id = ids.new_id()
    store.note_user(
        tx, org.organization_id, resource_id, None, body.external_id, email=email, display_name=name
    )
    if body.active:
        _send_invitation(tx, context, org, email)
    return get_user(tx, org.organization_id, resource_id)


def _send_invitation(tx: Transaction, context: Context, org: OrgAccess, email: str) -> None:
    role = _default_role(tx, org.organization_id)
    invite_account(tx, context, org.actor, org.organization_id, email, role, invited_by=org.user_id)


def replace_user(
    tx: Transaction, context: Context, org: OrgAccess, resource_id: str, body: UserBody
) -> store.UserRow:
    before = get_user(tx, org.organization_id, resource_id)
    if _address(body) != before.email:
        raise BadRequest("userName: the address of an account is changed by its owner only")
    _set_active(tx, context, org, before, body.active)
    name = _name(body)
    if name is not None and before.managed and before.user_id is not None:
        update_user(tx, before.user_id, display_name=name, photo_url=None)
    # Not the id that was asked for: a member is also found by the id of the account.
    store.note_user(tx, org.organization_id, before.id, before.user_id, body.external_id, display_name=name)
    return get_user(tx, org.organization_id, before.id)


def patch_user(
    tx: Transaction, context: Context, org: OrgAccess, resource_id: str, body: PatchBody
) -> store.UserRow:
    """Applies add and replace operations to what Octavo keeps; other attributes are taken and forgotten."""
    before = get_user(tx, org.organization_id, resource_id)
    body_now = UserBody(before.email, before.external_id, None, None, [], before.active)
    for operation in body.operations:
        _require_op(operation)
        values = operation.value if operation.path is None else {operation.path: operation.value}
        if not isinstance(values, dict):
            raise BadRequest("Operations: expected a path, or an object of attributes as value")
        for attribute, value in values.items():
            body_now = _with_attribute(body_now, attribute, value, removed=operation.op.lower() == "remove")
    return replace_user(tx, context, org, resource_id, body_now)


def _require_op(operation: PatchOperation) -> None:
    if operation.op.lower() not in ("add", "replace", "remove"):
        raise BadRequest("Operations: op is one of add, replace, remove")


def _with_attribute(body: UserBody, attribute: str, value: Any, *, removed: bool) -> UserBody:
    name = attribute.rpartition(":")[2].lower()
    if name == "active" and not removed:
        # Some directories send booleans as text.
        known = {True: True, False: False, "true": True, "false": False}
        key = value.lower() if isinstance(value, str) else value
        if not isinstance(key, (bool, str)) or key not in known:
            raise BadRequest("active: expected true or false")
        return msgspec.structs.replace(body, active=known[key])
    texts = {"username": "user_name", "displayname": "display_name", "externalid": "external_id"}
    if name in texts:
        if removed and name == "externalid":
            return msgspec.structs.replace(body, external_id=None)
        if not isinstance(value, str) or len(value) > 512:
            raise BadRequest(f"{attribute}: expected a text of up to 512 characters")
        return msgspec.structs.replace(body, **{texts[name]: value})
    if name == "name.formatted" and isinstance(value, str):
        return msgspec.structs.replace(body, display_name=value[:512])
    return body


def _set_active(
    tx: Transaction, context: Context, org: OrgAccess, before: store.UserRow, active: bool
) -> None:
    if before.active == active:
        return
    if before.user_id is None:
        if active:
            _send_invitation(tx, context, org, before.email)
        else:
            withdraw(tx, org.actor, org.organization_id, before.email)
    elif active:
        enable_membership(tx, org.organization_id, before.user_id)
    else:
        disable_member(tx, org.organization_id, before.user_id)


def delete_user(tx: Transaction, org: OrgAccess, resource_id: str) -> None:
    """Ends a membership and all that came with it, or takes an invitation back."""
    found = get_user(tx, org.organization_id, resource_id)
    if found.user_id is None:
        withdraw(tx, org.actor, org.organization_id, found.email)
        store.forget_invited(tx, org.organization_id, found.id)
    else:
        remove_member(tx, org.organization_id, found.user_id)


# --- groups -------------------------------------------------------------------------------------------


def _people(tx: Transaction, organization_id: str, members: list[ScimMember]) -> store.People:
    people = store.find_people(tx, organization_id, [member.value for member in members])
    if people is None:
        raise NotFound("members: one of them is not in this organization")
    return people


def create_group(tx: Transaction, organization_id: str, body: GroupBody) -> store.GroupRow:
    title = body.display_name.strip()
    taken, _ = store.list_groups(tx, organization_id, "t.title", title, 0, 1)
    if taken:
        raise Conflict(f"displayName: there is a group {title!r} already")
    people = _people(tx, organization_id, body.members)
    group_id = insert_team(tx, organization_id, title)
    store.add_to_group(tx, group_id, people)
    store.note_group(tx, organization_id, group_id, body.external_id)
    return get_group(tx, organization_id, group_id)


def replace_group(tx: Transaction, organization_id: str, group_id: str, body: GroupBody) -> store.GroupRow:
    get_group(tx, organization_id, group_id)
    people = _people(tx, organization_id, body.members)
    rename_team(tx, group_id, body.display_name.strip())
    store.clear_group(tx, group_id)
    store.add_to_group(tx, group_id, people)
    store.note_group(tx, organization_id, group_id, body.external_id)
    return get_group(tx, organization_id, group_id)


def patch_group(tx: Transaction, organization_id: str, group_id: str, body: PatchBody) -> store.GroupRow:
    before = get_group(tx, organization_id, group_id)
    external_id = before.external_id
    for operation in body.operations:
        _require_op(operation)
        op = operation.op.lower()
        values = operation.value if operation.path is None else {operation.path: operation.value}
        if not isinstance(values, dict):
            raise BadRequest("Operations: expected a path, or an object of attributes as value")
        for attribute, value in values.items():
            name = attribute.rpartition(":")[2] if not attribute.lower().startswith("members[") else attribute
            if one := _MEMBER_PATH.fullmatch(name):
                if op != "remove":
                    raise BadRequest("members: a single member can only be removed")
                store.remove_from_group(tx, organization_id, group_id, [one[1]])
            elif name.lower() == "members":
                _patch_members(tx, organization_id, group_id, op, value)
            elif name.lower() == "displayname":
                try:
                    title = msgspec.convert({"displayName": value}, GroupBody).display_name.strip()
                except msgspec.ValidationError:
                    raise BadRequest("displayName: expected a text of 1 to 64 characters") from None
                rename_team(tx, group_id, title)
            elif name.lower() == "externalid":
                if op != "remove" and (not isinstance(value, str) or len(value) > 512):
                    raise BadRequest("externalId: expected a text of up to 512 characters")
                external_id = None if op == "remove" else value
    store.note_group(tx, organization_id, group_id, external_id)
    return get_group(tx, organization_id, group_id)


def _patch_members(tx: Transaction, organization_id: str, group_id: str, op: str, value: Any) -> None:
    if op == "remove" and value is None:
        store.clear_group(tx, group_id)
        return
    try:
        members = msgspec.convert(value if isinstance(value, list) else [value], list[ScimMember])
    except msgspec.ValidationError as error:
        raise BadRequest(f"members: {error}") from None
    if op == "remove":
        store.remove_from_group(tx, organization_id, group_id, [member.value for member in members])
        return
    people = _people(tx, organization_id, members)
    if op == "replace":
        store.clear_group(tx, group_id)
    store.add_to_group(tx, group_id, people)


def delete_group(tx: Transaction, organization_id: str, group_id: str) -> None:
    get_group(tx, organization_id, group_id)
    delete_team(tx, organization_id, group_id)
