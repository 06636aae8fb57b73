"""Connector that reads Freshdesk tickets as records."""

from __future__ import annotations

import re
from collections.abc import Iterator

from octavo.core.json_types import JsonObject

from ..client import basic_login, read_names, read_text, read_time
from ..types import SourceBatch, SourceRecord, SourceSetup
from .service import ServiceConnector

_DOMAIN = re.compile(r"[a-z0-9][a-z0-9.-]{0,250}\.[a-z]{2,63}", re.A | re.I)
_PAGE = 100
_LAST_PAGE = 300
"""Number of the last page of a list that Freshdesk returns."""
_STATUS = {2: "open", 3: "pending", 4: "resolved", 5: "closed"}
_FIRST = "1970-01-01T00:00:00Z"


class Freshdesk(ServiceConnector):
    """Connector for tickets. The cursor is the time of the last change."""

    name = "builtin:freshdesk"
    service = "Freshdesk"
    base = "https://{domain}/api/v2"
    fields: tuple[str, ...] = ("domain", "api_key")
    secrets: tuple[str, ...] = ("api_key",)
    patterns = {"domain": (_DOMAIN, "The domain is invalid. Enter a domain such as acme.freshdesk.com.")}

    def headers(self, setup: SourceSetup) -> dict[str, str]:
        return basic_login(setup.values["api_key"], "X")

    def test(self, setup: SourceSetup) -> None:
        self.api(setup).list("/tickets", per_page=1)

    def read(self, setup: SourceSetup) -> Iterator[SourceBatch]:
        api, guard = self.api(setup), self.guard()
        since = cursor = setup.cursor or _FIRST
        page = 1
        while True:
            guard.check(f"{since} {page}")
            tickets = api.list(
                "/tickets",
                updated_since=since,
                order_by="updated_at",
                order_type="asc",
                include="description",
                per_page=_PAGE,
                page=page,
            )
            cursor = max([cursor, *(read_text(each.get("updated_at")) for each in tickets)])
            yield SourceBatch([_ticket(each, setup.values["domain"]) for each in tickets], cursor)
            if len(tickets) < _PAGE:
                return
            page += 1
            if page > _LAST_PAGE:
                since, page = cursor, 1


def _ticket(found: JsonObject, domain: str) -> SourceRecord:
    status, id = found.get("status"), str(found.get("id", ""))
    return SourceRecord(
        id=id,
        type="ticket",
        title=read_text(found.get("subject")),
        body=read_text(found.get("description_text")),
        url=f"https://{domain}/a/tickets/{id}" if id.isdigit() else None,
        created_at=read_time(found.get("created_at")),
        metadata={
            "status": _STATUS.get(status, "") if isinstance(status, int) else "",
            "labels": read_names(found.get("tags")),
        },
    )
