"""Wire format of server administration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import PageQuery
from octavo.kit.http.operation import Recipient
from octavo.kit.work.backup_runs import BackupRun
from octavo.kit.work.jobs import JobCount, JobRow, State
from octavo.kit.work.maintenance import NoticeKind, ServerNotice
from octavo.organization.access.accounts import is_listed_operator
from octavo.organization.access.limits import (
    RESOURCES,
    Resource,
    ResourceLimits,
    list_usage,
    measure,
    near_limits,
    read_limits,
)
from octavo.organization.access.wire import User, present_user
from octavo.organization.identity.wire import Email
from octavo.settings import Settings

from .account_deletion import DeletionPreview
from .backup_jobs import BackupProgress
from .maintaining import forgotten_since
from .storage_usage import StorageKind
from .store import OrganizationRow, PersonRow


class WholeInstallationUrls(Struct):
    app: str
    sites: str


class InstallationDatabase(Struct):
    engine: Literal["sqlite", "postgresql"]
    version: str
    bytes: int


class InstallationFiles(Struct):
    """File storage. ``free`` and ``total``: the number of free bytes and the total number of bytes on the disk that
    contains the data folder."""

    location: str
    free: int
    total: int


class InstallationMail(Struct):
    """Email settings of this server. ``server``: the mail server without its password. It is omitted if none is
    configured, in which case no email can be sent."""

    sender: str
    server: str | UnsetType = UNSET


class InstallationCounts(Struct):
    organizations: int
    people: int
    spaces: int
    sites: int


class InstallationJobs(Struct, rename="camel", kw_only=True):
    """Number of jobs in each state, and number of pending events. ``oldestSince``: the time at which the oldest
    pending job became due."""

    waiting: int
    running: int
    parked: int
    events: int
    oldest_since: str | UnsetType = UNSET


class InstallationBackup(Struct, rename="camel"):
    """Successful or failed backup. ``problem``: the reason the backup failed, if it did."""

    place: str
    ended_at: str
    bytes: int | UnsetType = UNSET
    problem: str | UnsetType = UNSET


def present_backup(run: BackupRun) -> InstallationBackup:
    return InstallationBackup(
        run.place,
        iso(run.ended_at),
        UNSET if run.bytes is None else run.bytes,
        UNSET if run.problem is None else run.problem,
    )


class RunningBackup(Struct, rename="camel"):
    """Backup that is pending or running. ``done`` and ``total``: numbers of files. ``total`` is omitted while the
    database is being read."""

    started_at: str
    done: int
    total: int | UnsetType = UNSET


def present_running_backup(found: BackupProgress) -> RunningBackup:
    return RunningBackup(iso(found.started_at), found.done, found.total or UNSET)


class InstallationStorage(Struct, rename="camel"):
    """Storage that one kind of data uses. The kinds are ``files``, ``pages`` with their history, the ``search``
    index, the rest of the database (``other``), and ``backups`` in the configured backup location."""

    kind: StorageKind
    bytes: int
    measured_at: str


class InstallationJobHour(Struct):
    """Jobs in one hour. ``failed``: the number of jobs that failed permanently."""

    hour: str
    done: int
    failed: int


class InstallationData(Struct, rename="camel"):
    """Version of the server's data, relative to the running version of Octavo. ``upgradedAt``: the time of the last
    migration. ``writtenBy``: the version that migrated the data."""

    upgraded_at: str
    written_by: Literal["current", "newer", "older"]


class WholeInstallation(Struct, rename="camel", kw_only=True):
    """Overview of the server. ``backups``: the last backups, newest first. ``lastGoodBackup``: the last successful
    backup, even if it isn't in ``backups``. ``backupPlace``: the location for backups that are started in the app;
    omitted if none is configured. ``editing``: the number of people who are currently editing. ``storage``: the last
    measurement; empty if there is none yet. ``jobHours``: the last 24 hours, oldest first."""

    name: str
    version: str
    python: str
    started_at: str
    data: InstallationData
    editing: int
    storage: list[InstallationStorage]
    job_hours: list[InstallationJobHour]
    backup_place: str | UnsetType = UNSET
    running_backup: RunningBackup | UnsetType = UNSET
    backups: list[InstallationBackup]
    last_good_backup: InstallationBackup | UnsetType = UNSET
    urls: WholeInstallationUrls
    database: InstallationDatabase
    files: InstallationFiles
    mail: InstallationMail
    counts: InstallationCounts
    jobs: InstallationJobs
    object: Literal["octavo"] = "octavo"


class Finding(Struct):
    """Part of the server that was tested. ``text``: the result or the problem."""

    part: str
    works: bool
    text: str


class Findings(Struct):
    items: list[Finding]


class InstallationSearchQuery(PageQuery):
    """Query parameters for a search. ``search``: the text to find in titles, or in names and email
    addresses."""

    search: Annotated[str, Meta(max_length=256)] | None = None


class HostedOrganization(Struct, rename="camel", kw_only=True):
    id: str
    title: str
    created_at: str
    people: int
    spaces: int
    sites: int
    object: Literal["organization"] = "organization"


def present_hosted(row: OrganizationRow) -> HostedOrganization:
    return HostedOrganization(
        id=row.id,
        title=row.title,
        created_at=iso(row.created_at),
        people=row.people,
        spaces=row.spaces,
        sites=row.sites,
    )


Limit = Annotated[int, Meta(ge=0, le=2**53)] | None


class OrganizationLimits(Struct):
    """Limits for an organization; null means unlimited. ``storage``: the total size of files in bytes.
    ``requests``: the number of API requests per minute."""

    members: Limit = None
    agents: Limit = None
    pages: Limit = None
    storage: Limit = None
    requests: Limit = None

    def read(self) -> ResourceLimits:
        return ResourceLimits(**{name: getattr(self, name) for name in RESOURCES})


class UsedResources(Struct):
    """Resource usage of an organization. ``storage``: the total size of files in bytes, including files in drafts."""

    members: int
    agents: int
    pages: int
    storage: int


class UsedOnDay(UsedResources):
    day: str


class OrganizationUsage(Struct, kw_only=True):
    """Usage and limits of an organization. ``days``: the usage on the last measured days, oldest first. ``near``: the
    resources whose usage is at least nine tenths of the limit."""

    used: UsedResources
    limits: OrganizationLimits
    near: list[Resource]
    days: list[UsedOnDay]
    object: Literal["organization-usage"] = "organization-usage"


_USAGE_DAYS = 90


def present_limits(limits: ResourceLimits) -> OrganizationLimits:
    return OrganizationLimits(**msgspec.structs.asdict(limits))


def present_usage(tx: Transaction, organization_id: str) -> OrganizationUsage:
    """Measure an organization's current usage, and return it in the API format."""
    used, limits = measure(tx, organization_id), read_limits(tx, organization_id)
    return OrganizationUsage(
        used=UsedResources(**msgspec.structs.asdict(used)),
        limits=present_limits(limits),
        near=near_limits(limits, used),
        days=[
            UsedOnDay(**msgspec.structs.asdict(day)) for day in list_usage(tx, organization_id, _USAGE_DAYS)
        ],
    )


