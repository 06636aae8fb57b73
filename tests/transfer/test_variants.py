"""Tests of versions and languages of one source: each becomes a part with its own tree, links, and texts."""

import re
from urllib.parse import unquote, urlsplit

import pytest

from octavo.errors import Forbidden
from octavo.interchange.transfer import variants
from octavo.operations.admin.docs_sites import ImportedSite, import_as_site_or_space
from octavo.operations.admin.import_export import preview
from octavo.sites.site.redirects import importing
from readers.test_variants import DOCUSAURUS, with_links
from transfer.bringing_in import archive
from visiting import Visitor


@pytest.fixture
def project(tmp_path):
    for path, said in DOCUSAURUS.items():
        (tmp_path / "acme" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "acme" / path).write_bytes(said if isinstance(said, bytes) else said.encode())
    return str(tmp_path / "acme")


def test_the_command_creates_a_site_with_variants(world, project, monkeypatch):
    organization = world.home["organizationId"]
    looked = preview(world.context, project)
    assert [(one.title, one.page_count) for one in looked.plan.variants][:3] == [
        ("2.0 · English", 2),
        ("2.0 · Deutsch", 2),
        ("Canary · English", 2),
    ]
    made = import_as_site_or_space(world.context, project, organization_id=organization)
    assert isinstance(made, ImportedSite) and len(made.spaces) == 6 and made.problems == []
    site = f"/orgs/{organization}/sites/{made.site}"
    shown = world.get("admin", f"{site}/site-spaces")["items"]
    assert [one["title"] for one in shown if one["default"]] == ["2.0 · English"]
    spaces = {one["space"]["title"]: one["space"].get("language") for one in shown}
    assert spaces["2.0 · Deutsch"] == "de"
    led = {one["source"] for one in world.get("admin", f"{site}/redirects")["items"]}
    assert {"/docs/next/guides/new", "/docs/1.0/intro", "/de/docs/guides/old"} <= led
    # The second import updates the same site, with nothing new. Redirects above the limit are counted.
    monkeypatch.setattr(importing, "MAX_REDIRECTED", 1)
    again = import_as_site_or_space(world.context, project, organization_id=organization)
    assert again.site == made.site and [one.outcome.changed for one in again.spaces.values()] == [0] * 6
    assert again.problems and all(one.code == "redirect_left_out" for one in again.problems)
    assert again.problems[0].message.startswith("1 old URL not redirected because of the limit (1 at a time")
    alone = import_as_site_or_space(world.context, project, organization_id=organization, several=False)
    assert not isinstance(alone, ImportedSite)


def archived(files=DOCUSAURUS):
    return archive(dict(files))


def start(imports, who="admin", **more):
    key = imports.upload("acme.zip", archived(more.pop("files", DOCUSAURUS)), who)
    target = {"space": imports.space, **more.pop("target", {})}
    body = {"source": {"type": "file", "files": [key]}, "target": target, "variants": True, **more}
    return imports.world.call(who, "POST", imports.runs, json=body)


def finished(imports, answer):
    assert answer.status_code == 201, answer.text
    imports.work()
    return imports.world.get("admin", f"{imports.runs}/{answer.json()['id']}")


@pytest.mark.sqlite_first
def test_a_preview_lists_the_variants(imports):
    key = imports.upload("acme.zip", archived(), "admin")
    body = {"source": {"type": "file", "files": [key]}, "target": {"space": imports.space}, "preview": True}
    run = finished(imports, imports.world.call("admin", "POST", imports.runs, json=body))
    told = run["plan"]["variants"]
    assert [one["title"] for one in told if one.get("default")] == ["2.0 · English"] and len(told) == 6
    assert not any("pageCount" in one for one in told)
    run = finished(imports, start(imports, preview=True))
    assert [one["pageCount"] for one in run["plan"]["variants"]] == [2, 2, 2, 2, 1, 1]
    assert "variants" not in run and run["plan"]["pageCount"] == 2


@pytest.mark.sqlite_first
def test_a_run_creates_variants_of_a_site(imports):
    world = imports.world
    run = finished(imports, start(imports))
    assert run["status"] == "completed", run
    spaces = {one["title"]: one for one in run["variants"]}
    assert len(spaces) == 6 and spaces["2.0 · English"] == {
        "key": "2-0-en",
        "title": "2.0 · English",
        "space": imports.space,
        "default": True,
        "language": "en",
    }
    site = world.home.path(f"/orgs/{{organizationId}}/sites/{run['site']}")
    shown = world.get("admin", f"{site}/site-spaces")["items"]
    assert {one["space"]["id"] for one in shown} == {one["space"] for one in run["variants"]}
    assert [one["space"]["id"] for one in shown if one["default"]] == [imports.space]
    assert {one["path"] for one in shown} >= {"de", "next", "1.0", "de-1.0"}
    led = {one["source"] for one in world.get("admin", f"{site}/redirects")["items"]}
    assert {"/docs/next/guides/new", "/docs/1.0/intro"} <= led
    assert world.get("admin", f"/spaces/{imports.space}")["title"] == "2.0 · English"
    # A newer state goes into the same spaces.
    newer = {**DOCUSAURUS, "versioned_docs/version-1.0/intro.md": "# First, mended\n"}
    again = finished(imports, start(imports, files=newer, update=run["id"]))
    assert (again["site"], again["variants"]) == (run["site"], run["variants"])
    old = spaces["1.0 · English"]["space"]
    assert [one["title"] for one in world.get("admin", f"/spaces/{old}/content/pages")["pages"]] == [
        "First, mended"
    ]


