"""Freshdesk tickets as records."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from octavo.core.json_types import JsonObject
from octavo.kit.net.fetch import Fetcher

from ..client import ListGuard, SourceApi, read_text
from ..types import SourceBatch, SourceFailure, SourceRecord, SourceSetup
from .github import read_time

BASE = "https://{domain}/api/v2"
_DOMAIN = re.compile(r"[a-z0-9][a-z0-9.-]{0,250}\.[a-z]{2,63}\Z", re.A | re.I)
_PAGE = 100
_LAST_PAGE = 300
"""Number of the last page that Freshdesk returns of a list."""
_STATUS = {2: "open", 3: "pending", 4: "resolved", 5: "closed"}
_FIRST = "1970-01-01T00:00:00Z"


class Freshdesk:
    """Connector for tickets. The cursor is the time of the last change."""

    name = "builtin:freshdesk"
    fields: tuple[str, ...] = ("domain", "api_key")
    secrets: tuple[str, ...] = ("api_key",)
    complete = False

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def test(self, setup: SourceSetup) -> None:
        self._api(setup).list("/tickets", per_page=1)

    def read(self, setup: SourceSetup) -> Iterator[SourceBatch]:
        api, guard = self._api(setup), ListGuard("Freshdesk")
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

    def _api(self, setup: SourceSetup) -> SourceApi:
        domain = setup.values["domain"]
        if not _DOMAIN.match(domain):
            raise SourceFailure(
                "misconfigured", "The domain is invalid. Enter a domain such as acme.freshdesk.com."
            )
        login = base64.b64encode(f"{setup.values['api_key']}:X".encode()).decode()
        return SourceApi(
            "Freshdesk", BASE.format(domain=domain), self._fetcher, {"Authorization": f"Basic {login}"}
        )


def _ticket(found: JsonObject, domain: str) -> SourceRecord:
    tags, status, id = found.get("tags"), found.get("status"), str(found.get("id", ""))
    labels = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    return SourceRecord(
        id=id,
        type="ticket",
        title=read_text(found.get("subject")),
        body=read_text(found.get("description_text")),
        url=f"https://{domain}/a/tickets/{id}" if id.isdigit() else None,
        created_at=read_time(found.get("created_at")),
        metadata={
            "status": _STATUS.get(status, "") if isinstance(status, int) else "",
            "labels": ", ".join(labels),
        },
    )
