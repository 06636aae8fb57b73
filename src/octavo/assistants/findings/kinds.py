"""Kinds of findings, each with its severity and its area of site health."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

FindingType = Literal[
    "content-outdated", "content-incorrect", "content-gap", "broken-link", "outbound-link-error", "other"
]
Severity = Literal["low", "medium", "high"]
FindingStatus = Literal["candidate", "open", "done", "canceled"]
Area = Literal["links", "freshness", "consistency", "style", "accessibility", "findability"]
AREAS: tuple[Area, ...] = get_args(Area)

FindingKind = Literal[
    "broken-link",
    "broken-anchor",
    "missing-image",
    "external-link",
    "alt-text",
    "code-sample",
    "placeholder",
    "review-due",
    "undefined-variable",
    "unlinked-page",
    "contradiction",
    "removed-operation",
    "changed-operation",
    "changed-code",
    "changelog",
    "undocumented-operations",
    "empty-search",
    "unanswered-question",
    "style",
]
SEVERITIES: dict[Severity, int] = {"low": 1, "medium": 2, "high": 3}


class KindOfFinding(Struct, frozen=True):
    """Kind of finding. ``title``: the title of all findings of this kind."""

    type: FindingType
    severity: Severity
    area: Area
    title: str


KINDS: dict[FindingKind, KindOfFinding] = {
    "broken-link": KindOfFinding("broken-link", "high", "links", "Link to a missing page"),
    "broken-anchor": KindOfFinding("broken-link", "medium", "links", "Link to a missing section"),
    "missing-image": KindOfFinding("broken-link", "high", "links", "Image or file is missing"),
    "external-link": KindOfFinding("outbound-link-error", "medium", "links", "External link doesn't work"),
    "removed-operation": KindOfFinding(
        "content-outdated", "high", "links", "Operation was removed from the API"
    ),
    "changed-operation": KindOfFinding(
        "content-outdated", "medium", "freshness", "Operation changed since the page was last updated"
    ),
    "changed-code": KindOfFinding(
        "content-outdated", "medium", "freshness", "Linked code changed since the page was last updated"
    ),
    "changelog": KindOfFinding(
        "content-outdated", "medium", "freshness", "Changelog entry is newer than the page"
    ),
    "placeholder": KindOfFinding("content-gap", "medium", "freshness", "Text is unfinished"),
    "review-due": KindOfFinding("content-outdated", "medium", "freshness", "Page is due for review"),
    "contradiction": KindOfFinding(
        "content-incorrect", "high", "consistency", "Two pages contradict each other"
    ),
    "undefined-variable": KindOfFinding("content-incorrect", "medium", "consistency", "Undefined variable"),
    "code-sample": KindOfFinding(
        "content-incorrect", "medium", "consistency", "Code sample has a syntax error"
    ),
    "alt-text": KindOfFinding("other", "medium", "accessibility", "Image without alternative text"),
    "unlinked-page": KindOfFinding("other", "low", "findability", "No page links to this page"),
    "undocumented-operations": KindOfFinding(
        "content-gap", "low", "findability", "Operations aren't documented"
    ),
    "empty-search": KindOfFinding("content-gap", "medium", "findability", "Search without results"),
    "unanswered-question": KindOfFinding(
        "content-gap", "medium", "findability", "Question without an answer"
    ),
    "style": KindOfFinding("other", "low", "style", "Style guide"),
}
