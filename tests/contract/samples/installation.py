from world import Place, World

from . import Sample


def _parked(world: World, place: Place) -> None:
    """One that somebody had run again is parked again."""
    with world.context.db.write() as tx:
        tx.run("UPDATE jobs SET state = 'parked' WHERE id = :id", id=place["jobId"])


SAMPLES = {
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
