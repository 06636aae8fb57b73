"""The installation, for those who run it: what it holds, what waits and failed, and whether its parts work."""

from __future__ import annotations

import shutil
from functools import cache
from importlib.metadata import version
from threading import Lock

from octavo.core.url_parts import read_address
from octavo.errors import Unavailable
from octavo.kit.db.pagination import Listing, decode_token, present_slice, slice_rows
from octavo.kit.http.operation import Area, Call, Deletion
from octavo.kit.net import mail
from octavo.kit.work import jobs
from octavo.kit.work.outbox import count_waiting
from octavo.organization.access.accounts import find_user
from octavo.organization.access.authorization import SignedIn
from octavo.organization.access.roles import Can
from octavo.organization.identity.sessions import require_still_signed_in

from . import account_deletion, diagnosis, store
from .authorization import OperatorAccess
from .wire import (
    AccountDeletion,
    Finding,
    Findings,
    HostedOrganization,
    HostedPerson,
    InstallationCounts,
    InstallationDatabase,
    InstallationFiles,
    InstallationJobs,
    InstallationMail,
    Job,
    JobsQuery,
    RetriedJobs,
    RetryJobs,
    SearchQuery,
    TestedMail,
    WholeInstallation,
    WholeInstallationUrls,
    WholeJob,
    counted_states,
    present_deletion,
    present_hosted,
    present_job,
    present_person,
    present_whole_job,
)

# It is for sessions alone, so no token has a scope for it.
operation = Area("access").operation

_checking = Lock()


@cache
def _version() -> str:
    return version("octavo")


@operation(
    "getInstallation",
    "GET",
    "/installation",
    needs=Can.OPERATE,
    returns=WholeInstallation,
    extension=True,
)
def get_installation(call: Call, operator: OperatorAccess) -> WholeInstallation:
    """What the installation is and holds: its version, addresses, database, files and mail, and what its jobs do."""
    settings = call.settings
    with call.db.read() as tx:
        engine, size = store.describe_database(tx)
        counts = store.count_everything(tx)
        states = counted_states(jobs.count_jobs(tx), jobs.count_later(tx))
        events = sum(count_waiting(tx).values())
    server = read_address(settings.smtp_url) if settings.smtp_url else None
    sending = InstallationMail(settings.mail_from)
    if server is not None:
        sending.server = f"{server.scheme}://{server.host}" + (f":{server.port}" if server.port else "")
    return WholeInstallation(
        name=settings.name,
        version=_version(),
        urls=WholeInstallationUrls(settings.url, settings.sites_url),
        database=InstallationDatabase(call.db.engine, engine, size),
        files=InstallationFiles(settings.files, shutil.disk_usage(settings.data_folder).free),
        mail=sending,
        counts=InstallationCounts(**counts),
        jobs=InstallationJobs(**states, events=events),
    )


@operation(
    "checkInstallation",
    "POST",
    "/installation/check",
    needs=Can.OPERATE,
    returns=Findings,
    errors=(503,),
    extension=True,
)
def check_installation(call: Call, operator: OperatorAccess) -> Findings:
    """Tries each part of the installation for real, as `octavo check` does: what works, what does not, and why. One
    check at a time: 503 while another one runs."""
    if not _checking.acquire(blocking=False):
        raise Unavailable("A check is running: try again when it is done.")
    try:
        found = diagnosis.check_running(call.context)
    finally:
        _checking.release()
    return Findings([Finding(*one) for one in found])


@operation(
    "testInstallationMail",
    "POST",
    "/installation/mail-test",
    needs=Can.OPERATE,
    returns=TestedMail,
    errors=(429,),
    extension=True,
)
def test_mail(call: Call, operator: OperatorAccess) -> TestedMail:
    """Sends the caller a mail, at once, and says whether the mail server took it and what it said otherwise."""
    settings = call.settings
    with call.db.write() as tx:
        user = find_user(tx, operator.user_id)
        assert user is not None, "whoever entered has an account"
        if settings.smtp_url:
            mail.allow(tx, settings, user.email)
    try:
        if not settings.smtp_url:
            raise Unavailable("This installation sends no mail (OCTAVO_SMTP_URL).")
        mail.send(
            settings,
            to=user.email,
            subject=f"Mail from {settings.name} arrives",
            text=f"This was sent to try the mail server of {settings.url}. It works.\n",
        )
    except Unavailable as error:
        return TestedMail(user.email, sent=False, problem=error.message)
    return TestedMail(user.email, sent=True)


@operation(
    "listInstallationOrganizations",
    "GET",
    "/installation/organizations",
    needs=Can.OPERATE,
    returns=Listing[HostedOrganization],
    extension=True,
)
def list_organizations(
    call: Call, operator: OperatorAccess, query: SearchQuery
) -> Listing[HostedOrganization]:
    """Every organization of the installation, newest first. What they hold stays closed to who is no member."""
    with call.db.read() as tx:
        found = store.list_organizations(tx, query.limit, query.page, search=query.search)
    return present_slice(found, present_hosted)


