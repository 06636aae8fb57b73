"""Operations for server administration: an overview of the server, its jobs, accounts, and organizations, and
checks of its parts."""

from __future__ import annotations

import platform
import shutil
from functools import cache
from importlib.metadata import version
from threading import Lock

from msgspec import UNSET

from octavo.core.url_parts import read_address
from octavo.errors import Unavailable
from octavo.kit.clock import iso, now
from octavo.kit.db.migrations import Migration, compare_schema, load_migrations
from octavo.kit.db.pagination import Listing, decode_token, present_slice, slice_rows
from octavo.kit.http.operation import Area, Call
from octavo.kit.net import mail
from octavo.kit.work import jobs
from octavo.kit.work.backup_runs import last_successful_backup, list_backups
from octavo.kit.work.job_hours import list_job_hours
from octavo.kit.work.outbox import count_waiting
from octavo.organization.access.accounts import find_user
from octavo.organization.access.authorization import SignedIn
from octavo.organization.access.roles import Can
from octavo.organization.identity.sessions import require_still_signed_in

from . import account_deletion, accounts, backup_jobs, diagnosis, limit_routes, maintenance_routes, store
from .account_merging import merge_accounts
from .authorization import OperatorAccess
from .backup_jobs import find_running_backup
from .storage_usage import list_storage
from .wire import (
    AccountDeletion,
    Finding,
    Findings,
    HostedOrganization,
    HostedPerson,
    InstallationCounts,
    InstallationData,
    InstallationDatabase,
    InstallationFiles,
    InstallationJobHour,
    InstallationMail,
    InstallationSearchQuery,
    InstallationStorage,
    Job,
    JobsQuery,
    MergeAccount,
    RetriedJobs,
    RetryJobs,
    RunningBackup,
    SignInLink,
    TestedMail,
    UpdateAccount,
    WholeInstallation,
    WholeInstallationUrls,
    WholeJob,
    present_backup,
    present_deletion,
    present_hosted,
    present_job,
    present_jobs,
    present_person,
    present_running_backup,
    present_whole_job,
)

# Only sessions can use it, so there is no scope for tokens.
operation = Area("access").operation

__all__ = ["limit_routes", "maintenance_routes"]

_checking = Lock()
_BACKUPS = 14
"""Number of backups to show."""
_STARTED = now()
"""Time at which this process loaded its operations."""


@cache
def _version() -> str:
    return version("octavo")


@cache
def _migrations() -> list[Migration]:
    return load_migrations("octavo.operations.migrations")


@operation("getInstallation", "GET", "/installation", needs=Can.OPERATE)
def get_installation(call: Call, operator: OperatorAccess) -> WholeInstallation:
    """Get an overview of the server: its version, URLs, database, files, email, and jobs."""
    settings = call.settings
    with call.db.read() as tx:
        engine, size = store.describe_database(tx)
        counts = store.count_everything(tx)
        work = present_jobs(
            jobs.count_jobs(tx), later=jobs.count_later(tx), events=sum(count_waiting(tx).values())
        )
        editing = store.count_editing(tx)
        backups, good = list_backups(tx, _BACKUPS), last_successful_backup(tx)
        running, hours, storage = find_running_backup(tx), list_job_hours(tx), list_storage(tx)
        schema = compare_schema(tx, _migrations())
    server = read_address(settings.smtp_url) if settings.smtp_url else None
    sending = InstallationMail(settings.mail_from)
    if server is not None:
        sending.server = f"{server.scheme}://{server.host}" + (f":{server.port}" if server.port else "")
    disk = shutil.disk_usage(settings.data_folder)
    return WholeInstallation(
        name=settings.name,
        version=_version(),
        python=platform.python_version(),
        started_at=iso(_STARTED),
        data=InstallationData(iso(schema.upgraded_at), schema.written_by),
        storage=[InstallationStorage(each.kind, each.bytes, iso(each.measured_at)) for each in storage],
        job_hours=[InstallationJobHour(iso(each.hour), each.done, each.failed) for each in hours],
        backup_place=settings.backup_place or UNSET,
        running_backup=present_running_backup(running) if running else UNSET,
        urls=WholeInstallationUrls(settings.url, settings.sites_url),
        database=InstallationDatabase(call.db.engine, engine, size),
        files=InstallationFiles(settings.files, disk.free, disk.total),
        mail=sending,
        counts=InstallationCounts(**counts),
        jobs=work,
        editing=editing,
        backups=[present_backup(run) for run in backups],
        last_good_backup=present_backup(good) if good else UNSET,
    )


