"""Drafts of a site's structure, external links, home pages, hidden variants, and texts in other languages."""

from __future__ import annotations

import re
from typing import Any

import pytest

from octavo.sites.site.structure.store import MAX_LINKS
from visiting import Visitor
from world import World

SITE = "/orgs/{organizationId}/sites/{siteId}"


class Site:
    """The site of the home organization, published, and its visitor."""

    def __init__(self, world: World) -> None:
        self.world, self.path = world, world.home.path(SITE)
        published = world.post("admin", f"{self.path}/publish")["urls"]["published"]
        self._fill(next(one for one in self._spaces() if one != world.home["spaceId"]))
        self.base = re.sub(r"^https?://[^/]+", "", published)
        self.visitor = Visitor(world.context)

    def _spaces(self) -> list[str]:
        items = self.world.get("admin", f"{self.path}/site-spaces")["items"]
        return [one["space"]["id"] for one in items]

    def _fill(self, space: str) -> None:
        """Give a space a page: empty ones are not shown."""
        path = f"/spaces/{space}/change-requests"
        change = self.world.post("admin", path, {"subject": "Fill"})["id"]
        page = {"operation": "insert_page", "title": "Bread", "document": {"markdown": "# Bread"}}
        self.world.post("admin", f"{path}/{change}/content", {"changes": [page]})
        self.world.post("admin", f"{path}/{change}/merge")

    def call(self, method: str, path: str, status: int, json: Any = None, **headers: str) -> Any:
        answer = self.world.call("admin", method, f"{self.path}/{path}", json=json, headers=headers)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else answer

    def see(self, below: str = "", cookie: str = "") -> tuple[int, str]:
        answer = self.visitor.get(f"{self.base}{below}", cookie=cookie)
        return answer.status_code, answer.text

    def preview(self) -> str:
        url = self.world.get("admin", f"{self.path}/publishing/preview")["url"]
        answer = self.visitor.get(re.sub(r"^https?://[^/]+", "", url))
        return str(answer.headers["set-cookie"]).partition(";")[0]


@pytest.fixture
def site(world: World) -> Site:
    return Site(world)


def test_each_kind_of_part_can_be_a_draft(site: Site) -> None:
    home = site.world.home
    parts = {
        f"sections/{home['otherSiteSectionId']}": "/recipes",
        f"section-groups/{home['siteSectionGroupId']}": "Manuals",
        f"site-spaces/{home['otherSiteSpaceId']}": "/cookbook",
        f"external-links/{home['siteExternalLinkId']}": "https://forum.test/",
    }
    site.call("PATCH", f"external-links/{home['siteExternalLinkId']}", 200, {"draft": False})
    for path, words in parts.items():
        assert words in site.see()[1], path
        assert site.call("PATCH", path, 200, {"draft": True})["draft"] is True
        assert words not in site.see()[1], path
        assert words in site.see(cookie=site.preview())[1], path
        assert site.call("PATCH", path, 200, {"draft": False})["draft"] is False
        assert words in site.see()[1], path


def test_a_draft_that_contains_others_hides_them(site: Site) -> None:
    home = site.world.home
    group = f"section-groups/{home['siteSectionGroupId']}"
    site.call("PATCH", group, 200, {"draft": True})
    listed = {one["id"]: one for one in site.call("GET", "drafts", 200)["items"]}
    assert listed[home["siteSectionGroupId"]]["pages"] > 0
    # The section that the site starts with is in the group.
    assert site.see(home["pagePath"])[0] == 404
    site.call("PATCH", f"sections/{home['siteSectionId']}", 200, {"draft": True})
    listed = {one["id"]: one for one in site.call("GET", "drafts", 200)["items"]}
    assert listed[home["siteSectionId"]]["within"] == home["siteSectionGroupId"]
    space = site.world.get("admin", home.path("/spaces/{spaceId}"))
    assert "published" not in space["urls"], space["urls"]
    left = site.call(
        "POST", "drafts/publish", 200, {"items": [home["siteSectionGroupId"], home["siteSectionId"]]}
    )
    assert [one["object"] for one in left["items"]] == ["site-external-link"]
    assert site.see(home["pagePath"])[0] == 200


