"""Restricted pages leave no trace in sites, answers, findings, and counts of searches."""

from __future__ import annotations

from revisions.test_restricted_elsewhere import ADMINISTRATORS, SPACE, edit, insert, restrict
from world import World

SITE = "/orgs/{organizationId}/sites/{siteId}"


def test_exact_counts_of_searches_leave_out_restricted_pages(world: World) -> None:
    """There are more matching pages than a search reads."""
    page = {"operation": "insert_page", "document": {"markdown": "Zebrafish swim.\n"}}
    edit(world, SPACE, *({**page, "title": f"Zebrafish {number}"} for number in range(70)))
    hidden = insert(world, SPACE, "Plans", text="Zebrafish swim in secret.\n")

    def count(who: str) -> tuple[int, bool]:
        params = {"query": "zebrafish", "limit": "2"}
        found = world.get(who, world.home.path(f"{SPACE}/search"), params=params)
        return found["count"], "countIsLowerBound" in found

    assert count("admin") == count("editor") == (71, False)
    restrict(world, SPACE, ADMINISTRATORS, hidden)
    assert count("admin") == (71, False) and count("editor") == (70, False)
