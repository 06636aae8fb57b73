"""Connector that reads Linear issues as records."""

from __future__ import annotations

from collections.abc import Iterator

from octavo.core.json_types import JsonObject

from ..client import read_list, read_names, read_object, read_text, read_time
from ..types import SourceBatch, SourceFailure, SourceRecord, SourceSetup
from .service import ServiceConnector

_QUERY = """query ($since: DateTimeOrDuration, $after: String) {
  issues(first: 50, after: $after, orderBy: updatedAt, filter: {updatedAt: {gte: $since}}) {
    nodes { identifier title description url createdAt updatedAt state { name } labels { nodes { name } } }
    pageInfo { hasNextPage endCursor }
  }
}"""
_FIRST = "1970-01-01T00:00:00Z"


class Linear(ServiceConnector):
    """Connector for issues. The cursor is the time of the last change."""

    name = "builtin:linear"
    service = "Linear"
    base = "https://api.linear.app"

    def headers(self, setup: SourceSetup) -> dict[str, str]:
        return {"Authorization": setup.values["token"]}

    def test(self, setup: SourceSetup) -> None:
        self._ask(setup, "query { viewer { id } }", {})

    def read(self, setup: SourceSetup) -> Iterator[SourceBatch]:
        guard, after, latest = self.guard(), "", setup.cursor
        while True:
            guard.check(after)
            values: JsonObject = {"since": setup.cursor or _FIRST, "after": after or None}
            found = read_object(self._ask(setup, _QUERY, values).get("issues"))
            issues = read_list(found.get("nodes"))
            latest = max([latest, *(read_text(each.get("updatedAt")) for each in issues)])
            place = read_object(found.get("pageInfo"))
            after = read_text(place.get("endCursor")) if place.get("hasNextPage") is True else ""
            # The list starts with the latest change, so the cursor advances only once the entire list has been
            # read.
            yield SourceBatch([_issue(each) for each in issues], setup.cursor if after else latest)
            if not after:
                return

    def _ask(self, setup: SourceSetup, query: str, values: JsonObject) -> JsonObject:
        answer = self.api(setup).post("/graphql", {"query": query, "variables": values})
        errors = read_list(answer.get("errors"))
        if errors:
            code = read_text(read_object(errors[0].get("extensions")).get("code"))
            if code == "RATELIMITED":
                raise SourceFailure(
                    "rate_limited",
                    "Linear's rate limit was reached. The next sync will pick up where this one stopped.",
                )
            reason = read_text(errors[0].get("message"))[:300]
            raise SourceFailure(
                "authentication" if code == "AUTHENTICATION_ERROR" else "misconfigured", f"Linear: {reason}"
            )
        return read_object(answer.get("data"))


def _issue(found: JsonObject) -> SourceRecord:
    return SourceRecord(
        id=read_text(found.get("identifier")),
        type="ticket",
        title=read_text(found.get("title")),
        body=read_text(found.get("description")),
        url=read_text(found.get("url")) or None,
        created_at=read_time(found.get("createdAt")),
        metadata={
            "status": read_text(read_object(found.get("state")).get("name")),
            "labels": read_names(read_object(found.get("labels")).get("nodes")),
        },
    )
