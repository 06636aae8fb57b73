"""Whatever an operation makes of a site, its pages are still answered."""

from __future__ import annotations

import pytest

from contract.samples import sample_of, send
from octavo.installation import load_packages
from octavo.kit.operation import TABLE, Operation
from visiting import Visitor
from world import World

load_packages()


def changes_of_sites() -> list[Operation]:
    return [o for o in TABLE.values() if "{siteId}" in o.path and o.method != "GET"]


@pytest.mark.parametrize("operation", changes_of_sites(), ids=lambda operation: operation.id)
def test_pages_are_answered_after_each_change_of_their_site(
    sqlite_world: World, operation: Operation
) -> None:
    world, place = sqlite_world, sqlite_world.home
    path = place.path("/orgs/{organizationId}/sites/{siteId}")
    world.post(place.admin, f"{path}/publish", {})
    sample = sample_of(operation)
    if sample.before is not None:
        sample.before(world, place)
    answer = send(world, place.admin, operation, place)
    assert answer.status_code < 300, answer.text
    with world.context.db.read() as tx:
        org, site = tx.one(
            "SELECT o.hostname, s.basename FROM organizations o LEFT JOIN sites s"
            " ON s.organization_id = o.id AND s.id = :site WHERE o.id = :id",
            id=place["organizationId"],
            site=place["siteId"],
        )
    visitor = Visitor(world.context)
    for page in ("", "nothing", "sitemap.xml", "llms.txt", "robots.txt", "~search?q=install"):
        shown = visitor.get(f"/{org}/{site or 'docs'}/{page}")
        assert shown.status_code in (200, 303, 307, 401, 404), f"{page}: {shown.text}"