def test_drafts_are_published_together_or_not_at_all(site: Site) -> None:
    home = site.world.home
    body = {"source": "/new", "draft": True, "destination": {"kind": "external", "url": "https://x.test/"}}
    redirect = site.call("POST", "redirects", 201, body)["id"]
    link = home["siteExternalLinkId"]
    for wrong in ("nothing", site.world.away["siteSectionId"], site.world.away["siteRedirectId"]):
        site.call("POST", "drafts/publish", 404, {"items": [link, wrong]})
    assert {one["id"] for one in site.call("GET", "drafts", 200)["items"]} == {link, redirect}
    assert site.see("new")[0] == 404
    assert site.call("POST", "drafts/publish", 200, {"items": [redirect, link]})["items"] == []
    assert site.see("new")[0] == 307
    site.call("POST", "drafts/publish", 200, {"items": [redirect, link], "draft": True})
    assert site.see("new")[0] == 404 and "forum.test" not in site.see()[1]


def test_a_draft_of_a_deleted_page_has_no_page_to_open(site: Site) -> None:
    """A draft whose target is gone can be published and deleted, and leads nowhere. A deleted draft can't be
    published, and nothing else is published with it."""
    home, world = site.world.home, site.world
    page = {"kind": "site-page", "siteSpaceId": home["siteSpaceId"], "pageId": home["pageId"]}
    shown = {"kind": "site-space", "siteSpaceId": home["otherSiteSpaceId"]}
    drafts = [
        site.call("POST", "redirects", 201, {"source": f"/{name}", "draft": True, "destination": to})["id"]
        for name, to in (("to-page", page), ("to-space", shown), ("gone", page))
    ]
    changes = f"/spaces/{home['spaceId']}/content"
    world.post("admin", changes, {"changes": [{"operation": "delete_page", "page": home["pageId"]}]})
    site.call("DELETE", f"site-spaces/{home['otherSiteSpaceId']}", 205)
    site.call("DELETE", f"redirects/{drafts[2]}", 205)
    left = {one["id"] for one in site.call("GET", "drafts", 200)["items"]}
    assert drafts[2] not in left
    site.call("POST", "drafts/publish", 404, {"items": [*sorted(left), drafts[2]]})
    assert {one["id"] for one in site.call("GET", "drafts", 200)["items"]} == left
    site.call("POST", "drafts/publish", 200, {"items": sorted(left)})
    for name in ("to-page", "to-space", "gone"):
        assert site.see(name)[0] == 404, name
    for one in site.call("GET", "redirects", 200)["items"]:
        site.call("DELETE", f"redirects/{one['id']}", 205)


def test_a_site_can_have_external_links(site: Site) -> None:
    home = site.world.home
    body = {"title": "Ask", "url": "https://ask.test/", "parent": home["siteSectionGroupId"]}
    made = site.call("POST", "external-links", 201, {**body, "localizedTitle": {"de": "Fragen"}})
    assert made["sectionGroup"] == body["parent"] and made["draft"] is False
    assert 'href="https://ask.test/" target="_blank"' in site.see()[1]
    there = f"external-links/{made['id']}"
    moved = site.call("PATCH", there, 200, {"parent": None, "condition": "visitor.claims.paying"})
    assert "sectionGroup" not in moved and "ask.test" not in site.see()[1]
    pointer = {"type": "site-external-link", "id": made["id"]}
    section = {"type": "site-section", "id": home["otherSiteSectionId"]}
    sort = {"item": pointer, "position": {"before": section}}
    assert site.call("PATCH", "structure/sort", 200, sort)["object"] == "site-external-link"
    whole = [one["id"] for one in site.call("GET", "structure", 200)["structure"]]
    assert whole.index(made["id"]) < whole.index(home["otherSiteSectionId"])
    site.call("PATCH", there, 200, {"parent": home["siteSectionGroupId"]})
    site.call("DELETE", f"section-groups/{home['siteSectionGroupId']}", 205)
    assert "sectionGroup" not in site.call("PATCH", there, 200, {})
    for wrong in (
        {"title": "x"},
        {"url": "javascript:alert(1)"},
        {"localizedTitle": {"xx-nowhere": "Fragen"}},
        {"localizedTitle": {"de": " "}},
        {"condition": "a b"},
    ):
        site.call("POST", "external-links", 400, {"title": "Ask", "url": "https://ask.test/", **wrong})
    site.call("POST", "external-links", 404, {**body, "parent": site.world.away["siteSectionGroupId"]})
    for _ in range(MAX_LINKS - 2):
        site.call("POST", "external-links", 201, {"title": "Ask", "url": "https://ask.test/", "draft": True})
    site.call("POST", "external-links", 409, {"title": "Ask", "url": "https://ask.test/"})


