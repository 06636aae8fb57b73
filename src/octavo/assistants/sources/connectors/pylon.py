"""Connector that reads Pylon issues as records."""

from __future__ import annotations

from collections.abc import Iterator

from octavo.core.json_types import JsonObject
from octavo.kit.clock import DAY, iso, now

from ..client import read_list, read_names, read_object, read_text, read_time, text_of_html
from ..types import SourceBatch, SourceRecord, SourceSetup
from .service import ServiceConnector

_FIRST = 1_640_995_200_000
"""January 1, 2022, in milliseconds. Pylon doesn't have any earlier issues."""
_WINDOW = 30 * DAY
"""Maximum period that one search can cover, in milliseconds."""
_OVERLAP = 5 * 60 * 1000
"""Milliseconds before the cursor at which each search starts, because new changes appear in searches with a delay."""


class Pylon(ServiceConnector):
    """Connector for issues. The cursor is the end of the last period that was read, in milliseconds."""

    name = "builtin:pylon"
    service = "Pylon"
    base = "https://api.usepylon.com"

    def test(self, setup: SourceSetup) -> None:
        self.api(setup).get("/me")

    def read(self, setup: SourceSetup) -> Iterator[SourceBatch]:
        api, guard, moment = self.api(setup), self.guard(), now()
        start = int(setup.cursor) - _OVERLAP if setup.cursor else _FIRST
        while start < moment:
            end, after = min(start + _WINDOW, moment), ""
            while True:
                guard.check(f"{start} {after}")
                changed: JsonObject = {
                    "field": "updated_at",
                    "operator": "time_range",
                    "values": [iso(start), iso(end)],
                }
                search: JsonObject = {"filter": changed, "limit": 100, **({"cursor": after} if after else {})}
                found = api.post("/issues/search", search)
                paging = read_object(found.get("pagination"))
                after = read_text(paging.get("cursor")) if paging.get("has_next_page") is True else ""
                issues = [_issue(each) for each in read_list(found.get("data"))]
                yield SourceBatch(issues, str(start + _OVERLAP if after else end))
                if not after:
                    break
            start = end


def _issue(found: JsonObject) -> SourceRecord:
    return SourceRecord(
        id=read_text(found.get("id")),
        type="ticket",
        title=read_text(found.get("title")),
        body=text_of_html(read_text(found.get("body_html"))),
        url=read_text(found.get("link")) or None,
        created_at=read_time(found.get("created_at")),
        metadata={"status": read_text(found.get("state")), "labels": read_names(found.get("tags"))},
    )
