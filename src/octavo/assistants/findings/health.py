"""Health of a site: scores by area, computed from the site's open findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from octavo.content.references.viewing import load_view
from octavo.content.revisions.restrictions import hidden_from, published_seen_by
from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import SiteAccess, find_space_access
from octavo.organization.access.roles import Can
from octavo.sites.site.shown_spaces import has_purged_restrictions, list_ever_shown
from octavo.sites.site.structure.store import load_structure

from . import store
from .kinds import AREAS, KINDS, Area, Severity
from .store import AreaHealth, Health, ScanRow
from .types import OpenFinding

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


def measure_health(pages: int, found: Iterable[OpenFinding]) -> Health:
    """Return the health of a site with this number of pages and these open findings.

    A page's score in an area depends on its worst finding in that area. Each finding without a page counts as a
    separate page.
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


def measure_seen(tx: Transaction, site: SiteAccess) -> Health | None:
    """Return the health of the pages that the caller can see. Return None if no page of a style guide, or of the
    spaces that the caller can see and that are or were on the site, is or was hidden from the caller, because scan
    results then don't reveal anything about hidden pages."""
    ever = list_ever_shown(tx, site.site_id)
    seen = [space for id in ever if (space := find_space_access(tx, site.actor, Can.VIEW, id)) is not None]
    hidden = hidden_from(tx, site.organization)
    in_spaces = any(hidden.of(space.space_id) for space in seen)
    if not in_spaces and not has_purged_restrictions(tx, site) and not store.list_hidden_rules(tx, hidden):
        return None
    shown = {row.space_id for row in load_structure(tx, site.site_id).site_spaces.values()}
    views = [load_view(tx, published_seen_by(tx, space)) for space in seen if space.space_id in shown]
    pages = sum(1 for view in views for _ in view.every.documents())
    return measure_health(pages, store.list_open_seen(tx, site))


def without_hidden(tx: Transaction, site: SiteAccess, scans: Sequence[ScanRow]) -> list[ScanRow]:
    """Return scans without their scores, and with the numbers of findings that the caller can see."""
    counts = store.count_by_scan(tx, site, [scan.id for scan in scans])

    def count(scan: ScanRow, severity: Severity) -> int:
        return counts.get((scan.id, severity), 0)

    return [
        replace(
            scan,
            low=count(scan, "low"),
            medium=count(scan, "medium"),
            high=count(scan, "high"),
            health=None,
        )
        for scan in scans
    ]
