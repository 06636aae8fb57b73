"""Answers about structures and redirects have the shape that the newest public description gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from octavo.kit.http.operation import TABLE
from octavo.operations.installation import load_packages
from tools import PublicApi, fetch_packages
from world import World

from .samples import sample_of, send
from .schemas import Schemas

load_packages()

OPERATIONS = (
    "addExternalLinkToSite",
    "bulkUpsertSiteRedirects",
    "createSiteRedirect",
    "deleteSiteExternalLinkById",
    "getSiteRedirectBySource",
    "listSiteRedirects",
    "updateSiteExternalLinkById",
    "updateSiteRedirectById",
)


@pytest.fixture(scope="session")
def newest() -> Schemas:
    folder = Path(__file__).parent / "newest"
    return Schemas(PublicApi(fetch_packages(folder, "newest-api")).description)


@pytest.mark.sqlite_first
@pytest.mark.parametrize("name", OPERATIONS)
def test_responses_match_the_newest_description(world: World, newest: Schemas, name: str) -> None:
    sample = sample_of(TABLE[name])
    if sample.before is not None:
        sample.before(world, world.home)
    answer = send(world, "admin", TABLE[name], world.home)
    content = answer.json() if answer.content else None
    assert newest.errors(name, answer.status_code, content) == []
