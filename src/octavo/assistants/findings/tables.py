"""Declare the tables for findings."""

from __future__ import annotations

from typing import get_args

from octavo.kit.db.tables import Table, declare, person, row
from octavo.organization.spaces.hooks import on_purge

from .agent_settings import TopicScans
from .kinds import FindingKind, FindingStatus, FindingType, Severity
from .outbound_store import FailureKind, LinkStatus
from .store import ScanCause, ScanStatus
from .styleguide_store import delete_of_restricted_rules

_AGAIN = "are found again by scans of another server"

declare(
    Table(name="page_checks", of_space="space_id IN {spaces}", many=True, derived=True),
    Table(name="linked_code", of_space="space_id IN {spaces}", many=True, derived=True, long=("path",)),
    Table(
        name="site_scans",
        stays=_AGAIN,
        values={"status": get_args(ScanStatus), "cause": get_args(ScanCause)},
        json={"health": dict},
        long=("failure",),
    ),
    Table(
        name="site_findings",
        stays=_AGAIN,
        values={
            "kind": get_args(FindingKind),
            "type": get_args(FindingType),
            "severity": get_args(Severity),
            "status": get_args(FindingStatus),
        },
        columns=(
            row("scan_id", "site_scans"),
            row("question_id", "site_questions"),
            person("assigned_user"),
        ),
        json={"evidence": list, "fixing": dict},
        long=("url", "reason"),
    ),
    Table(
        name="outbound_links",
        of_space="space_id IN {spaces}",
        many=True,
        derived=True,
        values={"status": get_args(LinkStatus), "failure_kind": get_args(FailureKind)},
        long=("url",),
    ),
    Table(name="site_finding_pages", stays=_AGAIN, columns=(row("page_id", "page_versions.page_id"),)),
    Table(name="site_finding_sources", stays=_AGAIN, columns=(row("page_id", "page_versions.page_id"),)),
    Table(
        name="site_finding_ignored",
        stays=_AGAIN,
        columns=(row("page_id", "page_versions.page_id"),),
        long=("reason",),
    ),
    Table(name="site_finding_changes", stays=_AGAIN),
    Table(name="site_finding_records", stays=_AGAIN),
    Table(
        name="site_agent_settings",
        stays="gives permissions that people give again on another server",
        values={"topics": get_args(TopicScans), "change_requests": ("auto-fixable", "never")},
        columns=(person("updated_by"),),
        json={"kinds": list[str]},
    ),
    Table(
        name="styleguide_runs",
        stays="describes checks on this server",
        columns=(row("styleguide_id", "spaces"), row("spaces", "spaces", path=()), person("created_by")),
        json={"spaces": list[str]},
    ),
    Table(
        name="styleguide_run_changes",
        stays="describes checks on this server",
        columns=(row("space_id", "spaces"),),
    ),
)
on_purge(delete_of_restricted_rules)
