"""Reports from `octavo check-site` in formats for CI services and people."""

from __future__ import annotations

from typing import Any

import msgspec

from .site_checks import Report

_LEVELS = {"low": "note", "medium": "warning", "high": "error"}


def markdown_report(report: Report) -> str:
    """Return a report as Markdown, for example for the summary of a CI job."""
    lines = [f"# {_escape(report.site)}", "", f"Pages: {report.pages}. Problems: {report.problems}."]
    if report.found:
        lines += ["", "| Page | Rule | Problem |", "| --- | --- | --- |"]
    for page in report.found:
        for problem in page.problems:
            lines.append(f"| {_escape(page.page)} | {problem.rule} | {_escape(problem.text)} |")
    return "\n".join(lines)


def _escape(text: str) -> str:
    return "".join(f"\\{char}" if char in "\\`*_{}[]<>()#|!~&" else char for char in text)


def sarif_report(report: Report, version: str) -> str:
    """Return a report in SARIF 2.1.0, which code hosting services show as annotations."""
    rules = sorted({problem.rule for page in report.found for problem in page.problems})
    results: list[dict[str, Any]] = [
        {
            "ruleId": problem.rule,
            "level": _LEVELS[problem.severity],
            "message": {"text": problem.text},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": page.page}}}],
        }
        for page in report.found
        for problem in page.problems
    ]
    driver = {
        "name": "Octavo",
        "version": version,
        "rules": [{"id": rule} for rule in rules],
    }
    data = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return msgspec.json.format(msgspec.json.encode(data), indent=2).decode()
