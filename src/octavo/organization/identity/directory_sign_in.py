"""People from the server's LDAP directory: how they sign in, their membership, and their teams.

The server administrator configures the directory, so its email addresses count as verified. People in the directory can
sign in only with their directory password. A job deactivates the accounts of people who are no longer in the
directory."""

from __future__ import annotations

import logging

from octavo.errors import Conflict, Forbidden
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.net.ldap import Directory, DirectoryGroup, DirectoryPerson, DirectoryUnavailable
from octavo.kit.scheduling.permits import waiting
from octavo.kit.work import jobs
from octavo.organization.access.accounts import (
    enable_account,
    find_user_by_email,
    insert_user,
    is_operator,
    set_email,
)
from octavo.organization.access.auditing import audit_person
from octavo.organization.access.members import find_membership, notify_joined, upsert_member
from octavo.organization.access.teams import insert_team, join_teams, remove_team_members, rename_team
from octavo.settings import Settings

from . import linked_accounts
from .removal import deactivate_account
from .verification import verify_address

log = logging.getLogger(__name__)

PROVIDER = "ldap"
_BATCH = 100
_EVERY = 15 * 60
_TOLERATED = 10
"""Number of people who can be missing at once before the directory is assumed to be faulty."""


def find_directory(settings: Settings) -> Directory | None:
    """Return the directory configured in the settings, if any."""
    if not settings.ldap_url:
        return None
    return Directory(
        settings.ldap_url,
        settings.ldap_user,
        settings.ldap_password,
        settings.ldap_people,
        settings.ldap_filter,
        settings.ldap_groups,
        settings.ldap_group_filter,
        settings.ldap_require_tls,
    )


def is_from_directory(tx: Transaction, settings: Settings, user_id: str) -> bool:
    """Return whether the directory checks the password of this account."""
    return bool(settings.ldap_url) and (
        tx.one(
            "SELECT 1 FROM external_identities WHERE provider = :provider AND user_id = :user",
            provider=PROVIDER,
            user=user_id,
        )
        is not None
    )


def authenticate(context: Context, email: str, password: str) -> str | None:
    """Return the user whose password the directory accepts, or None.

    The account is created when the person first signs in, and their membership and teams are updated. Raises
    DirectoryUnavailable if the directory can't be reached, and Forbidden if the account is deactivated."""
    directory = find_directory(context.settings)
    if directory is None:
        return None
    with waiting():
        person = directory.authenticate(email, password)
        if person is None or person.disabled:
            return None
        groups = directory.list_groups([person]) if directory.groups else {}
    with context.db.write() as tx:
        user_id = _find_or_create_person(tx, person)
        if not linked_accounts.can_sign_in(tx, user_id):
            raise Forbidden("This account is deactivated. Ask an administrator to reactivate it.")
        _update_teams(tx, context.settings, user_id, groups.get(person.subject))
    return user_id


def _find_or_create_person(tx: Transaction, person: DirectoryPerson) -> str:
    user_id = linked_accounts.find_user_id(tx, PROVIDER, person.subject)
    if user_id is not None:
        _update_email(tx, user_id, person.email)
        return user_id
    if person.email is None:
        raise Forbidden(
            "The directory has no email address for your account. Ask your administrator to add one."
        )
    user = find_user_by_email(tx, person.email)
    if user is None:
        name = person.name or person.email.partition("@")[0]
        user = insert_user(tx, person.email, name, verified=True)
    else:
        # The directory vouches for the address, but the account may have been created by someone else.
        verify_address(tx, user.id)
    linked_accounts.link(tx, PROVIDER, person.subject, user.id)
    return user.id


def _update_email(tx: Transaction, user_id: str, email: str | None) -> None:
    """Set the email address from the directory, unless another account has it."""
    owner = None if email is None else find_user_by_email(tx, email)
    if email is not None and owner is None:
        set_email(tx, user_id, email)
    elif owner is not None and owner.id != user_id:
        log.warning(
            "A person's new email address is already used by another account", extra={"user": user_id}
        )


# --- membership and teams -----------------------------------------------------------------------------


def _update_teams(
    tx: Transaction, settings: Settings, user_id: str, groups: list[DirectoryGroup] | None
) -> None:
    """Make a person a member of the directory's organization, and of the teams for their groups.

    ``groups``: None if groups aren't used. Disabled members stay disabled, and teams without a group in the
    directory stay unchanged."""
    organization = tx.one(
        "SELECT id, default_role FROM organizations WHERE id = :named OR hostname = :named",
        named=settings.ldap_organization,
    )
    if organization is None:
        if settings.ldap_organization:
            log.error("OCTAVO_LDAP_ORGANIZATION: there is no organization with this ID or hostname")
        return
    organization_id, role = organization
    if find_membership(tx, organization_id, user_id) is None:
        upsert_member(tx, organization_id, user_id, role, accepted=True)
        audit_person(
            tx,
            "member.joined",
            user_id,
            client=None,
            only=organization_id,
            after={"role": role, "by": PROVIDER},
        )
        notify_joined(tx, organization_id, user_id, vouched=True)
    if groups is None:
        return
    teams = [_find_or_create_team(tx, organization_id, group) for group in groups]
    joined = tx.all(
        """SELECT g.team_id FROM directory_groups g JOIN team_members t ON t.team_id = g.team_id
           WHERE g.organization_id = :org AND t.user_id = :user""",
        org=organization_id,
        user=user_id,
    )
    for (team_id,) in joined:
        if team_id not in teams:
            remove_team_members(tx, team_id, [user_id])
    join_teams(tx, [(team_id, user_id) for team_id in teams])


