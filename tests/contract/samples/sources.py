from world import Place, World

from . import Sample

_SITE = "/orgs/{organizationId}/sites/{siteId}"
_RECORD = {
    "id": "T-1",
    "type": "ticket",
    "title": "How do I export invoices?",
    "description": "Asked by three customers",
    "body": "The menu has no such entry.",
    "url": "https://tickets.example.org/1",
    "createdAt": "2026-11-01T10:00:00.000Z",
    "metadata": {"labels": "billing", "priority": 2},
}


def _connected(world: World, place: Place) -> None:
    body = {"connector": "builtin:email", "filter": "-spam"}
    made = world.post(place.admin, place.path(f"{_SITE}/context-connections"), body)
    place.ids["siteContextConnectionId"] = made["id"]


def _with_website(world: World, place: Place) -> None:
    body = {"connector": "builtin:website", "setupSettings": {"url": "https://docs.example.org/"}}
    made = world.post(place.admin, place.path(f"{_SITE}/context-connections"), body)
    place.ids["siteContextConnectionId"] = made["id"]


def _with_record(world: World, place: Place) -> None:
    path = place.path(f"{_SITE}/context-records")
    assert world.call(place.admin, "PUT", path, json=[_RECORD]).status_code == 204
    place.ids["siteContextRecordId"] = world.get(place.admin, path)["items"][0]["id"]


SAMPLES = {
    "listSiteContextConnections": Sample(before=_connected),
    "createSiteContextConnection": Sample(
        body={
            "connector": "builtin:website",
            "setupSettings": {"url": "https://docs.example.org/"},
            "usageSettings": {"changeRequests": True, "search": False, "searchBoost": "x1.0"},
            "filter": "billing -internal",
        }
    ),
    "getSiteContextConnectionById": Sample(before=_connected),
    "updateSiteContextConnectionById": Sample(before=_connected, body={"label": "Support"}),
    "deleteSiteContextConnectionById": Sample(before=_connected),
    "syncSiteContextConnection": Sample(before=_with_website),
    "testSiteContextConnection": Sample(before=_connected),
    "listSiteContextRecords": Sample(before=_with_record, query={"type": "ticket"}),
    "upsertSiteContextRecords": Sample(body=[_RECORD]),
    "getSiteContextRecordById": Sample(before=_with_record),
}
