"""Zendesk tickets as records."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from octavo.core.json_types import JsonObject
from octavo.kit.net.fetch import Fetcher

from ..client import ListGuard, SourceApi, read_list, read_text
from ..types import SourceBatch, SourceFailure, SourceRecord, SourceSetup
from .github import read_time

BASE = "https://{subdomain}.zendesk.com/api/v2"
_SUBDOMAIN = re.compile(r"[a-z0-9][a-z0-9-]{0,62}\Z", re.A | re.I)


class Zendesk:
    """Connector for tickets. It uses Zendesk's incremental export, including its cursor."""

    name = "builtin:zendesk"
    fields: tuple[str, ...] = ("subdomain", "email", "api_token")
    secrets: tuple[str, ...] = ("api_token",)
    complete = False

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def test(self, setup: SourceSetup) -> None:
        self._api(setup).get("/tickets.json", **{"page[size]": 1})

    def read(self, setup: SourceSetup) -> Iterator[SourceBatch]:
        api, guard, cursor = self._api(setup), ListGuard("Zendesk"), setup.cursor
        while True:
            guard.check(cursor)
            query = {"cursor": cursor} if cursor else {"start_time": "0"}
            found = api.get("/incremental/tickets/cursor.json", **query)
            cursor = read_text(found.get("after_cursor")) or cursor
            tickets = read_list(found.get("tickets"))
            subdomain = setup.values["subdomain"]
            yield SourceBatch(
                [_ticket(each, subdomain) for each in tickets if each.get("status") != "deleted"], cursor
            )
            if found.get("end_of_stream") is not False:
                return

    def _api(self, setup: SourceSetup) -> SourceApi:
        subdomain = setup.values["subdomain"]
        if not _SUBDOMAIN.match(subdomain):
            raise SourceFailure(
                "misconfigured",
                "The subdomain is invalid. Enter the first part of your Zendesk URL, such as acme.",
            )
        login = f"{setup.values['email']}/token:{setup.values['api_token']}".encode()
        headers = {"Authorization": f"Basic {base64.b64encode(login).decode()}"}
        return SourceApi("Zendesk", BASE.format(subdomain=subdomain), self._fetcher, headers)


def _ticket(found: JsonObject, subdomain: str) -> SourceRecord:
    tags = found.get("tags")
    labels = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    id = str(found.get("id", ""))
    return SourceRecord(
        id=id,
        type="ticket",
        title=read_text(found.get("subject")),
        body=read_text(found.get("description")),
        url=f"https://{subdomain}.zendesk.com/agent/tickets/{id}" if id.isdigit() else None,
        created_at=read_time(found.get("created_at")),
        metadata={"status": read_text(found.get("status")), "labels": ", ".join(labels)},
    )
