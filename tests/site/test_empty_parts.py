"""Tests of empty parts of a site: readers don't see them, and members who preview it see a note."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from octavo.operations.admin.docs_sites import import_as_site_or_space
from octavo.operations.admin.import_export import import_space
from visiting import Visitor

pytestmark = pytest.mark.sqlite_first

DOCS = """site:
  title: Half done
  structure:
    - {type: section, key: guide, title: Guides, default: true, children: [
        {type: space, key: guide, title: Guide, default: true, content: {directory: guide}}]}
    - {type: section, key: soon, title: Coming, path: soon, children: [
        {type: space, key: soon, title: Coming, default: true, content: {directory: soon}}]}
    - type: section-group
      key: group
      title: Gathered
      children:
        - {type: space, key: later, title: Later, path: later, content: {directory: later}}
    - {type: section, key: api, title: API, path: api, children: [
        {type: space, key: v2, title: Version two, path: v2, default: true, content: {directory: v2}},
        {type: space, key: v1, title: Version one, path: v1, content: {directory: v1}}]}
"""
PAGE = {"README.md": "# Words\n"}
NOTHING = {"picture.txt": "no page\n"}


class Site:
    def __init__(self, world: Any, folder: Path, full: tuple[str, ...]) -> None:
        self.world, self.folder = world, folder
        for name in ("guide", "soon", "later", "v2", "v1"):
            self.write(name, PAGE if name in full else NOTHING)
        (folder / "docs.yaml").write_text(DOCS)
        made = import_as_site_or_space(
            world.context, str(folder), organization_id=world.home["organizationId"], publish=True
        )
        self.id: str = made.site
        self.base = urlsplit(made.site_url).path
        self.spaces = {key: one.outcome.space for key, one in made.spaces.items()}
        self.visitor = Visitor(world.context)

    def write(self, name: str, files: dict[str, str]) -> None:
        (self.folder / name).mkdir(parents=True, exist_ok=True)
        for path in (self.folder / name).iterdir():
            path.unlink()
        for path, text in files.items():
            (self.folder / name / path).write_text(text)

    def fill(self, name: str, files: dict[str, str]) -> None:
        self.write(name, files)
        import_space(self.world.context, str(self.folder / name), space_id=self.spaces[name], whole=True)

    def get(self, path: str = "", **headers: str) -> Any:
        return self.visitor.get(self.base + path, **headers)

    def tabs(self, path: str = "", **headers: str) -> list[str]:
        """Return the targets of the tabs on a page, below the site."""
        text = self.get(path, **headers).text
        nav = re.search(r'<nav class="sections".*?</nav>', text, re.DOTALL)
        return [href.removeprefix(self.base) for href in re.findall(r'href="([^"]+)"', nav[0])] if nav else []


@pytest.fixture
def site(world: Any, tmp_path: Path) -> Site:
    return Site(world, tmp_path, ("guide", "v1"))


def test_no_tab_is_empty(site: Site) -> None:
    # The default variant of the API has no page, so its tab opens the variant that has one.
    assert site.tabs() == ["", "api/v1/"]
    assert all(site.get(tab).status_code == 200 for tab in site.tabs())
    assert "Gathered" not in site.get().text and "Version two" not in site.get("api/v1/").text
    assert [site.get(path).status_code for path in ("soon/", "later/", "api/v2/")] == [404, 404, 404]
    assert site.get("api/").headers["location"] == f"{site.base}api/v1/"


def test_a_tab_appears_with_the_first_page_and_disappears_with_the_last(site: Site) -> None:
    assert site.tabs() == ["", "api/v1/"]
    site.fill("soon", PAGE)
    assert site.tabs() == ["", "soon/", "api/v1/"]
    site.fill("later", {"README.md": "---\nhidden: true\n---\n\n# Hidden\n"})
    # The section starts at its first page even if that is hidden.
    assert site.tabs() == ["", "soon/", "later/", "api/v1/"] and site.get("later/").status_code == 200
    site.fill("v2", PAGE)
    assert site.tabs()[-1] == "api/"
    site.fill("soon", NOTHING)
    site.fill("later", NOTHING)
    assert site.tabs() == ["", "api/"]
    site.fill("guide", NOTHING)
    assert site.get().headers["location"] == f"{site.base}api/"


def test_renderers_see_the_same_structure(site: Site) -> None:
    origin = site.world.context.settings.sites_url
    found = site.world.call("nobody", "POST", "/urls/published", json={"url": f"{origin}{site.base}"}).json()
    published = site.world.call(
        "nobody",
        "GET",
        f"/orgs/{found['organization']}/sites/{found['site']}/published",
        headers={"authorization": f"Bearer {found['apiToken']}"},
    ).json()
    structure = published["structure"]["structure"]
    shown = [one["title"] for section in structure for one in section["siteSpaces"]]
    assert shown == ["Guide", "Version one"]


def test_previews_of_empty_spaces_show_a_note(site: Site) -> None:
    path = site.world.home.path("/orgs/{organizationId}/sites/") + f"{site.id}/publishing/preview"
    url = site.world.get("admin", path)["url"]
    cookie = site.get(f"?{urlsplit(url).query}").headers["set-cookie"].partition(";")[0]
    assert site.tabs(cookie=cookie) == ["", "soon/", "later/", "api/"]
    for tab in ("soon/", "later/", "api/"):
        answer = site.get(tab, cookie=cookie)
        assert (answer.status_code, "No pages yet" in answer.text) == (404, True)
    assert "No pages yet" not in site.get("soon/nowhere", cookie=cookie).text


def test_a_site_without_pages_shows_a_note(world: Any, tmp_path: Path) -> None:
    site = Site(world, tmp_path, ())
    assert site.get().status_code == 404 and "No pages yet" in site.get().text
    site.fill("v1", PAGE)
    assert site.get().headers["location"] == f"{site.base}api/v1/"
