"""Connector that reads Zoho Desk tickets as records."""

from __future__ import annotations

import re
from collections.abc import Iterator

from octavo.core.json_types import JsonObject
from octavo.kit.clock import iso, now

from ..client import SourceApi, read_list, read_text, read_time, text_of_html
from ..types import SourceBatch, SourceFailure, SourceRecord, SourceSetup
from .service import ServiceConnector

_CENTER = re.compile(r"com|eu|in|com\.au|com\.cn|jp|sa|ca|uk|ae")
_PAGE = 100
_LAST = 4_900
"""Maximum position in the results of one search. Zoho Desk returns at most 5,000 results."""
_FIRST = "1970-01-01T00:00:00.000Z"


class ZohoDesk(ServiceConnector):
    """Connector for tickets. The cursor is the time of the last change."""

    name = "builtin:zoho-desk"
    service = "Zoho Desk"
    base = "https://desk.{host}/api/v1"
    accounts = "https://accounts.{host}"
    fields: tuple[str, ...] = ("data_center", "org_id", "client_id", "client_secret", "refresh_token")
    secrets: tuple[str, ...] = ("client_secret", "refresh_token")

    def test(self, setup: SourceSetup) -> None:
        self.api(setup).get("/tickets", limit=1)

    def read(self, setup: SourceSetup) -> Iterator[SourceBatch]:
        api, guard, until = self.api(setup), self.guard(), iso(now())
        since = cursor = setup.cursor or _FIRST
        start = 0
        while True:
            guard.check(f"{since} {start}")
            query: dict[str, str | int] = {"modifiedTimeRange": f"{since},{until}", "sortBy": "modifiedTime"}
            query |= {"from": start, "limit": _PAGE}
            tickets = read_list(api.get("/tickets/search", **query).get("data"))
            cursor = max([cursor, *(read_text(each.get("modifiedTime")) for each in tickets)])
            yield SourceBatch([_ticket(each) for each in tickets], cursor)
            if len(tickets) < _PAGE:
                return
            start += _PAGE
            if start > _LAST:
                since, start = cursor, 0

    def api(self, setup: SourceSetup) -> SourceApi:
        center = setup.values["data_center"]
        if not _CENTER.fullmatch(center):
            raise SourceFailure(
                "misconfigured",
                "The data center is invalid. Enter the end of your Zoho domain, such as com or eu.",
            )
        host = "zohocloud.ca" if center == "ca" else f"zoho.{center}"
        form = {
            "grant_type": "refresh_token",
            "client_id": setup.values["client_id"],
            "client_secret": setup.values["client_secret"],
            "refresh_token": setup.values["refresh_token"],
        }
        answer = SourceApi(self.service, self.accounts.format(host=host), self.fetcher, {}).post_form(
            "/oauth/v2/token", form
        )
        token = read_text(answer.get("access_token"))
        if not token:
            # Zoho reports wrong credentials with the status 200.
            raise SourceFailure(
                "authentication",
                f"Zoho Desk rejected the credentials ({read_text(answer.get('error'))[:100] or 'no access token'})."
                " Check the client ID, the client secret, and the refresh token.",
            )
        headers = {"Authorization": f"Zoho-oauthtoken {token}", "orgId": setup.values["org_id"]}
        return SourceApi(self.service, self.base.format(host=host), self.fetcher, headers)


def _ticket(found: JsonObject) -> SourceRecord:
    return SourceRecord(
        id=read_text(found.get("id")),
        type="ticket",
        title=read_text(found.get("subject")),
        body=text_of_html(read_text(found.get("description"))),
        url=read_text(found.get("webUrl")) or None,
        created_at=read_time(found.get("createdTime")),
        metadata={"status": read_text(found.get("status"))},
    )
