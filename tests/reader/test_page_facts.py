"""Metadata for search engines in the head of a page: its URL, its other languages, JSON-LD."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import lxml.html
import pytest

from octavo.operations.admin.import_export import import_space
from visiting import Visitor
from world import World

HOSTILE = "</script><script>alert(1)</script>\"'&<!-- \\u003c"


class Site:
    """Published site: ``pages`` of each variant as title and slug, by its language or by another name."""

    def __init__(self, world: World, pages: dict[str, list[tuple[str, str]]], title: str = "Docs") -> None:
        path = world.home.path("/orgs/{organizationId}")
        self._world = world
        spaces = [self._space(world, f"{path}/spaces", *each) for each in pages.items()]
        self.spaces = dict(zip(pages, spaces, strict=True))
        self.path = f"{path}/sites"
        self.path += "/" + world.post("admin", self.path, {"title": title, "spaces": spaces})["id"]
        self.url = world.post("admin", f"{self.path}/publish")["urls"]["published"]
        shown = world.get("admin", f"{self.path}/site-spaces")["items"]
        self.bases = dict(zip(pages, [one["path"] for one in shown], strict=True))
        self._visitor = Visitor(world.context)

    def _space(self, world: World, path: str, name: str, pages: list[tuple[str, str]]) -> str:
        body = {"title": name, **({"language": name} if name in ("en", "de") else {})}
        space: str = world.post("admin", path, body)["id"]
        changes = [
            {"operation": "insert_page", "title": title, "slug": slug, "document": {"markdown": "Words.\n"}}
            for title, slug in pages
        ]
        self._edit(space, changes)
        return space

    def fill(self, name: str, *changes: dict[str, Any]) -> None:
        self._edit(self.spaces[name], list(changes))

    def _edit(self, space: str, changes: list[dict[str, Any]]) -> None:
        at = f"/spaces/{space}/change-requests"
        at += "/" + self._world.post("admin", at, {"subject": "Fill"})["id"]
        self._world.post("admin", f"{at}/content", {"changes": changes})
        self._world.post("admin", f"{at}/merge")

    def get(self, path: str = "") -> httpx.Response:
        return self._visitor.get(urlsplit(self.url).path + path)


def alternates(html: str) -> dict[str, str]:
    return dict(re.findall(r'<link rel="alternate" hreflang="([^"]*)" href="([^"]*)">', html))


def facts(html: str) -> dict[str, dict[str, Any]]:
    found = re.findall(r'<script type="application/ld\+json">(.*?)</script>', html, re.DOTALL)
    assert len(found) == 1
    return {item["@type"]: item for item in json.loads(found[0])["@graph"]}


@pytest.mark.sqlite_first
def test_languages_link_to_each_other_if_they_have_the_page(world: World) -> None:
    pages = {"en": [("Home", "home"), ("More", "more")], "de": [("Start", "home"), ("Nur hier", "nur-hier")]}
    site = Site(world, pages)
    german = site.bases["de"]
    both = {"en": site.url, "de": f"{site.url}{german}/"}
    for path in ("", f"{german}/"):
        html = site.get(path).text
        assert alternates(html) == both
        assert f'<link rel="canonical" href="{site.url}{path}">' in html
    assert alternates(site.get("more").text) == alternates(site.get(f"{german}/nur-hier").text) == {}
    home = urlsplit(site.url).path
    # The picker opens the same page, or the start of a variant without it.
    for path, current, links in (
        ("", "en", {"en": home, "de": f"{home}{german}/"}),
        ("more", "en", {"en": home, "de": f"{home}{german}/"}),
        (f"{german}/nur-hier", "de", {"en": home, "de": f"{home}{german}/"}),
    ):
        picker = lxml.html.fromstring(site.get(path).text).xpath("//details[contains(@class, 'variants')]//a")
        assert {link.get("hreflang"): link.get("href") for link in picker} == links
        assert [link.get("hreflang") for link in picker if link.get("aria-current")] == [current]


@pytest.mark.sqlite_first
def test_pages_specify_their_canonical_page_and_alternates(world: World) -> None:
    site = Site(world, {"en": [("Home", "home"), ("Older", "older")], "de": [("Start", "start")]})
    start = f"https://octavo.test/s/{site.spaces['de']}/start"
    meta = f"metaLinks:\n  canonical: README.md\n  alternates: [{start}, 'https://bücher.example/a>b', nowhere.md]"
    site.fill("en", {"operation": "insert_page", "document": {"markdown": f"---\n{meta}\n---\n\n# Newer\n"}})
    answer = site.get("newer")
    assert f'<link rel="canonical" href="{site.url}">' in answer.text
    assert alternates(answer.text) == {"de": f"{site.url}{site.bases['de']}/"}
    assert '<link rel="alternate" href="https://xn--bcher-kva.example/a%3Eb">' in answer.text
    assert "nowhere" not in answer.text
    assert f'<{site.url}>; rel="canonical"' in site.get("newer.md").headers["link"]
    site.fill(
        "en", {"operation": "insert_page", "document": {"markdown": "---\nmetaLinks: 5\n---\n\n# Odd\n"}}
    )
    assert f'<link rel="canonical" href="{site.url}odd">' in site.get("odd").text


@pytest.mark.sqlite_first
def test_versions_are_not_marked_as_translations(world: World) -> None:
    site = Site(world, {"First": [("Home", "home")], "Second": [("Home", "home")]})
    html = site.get().text
    assert "Second" in html and alternates(html) == {}


def test_structured_data_of_a_page_is_only_data(world: World) -> None:
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
    # Data doesn't run, so the policy doesn't need to allow it.
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy and policy == site.get().headers["content-security-policy"]
    assert len(facts(site.get().text)["BreadcrumbList"]["itemListElement"]) == 1


@pytest.mark.sqlite_first
def test_unlisted_sites_have_no_structured_data(world: World) -> None:
    site = Site(world, {"en": [("Home", "home")]})
    assert facts(site.get().text)
    answer = world.call("admin", "PATCH", site.path, json={"visibility": "unlisted"})
    assert answer.status_code == 200
    page = site.get()
    assert page.status_code == 200 and "ld+json" not in page.text


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("---\ndescription: Said by hand\n---\n\n# A\n\nOther words.\n", "Said by hand"),
        (
            "# A\n\nInstall **it** with `pip` & [go](https://example.org). Then rest.\n",
            "Install it with pip &amp; go.",
        ),
        ('# A\n\n{% hint style="info" %}\nMind this first! And that.\n{% endhint %}\n', "Mind this first!"),
        (f"# A\n\n{'word ' * 80}\n", f"{'word ' * 32}".strip()[:159] + "…"),
        ("# A\n\n```\ncode\n```\n", None),
        (f"# A\n\n{HOSTILE}\n", ""),
    ],
)
def test_every_page_with_text_has_a_meta_description(
    world: World, tmp_path: Path, text: str, about: str | None
) -> None:
    (tmp_path / "README.md").write_text(text)
    organization = world.home["organizationId"]
    brought = import_space(
        world.context, str(tmp_path), organization_id=organization, title="T", publish=True
    )
    html = Visitor(world.context).get(urlsplit(str(brought.site_url)).path).text
    found = re.findall(
        r'<meta (?:name|property)="(?:og:)?description" content="([^"]*)"(?: data-from-text)?>', html
    )
    assert found == ([found[0]] * 2 if about == "" else [about, about] if about else [])
    assert "<script>alert(1)" not in html


@pytest.mark.sqlite_first
def test_search_landmarks_have_distinct_names(world: World) -> None:
    site = Site(world, {"en": [("A", "a")]})
    for path in ("/en/a", "/en/~search?q=words", "/en/nowhere", "/a", "/~search?q=words", "/nowhere"):
        html = site.get(path).text
        landmarks = re.findall(r'<form[^>]* role="search"[^>]*>', html)
        labels = [re.search(' aria-label="([^"]+)"', one) for one in landmarks]
        assert all(labels) and len({one[1] for one in labels if one}) == len(landmarks), (path, landmarks)
