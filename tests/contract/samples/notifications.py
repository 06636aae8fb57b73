from . import Sample

_SPACE = "/spaces/{spaceId}/watch"
_PAGE = "/spaces/{spaceId}/content/page/{pageId}/watch"


def _watched(path):
    def watch(world, place):
        for who in place.roles:
            world.call(who, "PUT", place.path(path), json={"level": "watching"})

    return watch


_FOREIGN = {"notificationId": "changeRequestId"}

SAMPLES = {
    "listOwnNotifications": Sample(),
    "countOwnNotifications": Sample(),
    "getOwnNotification": Sample(path=_FOREIGN),
    "updateOwnNotification": Sample(path=_FOREIGN, body={"state": "read"}),
    "updateOwnNotifications": Sample(body={"state": "read"}),
    "listOwnWatches": Sample(before=_watched(_SPACE)),
    "getSpaceWatch": Sample(before=_watched(_SPACE)),
    "setSpaceWatch": Sample(body={"level": "watching"}),
    "endSpaceWatch": Sample(before=_watched(_SPACE)),
    "getPageWatch": Sample(before=_watched(_PAGE)),
    "setPageWatch": Sample(body={"level": "muted"}),
    "endPageWatch": Sample(before=_watched(_PAGE)),
    "getOwnNotificationSettings": Sample(),
    "updateOwnNotificationSettings": Sample(body={"channels": {"edited": "off"}}),
    "getUnsubscribePage": Sample(query={"token": "unsigned"}),
    "unsubscribe": Sample(query={"token": "unsigned"}),
}
