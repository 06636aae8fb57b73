"""Health of a site: a score by area, computed from its open findings."""

from __future__ import annotations

from collections.abc import Iterable

from .kinds import AREAS, KINDS, Area, Severity
from .store import AreaHealth, Health
from .types import Found

_WEIGHTS: dict[Severity, float] = {"low": 0.25, "medium": 0.6, "high": 1.0}
"""Fraction of a page's score that a finding costs, by severity."""
_SHARES: dict[Area, float] = {
    "links": 0.25,
    "freshness": 0.2,
    "consistency": 0.2,
    "findability": 0.15,
    "accessibility": 0.1,
    "style": 0.1,
}
"""Weight of each area in the overall score."""


def measure_health(pages: int, found: Iterable[Found]) -> Health:
    """Return the health of a site with this number of pages and these open findings.

    The score of a page depends on its worst finding in an area. Each finding without a page counts as a page of
    its own.
    """
    lost: dict[Area, dict[str, float]] = {area: {} for area in AREAS}
    open_: dict[Area, int] = dict.fromkeys(AREAS, 0)
    for each in found:
        area = KINDS[each.kind].area
        open_[area] += 1
        for page in each.pages or (each.key,):
            lost[area][page] = max(lost[area].get(page, 0), _WEIGHTS[each.severity])
    areas = {
        area: AreaHealth(max(0, round(100 - 100 * sum(lost[area].values()) / max(pages, 1))), open_[area])
        for area in AREAS
    }
    score = round(sum(_SHARES[area] * areas[area].score for area in AREAS))
    return Health(score, pages, areas)
