"""Connector that reads messages in Front inboxes as records."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs

from octavo.core.json_types import JsonObject

from ..client import read_list, read_names, read_object, read_seconds, read_text, text_of_html
from ..types import SourceBatch, SourceRecord, SourceSetup
from .service import ServiceConnector


class Front(ServiceConnector):
    """Connector for received messages. The cursor is the time of the latest message, in seconds."""

    name = "builtin:front"
    service = "Front"
    base = "https://api2.frontapp.com"

    def test(self, setup: SourceSetup) -> None:
        self.api(setup).get("/me")

    def read(self, setup: SourceSetup) -> Iterator[SourceBatch]:
        api, guard = self.api(setup), self.guard()
        since = int(setup.cursor or 0)
        latest, token = since, ""
        while True:
            guard.check(token)
            query: dict[str, str | int] = {"q[types][]": "inbound", "limit": 100}
            if since:
                query["q[after]"] = since - 1
            found = api.get("/events", **query, **({"page_token": token} if token else {}))
            events = [each for each in read_list(found.get("_results")) if each.get("type") == "inbound"]
            times = [(read_seconds(each.get("emitted_at")) or 0) // 1000 for each in events]
            latest = max([latest, *times])
            # The link to the next page can name another host, which must not get the token of the account.
            following = read_text(read_object(found.get("_pagination")).get("next"))
            token = "".join(parse_qs(following.partition("?")[2]).get("page_token", []))
            # The newest events come first, so the cursor advances only after the last page.
            yield SourceBatch([_message(each) for each in events], str(since if token else latest))
            if not token:
                return


def _message(event: JsonObject) -> SourceRecord:
    conversation = read_object(event.get("conversation"))
    message = read_object(read_object(event.get("target")).get("data"))
    body = read_text(message.get("text")) or text_of_html(read_text(message.get("body")))
    id = read_text(conversation.get("id"))
    return SourceRecord(
        id=read_text(message.get("id")),
        type="ticket",
        title=read_text(conversation.get("subject")) or body,
        body=body,
        url=f"https://app.frontapp.com/open/{id}" if id else None,
        created_at=read_seconds(message.get("created_at")),
        metadata={
            "status": read_text(conversation.get("status")),
            "labels": read_names(conversation.get("tags")),
        },
    )
