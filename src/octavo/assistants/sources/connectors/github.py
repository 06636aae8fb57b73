"""Connectors that read issues and discussions in a GitHub repository as records."""

from __future__ import annotations

import re
from collections.abc import Iterator

from octavo.core.json_types import JsonObject

from ..client import SourceApi, read_list, read_names, read_object, read_text, read_time
from ..types import SourceBatch, SourceFailure, SourceRecord, SourceSetup
from .service import ServiceConnector

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.A)
_DISCUSSIONS = """query($owner: String!, $name: String!, $count: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    discussions(first: $count, after: $after, orderBy: {field: UPDATED_AT, direction: DESC}) {
      pageInfo { hasNextPage endCursor }
      nodes {
        number title body url createdAt updatedAt category { name } answer { body } labels(first: 20) { nodes { name } }
      }
    }
  }
}"""


class _GitHub(ServiceConnector):
    service = "GitHub"
    base = "https://api.github.com"
    fields: tuple[str, ...] = ("repository", "token")
    patterns = {
        "repository": (
            _REPOSITORY,
            "The repository must have an owner and a name, such as acme/docs.",
        )
    }

    def headers(self, setup: SourceSetup) -> dict[str, str]:
        return super().headers(setup) | {"X-GitHub-Api-Version": "2022-11-28"}


class GitHubIssues(_GitHub):
    """Connector for issues, excluding pull requests. The cursor is the time of the last change."""

    name = "builtin:github-issues"

    def test(self, setup: SourceSetup) -> None:
        self.api(setup).list(f"/repos/{setup.values['repository']}/issues", per_page=1)

    def read(self, setup: SourceSetup) -> Iterator[SourceBatch]:
        api, guard = self.api(setup), self.guard()
        since = setup.cursor
        while True:
            guard.check(since)
            query = {"since": since} if since else {}
            latest = since
            for page in range(1, 11):
                found = api.list(
                    f"/repos/{setup.values['repository']}/issues",
                    state="all",
                    sort="updated",
                    direction="asc",
                    per_page=100,
                    page=page,
                    **query,
                )
                latest = max([latest, *(read_text(each.get("updated_at")) for each in found)])
                # Issues can move within the list while it is being read, so the cursor advances only after
                # the last page.
                yield SourceBatch(
                    [_issue(each) for each in found if "pull_request" not in each],
                    latest if len(found) < 100 else since,
                )
                if len(found) < 100:
                    return
            if latest == since:
                # More issues have the same time than fit on ten pages.
                raise SourceFailure(
                    "upstream_unavailable",
                    "GitHub returned too many issues with the same update time. Try again later.",
                )
            since = latest


class GitHubDiscussions(_GitHub):
    """Connector for discussions. The cursor is the time of the last change."""

    name = "builtin:github-discussions"

    def test(self, setup: SourceSetup) -> None:
        self._ask(self.api(setup), setup, 1, None)

    def read(self, setup: SourceSetup) -> Iterator[SourceBatch]:
        api, guard = self.api(setup), self.guard()
        after: str | None = None
        latest = setup.cursor
        while True:
            found = self._ask(api, setup, 50, after)
            nodes = read_list(found.get("nodes"))
            times = [read_text(each.get("updatedAt")) for each in nodes]
            latest = max([latest, *times])
            info = read_object(found.get("pageInfo"))
            more = info.get("hasNextPage") is True
            after = read_text(info.get("endCursor"))
            is_last = not more or any(time <= setup.cursor for time in times)
            # The newest discussions come first, so the cursor advances only after the last page.
            yield SourceBatch([_discussion(each) for each in nodes], latest if is_last else setup.cursor)
            if is_last:
                return
            guard.check(after)

    def _ask(self, api: SourceApi, setup: SourceSetup, count: int, after: str | None) -> JsonObject:
        owner, name = setup.values["repository"].split("/")
        variables = {"owner": owner, "name": name, "count": count, "after": after}
        answer = api.post("/graphql", {"query": _DISCUSSIONS, "variables": variables})
        found = read_object(read_object(answer.get("data")).get("repository")).get("discussions")
        if not isinstance(found, dict):
            errors = read_list(answer.get("errors"))
            kind = read_text(errors[0].get("type")) if errors else ""
            if kind == "RATE_LIMITED":
                raise SourceFailure(
                    "rate_limited",
                    "GitHub's rate limit was reached. The next sync will pick up where this one stopped.",
                )
            reason = (
                read_text(errors[0].get("message"))[:300]
                if errors
                else "The repository has no discussions. Turn on discussions in its settings."
            )
            raise SourceFailure("misconfigured", f"GitHub: {reason}")
        return found


def _issue(found: JsonObject) -> SourceRecord:
    return SourceRecord(
        id=str(found.get("number", "")),
        type="ticket",
        title=read_text(found.get("title")),
        body=read_text(found.get("body")),
        url=read_text(found.get("html_url")) or None,
        created_at=read_time(found.get("created_at")),
        metadata={"state": read_text(found.get("state")), "labels": read_names(found.get("labels"))},
    )


def _discussion(found: JsonObject) -> SourceRecord:
    answer = found.get("answer")
    parts = [read_text(found.get("body")), read_text(read_object(answer).get("body"))]
    return SourceRecord(
        id=str(found.get("number", "")),
        type="ticket",
        title=read_text(found.get("title")),
        body="\n\n".join(part for part in parts if part),
        url=read_text(found.get("url")) or None,
        created_at=read_time(found.get("createdAt")),
        metadata={
            "category": read_text(read_object(found.get("category")).get("name")),
            "answered": "yes" if isinstance(answer, dict) else "no",
            "labels": read_names(read_object(found.get("labels")).get("nodes")),
        },
    )
