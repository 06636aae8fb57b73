"""Pages for visitors if nothing is found."""

from __future__ import annotations

import re
from typing import Any

import pytest

from octavo.core.icons import icon as icon_of
from octavo.operations.admin.import_export import import_space
from visiting import Visitor

FILES = {
    "SUMMARY.md": (
        "* [Home](README.md)\n* [Webhooks](webhooks.md)\n* [Deployment guide](deploy.md)\n"
        "* [Other](other.md)\n"
    ),
    "README.md": "# Home\n\nEverything about webhooks and old deployments, and pricing.\n",
    "webhooks.md": "# Webhooks\n\nTold of what happens.\n",
    "deploy.md": "# Deployment guide\n\nHow.\n",
    "other.md": "# Other\n\nOld webhooks, deployments, pricing, missing pages.\n",
}


@pytest.fixture
def base(world: Any, tmp_path: Any) -> str:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    brought = import_space(
        world.context, str(tmp_path), organization_id=world.home["organizationId"], title="M", publish=True
    )
    return re.sub(r"^https?://[^/]+", "", str(brought.site_url))


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    ("path", "suggested"),
    [
        ("webhook", ["webhooks"]),
        ("guides/old-webhooks", ["webhooks"]),
        ("deployments", ["deploy"]),
        ("pricing", []),
        ("zzz/qqq", []),
    ],
)
def test_suggestions_have_the_name_of_the_missing_object(
    world: Any, base: str, path: str, suggested: list[str]
) -> None:
    html = Visitor(world.context).get(f"{base}{path}").text
    perhaps = re.search(r'<section class="perhaps">.*?</section>', html, re.S)
    found = re.findall(r'href="[^"]*/([^"/#]*)"', perhaps[0]) if perhaps else []
    assert found == suggested or [one.partition("-")[0] for one in found] == [
        {"deploy": "deployment"}.get(one, one) for one in suggested
    ], found


def test_an_unknown_site_url_shows_a_page_for_people(world: Any) -> None:
    visitor = Visitor(world.context)
    for path in ("/nobody/nothing/", "/nobody"):
        answer = visitor.get(path, accept="text/html")
        assert answer.status_code == 404
        assert "<h1>Page not found</h1>" in answer.text and "content-security-policy" in answer.headers
        plain = visitor.get(path, accept="application/json")
        assert plain.status_code == 404 and "<" not in plain.text


def test_a_question_button_searches_on_sites_without_answers(world: Any, tmp_path: Any) -> None:
    (tmp_path / "README.md").write_text(
        '# Home\n\n<button type="button" class="button primary" data-action="ask" data-query="how so">Ask</button>\n'
    )
    brought = import_space(
        world.context, str(tmp_path), organization_id=world.home["organizationId"], title="M", publish=True
    )
    base = re.sub(r"^https?://[^/]+", "", str(brought.site_url))
    html = Visitor(world.context).get(base).text
    assert re.search(
        r'<a class="button primary" href="[^"]*~(search|ask)\?q=how%20so" data-action="(search|ask)"', html
    )


def test_a_link_that_enlarges_an_image_has_a_name(world: Any, tmp_path: Any) -> None:
    (tmp_path / "README.md").write_text(
        "# Home\n\n![](https://example.org/x.png)\n\n![A cat](https://example.org/y.png)\n"
    )
    organization = world.home["organizationId"]
    brought = import_space(
        world.context, str(tmp_path), organization_id=organization, title="M", publish=True
    )
    html = Visitor(world.context).get(re.sub(r"^https?://[^/]+", "", str(brought.site_url))).text
    assert re.findall(r'class="zoom" href="[^"]*" aria-label="([^"]*)"', html) == ["View larger", "A cat"]


def test_icons_of_paid_sets_are_replaced_and_reported(world: Any, tmp_path: Any) -> None:
    for name, icon in (("README", "house"), ("paid", "database-gear"), ("unknown", "zzz-qqq")):
        (tmp_path / f"{name}.md").write_text(f"---\nicon: {icon}\n---\n# {name}\n\nwords\n")
    brought = import_space(
        world.context, str(tmp_path), organization_id=world.home["organizationId"], title="M"
    )
    told = {
        problem.path: problem.message for problem in brought.outcome.problems if problem.code == "paid_icon"
    }
    assert told.keys() == {"paid.md", "unknown.md"}
    assert "closest free icon is shown" in told["paid.md"] and "no icon" in told["unknown.md"]
    assert icon_of("database-gear") == icon_of("database") is not None
    assert icon_of("zzz-qqq") is None