def test_a_site_space_starts_with_its_home_page(site: Site) -> None:
    home = site.world.home
    there = f"site-spaces/{home['siteSpaceId']}"
    first = site.see()[1]
    pages = site.world.get("admin", home.path("/spaces/{spaceId}/content/pages"))["pages"]
    page = next(one for one in reversed(pages) if one["type"] == "document")
    assert site.call("PATCH", there, 200, {"pageId": page["id"]})["pageId"] == page["id"]
    assert f"<h1>{page['title']}" in site.see()[1] or page["title"] in site.see()[1]
    assert site.see()[1] != first
    # Its own path opens the home page, and the first page has a separate path.
    answer = site.visitor.get(f"{site.base}{page['path']}")
    assert (answer.status_code, answer.headers["location"]) == (307, site.base)
    assert site.see(pages[0]["path"])[0] == 200
    site.call("PATCH", there, 404, {"pageId": "nothing"})
    assert "pageId" not in site.call("PATCH", there, 200, {"pageId": None})
    assert site.see()[1] == first


def test_hidden_variants_keep_their_urls(site: Site) -> None:
    home = site.world.home
    there = f"site-spaces/{home['otherSiteSpaceId']}"
    shown = site.call("PATCH", there, 200, {"title": "Second edition", "localizedTitle": {"de": "Zweite"}})
    assert (shown["title"], shown["localizedTitle"]) == ("Second edition", {"de": "Zweite"})
    assert "Second edition" in site.see()[1]
    assert site.call("PATCH", there, 200, {"hidden": True})["hidden"] is True
    assert "Second edition" not in site.see()[1]
    assert site.see(f"{shown['path']}/")[0] in (200, 307)
    assert site.call("PATCH", there, 200, {"title": None, "localizedTitle": {}})["title"] != "Second edition"


def test_a_copy_of_a_site_space_is_a_section_or_a_variant(site: Site) -> None:
    home = site.world.home
    spaces = {one["id"]: one for one in site.call("GET", "site-spaces", 200)["items"]}
    alone = next(one for one in spaces.values() if one["section"] == home["otherSiteSectionId"])
    made = site.call("POST", f"site-spaces/{alone['id']}/duplicate", 201, {"draft": True})
    assert made["section"] != alone["section"] and made["space"]["id"] != alone["space"]["id"]
    sections = [one["id"] for one in site.call("GET", "sections", 200)["items"]]
    assert sections.index(made["section"]) == sections.index(alone["section"]) + 1
    assert [one["draft"] for one in site.call("GET", "sections", 200)["items"]].count(True) == 1
    variant = site.call("POST", f"site-spaces/{home['siteSpaceId']}/duplicate", 201)
    assert variant["section"] == home["siteSectionId"] and variant["draft"] is False


