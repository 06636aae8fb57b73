"""Separate renderers get the same redirects as the reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from octavo.operations.admin.docs_sites import import_as_site_or_space
from visiting import Visitor
from world import World

pytestmark = pytest.mark.sqlite_first

DOCS = """site:
  title: Led
  structure:
    - {type: section, key: guide, title: Guides, path: guide, default: true, children: [
        {type: space, key: now, title: Now, default: true, content: {directory: now}},
        {type: space, key: old, title: Old, path: v1, content: {directory: old}}]}
    - {type: section, key: api, title: API, path: api, children: [
        {type: space, key: api, title: API, default: true, content: {directory: api}}]}
    - {type: section, key: paid, title: Paid, path: paid, condition: visitor.claims.paying, children: [
        {type: space, key: paid, title: Paid, content: {directory: paid}}]}
"""
FILES = {
    "docs.yaml": DOCS,
    "now/.gitbook.yaml": (
        "redirects:\n  gone: more.md\n  Case: more.md#words\n"
        "  secret: members.md\n  news/*: README.md\n"
        "  shop: https://shop.example.org/a\n  loop: http://127.0.0.1:8001/x\n  both: more.md\n"
    ),
    "now/README.md": "# Now\n",
    "now/more.md": "# More\n",
    "now/members.md": "---\nif: visitor.claims.paying\n---\n\n# Members\n",
    "old/.gitbook.yaml": "redirects:\n  gone: README.md\n",
    "old/README.md": "# Old\n",
    "api/.gitbook.yaml": "redirects:\n  calls/first: calls.md\n",
    "api/README.md": "# API\n",
    "api/calls.md": "# Calls\n",
    "paid/.gitbook.yaml": "redirects:\n  gone: README.md\n",
    "paid/README.md": "# Paid\n",
}
PATHS = (
    "gone",
    "GONE",
    "case",
    "secret",
    "news/today",
    "news",
    "shop",
    "loop",
    "both",
    "nothing",
    "v1/gone",
    "v1/nothing",
    "api/calls/first",
    "API/Calls/First",
    "api/gone",
    "calls/first",
    "paid/gone",
    "reference/calls",
    "reference",
    "to-page",
    "to-section",
    "to-paid",
    "old-news/x/y",
    "guide",
    "away",
)


class Site:
    def __init__(self, world: World, folder: Path) -> None:
        self.world = world
        for name, text in FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        # The API's former location.
        (folder / "docs.yaml").write_text(DOCS.replace("path: api", "path: reference"))
        self._bring(folder)
        (folder / "docs.yaml").write_text(DOCS)
        made = self._bring(folder)
        self.path = world.home.path("/orgs/{organizationId}/sites/") + made.site
        self.url: str = made.site_url
        self.base = urlsplit(made.site_url).path
        sections = {one["title"]: one for one in world.get("admin", f"{self.path}/sections")["items"]}
        api = sections["API"]["siteSpaces"][0]
        pages = world.get("admin", f"/spaces/{api['space']['id']}/content/pages")["pages"]
        calls = next(page["id"] for page in pages if page["title"] == "Calls")
        for source, to in {
            "/both": {"kind": "url", "url": "https://elsewhere.example.org/"},
            "/away": {"kind": "url", "url": "https://elsewhere.example.org/"},
            "/to-page": {"kind": "site-page", "siteSpaceId": api["id"], "pageId": calls},
            "/to-section": {"kind": "site-section", "siteSectionId": sections["API"]["id"]},
            "/to-paid": {"kind": "site-section", "siteSectionId": sections["Paid"]["id"]},
            "/old-news/*": {"kind": "site-space", "siteSpaceId": api["id"]},
        }.items():
            world.post("admin", f"{self.path}/redirects", {"source": source, "destination": to})

    def _bring(self, folder: Path) -> Any:
        organization = self.world.home["organizationId"]
        return import_as_site_or_space(
            self.world.context, str(folder), organization_id=organization, publish=True
        )

    def read(self, token: str, path: str, **query: Any) -> Any:
        headers = {"authorization": f"Bearer {token}"}
        return self.world.call("nobody", "GET", f"{self.path}/{path}", headers=headers, params=query)


@pytest.fixture
def site(world: World, tmp_path: Path) -> Site:
    return Site(world, tmp_path)


def led(visitor: Visitor, base: str, path: str, origin: str) -> str | None:
    """Return the final target of the reader's redirects from a path without content."""
    found = None
    answer = visitor.get(f"{base}{path}")
    while answer.status_code == 307:
        location: str = answer.headers["location"]
        found = f"{origin}{location}" if location.startswith("/") else location
        if not location.startswith("/"):
            break
        answer = visitor.get(location)
    return found if answer.status_code < 400 else None


def test_renderers_get_the_redirects_of_the_reader(site: Site) -> None:
    parts = urlsplit(site.url)
    visitor, origin = Visitor(site.world.context), f"{parts.scheme}://{parts.netloc}"
    token = site.world.post("nobody", "/urls/published", {"url": site.url})["apiToken"]
    found = {}
    for path in PATHS:
        answer = site.read(token, "redirect", source=f"/{path}")
        found[path] = answer.json()["target"] if answer.status_code == 200 else None
        assert answer.status_code in (200, 404), answer.text
        assert found[path] == led(visitor, site.base, path, origin), path
    assert found["gone"] == found["GONE"] == f"{site.url}more"
    assert found["v1/gone"] == f"{site.url}v1/" and found["case"] == f"{site.url}more#words"
    assert (
        found["reference/calls"] == f"{site.url}api/calls"
        and found["api/calls/first"] == f"{site.url}api/calls"
    )
    assert found["shop"] == "https://shop.example.org/a" and found["both"] == f"{site.url}more"
    assert {path for path, target in found.items() if target is None} == {
        "secret",
        "news",
        "loop",
        "nothing",
        "v1/nothing",
        "api/gone",
        "calls/first",
        "paid/gone",
        "to-paid",
        "guide",
    }


def test_redirect_targets_keep_the_share_key(site: Site) -> None:
    link = site.world.post("admin", f"{site.path}/share-links", {"name": "Friends"})
    answer = site.world.call("admin", "PATCH", site.path, json={"visibility": "share-link"})
    assert answer.status_code == 200
    url = link["urls"]["published"].rstrip("/") + "/"
    shown = site.world.post("nobody", "/urls/published", {"url": url})
    query = {"source": "/api/calls/first", "shareKey": shown["shareKey"]}
    answer = site.read(shown["apiToken"], "redirect", **query)
    assert answer.json()["target"] == f"{url}api/calls"
    assert site.read(shown["apiToken"], "redirect", source="/gone", shareKey="other").status_code == 404


def test_members_see_redirects_that_they_can_edit(site: Site) -> None:
    assert (
        site.world.get("admin", f"{site.path}/redirect?source=/both")["target"]
        == "https://elsewhere.example.org/"
    )
    assert site.world.call("admin", "GET", f"{site.path}/redirect?source=/gone").status_code == 404
