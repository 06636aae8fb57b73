from world import Place, World

from . import Sample


def _parked(world: World, place: Place) -> None:
    """Park a job again after a retry."""
    with world.context.db.write() as tx:
        tx.run("UPDATE jobs SET state = 'parked' WHERE id = :id", id=place["jobId"])


def _managed(world: World, place: Place) -> None:
    """All accounts are of an organization, whose administrators delete them."""
    with world.context.db.write() as tx:
        tx.run("UPDATE users SET managed_by = :org", org=world.home["organizationId"])


_LEAVER = {"userId": "scimUserId"}

SAMPLES = {
    "foreseeOwnAccountDeletion": Sample(),
    "deleteOwnAccount": Sample(before=_managed),
    "foreseeAccountDeletion": Sample(path=_LEAVER),
    "deleteAccount": Sample(path=_LEAVER),
    "getInstallation": Sample(),
    "checkInstallation": Sample(),
    "testInstallationMail": Sample(),
    "listInstallationOrganizations": Sample(),
    "listInstallationUsers": Sample(),
    "listInstallationJobs": Sample(),
    "getInstallationJob": Sample(),
    "retryInstallationJob": Sample(before=_parked),
    "retryInstallationJobs": Sample(before=_parked, body={"kind": "pruneEvents"}),
}
