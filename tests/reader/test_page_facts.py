"""What the head of a page says to search engines: its address, its other languages, JSON-LD."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from visiting import Visitor
from world import World

HOSTILE = "</script><script>alert(1)</script>\"'&<!-- \\u003c"


class Site:
    """A published site: ``pages`` of each variant as title and slug, by its language, or by another name."""

    def __init__(self, world: World, pages: dict[str, list[tuple[str, str]]], title: str = "Docs") -> None:
        path = world.home.path("/orgs/{organizationId}")
        spaces = [self._space(world, f"{path}/spaces", *each) for each in pages.items()]
        self.path = f"{path}/sites"
        self.path += "/" + world.post("admin", self.path, {"title": title, "spaces": spaces})["id"]
        self.url = world.post("admin", f"{self.path}/publish")["urls"]["published"]
        shown = world.get("admin", f"{self.path}/site-spaces")["items"]
        self.bases = dict(zip(pages, [one["path"] for one in shown], strict=True))
        self._visitor = Visitor(world.context)

    def _space(self, world: World, path: str, name: str, pages: list[tuple[str, str]]) -> str:
        body = {"title": name, **({"language": name} if name in ("en", "de") else {})}
        space: str = world.post("admin", path, body)["id"]
        change = world.post("admin", f"/spaces/{space}/change-requests", {"subject": "Fill"})["id"]
        changes = [
            {"operation": "insert_page", "title": title, "slug": slug, "document": {"markdown": "Words.\n"}}
            for title, slug in pages
        ]
        at = f"/spaces/{space}/change-requests/{change}"
        world.post("admin", f"{at}/content", {"changes": changes})
        world.post("admin", f"{at}/merge")
        return space

    def get(self, path: str = "") -> httpx.Response:
        return self._visitor.get(urlsplit(self.url).path + path)


def alternates(html: str) -> dict[str, str]:
    return dict(re.findall(r'<link rel="alternate" hreflang="([^"]*)" href="([^"]*)">', html))


def facts(html: str) -> dict[str, dict[str, Any]]:
    found = re.findall(r'<script type="application/ld\+json">(.*?)</script>', html, re.DOTALL)
    assert len(found) == 1
    return {item["@type"]: item for item in json.loads(found[0])["@graph"]}


@pytest.mark.sqlite_first
def test_languages_name_each_other_where_they_have_the_page(world: World) -> None:
    pages = {"en": [("Home", "home"), ("More", "more")], "de": [("Start", "home"), ("Nur hier", "nur-hier")]}
    site = Site(world, pages)
    german = site.bases["de"]
    both = {"en": site.url, "de": f"{site.url}{german}/"}
    for path in ("", f"{german}/"):
        html = site.get(path).text
        assert alternates(html) == both
        assert f'<link rel="canonical" href="{site.url}{path}">' in html
    assert alternates(site.get("more").text) == alternates(site.get(f"{german}/nur-hier").text) == {}


@pytest.mark.sqlite_first
def test_versions_are_no_translations(world: World) -> None:
    site = Site(world, {"First": [("Home", "home")], "Second": [("Home", "home")]})
    html = site.get().text
    assert "Second" in html and alternates(html) == {}


def test_facts_of_a_page_are_only_data(world: World) -> None:
    site = Site(world, {"en": [("Home", "home"), (HOSTILE, "odd")]}, title="</script><b>Docs")
    answer = site.get("odd")
    said = facts(answer.text)
    assert said["TechArticle"]["headline"] == HOSTILE
    assert said["TechArticle"]["isPartOf"]["name"] == "</script><b>Docs"
    trail = [
        (step["position"], step["name"], step["item"]) for step in said["BreadcrumbList"]["itemListElement"]
    ]
    assert trail == [(1, "</script><b>Docs", site.url), (2, HOSTILE, f"{site.url}odd")]
    assert "<script>alert" not in answer.text and "<b>Docs" not in answer.text
    # Data is not run, so the policy needs no word for it.
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy and policy == site.get().headers["content-security-policy"]
    assert len(facts(site.get().text)["BreadcrumbList"]["itemListElement"]) == 1


@pytest.mark.sqlite_first
def test_sites_that_are_not_listed_say_nothing(world: World) -> None:
    site = Site(world, {"en": [("Home", "home")]})
    assert facts(site.get().text)
    answer = world.call("admin", "PATCH", site.path, json={"visibility": "unlisted"})
    assert answer.status_code == 200
    page = site.get()
    assert page.status_code == 200 and "ld+json" not in page.text
