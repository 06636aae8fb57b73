"""HubSpot tickets as records."""

from __future__ import annotations

from collections.abc import Iterator

from octavo.core.json_types import JsonObject
from octavo.kit.net.fetch import Fetcher

from ..client import ListGuard, SourceApi, read_list, read_text, text_of_html
from ..types import SourceBatch, SourceRecord, SourceSetup
from .github import read_time

BASE = "https://api.hubapi.com"
_CHANGED = "hs_lastmodifieddate"
_PROPERTIES = ["subject", "content", "createdate", _CHANGED, "hs_ticket_priority"]
_PAGE = 100
_LONGEST = 9_900
"""Maximum offset of a page of search results. HubSpot returns at most 10,000 results."""


class HubSpot:
    """Connector for tickets. The cursor is the time of the last change, in milliseconds."""

    name = "builtin:hubspot"
    fields: tuple[str, ...] = ("token",)
    secrets: tuple[str, ...] = ("token",)
    complete = False

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def test(self, setup: SourceSetup) -> None:
        self._api(setup).get("/crm/v3/objects/tickets", limit=1)

    def read(self, setup: SourceSetup) -> Iterator[SourceBatch]:
        api, guard = self._api(setup), ListGuard("HubSpot")
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
            times = [read_time(_values(each).get(_CHANGED)) or 0 for each in tickets]
            cursor = str(max([int(cursor), *times]))
            yield SourceBatch([_ticket(each) for each in tickets], cursor)
            paging = found.get("paging")
            following = paging.get("next") if isinstance(paging, dict) else None
            after = read_text(following.get("after")) if isinstance(following, dict) else ""
            if not after:
                return
            if after.isdigit() and int(after) > _LONGEST:
                since, after = cursor, ""

    def _api(self, setup: SourceSetup) -> SourceApi:
        headers = {"Authorization": f"Bearer {setup.values['token']}"}
        return SourceApi("HubSpot", BASE, self._fetcher, headers)


def _values(found: JsonObject) -> JsonObject:
    values = found.get("properties")
    return values if isinstance(values, dict) else {}


def _ticket(found: JsonObject) -> SourceRecord:
    values = _values(found)
    return SourceRecord(
        id=str(found.get("id", "")),
        type="ticket",
        title=read_text(values.get("subject")),
        body=text_of_html(read_text(values.get("content"))),
        created_at=read_time(values.get("createdate")),
        metadata={"priority": read_text(values.get("hs_ticket_priority"))},
    )