class HostedPerson(Struct, rename="camel", kw_only=True):
    """Person with an account. ``organizations``: the number of organizations that the person is a member of."""

    id: str
    user: User
    created_at: str
    verified: bool
    disabled: bool
    operator: bool
    organizations: int
    last_seen_at: str | UnsetType = UNSET


def present_person(to: Recipient, row: PersonRow, settings: Settings) -> HostedPerson:
    is_operator = is_listed_operator(settings, row.user.email, is_first=row.is_first)
    return HostedPerson(
        id=row.user.id,
        user=present_user(to, row.user),
        created_at=iso(row.user.created_at),
        verified=row.verified,
        disabled=bool(row.user.disabled),
        operator=row.verified and not row.user.disabled and is_operator,
        organizations=row.organizations,
        last_seen_at=iso(row.last_seen_at) if row.last_seen_at else UNSET,
    )


class UpdateAccount(Struct, rename="camel"):
    email: Email | UnsetType = UNSET
    disabled: bool | UnsetType = UNSET


class MergeAccount(Struct):
    """Merge of accounts. ``into``: the ID of the account to keep."""

    into: str


class SignInLink(Struct):
    """Sign-in link that can be used once."""

    url: str


class JobsQuery(PageQuery):
    state: State | None = None
    kind: Annotated[str, Meta(max_length=64)] | None = None


class Job(Struct, rename="camel", kw_only=True):
    """Background job. ``error``: the error from the last attempt. ``problem``: the last line of this error."""

    id: str
    kind: str
    state: State
    attempts: int
    created_at: str
    run_at: str
    organization: str | UnsetType = UNSET
    problem: str | UnsetType = UNSET
    object: Literal["job"] = "job"


class WholeJob(Job, kw_only=True):
    payload: dict[str, Any] = {}
    error: str | UnsetType = UNSET


def present_job(row: JobRow) -> Job:
    return Job(**_shown(row))


def present_whole_job(row: JobRow) -> WholeJob:
    return WholeJob(**_shown(row), payload=row.payload, error=row.error or UNSET)


