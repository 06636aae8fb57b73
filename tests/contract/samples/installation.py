import msgspec

from octavo.kit.clock import now
from octavo.kit.work.maintenance import NoticeKind, ServerNotice, put_notice
from octavo.organization.identity import sessions
from world import Place, World

from . import Sample


def _parked(world: World, place: Place) -> None:
    """Park a job again after a retry."""
    with world.context.db.write() as tx:
        tx.run("UPDATE jobs SET state = 'parked' WHERE id = :id", id=place["jobId"])


def _managed(world: World, place: Place) -> None:
    """Make all accounts belong to an organization, whose administrators delete them."""
    with world.context.db.write() as tx:
        tx.run("UPDATE users SET managed_by = :org", org=world.home["organizationId"])


def _protected(world: World, place: Place) -> None:
    with world.context.db.write() as tx:
        tx.run(
            """INSERT INTO second_factors (user_id, secret, confirmed, last_step, recovery_hashes, created_at)
               VALUES (:user, 'x', 1, 0, '[]', 0)""",
            user=place["userId"],
        )


def _signed_in(world: World, place: Place) -> None:
    with world.context.db.write() as tx:
        sessions.begin(tx, place["userId"], "password", client="", agent="")


def _planned(world: World, place: Place) -> None:
    """Plan maintenance and an announcement, far ahead: other samples change something."""
    with world.context.db.write() as tx:
        kinds: tuple[NoticeKind, ...] = ("maintenance", "announcement")
        for kind in kinds:
            put_notice(tx, ServerNotice(kind, "Later", now() + 3600_000, None), None)


def _unmanaged(world: World, place: Place) -> None:
    """Make the account of the leaver independent of the organization, so that it can be merged."""
    with world.context.db.write() as tx:
        tx.run("UPDATE users SET managed_by = NULL WHERE id = :id", id=place["scimUserId"])


def _configured(world: World, place: Place) -> None:
    """Configure a backup location."""
    settings = world.context.settings
    world.context.settings = msgspec.structs.replace(
        settings, backup_place=str(settings.data_folder.resolve() / "backups")
    )


_LEAVER = {"userId": "scimUserId"}

SAMPLES = {
    "foreseeOwnAccountDeletion": Sample(),
    "deleteOwnAccount": Sample(before=_managed),
    "foreseeAccountDeletion": Sample(path=_LEAVER),
    "deleteAccount": Sample(path=_LEAVER),
    "updateAccount": Sample(path=_LEAVER, body={"email": "moved@example.com", "disabled": True}),
    "mergeAccount": Sample(path=_LEAVER, before=_unmanaged, body=lambda place: {"into": place["userId"]}),
    "makeOrganizationAdministrator": Sample(path=_LEAVER),
    "getOrganizationLimits": Sample(),
    "setOrganizationLimits": Sample(body={"members": 50, "storage": 10**9}),
    "getOrganizationUsage": Sample(),
    "createAccountSignInLink": Sample(path=_LEAVER),
    "resetAccountSecondFactor": Sample(path=_LEAVER, before=_protected),
    "endAccountSessions": Sample(path=_LEAVER, before=_signed_in),
    "getInstallation": Sample(),
    "checkInstallation": Sample(),
    "startBackup": Sample(before=_configured),
    "testInstallationMail": Sample(),
    "getServerNotices": Sample(),
    "startMaintenance": Sample(body={"message": "New disks", "startsAt": "2099-01-01T04:00:00Z"}),
    "endMaintenance": Sample(before=_planned),
    "setAnnouncement": Sample(body={"message": "Docs day is on Friday."}),
    "removeAnnouncement": Sample(before=_planned),
    "listInstallationOrganizations": Sample(),
    "listInstallationUsers": Sample(),
    "listInstallationJobs": Sample(),
    "getInstallationJob": Sample(),
    "retryInstallationJob": Sample(before=_parked),
    "retryInstallationJobs": Sample(before=_parked, body={"kind": "pruneEvents"}),
}
