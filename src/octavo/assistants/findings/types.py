"""Findings as scans produce them, before they are stored."""

from __future__ import annotations

from msgspec import Struct

from octavo.core.checks.faults import TextFix

from .kinds import FindingKind, Severity

MAX_EVIDENCE = 20
"""Maximum number of quotations of one finding."""


class Evidence(Struct, frozen=True, omit_defaults=True):
    """What shows a fault: the words on a page, and what is wrong with them."""

    page: str
    quote: str
    message: str = ""
    fix: TextFix | None = None


class Fixing(Struct, frozen=True, omit_defaults=True):
    """How a broken link can be fixed. ``url``: the link as it was written; ``page`` and ``anchor``: where it should
    lead."""

    url: str
    page: str
    anchor: str = ""


class Found(Struct, frozen=True):
    """Fault that a scan found. ``key``: the same in each scan."""

    key: str
    kind: FindingKind
    space_id: str | None
    title: str
    severity: Severity
    evidence: tuple[Evidence, ...]
    pages: tuple[str, ...]
    fixing: Fixing | None = None
