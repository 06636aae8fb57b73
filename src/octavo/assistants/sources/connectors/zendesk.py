"""Connector that reads Zendesk tickets as records."""

from __future__ import annotations

import re
from collections.abc import Iterator

from octavo.core.json_types import JsonObject

from ..client import basic_login, read_list, read_names, read_text, read_time
from ..types import SourceBatch, SourceRecord, SourceSetup
from .service import ServiceConnector

_SUBDOMAIN = re.compile(r"[a-z0-9][a-z0-9-]{0,62}", re.A | re.I)


class Zendesk(ServiceConnector):
    """Connector for tickets. It uses Zendesk's incremental export, including its cursor."""

    name = "builtin:zendesk"
    service = "Zendesk"
    base = "https://{subdomain}.zendesk.com/api/v2"
    fields: tuple[str, ...] = ("subdomain", "email", "api_token")
    secrets: tuple[str, ...] = ("api_token",)
    patterns = {
        "subdomain": (
            _SUBDOMAIN,
            "The subdomain is invalid. Enter the first part of your Zendesk URL, such as acme.",
        )
    }

    def headers(self, setup: SourceSetup) -> dict[str, str]:
        return basic_login(f"{setup.values['email']}/token", setup.values["api_token"])

    def test(self, setup: SourceSetup) -> None:
        self.api(setup).get("/tickets.json", **{"page[size]": 1})

    def read(self, setup: SourceSetup) -> Iterator[SourceBatch]:
        api, guard, cursor = self.api(setup), self.guard(), setup.cursor
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


def _ticket(found: JsonObject, subdomain: str) -> SourceRecord:
    id = str(found.get("id", ""))
    return SourceRecord(
        id=id,
        type="ticket",
        title=read_text(found.get("subject")),
        body=read_text(found.get("description")),
        url=f"https://{subdomain}.zendesk.com/agent/tickets/{id}" if id.isdigit() else None,
        created_at=read_time(found.get("created_at")),
        metadata={"status": read_text(found.get("status")), "labels": read_names(found.get("tags"))},
    )