@operation(
    "checkInstallation", "POST", "/installation/check", needs=Can.OPERATE, errors=(503,), in_maintenance=True
)
def check_installation(call: Call, operator: OperatorAccess) -> Findings:
    """Test each part of the server, as `octavo check` does, and report which parts work, which don't, and why. Only
    one check runs at a time. Returns 503 while another check is running."""
    if not _checking.acquire(blocking=False):
        raise Unavailable("Another check is already running. Try again when it finishes.")
    try:
        found = diagnosis.check_running(call.context)
    finally:
        _checking.release()
    return Findings([Finding(*one) for one in found])


@operation(
    "startBackup", "POST", "/installation/backups", needs=Can.OPERATE, errors=(409,), in_maintenance=True
)
def start_backup(call: Call, operator: OperatorAccess) -> RunningBackup:
    """Back up the server in the background, as `octavo backup` does, to the backup location in the setting
    `OCTAVO_BACKUP_PLACE`. `getInstallation` reports the progress and the result. Returns 409 if no backup location
    is configured or a backup is already running."""
    with call.db.write() as tx:
        return present_running_backup(backup_jobs.start_backup(tx, call.context))


@operation(
    "testInstallationMail",
    "POST",
    "/installation/mail-test",
    needs=Can.OPERATE,
    errors=(429,),
    in_maintenance=True,
)
def test_mail(call: Call, operator: OperatorAccess) -> TestedMail:
    """Send a test email to the caller immediately. The response indicates whether the mail server accepted the
    email, and contains the mail server's error if it didn't."""
    settings = call.settings
    with call.db.write() as tx:
        user = find_user(tx, operator.user_id)
        assert user is not None, "the caller is signed in and so has an account"
        if settings.smtp_url:
            mail.allow(tx, settings, user.email)
    try:
        if not settings.smtp_url:
            raise Unavailable(
                "This server can't send email, because OCTAVO_SMTP_URL isn't set. Set it, and restart Octavo."
            )
        mail.send(
            settings,
            to=user.email,
            subject=f"Test email from {settings.name}",
            text=f"This email was sent to test the mail server for {settings.url}. The mail server works.\n",
        )
    except Unavailable as error:
        return TestedMail(user.email, sent=False, problem=error.message)
    return TestedMail(user.email, sent=True)


@operation("listInstallationOrganizations", "GET", "/installation/organizations", needs=Can.OPERATE)
def list_organizations(
    call: Call, operator: OperatorAccess, query: InstallationSearchQuery
) -> Listing[HostedOrganization]:
    """List all organizations on the server, newest first. Each organization's content stays private to its members."""
    with call.db.read() as tx:
        found = store.list_organizations(tx, query.limit, query.page, search=query.search)
    return present_slice(found, present_hosted)


@operation("listInstallationUsers", "GET", "/installation/users", needs=Can.OPERATE)
def list_users(call: Call, operator: OperatorAccess, query: InstallationSearchQuery) -> Listing[HostedPerson]:
    """List everyone who has an account, newest first."""
    with call.db.read() as tx:
        found = store.list_people(tx, query.limit, query.page, search=query.search)
    return present_slice(found, lambda row: present_person(call, row, call.settings))


# --- account deletion ---------------------------------------------------------------------------------


@operation("foreseeOwnAccountDeletion", "GET", "/user/deletion", needs=Can.OWN_ACCOUNT)
def foresee_own_deletion(call: Call, caller: SignedIn) -> AccountDeletion:
    """Preview the deletion of your account: how many objects of each kind would be deleted, and whether the account
    can be deleted."""
    with call.db.read() as tx:
        return present_deletion(
            account_deletion.preview_account_deletion(tx, call.settings, caller.user_id), own=True
        )


