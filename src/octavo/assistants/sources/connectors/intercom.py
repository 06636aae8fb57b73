"""Intercom conversations as records."""

from __future__ import annotations

from collections.abc import Iterator

from octavo.core.json_types import JsonObject
from octavo.kit.net.fetch import Fetcher

from ..client import ListGuard, SourceApi, read_list, read_text, text_of_html
from ..types import SourceBatch, SourceRecord, SourceSetup

BASE = "https://api.intercom.io"


class Intercom:
    """Connector for conversations. The cursor is the time of the last change in seconds."""

    name = "builtin:intercom"
    fields: tuple[str, ...] = ("token",)
    secrets: tuple[str, ...] = ("token",)
    complete = False

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def test(self, setup: SourceSetup) -> None:
        self._api(setup).get("/me")

    def read(self, setup: SourceSetup) -> Iterator[SourceBatch]:
        api, guard = self._api(setup), ListGuard("Intercom")
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
            pages = found.get("pages")
            following = pages.get("next") if isinstance(pages, dict) else None
            after = read_text(following.get("starting_after")) if isinstance(following, dict) else ""
            # The order of the list isn't guaranteed, so the cursor advances only once the entire list has
            # been read.
            yield SourceBatch(
                [_conversation(each) for each in conversations], str(since if after else latest)
            )
            if not after:
                return

    def _api(self, setup: SourceSetup) -> SourceApi:
        headers = {"Authorization": f"Bearer {setup.values['token']}", "Intercom-Version": "2.11"}
        return SourceApi("Intercom", BASE, self._fetcher, headers)


def _conversation(found: JsonObject) -> SourceRecord:
    source = found.get("source")
    source = source if isinstance(source, dict) else {}
    tags = found.get("tags")
    names = [
        read_text(tag.get("name")) for tag in read_list(tags.get("tags") if isinstance(tags, dict) else [])
    ]
    body = text_of_html(read_text(source.get("body")))
    title = read_text(found.get("title")) or text_of_html(read_text(source.get("subject"))) or body
    created_at = found.get("created_at")
    return SourceRecord(
        id=str(found.get("id", "")),
        type="ticket",
        title=title,
        body=body,
        created_at=created_at * 1000 if isinstance(created_at, int) and 0 < created_at < 10**10 else None,
        metadata={"status": read_text(found.get("state")), "labels": ", ".join(names)},
    )
