from octavo.organization.access.roles import ORGANIZATION, Can
from world import Place, World

from . import Sample


def _another_organization(world: World, place: Place) -> None:
    """Create another organization of the administrator of the place."""
    made = world.post(place.admin, "/orgs", {"title": "Other"})
    place.ids["otherOrganizationId"] = made["id"]


def _shown_nowhere(world: World, place: Place) -> None:
    """Remove the content of the collection from all sites, and create another organization that can receive
    it."""
    _another_organization(world, place)
    world.call(place.admin, "DELETE", place.path("/orgs/{organizationId}/sites/{siteId}"))


def _movable(world: World, place: Place) -> None:
    _another_organization(world, place)
    path = place.path("/orgs/{organizationId}/spaces")
    place.ids["movableSpaceId"] = world.post(place.admin, path, {"title": "Movable"})["id"]


def _in_trash(world: World, place: Place) -> None:
    path = place.path("/spaces/{spaceId}")
    if not world.get(place.admin, place.path("/orgs/{organizationId}/trash/spaces"))["items"]:
        assert world.call(place.admin, "DELETE", path).status_code == 205


# Given away by administrators of the organization only; a guest does not even see it.
_GIVEN_AWAY = {"like": (ORGANIZATION, Can.ADMIN), "outcomes": {"guest": 404}}

SAMPLES = {
    "getSpaceById": Sample(),
    "listSpacesInOrganizationById": Sample(),
    "listDeletedSpaces": Sample(),
    "listSpacesForOrganizationMember": Sample(path={"userId": "scimUserId"}, like=(ORGANIZATION, Can.ADMIN)),
    "listCollectionsForOrganizationMember": Sample(
        path={"userId": "scimUserId"}, like=(ORGANIZATION, Can.ADMIN)
    ),
    "createSpace": Sample(body=lambda place: {"title": "Notes", "parent": place["collectionId"]}),
    "updateSpaceById": Sample(
        body=lambda place: {
            "title": "Manual",
            "emoji": "1f389",
            "defaultLevel": "edit",
            "mergeRules": {
                "type": "rules",
                "rules": [{"rule": "require_specific_reviewers", "users": [place["scimUserId"]]}],
            },
        }
    ),
    "duplicateSpace": Sample(),
    "deleteSpaceById": Sample(),
    "restoreSpace": Sample(before=_in_trash),
    "purgeSpace": Sample(before=_in_trash),
    "moveSpace": Sample(body=lambda place: {"parent": place["collectionId"]}),
    "transferSpace": Sample(
        before=_movable,
        path={"spaceId": "movableSpaceId"},
        body=lambda place: {"organization": place["otherOrganizationId"]},
        **_GIVEN_AWAY,
    ),
    "getCollectionById": Sample(),
    "listSpacesInCollectionById": Sample(),
    "listCollectionsInOrganizationById": Sample(),
    "createCollection": Sample(body=lambda place: {"title": "More", "parent": place["collectionId"]}),
    "updateCollectionById": Sample(body={"title": "Manuals", "description": "All", "defaultLevel": "read"}),
    "deleteCollectionById": Sample(),
    "moveCollection": Sample(
        body=lambda place: {"position": {"after": {"type": "space", "space": place["spaceId"]}}}
    ),
    "transferCollection": Sample(
        before=_shown_nowhere,
        body=lambda place: {"organization": place["otherOrganizationId"]},
        **_GIVEN_AWAY,
    ),
}