@operation("deleteOwnAccount", "DELETE", "/user", needs=Can.CHANGE_SIGN_IN, errors=(409,))
def delete_own_account(call: Call, caller: SignedIn) -> None:
    """Delete your account permanently, with its memberships, sessions, tokens, and notifications. Content
    that you wrote is kept without your name. Returns 409 if you are the last administrator of an
    organization or a server administrator, or if an organization manages your account."""
    with call.db.write() as tx:
        require_still_signed_in(tx, call.actor)
        account_deletion.delete_account(tx, call.settings, caller.actor, caller.user_id)


@operation(
    "foreseeAccountDeletion", "GET", "/installation/users/{userId}/deletion", needs=Can.OPERATE, errors=(404,)
)
def foresee_deletion(call: Call, operator: OperatorAccess, user_id: str) -> AccountDeletion:
    """Preview the deletion of an account: how many objects of each kind would be deleted, and whether the account
    can be deleted."""
    with call.db.read() as tx:
        return present_deletion(
            account_deletion.preview_account_deletion(tx, call.settings, user_id), own=False
        )


@operation("deleteAccount", "DELETE", "/installation/users/{userId}", needs=Can.CHANGE_SIGN_IN, errors=(409,))
def delete_account(call: Call, operator: OperatorAccess, user_id: str) -> bool:
    """Delete an account permanently, with the same effect as if its owner deleted it. Returns 409 if the
    person is the last administrator of an organization or a server administrator."""
    with call.db.write() as tx:
        require_still_signed_in(tx, call.actor)
        return account_deletion.delete_account(tx, call.settings, operator.actor, user_id)


@operation(
    "updateAccount", "PATCH", "/installation/users/{userId}", needs=Can.CHANGE_SIGN_IN, errors=(400, 404, 409)
)
def update_account(call: Call, operator: OperatorAccess, user_id: str, body: UpdateAccount) -> HostedPerson:
    """Change a person's email address, or deactivate or activate their account. Deactivating an account ends all of
    its sessions and revokes all of its tokens and agents. Memberships and content are kept. A new email address
    counts as verified. Returns 409 if the person is a server administrator or the last administrator of an
    organization, or if another account has the email address."""
    with call.db.write() as tx:
        require_still_signed_in(tx, call.actor)
        if body.email is not UNSET:
            accounts.change_email(tx, call.settings, operator.actor, user_id, body.email)
        if body.disabled is not UNSET:
            accounts.set_activation(tx, call.settings, operator.actor, user_id, active=not body.disabled)
        return present_person(call, store.get_person(tx, user_id), call.settings)


@operation(
    "mergeAccount",
    "POST",
    "/installation/users/{userId}/merge",
    needs=Can.CHANGE_SIGN_IN,
    errors=(404, 409),
)
def merge_account(call: Call, operator: OperatorAccess, user_id: str, body: MergeAccount) -> HostedPerson:
    """Merge an account into another account of the same person, and delete the merged account. The remaining
    account gets the memberships, teams, permissions, and content of the deleted account. If both are members of an
    organization, the higher role applies. The password, sessions, tokens, agents, and notifications of the deleted
    account are deleted with it. Returns 409 if either account belongs to a server administrator or is managed by an
    organization, or if the remaining account is deactivated."""
    with call.db.write() as tx:
        require_still_signed_in(tx, call.actor)
        merge_accounts(tx, call.context, operator.actor, user_id, body.into)
        return present_person(call, store.get_person(tx, body.into), call.settings)


@operation(
    "makeOrganizationAdministrator",
    "PUT",
    "/installation/organizations/{organizationId}/administrators/{userId}",
    needs=Can.CHANGE_SIGN_IN,
    errors=(404, 409),
)
def make_organization_administrator(
    call: Call, operator: OperatorAccess, organization_id: str, user_id: str
) -> None:
    """Make a person an administrator of an organization, for example after its last administrator has left.
    The change is recorded in the organization's audit log. Returns 409 if the account is deactivated."""
    with call.db.write() as tx:
        require_still_signed_in(tx, call.actor)
        accounts.make_administrator(tx, operator.actor, organization_id, user_id)


