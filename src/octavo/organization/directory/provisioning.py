"""Effects of changes in a directory: its users are members, and its groups are teams.

A directory never makes existing accounts members. Instead, the owners of these accounts are invited, and until
they accept, the responses to the directory contain only the data that it sent. An existing account keeps its name
and email address, because the directory of one organization must not rename a person who may also belong to
another organization. Ending a membership ends its sessions and tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from octavo.errors import NotFound, require_found
from octavo.kit import ids
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.access.accounts import find_user_by_email, insert_user, set_manager, update_user
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.members import enable_membership, upsert_member
from octavo.organization.access.teams import delete_team, insert_team, rename_team
from octavo.organization.identity.linked_accounts import is_created_by
from octavo.organization.identity.removal import disable_member, remove_member
from octavo.organization.invitations.inviting import invite_account, revoke_standing_invitation

from . import store
from .scim_errors import ScimRefused, ScimTaken

_TERM = re.compile(r'\s*([\w.:$-]+)\s+eq\s+"((?:[^"\\]|\\.)*)"\s*', re.I)
_AND = re.compile(r"and(?=\s)", re.I)


@dataclass(frozen=True)
class SentUser:
    """User as sent by a directory."""

    email: str
    external_id: str | None
    name: str | None
    active: bool


@dataclass(frozen=True)
class SentGroup:
    """Group as sent by a directory. ``members``: the user IDs, as returned to the directory."""

    title: str
    external_id: str | None
    members: Sequence[str]


@dataclass(frozen=True)
class AddMembers:
    members: Sequence[str]


@dataclass(frozen=True)
class RemoveMembers:
    members: Sequence[str]


@dataclass(frozen=True)
class ReplaceMembers:
    members: Sequence[str]


@dataclass(frozen=True)
class Rename:
    title: str


@dataclass(frozen=True)
class ExternalId:
    id: str | None


GroupChange = AddMembers | RemoveMembers | ReplaceMembers | Rename | ExternalId


def parse_filter(text: str | None, conditions: dict[str, str]) -> list[tuple[str, str]]:
    """Return the conditions and values of a filter, which must consist of `attribute eq "value"` terms joined by
    `and`. Raises ScimRefused if the filter has a different syntax."""
    found: list[tuple[str, str]] = []
    at = 0
    while text is not None and (not found or at < len(text)):
        joined = _AND.match(text, at) if found else None
        match = _TERM.match(text, joined.end() if joined else at) if joined or not found else None
        attribute = match[1].rpartition(":")[2].lower() if match else ""
        if match is None or attribute not in conditions:
            raise ScimRefused(
                "invalidFilter",
                (
                    'filter: must be a term such as `attribute eq "value"`, or terms joined by `and`. Supported'
                    " attributes: "
                )
                + ", ".join(sorted(conditions)),
            )
        value = re.sub(r"\\(.)", r"\1", match[2])
        condition = conditions[attribute]
        found.append((condition, value.lower() if condition == store.BY_EMAIL else value))
        at = match.end()
    return found


def get_user(tx: Transaction, organization_id: str, resource_id: str) -> store.ScimUserRow:
    return require_found(
        store.find_user(tx, organization_id, resource_id),
        f"There is no user with the ID {resource_id!r} in this organization.",
    )


def get_group(tx: Transaction, organization_id: str, group_id: str) -> store.ScimGroupRow:
    return require_found(
        store.find_group(tx, organization_id, group_id),
        f"There is no group with the ID {group_id!r} in this organization.",
    )


def create_user(tx: Transaction, context: Context, org: OrgAccess, sent: SentUser) -> store.ScimUserRow:
    """Create an account, and add it as a member with the organization's default role. If the person already has an
    account, invite them instead.

    Raises ScimTaken if the person is already a member or has been invited."""
    email, organization_id = sent.email, org.organization_id
    role = _default_role(tx, organization_id)
    user = find_user_by_email(tx, email)
    taken = store.find_invited(tx, organization_id, email)
    if user is not None:
        taken = taken or store.find_member(tx, organization_id, user.id)
    if taken is not None:
        raise ScimTaken(f"userName: {email} is already a member or has already been invited")
    name = sent.name or email.partition("@")[0]
    if user is not None and not is_created_by(tx, user.id, organization_id):
        return _invite(tx, context, org, email, name, sent)
    if user is None:
        user = insert_user(tx, email, name, verified=False)
        set_manager(tx, user.id, organization_id)
    # The account was created by the organization and has never belonged to anyone else.
    upsert_member(tx, organization_id, user.id, role, accepted=True)
    store.save_user(tx, organization_id, user.id, user.id, sent.external_id)
    if not sent.active:
        disable_member(tx, organization_id, user.id)
    return get_user(tx, organization_id, user.id)


def _default_role(tx: Transaction, organization_id: str) -> str | None:
    """Return the organization's default role, and lock the organization until the transaction ends, because a directory
    can send the same user twice at the same time."""
    found = tx.value(
        f"SELECT default_role FROM organizations WHERE id = :id{tx.for_update}", id=organization_id
    )
    return None if found is None else str(found)


def _invite(
    tx: Transaction, context: Context, org: OrgAccess, email: str, name: str, sent: SentUser
) -> store.ScimUserRow:
    resource_id = ids.new_id()
    store.save_user(
        tx, org.organization_id, resource_id, None, sent.external_id, email=email, display_name=name
    )
    if sent.active:
        _send_invitation(tx, context, org, email)
    return get_user(tx, org.organization_id, resource_id)


def _send_invitation(tx: Transaction, context: Context, org: OrgAccess, email: str) -> None:
    role = _default_role(tx, org.organization_id)
    invite_account(tx, context, org.actor, org.organization_id, email, role, invited_by=org.user_id)


def replace_user(
    tx: Transaction, context: Context, org: OrgAccess, resource_id: str, sent: SentUser
) -> store.ScimUserRow:
    before = get_user(tx, org.organization_id, resource_id)
    if sent.email != before.email:
        raise ScimRefused(
            "mutability", "userName, emails: only the account's owner can change its email address"
        )
    _set_active(tx, context, org, before, sent.active)
    name = sent.name
    if name is not None and before.managed and before.user_id is not None:
        update_user(tx, before.user_id, display_name=name, photo_url=None)
    # Use the resource's own ID, because a member can also be requested by account ID.
    store.save_user(tx, org.organization_id, before.id, before.user_id, sent.external_id, display_name=name)
    return get_user(tx, org.organization_id, before.id)


def _set_active(
    tx: Transaction, context: Context, org: OrgAccess, before: store.ScimUserRow, active: bool
) -> None:
    if before.active == active:
        return
    if before.user_id is None:
        if active:
            _send_invitation(tx, context, org, before.email)
        else:
            revoke_standing_invitation(tx, org.actor, org.organization_id, before.email)
    elif active:
        enable_membership(tx, org.organization_id, before.user_id)
    else:
        disable_member(tx, org.organization_id, before.user_id)


def delete_user(tx: Transaction, org: OrgAccess, resource_id: str) -> None:
    """End a membership and all access that depends on it, or revoke an invitation."""
    found = get_user(tx, org.organization_id, resource_id)
    if found.user_id is None:
        revoke_standing_invitation(tx, org.actor, org.organization_id, found.email)
        store.delete_invited(tx, org.organization_id, found.id)
    else:
        remove_member(tx, org.organization_id, found.user_id)


# --- groups -------------------------------------------------------------------------------------------


def _find_people(tx: Transaction, organization_id: str, members: Sequence[str]) -> store.People:
    people = store.find_people(tx, organization_id, list(members))
    if people is None:
        raise NotFound("members: must be users in this organization")
    return people


def create_group(tx: Transaction, organization_id: str, sent: SentGroup) -> store.ScimGroupRow:
    title = sent.title
    taken, _ = store.list_groups(tx, organization_id, [(store.BY_TITLE, title)], 0, 1)
    if taken:
        raise ScimTaken(f"displayName: a group named {title!r} already exists")
    people = _find_people(tx, organization_id, sent.members)
    group_id = insert_team(tx, organization_id, title)
    store.add_to_group(tx, group_id, people)
    store.save_group(tx, organization_id, group_id, sent.external_id)
    return get_group(tx, organization_id, group_id)


def replace_group(
    tx: Transaction, organization_id: str, group_id: str, sent: SentGroup
) -> store.ScimGroupRow:
    get_group(tx, organization_id, group_id)
    people = _find_people(tx, organization_id, sent.members)
    rename_team(tx, group_id, sent.title)
    store.clear_group(tx, group_id)
    store.add_to_group(tx, group_id, people)
    store.save_group(tx, organization_id, group_id, sent.external_id)
    return get_group(tx, organization_id, group_id)


def patch_group(
    tx: Transaction, organization_id: str, group_id: str, changes: Iterable[GroupChange]
) -> store.ScimGroupRow:
    """Apply the changes in order. Raises NotFound if there is no such group."""
    external_id = get_group(tx, organization_id, group_id).external_id
    for change in changes:
        match change:
            case Rename(title):
                rename_team(tx, group_id, title)
            case ExternalId(given):
                external_id = given
            case RemoveMembers(members):
                store.remove_from_group(tx, organization_id, group_id, list(members))
            case AddMembers(members):
                store.add_to_group(tx, group_id, _find_people(tx, organization_id, members))
            case ReplaceMembers(members):
                people = _find_people(tx, organization_id, members)
                store.clear_group(tx, group_id)
                store.add_to_group(tx, group_id, people)
    store.save_group(tx, organization_id, group_id, external_id)
    return get_group(tx, organization_id, group_id)


def delete_group(tx: Transaction, organization_id: str, group_id: str) -> None:
    get_group(tx, organization_id, group_id)
    delete_team(tx, organization_id, group_id)
