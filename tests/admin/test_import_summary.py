"""Summaries of imports: what people read at a terminal."""

from __future__ import annotations

from octavo.core.problems import Problem
from octavo.interchange.transfer.importing import ImportOutcome
from octavo.interchange.transfer.store import ImportChanges
from octavo.operations.admin.api_import import ApiImportedSite, ApiImportedSpace, ApiImportResult
from octavo.operations.admin.archives import ArchiveCounts
from octavo.operations.admin.docs_sites import ImportedSite
from octavo.operations.admin.import_export import CompletedImport
from octavo.operations.admin.import_summary import summarize_import


def outcome(problems: int = 0, **fields) -> ImportOutcome:
    found = [Problem("a.md", line, "odd", f"odd {line}") for line in range(problems)]
    return ImportOutcome("s1", "r1", 2, 1, 3, found, **fields)


def test_a_space_is_summarized_with_its_url_and_problems():
    assert summarize_import(CompletedImport(outcome(2), "https://docs.example.com/a")).splitlines() == [
        "Imported 2 pages and 1 file (3 changed) into space s1",
        "Published at https://docs.example.com/a",
        "2 problems:",
        "  a.md: odd 0",
        "  a.md:1: odd 1",
    ]


def test_long_lists_of_problems_are_truncated():
    lines = summarize_import(CompletedImport(outcome(50), None)).splitlines()
    assert lines[1] == "50 problems:" and lines[-1] == "  … and 30 more; --json lists all"
    assert len(lines) == 23


def test_conflicts_name_the_change_request_that_contains_them():
    changes = ImportChanges(kept=1, change_request="c1")
    assert summarize_import(CompletedImport(outcome(changes=changes), None)) == (
        "Imported 2 pages and 1 file (3 changed), 1 conflict to resolve in change request c1 into space s1"
    )


def test_a_site_is_summarized_space_by_space():
    done = ImportedSite(
        "x", None, {"en": CompletedImport(outcome(1), None)}, {}, [Problem("docs.yaml", 3, "k", "no")]
    )
    assert summarize_import(done).splitlines() == [
        "Imported 1 space into site x",
        "  en: 2 pages and 1 file (3 changed) (space s1)",
        "2 problems:",
        "  docs.yaml:3: no",
        "  a.md: odd 0",
    ]


def test_an_import_over_an_api_reports_unchanged_spaces_and_why_it_stopped():
    done = ApiImportResult(
        [ApiImportedSpace("s1", "o1", "Guide", 2, outcome()), ApiImportedSpace("s2", "o2", "API")],
        [ApiImportedSite("x", "o3", "Docs", 4, [Problem("", 0, "left_out", "no look")])],
        "the token expired",
    )
    assert summarize_import(done).splitlines() == [
        "Imported 2 spaces and 1 site",
        "  Space Guide (s1): 2 pages and 1 file (3 changed), 2 change requests",
        "  Space API (s2): no changes since the last import",
        "  Site Docs (x): 4 redirects",
        "1 problem:",
        "  no look",
        "Stopped early: the token expired",
        "Run the same command again to continue.",
    ]


def test_an_organization_is_summarized_in_one_line():
    done = summarize_import(ArchiveCounts("o", "Acme", 3, 5, 100))
    assert done == "Imported the organization Acme (o): 3 spaces"