def _shown(row: JobRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "kind": row.kind,
        "state": row.state,
        "attempts": row.attempts,
        "created_at": iso(row.created_at),
        "run_at": iso(row.run_at),
        "organization": row.organization_id or UNSET,
        "problem": row.error.strip().rpartition("\n")[2][:500] if row.error else UNSET,
    }


class RetryJobs(Struct):
    """Failed jobs to retry. ``kind``: the kind of jobs to retry; by default, all kinds."""

    kind: Annotated[str, Meta(max_length=64)] | None = None


class RetriedJobs(Struct):
    count: int


class TestedMail(Struct):
    """Result of sending a test email: the recipient, and whether the mail server accepted the email. ``problem``:
    the reason the mail server didn't accept it, if it didn't."""

    to: str
    sent: bool
    problem: str | UnsetType = UNSET


def present_jobs(counts: list[JobCount], *, later: int, events: int) -> InstallationJobs:
    """Return the number of jobs by state in the API format. ``later``: the number of scheduled jobs, which count as
    pending."""
    found = {"waiting": later, "running": 0, "parked": 0}
    for one in counts:
        found[one.state] += one.count
    due = [one.oldest for one in counts if one.state == "waiting"]
    return InstallationJobs(**found, events=events, oldest_since=iso(min(due)) if due else UNSET)


class EndedMembership(Struct, rename="camel"):
    """Membership that ends when the account is deleted. ``lastAdministrator``: whether the organization has no
    other administrator. If so, the account can't be deleted yet."""

    organization: str
    title: str
    last_administrator: bool


class AccountDeletion(Struct, rename="camel", kw_only=True):
    """Preview of an account's deletion. ``possible``: whether the account can be deleted now. ``organizations``:
    the memberships that would end. ``sessions``, ``tokens``, and ``agents``: how many of each would be deleted.
    ``comments``, ``changeRequests``, and ``reviews``: how many of each would be kept without a name."""

    possible: bool
    organizations: list[EndedMembership]
    operator: bool
    sessions: int
    tokens: int
    agents: int
    comments: int
    change_requests: int
    reviews: int
    object: Literal["account-deletion"] = "account-deletion"
    managed_by: str | UnsetType = UNSET


def present_deletion(found: DeletionPreview, *, own: bool) -> AccountDeletion:
    stopped = found.operator or any(left.last_admin for left in found.organizations)
    return AccountDeletion(
        possible=not stopped and not (own and found.managed_by is not None),
        organizations=[EndedMembership(left.id, left.title, left.last_admin) for left in found.organizations],
        operator=found.operator,
        sessions=found.sessions,
        tokens=found.tokens,
        agents=found.agents,
        comments=found.comments,
        change_requests=found.change_requests,
        reviews=found.reviews,
        managed_by=found.managed_by or UNSET,
    )


class ServerNoticeInput(Struct, rename="camel"):
    """Notice to show. ``startsAt``: the start; by default, now. ``endsAt``: the announced end of maintenance, or the
    end of an announcement."""

    message: Annotated[str, Meta(max_length=500)] = ""
    starts_at: Annotated[str, Meta(max_length=64)] | None = None
    ends_at: Annotated[str, Meta(max_length=64)] | None = None


class WholeServerNotice(Struct, rename="camel", kw_only=True):
    """Notice with its state. ``on``: whether the notice has started. ``overdue``: whether maintenance should
    already have ended."""

    message: str
    on: bool
    starts_at: str
    ends_at: str | UnsetType = UNSET
    overdue: bool | UnsetType = UNSET


class ServerNotices(Struct, kw_only=True):
    """Maintenance notice and announcement of the server. Each is omitted if there is none."""

    maintenance: WholeServerNotice | UnsetType = UNSET
    announcement: WholeServerNotice | UnsetType = UNSET
    object: Literal["server-notices"] = "server-notices"


def present_notices(found: Mapping[NoticeKind, ServerNotice], *, to_operator: bool) -> ServerNotices:
    """Return scheduled and current notices in the API format. Scheduled announcements are included only for server
    administrators."""
    shown = {
        kind: WholeServerNotice(
            message=notice.message,
            on=notice.is_on,
            starts_at=iso(notice.starts_at),
            ends_at=UNSET if notice.ends_at is None else iso(notice.ends_at),
            overdue=forgotten_since(notice) is not None if to_operator and kind == "maintenance" else UNSET,
        )
        for kind, notice in found.items()
        if to_operator or notice.is_on or kind == "maintenance"
    }
    return ServerNotices(
        maintenance=shown.get("maintenance", UNSET), announcement=shown.get("announcement", UNSET)
    )