@operation(
    "listInstallationUsers",
    "GET",
    "/installation/users",
    needs=Can.OPERATE,
    returns=Listing[HostedPerson],
    extension=True,
)
def list_users(call: Call, operator: OperatorAccess, query: SearchQuery) -> Listing[HostedPerson]:
    """Everybody who has an account, newest first."""
    with call.db.read() as tx:
        found = store.list_people(tx, query.limit, query.page, search=query.search)
    return present_slice(found, lambda row: present_person(call, row, call.settings.operators))


# --- accounts that are deleted ------------------------------------------------------------------------


@operation(
    "foreseeOwnAccountDeletion",
    "GET",
    "/user/deletion",
    needs=Can.OWN_ACCOUNT,
    returns=AccountDeletion,
    extension=True,
)
def foresee_own_deletion(call: Call, caller: SignedIn) -> AccountDeletion:
    """What will happen when the caller deletes their account, in numbers, and whether they can."""
    with call.db.read() as tx:
        return present_deletion(account_deletion.foresee(tx, call.settings, caller.user_id), own=True)


@operation(
    "deleteOwnAccount",
    "DELETE",
    "/user",
    needs=Can.CHANGE_SIGN_IN,
    errors=(409,),
    extension=True,
)
def delete_own_account(call: Call, caller: SignedIn) -> None:
    """Deletes the caller's account for good, with its memberships, sessions, tokens and all that it was told. What they
    wrote stays and names nobody. 409 for the last administrator of an organization, for who runs the installation, and
    for an account that an organization manages."""
    with call.db.write() as tx:
        require_still_signed_in(tx, call.actor)
        account_deletion.delete_account(tx, call.settings, caller.actor, caller.user_id)


@operation(
    "foreseeAccountDeletion",
    "GET",
    "/installation/users/{userId}/deletion",
    needs=Can.OPERATE,
    returns=AccountDeletion,
    errors=(404,),
    extension=True,
)
def foresee_deletion(call: Call, operator: OperatorAccess, user_id: str) -> AccountDeletion:
    """What will happen when somebody's account is deleted, in numbers, and whether it can be."""
    with call.db.read() as tx:
        return present_deletion(account_deletion.foresee(tx, call.settings, user_id), own=False)


@operation(
    "deleteAccount",
    "DELETE",
    "/installation/users/{userId}",
    needs=Can.CHANGE_SIGN_IN,
    returns=Deletion,
    errors=(409,),
    extension=True,
)
def delete_account(call: Call, operator: OperatorAccess, user_id: str) -> bool:
    """Deletes somebody's account for good, as they could themselves. 409 for the last administrator of an organization,
    and for who runs the installation."""
    with call.db.write() as tx:
        require_still_signed_in(tx, call.actor)
        return account_deletion.delete_account(tx, call.settings, operator.actor, user_id)


@operation(
    "listInstallationJobs",
    "GET",
    "/installation/jobs",
    needs=Can.OPERATE,
    returns=Listing[Job],
    extension=True,
)
def list_jobs(call: Call, operator: OperatorAccess, query: JobsQuery) -> Listing[Job]:
    """What is done apart from requests: parked jobs first, which were given up, then those that run and that wait.
    An event that could not be handed on is a job of the kind `deliverEvent`."""
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


@operation(
    "getInstallationJob",
    "GET",
    "/installation/jobs/{jobId}",
    needs=Can.OPERATE,
    returns=WholeJob,
    errors=(404,),
    extension=True,
)
def get_job(call: Call, operator: OperatorAccess, job_id: str) -> WholeJob:
    """A job with what it was given and the error of its last attempt. One that is done is gone."""
    with call.db.read() as tx:
        return present_whole_job(jobs.get_job(tx, job_id))


@operation(
    "retryInstallationJob",
    "POST",
    "/installation/jobs/{jobId}/retry",
    needs=Can.OPERATE,
    returns=WholeJob,
    errors=(404,),
    extension=True,
)
def retry_job(call: Call, operator: OperatorAccess, job_id: str) -> WholeJob:
    """Has a parked job run again, with all its attempts. 404 for one that is not parked."""
    with call.db.write() as tx:
        jobs.retry_parked(tx, [job_id])
        return present_whole_job(jobs.get_job(tx, job_id))


@operation(
    "retryInstallationJobs",
    "POST",
    "/installation/jobs/retry",
    needs=Can.OPERATE,
    returns=RetriedJobs,
    extension=True,
)
def retry_jobs(call: Call, operator: OperatorAccess, body: RetryJobs) -> RetriedJobs:
    """Has all parked jobs run again, or all of a kind; says how many."""
    with call.db.write() as tx:
        return RetriedJobs(jobs.retry_parked(tx, kind=body.kind))
