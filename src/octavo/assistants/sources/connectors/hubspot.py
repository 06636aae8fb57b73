"""Connector that reads HubSpot tickets as records."""

from __future__ import annotations

from collections.abc import Iterator

from octavo.core.json_types import JsonObject

from ..client import read_list, read_object, read_text, read_time, text_of_html
from ..types import SourceBatch, SourceRecord, SourceSetup
from .service import ServiceConnector

_CHANGED = "hs_lastmodifieddate"
_PROPERTIES = ["subject", "content", "createdate", _CHANGED, "hs_ticket_priority"]
_PAGE = 100
_LONGEST = 9_900
"""Maximum offset of a page of search results. HubSpot returns at most 10,000 results."""


class HubSpot(ServiceConnector):
    """Connector for tickets. The cursor is the time of the last change, in milliseconds."""

    name = "builtin:hubspot"
    service = "HubSpot"
    base = "https://api.hubapi.com"

    def test(self, setup: SourceSetup) -> None:
        self.api(setup).get("/crm/v3/objects/tickets", limit=1)

    def read(self, setup: SourceSetup) -> Iterator[SourceBatch]:
        api, guard = self.api(setup), self.guard()
        since = cursor = setup.cursor or "0"
        after = ""
        while True:
            guard.check(f"{since} {after}")
            changed: JsonObject = {"propertyName": _CHANGED, "operator": "GTE", "value": since}
            search: JsonObject = {
                "filterGroups": [{"filters": [changed]}],
                "sorts": [{"propertyName": _CHANGED, "direction": "ASCENDING"}],
                "properties": [*_PROPERTIES],
                "limit": _PAGE,
            }
            if after:
                search["after"] = after
            found = api.post("/crm/v3/objects/tickets/search", search)
            tickets = read_list(found.get("results"))
            times = [read_time(read_object(each.get("properties")).get(_CHANGED)) or 0 for each in tickets]
            cursor = str(max([int(cursor), *times]))
            yield SourceBatch([_ticket(each) for each in tickets], cursor)
            after = read_text(read_object(read_object(found.get("paging")).get("next")).get("after"))
            if not after:
                return
            if after.isdigit() and int(after) > _LONGEST:
                since, after = cursor, ""


def _ticket(found: JsonObject) -> SourceRecord:
    values = read_object(found.get("properties"))
    return SourceRecord(
        id=str(found.get("id", "")),
        type="ticket",
        title=read_text(values.get("subject")),
        body=text_of_html(read_text(values.get("content"))),
        created_at=read_time(values.get("createdate")),
        metadata={"priority": read_text(values.get("hs_ticket_priority"))},
    )
