from world import Place

from . import Sample

_NOW = {"seconds": 0}


def _viewing(place: Place) -> dict[str, str]:
    return {"page": place["pageId"], "activity": "viewing"}


SAMPLES = {
    "streamEventsInSpace": Sample(query=_NOW),
    "streamEventsInChangeRequest": Sample(query=_NOW),
    "streamOwnEvents": Sample(query=_NOW),
    "listPresenceInSpace": Sample(),
    "listPresenceInChangeRequest": Sample(),
    "sayPresenceInSpace": Sample(body=_viewing),
    "sayPresenceInChangeRequest": Sample(body=_viewing),
    "endPresenceInSpace": Sample(),
    "endPresenceInChangeRequest": Sample(),
}