@operation(
    "createAccountSignInLink",
    "POST",
    "/installation/users/{userId}/sign-in-link",
    needs=Can.CHANGE_SIGN_IN,
    status=201,
    errors=(404, 409),
)
def create_sign_in_link(call: Call, operator: OperatorAccess, user_id: str) -> SignInLink:
    """Create a one-time sign-in link for a person who can't sign in any other way. The link expires after 15 minutes,
    and two-factor authentication still applies. Returns 409 if the account is deactivated."""
    with call.db.write() as tx:
        require_still_signed_in(tx, call.actor)
        return SignInLink(accounts.create_sign_in_link(tx, call.context, operator.actor, user_id))


@operation(
    "resetAccountSecondFactor",
    "DELETE",
    "/installation/users/{userId}/second-factor",
    needs=Can.CHANGE_SIGN_IN,
)
def reset_second_factor(call: Call, operator: OperatorAccess, user_id: str) -> bool:
    """Turn off two-factor authentication for a person who has lost their device and recovery codes."""
    with call.db.write() as tx:
        require_still_signed_in(tx, call.actor)
        return accounts.reset_second_factor(tx, operator.actor, user_id)


@operation("endAccountSessions", "DELETE", "/installation/users/{userId}/sessions", needs=Can.CHANGE_SIGN_IN)
def end_account_sessions(call: Call, operator: OperatorAccess, user_id: str) -> bool:
    """End all of a person's sessions. Their tokens and agents keep working."""
    with call.db.write() as tx:
        require_still_signed_in(tx, call.actor)
        return accounts.end_sessions(tx, operator.actor, user_id) > 0


@operation("listInstallationJobs", "GET", "/installation/jobs", needs=Can.OPERATE)
def list_jobs(call: Call, operator: OperatorAccess, query: JobsQuery) -> Listing[Job]:
    """List background jobs. Failed jobs (`parked`) come first, followed by running jobs and pending jobs. An event
    that couldn't be delivered is a job of the kind `deliverEvent`."""
    after = decode_token(query.page, int, str)
    with call.db.read() as tx:
        rows, count = jobs.list_jobs(
            tx,
            state=query.state,
            kind=query.kind,
            limit=query.limit + 1,
            after=after and (after[0], after[1]),
        )
    order = list(jobs.STATES)
    found = slice_rows(rows, query.limit, count, lambda row: (order.index(row.state), row.id))
    return present_slice(found, present_job)


@operation("getInstallationJob", "GET", "/installation/jobs/{jobId}", needs=Can.OPERATE, errors=(404,))
def get_job(call: Call, operator: OperatorAccess, job_id: str) -> WholeJob:
    """Get a job with its payload and the error from its last attempt. Completed jobs are deleted."""
    with call.db.read() as tx:
        return present_whole_job(jobs.get_job(tx, job_id))


@operation(
    "retryInstallationJob", "POST", "/installation/jobs/{jobId}/retry", needs=Can.OPERATE, errors=(404,)
)
def retry_job(call: Call, operator: OperatorAccess, job_id: str) -> WholeJob:
    """Retry a failed job, with the full number of attempts. Returns 404 if the job hasn't failed."""
    with call.db.write() as tx:
        jobs.retry_parked(tx, [job_id])
        return present_whole_job(jobs.get_job(tx, job_id))


@operation("retryInstallationJobs", "POST", "/installation/jobs/retry", needs=Can.OPERATE)
def retry_jobs(call: Call, operator: OperatorAccess, body: RetryJobs) -> RetriedJobs:
    """Retry all failed jobs, or all failed jobs of a kind. Returns the number of jobs."""
    with call.db.write() as tx:
        return RetriedJobs(jobs.retry_parked(tx, kind=body.kind))