def links_of(world, space):
    """Return the targets of the links of a space's pages, by text."""
    found, waiting = {}, world.get("admin", f"/spaces/{space}/content/pages")["pages"]
    for page in waiting:
        waiting += page.get("pages", [])
        if page["type"] == "document":
            path = f"/spaces/{space}/content/page/{page['id']}"
            said = world.get("admin", path, params={"format": "markdown"})["markdown"]
            found |= dict(re.findall(r"\[(\w)\]\(([^()]*)\)", said))
    return found


@pytest.mark.sqlite_first
def test_links_target_other_spaces_during_and_after_the_import_and_on_the_site(imports):
    world, (files, _) = imports.world, with_links("vitepress")
    # First a single language, whose links to the other one are reported.
    first = finished(imports, start(imports, files=files, variants=False))
    assert "other_variant" in {one["code"] for one in first["problems"]}
    assert links_of(world, imports.space)["a"] == "/zh/guide/start"
    # Then the other language is imported too, and links point to it.
    run = finished(imports, start(imports, files=files, update=first["id"]))
    assert run["problems"] == []
    spaces = [one["space"] for one in run["variants"]]
    said = [links_of(world, one) for one in spaces]
    assert said[0]["a"] == f"https://app.gitbook.com/s/{spaces[1]}/%E6%8C%87%E5%8D%97/start"
    assert said[1]["f"] == f"https://app.gitbook.com/s/{spaces[0]}/guide/start"
    for space in spaces:
        found = world.get("admin", f"/spaces/{space}/links")["items"]
        assert found and {one["status"] for one in found} == {"ok"}, found
    # Another import changes nothing.
    before = [world.get("admin", f"/spaces/{one}")["revision"] for one in spaces]
    finished(imports, start(imports, files=files, update=run["id"]))
    assert [world.get("admin", f"/spaces/{one}")["revision"] for one in spaces] == before
    site = world.home.path(f"/orgs/{{organizationId}}/sites/{run['site']}")
    address = urlsplit(world.post("admin", f"{site}/publish", {})["urls"]["published"]).path.rstrip("/") + "/"
    visitor = Visitor(world.context)
    for page, words, led in (
        ("", "a", "zh/指南/start"),
        ("", "c", "zh/"),
        ("zh/指南/start", "e", "guide/start"),
    ):
        shown = visitor.get(address + page).text
        (href,) = re.findall(rf'<a[^<>]* href="([^"]*)"[^<>]*>{words}</a>', shown)
        assert unquote(href) == address + led
        assert visitor.get(href).status_code == 200


@pytest.mark.sqlite_first
def test_variants_join_the_site_that_shows_their_target(imports):
    world = imports.world
    sites = world.home.path("/orgs/{organizationId}/sites")
    site = world.post("admin", sites, {"title": "Acme", "spaces": [imports.space, world.home["spaceId"]]})[
        "id"
    ]
    run = finished(imports, start(imports))
    shown = world.get("admin", f"{sites}/{site}/site-spaces")["items"]
    assert run["site"] == site and len(shown) == 7
    assert {"de", "next", "1.0"} <= {one["path"] for one in shown}


@pytest.mark.sqlite_first
def test_importing_variants_requires_permission_to_create_spaces(imports):
    assert start(imports, "editor").status_code == 403
    assert start(imports, target={"page": imports.world.home["pageId"]}).status_code in (400, 404)
    body = {
        "source": {"type": "website", "url": "http://9.9.9.9/"},
        "target": {"space": imports.space},
        "variants": True,
    }
    refused = imports.world.call("admin", "POST", imports.runs, json=body)
    assert refused.status_code == 400 and "variants" in refused.text


@pytest.mark.sqlite_first
def test_a_stopped_run_leaves_no_space(imports, monkeypatch):
    world = imports.world
    there = world.home.path("/orgs/{organizationId}/spaces")
    before = world.get("admin", there)["count"]

    def fail(*_):
        raise Forbidden("not theirs")

    monkeypatch.setattr(variants, "_arrange", [fail])
    run = finished(imports, start(imports))
    assert (run["status"], run["reason"]) == ("failed", "not theirs") and "variants" not in run
    assert world.get("admin", there)["count"] == before
    assert world.get("admin", f"/spaces/{imports.space}/content/pages")["pages"] == []
