"""Tags of pages: in the API, merges, search, and on sites."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import feedparser
import pytest

from octavo.core.tags import Tag, merge_tags, read_tags, write_tags
from octavo.operations.admin.import_export import import_space
from visiting import Visitor
from world import World

FILES = {
    "README.md": "---\ntags:\n- beta\n---\n\n# Home\n\nAbout turbines.\n",
    "guide.md": "---\ntags:\n- tag: beta\n  primary: true\n- how-to\n---\n\n# Guide\n\nAbout turbines.\n",
    "other.md": "# Other\n\nAbout turbines.\n",
    "SUMMARY.md": "* [Home](README.md)\n* [Other](other.md)\n  * [Guide](guide.md)\n",
    ".gitbook/tags.yaml": "- tag: beta\n  label: Beta\n  color: green\n  icon: flask\n- tag: odd\n  color: '#f00'\n",
}


@pytest.fixture
def space(world: World, tmp_path: Path) -> str:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return import_space(
        world.context, str(tmp_path), organization_id=world.home["organizationId"]
    ).outcome.space


def edit(world: World, space: str, *changes: dict[str, Any], merge: bool = True) -> str:
    change = world.post("admin", f"/spaces/{space}/change-requests", {"subject": "Tags"})["id"]
    path = f"/spaces/{space}/change-requests/{change}"
    world.post("admin", f"{path}/content", {"changes": list(changes)})
    if merge:
        assert world.post("admin", f"{path}/merge")["result"] == "merge"
    return path


def pages_of(world: World, space: str) -> dict[str, Any]:
    found, waiting = {}, world.get("admin", f"/spaces/{space}/content/pages")["pages"]
    while waiting:
        page = waiting.pop()
        found[page["title"]] = page
        waiting += page["pages"]
    return found


def tag(slug: str, **more: Any) -> dict[str, Any]:
    return {"tag": {"kind": "tag", "tag": slug}, **more}


def test_pages_and_spaces_return_their_tags(world: World, space: str) -> None:
    pages = pages_of(world, space)
    assert pages["Guide"]["tags"] == [tag("beta", primary=True), tag("how-to")]
    assert pages["Other"]["tags"] == []
    assert world.get("admin", f"/spaces/{space}/content")["tags"] == [
        {"slug": "beta", "label": "Beta", "color": "green", "icon": "flask"},
        {"slug": "odd", "label": "odd", "color": "default"},
    ]


def test_tags_are_edited_and_stored_in_files(world: World, space: str) -> None:
    other = pages_of(world, space)["Other"]["id"]
    edit(
        world,
        space,
        {"operation": "update_page", "page": other, "tags": [tag("new", primary=True), tag("beta")]},
        {"operation": "set_tags", "tags": {"new": {"label": "New", "emoji": "1f680"}, "odd": None}},
    )
    page = world.get("admin", f"/spaces/{space}/content/page/{other}", params={"format": "markdown"})
    assert page["tags"] == [tag("new", primary=True), tag("beta")]
    assert page["markdown"].startswith("---\ntags:\n- tag: new\n  primary: true\n- beta\n---\n")
    tags = world.get("admin", f"/spaces/{space}/content")["tags"]
    assert [one["slug"] for one in tags] == ["beta", "new"]
    assert tags[1]["emoji"] == "1f680"
    edit(world, space, {"operation": "update_page", "page": other, "tags": None})
    assert pages_of(world, space)["Other"]["tags"] == []


@pytest.mark.parametrize(
    "change",
    [
        {"operation": "set_tags", "tags": {"a b": {"label": "A"}}},
        {"operation": "set_tags", "tags": {"a": {"label": " "}}},
        {"operation": "set_tags", "tags": {"a": {"label": "A", "color": "#f00"}}},
        {"operation": "set_tags", "tags": {"a": {"label": "A", "icon": "x", "emoji": "1f680"}}},
        {"operation": "set_tags", "tags": {"a": {"label": "A", "emoji": "no"}}},
        {"operation": "update_page", "tags": [{"tag": {"kind": "page", "tag": "a"}}]},
        {"operation": "update_page", "tags": [{"tag": {"kind": "tag", "tag": "a", "space": "other"}}]},
        {"operation": "update_page", "tags": ["a"]},
        {"operation": "update_page", "tags": [{"tag": {"kind": "tag", "tag": "a"}}] * 51},
    ],
)
def test_bad_tags_are_refused(sqlite_world: World, tmp_path: Path, change: dict[str, Any]) -> None:
    world = sqlite_world
    (tmp_path / "README.md").write_text("# Home\n")
    space = import_space(
        world.context, str(tmp_path), organization_id=world.home["organizationId"]
    ).outcome.space
    page = pages_of(world, space)["Home"]["id"]
    path = world.post("admin", f"/spaces/{space}/change-requests", {})["id"]
    given = {"page": page, **change} if change["operation"] == "update_page" else change
    answer = world.call(
        "admin", "POST", f"/spaces/{space}/change-requests/{path}/content", json={"changes": [given]}
    )
    assert answer.status_code == 400, answer.text


def test_tags_defined_by_both_sides_are_merged(world: World, space: str) -> None:
    ours = edit(world, space, {"operation": "set_tags", "tags": {"a": {"label": "A"}}}, merge=False)
    edit(world, space, {"operation": "set_tags", "tags": {"b": {"label": "B"}, "odd": None}})
    changes = world.get("admin", f"{ours}/changes")["changes"]
    assert changes == [{"type": "tag_created", "tag": {"slug": "a", "label": "A"}}]
    assert world.post("admin", f"{ours}/merge")["result"] == "merge"
    slugs = [one["slug"] for one in world.get("admin", f"/spaces/{space}/content")["tags"]]
    assert slugs == ["beta", "b", "a"]


def test_tags_are_merged_by_name() -> None:
    base = write_tags([Tag("a", "A"), Tag("b", "B")])
    ours = write_tags([Tag("a", "Alpha"), Tag("b", "B"), Tag("c", "C")])
    theirs = write_tags([Tag("a", "A"), Tag("d", "D")])
    merged = merge_tags(base, ours, theirs)
    assert merged is not None
    assert read_tags(merged)[0] == [Tag("a", "Alpha"), Tag("c", "C"), Tag("d", "D")]
    assert merge_tags(base, ours, write_tags([Tag("a", "Other"), Tag("b", "B")])) is None
    assert merge_tags(base, "[", theirs) is None


def test_search_and_lists_are_restricted_to_a_tag(world: World, space: str) -> None:
    def titles(path: str, **query: str) -> set[str]:
        return {
            page["title"] for page in world.get("admin", path, params={"query": "turbines", **query})["items"]
        }

    path = f"/spaces/{space}/search"
    assert titles(path) == {"Home", "Guide", "Other"}
    assert titles(path, tag="beta") == {"Home", "Guide"}
    assert titles(path, tag="none") == set()
    organization = world.home.path("/orgs/{organizationId}/search")
    [found] = world.get("admin", organization, params={"query": "turbines", "tag": "how-to"})["items"]
    assert [page["title"] for page in found["pages"]] == ["Guide"]
    tree = world.get("admin", f"/spaces/{space}/content/pages", params={"tag": "how-to"})["pages"]
    assert [page["title"] for page in tree] == ["Other"], "the page above it is there"
    assert [page["title"] for page in tree[0]["pages"]] == ["Guide"]


def test_sites_have_pages_and_feeds_of_tags(world: World, space: str) -> None:
    sites = world.home.path("/orgs/{organizationId}/sites")
    site = world.post("admin", sites, {"title": "Tagged", "spaces": [space]})["id"]
    url = world.post("admin", f"{sites}/{site}/publish")["urls"]["published"]
    visitor, path = Visitor(world.context), urlsplit(url).path
    page = visitor.get(f"{path}other/guide")
    assert 'class="tag b-green"' in page.text and "Beta" in page.text
    listed = visitor.get(f"{path}~tags/beta")
    assert listed.status_code == 200
    assert "Guide" in listed.text and "<h1>" in listed.text
    feed = feedparser.parse(visitor.get(f"{path}~tags/beta.xml").content)
    assert not feed.bozo
    assert {entry.title for entry in feed.entries} == {"Home", "Guide"}
    assert {tag.label for entry in feed.entries for tag in entry.tags} == {"Beta", "how-to"}
    assert visitor.get(f"{path}~tags/none").status_code == 404


def test_links_to_a_tag_open_its_list_of_pages(world: World, space: str) -> None:
    target = {"kind": "tag", "tag": "beta"}

    def link(ref: dict[str, Any]) -> dict[str, Any]:
        text = {"object": "text", "leaves": [{"object": "leaf", "text": "new things"}]}
        inline = {"object": "inline", "type": "link", "data": {"ref": ref}, "nodes": [text]}
        return {"object": "block", "type": "paragraph", "nodes": [inline]}

    blocks = [link(target), link({"kind": "tag", "tag": "unused"})]
    edit(world, space, {"operation": "insert_page", "title": "Links", "document": {"document": blocks}})
    page = f"/spaces/{space}/content/page/{pages_of(world, space)['Links']['id']}"
    written = world.get("admin", page, params={"format": "markdown"})["markdown"]
    assert "[new things](tag:beta)" in written
    [inline] = world.get("admin", page)["document"]["nodes"][0]["nodes"]
    assert inline["data"]["ref"] == target
    assert {link["status"] for link in world.get("admin", f"{page}/links")["items"]} == {"ok"}
    sites = world.home.path("/orgs/{organizationId}/sites")
    site = world.post("admin", sites, {"title": "Linked", "spaces": [space]})["id"]
    url = world.post("admin", f"{sites}/{site}/publish")["urls"]["published"]
    visitor, path = Visitor(world.context), urlsplit(url).path
    text = visitor.get(f"{path}links").text
    assert f'href="{path}~tags/beta"' in text and "~tags/unused" not in text
    look = world.get("admin", f"{sites}/{site}/customization")
    links = [{"title": name, "to": {"kind": "tag", "tag": name}} for name in ("how-to", "unused")]
    look["footer"]["groups"] = [{"title": "Tags", "links": links}]
    world.call("admin", "PUT", f"{sites}/{site}/customization", json=look)
    text = visitor.get(f"{path}links").text
    assert f'href="{path}~tags/how-to"' in text and "~tags/unused" not in text


def test_spaces_define_the_same_tag_in_their_own_way(world: World, space: str) -> None:
    """A site shows each space with its own label and color, and the pages of that space only."""
    spaces = world.home.path("/orgs/{organizationId}/spaces")
    other = world.post("admin", spaces, {"title": "Second"})["id"]
    own = {"operation": "set_tags", "tags": {"beta": {"label": "Preview", "color": "red"}}}
    page = {
        "operation": "insert_page",
        "document": {"markdown": "---\ntags:\n- beta\n---\n\n# Second guide\n"},
    }
    edit(world, other, own, page)
    sites = world.home.path("/orgs/{organizationId}/sites")
    site = world.post("admin", sites, {"title": "Both", "spaces": [space]})["id"]
    added = world.post("admin", f"{sites}/{site}/site-spaces", {"spaceId": other})
    url = world.post("admin", f"{sites}/{site}/publish")["urls"]["published"]
    visitor, path = Visitor(world.context), urlsplit(url).path
    first = visitor.get(f"{path}~tags/beta").text
    second = visitor.get(f"{path}{added['path']}/~tags/beta").text
    assert "Beta" in first and "Guide" in first and "Second guide" not in first
    assert "Preview" in second and "Second guide" in second and "Beta" not in second
    assert 'class="tag b-red"' in visitor.get(f"{path}{added['path']}/").text
