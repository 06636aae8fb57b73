"""Findings as scans produce them, before they are stored, and style guide files."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.core.checks.faults import TextFix

from .kinds import FindingKind, Severity

MAX_EVIDENCE = 20
"""Maximum number of quotations per finding."""


class Evidence(Struct, frozen=True, omit_defaults=True):
    """Evidence of a problem: words on a page, and what is wrong with them."""

    page: str
    quote: str
    message: str = ""
    fix: TextFix | None = None


class Fixing(Struct, frozen=True, omit_defaults=True):
    """Fix for a broken link. ``url``: the link as it was written. ``page`` and ``anchor``: the correct target."""

    url: str
    page: str
    anchor: str = ""


class OpenFinding(NamedTuple):
    """Open finding, used to compute scores. ``key``: the key that identifies the finding across scans. ``pages``: the
    IDs of its pages."""

    key: str
    kind: FindingKind
    severity: Severity
    pages: tuple[str, ...]


class Ignored(Struct, frozen=True):
    """Page on which a finding is ignored. ``created_at``: the time in milliseconds."""

    reason: str
    created_at: int


class Found(Struct, frozen=True):
    """Problem that a scan found. ``key``: a key that identifies the problem across scans. ``sources``: the pages that
    it quotes or names but doesn't concern. ``url``: the external link that doesn't work. ``question``: the visitor
    question that is evidence for it. ``days``: the number of days for which a review has been overdue; 1 for other
    problems."""

    key: str
    kind: FindingKind
    space_id: str | None
    title: str
    severity: Severity
    evidence: tuple[Evidence, ...]
    pages: tuple[str, ...]
    fixing: Fixing | None = None
    url: str | None = None
    question: str | None = None
    days: int = 1
    sources: frozenset[str] = frozenset()


MOST_FILES = 500
"""Maximum number of files in an import of rules."""


class StyleRuleFile(Struct):
    path: Annotated[str, Meta(min_length=1, max_length=500)]
    text: Annotated[str, Meta(max_length=200_000)]


class ImportedStyleRule(Struct):
    """Result of importing one file. ``reason``: the reason the file wasn't imported. ``notes``: the keys of the
    rule that have no effect."""

    path: str
    status: Literal["created", "updated", "unchanged", "refused", "skipped"]
    reason: str | UnsetType = UNSET
    title: str | UnsetType = UNSET
    notes: list[str] = []


_Id = Annotated[str, Meta(min_length=1, max_length=50)]


class UserAssignee(Struct, tag_field="kind", tag="user", forbid_unknown_fields=True):
    """Person to assign a finding to."""

    user: _Id


class TeamAssignee(Struct, tag_field="kind", tag="team", forbid_unknown_fields=True):
    """Team to assign a finding to."""

    team: _Id


Assignee = UserAssignee | TeamAssignee
