"""After every operation that changes something, a warm process answers pages like a fresh one."""

from __future__ import annotations

from typing import Any

import pytest

from contract.samples import TOLD_ELSEWHERE, sample_of, send, succeeded
from octavo.kit.http.operation import TABLE, Operation
from octavo.operations.installation import load_packages
from visiting import Visitor
from world import World

load_packages()

PAGES = (
    "",
    "writing",
    "nothing",
    "writing.md",
    "sitemap.xml",
    "~feed.xml",
    "llms.txt",
    "robots.txt",
    "~search?q=install",
)


FAR = {
    "access",
    "agents",
    "ask",
    "comments",
    "conversations",
    "events",
    "gitsync",
    "invitations",
    "notifications",
    "translations",
    "webhooks",
}
"""Areas that no page shows; if one does after all, the slow suite notices."""


def changes() -> list[Any]:
    found = [o for o in TABLE.values() if o.method != "GET" and o.id not in TOLD_ELSEWHERE]
    return [pytest.param(o, id=o.id, marks=[pytest.mark.slow] if is_far(o) else []) for o in found]


def is_far(operation: Operation) -> bool:
    """Return whether no page shows it, such as an edit in an unmerged change request."""
    return operation.area in FAR or (
        "{changeRequestId}" in operation.path and "merge" not in operation.id.lower()
    )


@pytest.mark.parametrize("operation", changes())
def test_pages_show_each_change(sqlite_world: World, operation: Operation) -> None:
    world, place = sqlite_world, sqlite_world.home
    world.post(place.admin, place.path("/orgs/{organizationId}/sites/{siteId}/publish"), {})
    with world.context.db.read() as tx:
        org, site = tx.one(
            "SELECT o.hostname, s.basename FROM organizations o JOIN sites s ON s.organization_id = o.id"
            " WHERE s.id = :site",
            site=place["siteId"],
        )
    sample = sample_of(operation)
    if sample.before is not None:
        sample.before(world, place)
    warm = Visitor(world.context)
    for page in PAGES:
        assert warm.get(f"/{org}/{site}/{page}").status_code in (200, 307, 404)
    answer = send(world, place.admin, operation, place)
    assert succeeded(operation, answer), answer.text
    fresh = Visitor(world.context)
    for page in PAGES:
        shown, expected = (visitor.get(f"/{org}/{site}/{page}") for visitor in (warm, fresh))
        assert shown.status_code in (200, 307, 401, 404), f"{page}: {shown.text}"
        assert (shown.status_code, shown.headers.get("etag"), shown.text) == (
            expected.status_code,
            expected.headers.get("etag"),
            expected.text,
        )
