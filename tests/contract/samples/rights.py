from collections.abc import Callable

from world import Place, World

from . import Sample


def _shared(at: str) -> Callable[[World, Place], None]:
    """Share the object with a member of this organization only, and with a team."""

    def before(world: World, place: Place) -> None:
        body = {"role": "read", "users": [place["scimUserId"]], "teams": [place["teamId"]]}
        world.post(place.admin, place.path(f"{at}/permissions"), body)

    return before


def _samples(name: str, at: str) -> dict[str, Sample]:
    shared = _shared(at)
    user = {"userId": "scimUserId"}
    return {
        f"inviteTo{name}": Sample(
            body=lambda place: {"role": "edit", "users": [place["scimUserId"]], "teams": [place["teamId"]]}
        ),
        f"listUserPermissionsIn{name}": Sample(before=shared),
        f"listTeamPermissionsIn{name}": Sample(before=shared),
        f"listPermissionsAggregateIn{name}": Sample(before=shared),
        f"explainUserPermissionIn{name}": Sample(before=shared, path=user),
        f"updateUserPermissionIn{name}": Sample(before=shared, path=user, body={"role": "comment"}),
        f"updateTeamPermissionIn{name}": Sample(before=shared, body={"role": "comment"}),
        f"removeUserFrom{name}": Sample(before=shared, path=user),
        f"removeTeamFrom{name}": Sample(before=shared),
    }


SAMPLES = {
    **_samples("Space", "/spaces/{spaceId}"),
    **_samples("Collection", "/collections/{collectionId}"),
    **_samples("Site", "/orgs/{organizationId}/sites/{siteId}"),
    # Version 0.146.0 of the description has no origin for roles of sites.
    "listPermissionsAggregateInSite": Sample(),
}
