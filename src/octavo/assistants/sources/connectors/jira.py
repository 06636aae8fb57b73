"""Connector that reads Jira Cloud issues as records."""

from __future__ import annotations

from collections.abc import Iterator

from octavo.core.json_types import JsonObject

from ..client import basic_login, read_list, read_names, read_object, read_text, read_time
from ..types import SourceBatch, SourceRecord, SourceSetup
from .service import ServiceConnector

_FIELDS = "summary,description,status,labels,created,updated"
_BLOCKS = frozenset({"paragraph", "heading", "listItem", "codeBlock", "blockquote", "tableRow", "hardBreak"})


class Jira(ServiceConnector):
    """Connector for issues. The cursor is a date without a time, because Jira's queries use the account's time
    zone."""

    name = "builtin:jira"
    service = "Jira"
    base = "{base_url}"
    fields: tuple[str, ...] = ("base_url", "api_email", "api_token")
    secrets: tuple[str, ...] = ("api_token",)

    def headers(self, setup: SourceSetup) -> dict[str, str]:
        return basic_login(setup.values["api_email"], setup.values["api_token"])

    def test(self, setup: SourceSetup) -> None:
        self.api(setup).get("/rest/api/3/myself")

    def read(self, setup: SourceSetup) -> Iterator[SourceBatch]:
        api, guard, token, latest = self.api(setup), self.guard(), "", setup.cursor
        where = f'updated >= "{setup.cursor}"' if setup.cursor else 'updated >= "1970-01-02"'
        while True:
            guard.check(token)
            query = {"jql": f"{where} ORDER BY updated ASC", "fields": _FIELDS, "maxResults": "100"}
            found = api.get("/rest/api/3/search/jql", **query, **({"nextPageToken": token} if token else {}))
            issues = read_list(found.get("issues"))
            days = [read_text(read_object(each.get("fields")).get("updated"))[:10] for each in issues]
            latest = max([latest, *days])
            token = read_text(found.get("nextPageToken"))
            base = setup.values["base_url"].rstrip("/")
            yield SourceBatch([_issue(each, base) for each in issues], setup.cursor if token else latest)
            if not token:
                return


def _issue(found: JsonObject, base: str) -> SourceRecord:
    fields, key = read_object(found.get("fields")), read_text(found.get("key"))
    return SourceRecord(
        id=key or str(found.get("id", "")),
        type="ticket",
        title=read_text(fields.get("summary")),
        body=_text_of(fields.get("description")),
        url=f"{base}/browse/{key}" if key else None,
        created_at=read_time(fields.get("created")),
        metadata={
            "status": read_text(read_object(fields.get("status")).get("name")),
            "labels": read_names(fields.get("labels")),
        },
    )


def _text_of(document: object) -> str:
    """Return the text of a document in Jira's format, with each block on its own line."""
    if isinstance(document, str):
        return document
    parts: list[str] = []
    stack = [document]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(reversed(node))
        elif isinstance(node, dict):
            if node.get("type") in _BLOCKS:
                parts.append("\n")
            parts.append(read_text(node.get("text")))
            stack.append(node.get("content"))
    lines = (line.strip() for line in "".join(parts).splitlines())
    return "\n".join(line for line in lines if line)