def _find_or_create_team(tx: Transaction, organization_id: str, group: DirectoryGroup) -> str:
    row = tx.one(
        """SELECT t.id, t.title FROM directory_groups g JOIN teams t ON t.id = g.team_id
           WHERE g.organization_id = :org AND g.subject = :subject""",
        org=organization_id,
        subject=group.subject,
    )
    if row is not None:
        team_id, title = row
        if title != group.title:
            rename_team(tx, team_id, group.title)
        return str(team_id)
    team_id = insert_team(tx, organization_id, group.title)
    tx.insert("directory_groups", organization_id=organization_id, subject=group.subject, team_id=team_id)
    return team_id


# --- synchronization ----------------------------------------------------------------------------------


@jobs.job("syncDirectory", bound=f"{_BATCH} people", waits=True, attempts=1)
def synchronize(context: Context, after: str = "") -> None:
    """Compare accounts with the directory in batches, and then deactivate the accounts of people who are
    missing from it.

    If a batch fails, the remaining batches are skipped until the next run, which starts from the beginning."""
    directory = find_directory(context.settings)
    if directory is None:
        return
    with context.db.read() as tx:
        rows = tx.all(
            """SELECT subject, user_id FROM external_identities
               WHERE provider = :provider AND subject > :after ORDER BY subject LIMIT :most""",
            provider=PROVIDER,
            after=after,
            most=_BATCH,
        )
    if not rows:
        _deactivate_missing(context)
        return
    try:
        people = directory.list_people(subject for subject, _ in rows)
        present = {subject: person for subject, person in people.items() if not person.disabled}
        groups = directory.list_groups(present.values()) if directory.groups else {}
    except DirectoryUnavailable:
        return
    for subject, user_id in rows:
        with context.db.write() as tx:
            _set_missing(tx, subject, user_id, missing=subject not in present)
            if subject in present:
                _update_email(tx, user_id, present[subject].email)
                _update_teams(tx, context.settings, user_id, groups.get(subject))
    with context.db.write() as tx:
        jobs.enqueue(tx, "syncDirectory", after=rows[-1][0])


jobs.schedule("syncDirectory", _EVERY, "syncDirectory")


def _set_missing(tx: Transaction, subject: str, user_id: str, *, missing: bool) -> None:
    """Record whether a person is missing. If the person isn't missing, reactivate the account if it was deactivated for
    that reason."""
    was_deactivated = tx.value(
        "SELECT deactivated FROM external_identities WHERE provider = :provider AND subject = :subject",
        provider=PROVIDER,
        subject=subject,
    )
    if was_deactivated and not missing:
        enable_account(tx, user_id)
        audit_person(tx, "account.activated", user_id, client=None, actor="", after={"by": PROVIDER})
    tx.run(
        """UPDATE external_identities SET missing = :missing,
             deactivated = CASE WHEN :missing = 0 THEN 0 ELSE deactivated END
           WHERE provider = :provider AND subject = :subject""",
        missing=int(missing),
        provider=PROVIDER,
        subject=subject,
    )


def _deactivate_missing(context: Context) -> None:
    """Deactivate the accounts of missing people, unless so many are missing that the directory must be faulty."""
    with context.db.read() as tx:
        total, missing = tx.all(
            "SELECT count(*), COALESCE(sum(missing), 0) FROM external_identities WHERE provider = :provider",
            provider=PROVIDER,
        )[0]
        rows = tx.all(
            """SELECT subject, user_id FROM external_identities
               WHERE provider = :provider AND missing = 1 AND deactivated = 0 ORDER BY subject LIMIT :most""",
            provider=PROVIDER,
            most=max(_TOLERATED, total // 2),
        )
    if missing > max(_TOLERATED, total // 2):
        log.error(
            "More than half of the people are missing from the LDAP directory, so no account was deactivated"
        )
        return
    for subject, user_id in rows:
        with context.db.write() as tx:
            if is_operator(tx, context.settings, user_id):
                log.warning("A server administrator is missing from the LDAP directory, but stays active")
                continue
            try:
                deactivate_account(tx, user_id)
            except Conflict as error:
                log.warning(
                    "A person is missing from the LDAP directory, but stays active: %s", error.message
                )
                continue
            audit_person(tx, "account.deactivated", user_id, client=None, actor="", after={"by": PROVIDER})
            tx.run(
                "UPDATE external_identities SET deactivated = 1 WHERE provider = :provider AND subject = :subject",
                provider=PROVIDER,
                subject=subject,
            )
