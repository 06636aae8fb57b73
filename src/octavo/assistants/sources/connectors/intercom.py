"""Connector that reads Intercom conversations as records."""

from __future__ import annotations

from collections.abc import Iterator

from octavo.core.json_types import JsonObject

from ..client import read_list, read_names, read_object, read_seconds, read_text, text_of_html
from ..types import SourceBatch, SourceRecord, SourceSetup
from .service import ServiceConnector


class Intercom(ServiceConnector):
    """Connector for conversations. The cursor is the time of the last change, in seconds."""

    name = "builtin:intercom"
    service = "Intercom"
    base = "https://api.intercom.io"

    def headers(self, setup: SourceSetup) -> dict[str, str]:
        return super().headers(setup) | {"Intercom-Version": "2.11"}

    def test(self, setup: SourceSetup) -> None:
        self.api(setup).get("/me")

    def read(self, setup: SourceSetup) -> Iterator[SourceBatch]:
        api, guard = self.api(setup), self.guard()
        since = int(setup.cursor or 0)
        latest, after = since, ""
        while True:
            guard.check(after)
            pagination: JsonObject = {"per_page": 50}
            if after:
                pagination["starting_after"] = after
            found = api.post(
                "/conversations/search",
                {
                    "query": {"field": "updated_at", "operator": ">", "value": max(since - 1, 0)},
                    "sort": {"field": "updated_at", "order": "ascending"},
                    "pagination": pagination,
                },
            )
            conversations = read_list(found.get("conversations"))
            times = [each["updated_at"] for each in conversations if isinstance(each.get("updated_at"), int)]
            latest = max([latest, *times])
            after = read_text(read_object(read_object(found.get("pages")).get("next")).get("starting_after"))
            # The order of the list isn't guaranteed, so the cursor advances only once the entire list has
            # been read.
            yield SourceBatch(
                [_conversation(each) for each in conversations], str(since if after else latest)
            )
            if not after:
                return


def _conversation(found: JsonObject) -> SourceRecord:
    source = read_object(found.get("source"))
    body = text_of_html(read_text(source.get("body")))
    title = read_text(found.get("title")) or text_of_html(read_text(source.get("subject"))) or body
    return SourceRecord(
        id=str(found.get("id", "")),
        type="ticket",
        title=title,
        body=body,
        created_at=read_seconds(found.get("created_at")),
        metadata={
            "status": read_text(found.get("state")),
            "labels": read_names(read_object(found.get("tags")).get("tags")),
        },
    )
