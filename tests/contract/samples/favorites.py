from octavo.organization.access.roles import SPACE, Can

from . import Sample


def _marked(world, place):
    """Mark the space as a favorite of everyone who can see it."""
    for who in place.roles:
        world.call(who, "POST", "/user/favorites", json={"space": place["spaceId"]})


_FOREIGN = {"favoriteId": "changeRequestId"}

SAMPLES = {
    "listFavorites": Sample(before=_marked),
    "addFavorite": Sample(body=lambda place: {"space": place["spaceId"]}, like=(SPACE, Can.VIEW)),
    "moveFavorite": Sample(path=_FOREIGN, body={"before": None}),
    "removeFavorite": Sample(path=_FOREIGN),
}