def test_new_spaces_of_a_site_start_with_a_template(site: Site) -> None:
    section = {"spaceId": None, "title": "Runbooks", "template": {"id": "runbook"}}
    made = site.call("POST", "sections", 201, section)
    space = made["siteSpaces"][0]["space"]
    assert space["title"] == "Runbooks"
    pages = site.world.get("admin", f"/spaces/{space['id']}/content/pages")["pages"]
    assert pages, "the template has pages"
    variant = {"spaceId": None, "sectionId": made["id"], "draft": True}
    added = site.call("POST", "site-spaces", 201, variant)
    assert added["draft"] and added["section"] == made["id"] and added["space"]["title"] == "Untitled"
    count = len(site.world.get("admin", site.world.home.path("/orgs/{organizationId}/spaces"))["items"])
    home = site.world.home
    for wrong, field in (
        ({**section, "spaceId": home["spaceId"]}, "template: "),
        ({**section, "pageId": home["pageId"]}, "pageId: "),
        ({**section, "template": {"id": "blank", "params": {"contentRefs": {"x": {"kind": "nothing"}}}}}, ""),
    ):
        answer = site.world.call("admin", "POST", f"{site.path}/sections", json=wrong)
        assert answer.status_code == 400 and field in answer.text, answer.text
    site.call("POST", "sections", 404, {**section, "template": {"id": "none"}})
    assert len(site.world.get("admin", home.path("/orgs/{organizationId}/spaces"))["items"]) == count


def test_a_site_is_filled_with_a_structure_once(site: Site) -> None:
    organization = site.world.home.path("/orgs/{organizationId}/sites")
    empty = site.world.post("admin", organization, {"title": "Empty"})["id"]
    path = f"{organization}/{empty}/template"
    assert site.world.call("reader", "POST", path).status_code == 403
    assert site.world.call("admin", "POST", path).status_code == 200
    sections = site.world.get("admin", f"{organization}/{empty}/sections")["items"]
    assert [one["title"] for one in sections] == ["Documentation", "Changelog"]
    assert site.world.call("admin", "POST", path).status_code == 409


def test_a_minimal_response_is_empty(site: Site) -> None:
    home = site.world.home
    for path, body in (
        (f"sections/{home['siteSectionId']}", {"title": "Renamed"}),
        (f"section-groups/{home['siteSectionGroupId']}", {"title": "Renamed"}),
        (f"site-spaces/{home['siteSpaceId']}", {"hidden": False}),
        (f"external-links/{home['siteExternalLinkId']}", {"title": "Renamed"}),
    ):
        answer = site.call("PATCH", path, 204, body, prefer="return=minimal")
        assert answer.headers["preference-applied"] == "return=minimal"
        assert site.call("PATCH", path, 200, body, prefer="return=representation")["id"]


def test_parts_move_between_groups(site: Site) -> None:
    home = site.world.home
    inner = site.call("POST", "section-groups", 201, {"title": "Inner", "draft": True})["id"]
    group = home["siteSectionGroupId"]
    moved = site.call("PATCH", f"section-groups/{inner}", 200, {"parentSectionGroupId": group})
    assert moved["sectionGroup"] == group and moved["draft"]
    site.call("PATCH", f"section-groups/{group}", 400, {"parentSectionGroupId": inner})
    section = f"sections/{home['otherSiteSectionId']}"
    assert site.call("PATCH", section, 200, {"siteSectionGroupId": inner})["sectionGroup"] == inner
    assert "sectionGroup" not in site.call("PATCH", section, 200, {"siteSectionGroupId": None})
    body = {"spaceId": home["spaceId"], "siteSectionGroupId": inner, "pageId": home["pageId"]}
    made = site.call("POST", "sections", 201, body)
    assert made["sectionGroup"] == inner and made["siteSpaces"][0]["pageId"] == home["pageId"]
    away = site.world.away
    site.call("POST", "sections", 404, {**body, "siteSectionGroupId": away["siteSectionGroupId"]})
    site.call("PATCH", section, 404, {"siteSectionGroupId": away["siteSectionGroupId"]})
