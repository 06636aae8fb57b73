"""Layout, cover, variables, and redirects of a page over the API."""

from __future__ import annotations

from typing import Any

import pytest

from changes.working import Space, insert, update
from octavo.core.page_fields import Cover
from world import World

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
def space(world: World) -> Space:
    return Space(world)


def insert_picture(space: Space) -> str:
    file = {"name": "outbox.png", "base64": PICTURE, "contentType": "image/png"}
    space.edit_main({"operation": "insert_files", "files": [file]})
    files = space.world.get("reader", f"{space.path}/content/files")["items"]
    return str(next(one["id"] for one in files if one["name"] == "outbox.png"))


def test_a_layout_option_changes_alone(space: Space) -> None:
    page = space.pages["A"]
    space.edit_main(update(page, layout={"width": "wide", "outline": False}))
    space.edit_main(update(page, layout={"pagination": False}))
    layout = space.page("A")["layout"]
    assert (layout["width"], layout["outline"], layout["pagination"], layout["title"]) == (
        "wide",
        False,
        False,
        True,
    )
    assert "width: wide" in space.page("A")["markdown"]
    space.edit_main(update(page, layout=None))
    assert "layout:" not in space.page("A")["markdown"]


def test_a_cover_names_a_file_of_the_space(space: Space) -> None:
    file = insert_picture(space)
    cover = {"ref": {"kind": "file", "file": file}, "yPos": 12.5, "height": 300}
    space.edit_main(update(space.pages["A"], cover=cover))
    shown = space.page("A")
    assert shown["cover"]["ref"]["file"] == file
    assert (shown["cover"]["yPos"], shown["cover"]["height"]) == (12.5, 300)
    assert "outbox.png" in shown["markdown"].split("---")[1]
    made = space.edit_main(insert("", title="New", cover=cover))["changes"][0]["page"]["id"]
    assert space.page(made)["cover"]["ref"]["file"] == file
    space.edit_main(
        update(space.pages["A"], cover={"ref": {"kind": "url", "url": "https://a.example/c.png"}})
    )
    assert space.page("A")["cover"]["ref"] == {"kind": "url", "url": "https://a.example/c.png"}
    space.edit_main(update(space.pages["A"], cover=None))
    assert "cover" not in space.page("A")


def test_a_cover_behind_the_title_has_its_colors(space: Space) -> None:
    image = {"kind": "url", "url": "https://a.example/c.png"}
    cover = {"ref": image, "textColor": "white", "textColorDark": "black"}
    space.edit_main(update(space.pages["A"], cover=cover, layout={"coverSize": "background"}))
    shown = space.page("A")
    assert shown["layout"]["coverSize"] == "background"
    assert (shown["cover"]["textColor"], shown["cover"]["textColorDark"]) == ("white", "black")
    assert "coverTextColor: white" in shown["markdown"]
    space.edit_main(update(space.pages["A"], cover={"ref": image}))
    assert "textColor" not in space.page("A")["cover"]


def test_related_links_are_replaced_and_removed(space: Space) -> None:
    page = space.pages["A"]
    links = {"canonical": "b.md", "alternates": ["https://example.com/de/"]}
    space.edit_main(update(page, metaLinks=links))
    assert space.page("A")["metaLinks"] == links
    space.edit_main(update(page, metaLinks={"alternates": []}))
    assert "metaLinks" not in space.page("A")["markdown"]
    space.edit_main(update(page, metaLinks=links))
    space.edit_main(update(page, metaLinks=None))
    assert "metaLinks" not in space.page("A")["markdown"]


def test_variables_change_one_by_one(space: Space) -> None:
    page = space.pages["A"]
    space.edit_main(update(page, variables={"version": "3.4", "beta": True}))
    space.edit_main(update(page, variables={"beta": None, "limit": 5}))
    assert space.page("A")["variables"] == {"version": "3.4", "limit": 5}
    space.edit_main(update(page, variables=None))
    assert "variables" not in space.page("A")


def test_redirects_are_a_list_without_duplicates(space: Space) -> None:
    page = space.pages["A"]
    space.edit_main(update(page, redirectFrom=["/old", "/old/", "/guides/start"]))
    shown = space.page("A")
    assert shown["redirectFrom"] == ["/old", "/guides/start"]
    assert shown["markdown"].startswith("---\nredirectFrom:\n- /old\n- /guides/start\n---\n")
    space.edit_main(update(page, redirectFrom=[]))
    assert "redirectFrom" not in space.page("A")


def test_redirects_of_both_sides_are_merged(space: Space) -> None:
    page = space.pages["A"]
    space.edit_main(update(page, redirectFrom=["/one"]))
    change = space.create()
    space.edit(change, update(page, redirectFrom=["/one", "/two"]))
    space.edit_main(update(page, redirectFrom=["/three"]))
    assert space.merge(change)["result"] == "merge"
    assert sorted(space.page("A")["redirectFrom"]) == ["/three", "/two"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"layout": {"width": "huge"}}, "width"),
        ({"layout": {"outlines": True}}, "outlines"),
        ({"cover": {"ref": {"kind": "file", "file": "none"}}}, "file"),
        (
            {"cover": {"ref": {"kind": "url", "url": "https://a.example/c.png"}, "textColor": "red"}},
            "textColor",
        ),
        ({"metaLinks": {"canonical": "javascript:alert(1)"}}, "canonical"),
        ({"metaLinks": {"alternates": ["data:text/html,x"]}}, "alternates"),
        ({"metaLinks": {"next": "b.md"}}, "next"),
        ({"cover": {"ref": {"kind": "url", "url": "javascript:alert(1)"}}}, "url"),
        ({"cover": {"ref": {"kind": "url", "url": "https://a.example/c.png"}, "height": 9}}, "height"),
        ({"variables": {"1": "x"}}, "variables: each name must start with a letter"),
        ({"redirectFrom": ["old"]}, "redirectFrom"),
        ({"redirectFrom": ["/old?a=b"]}, "redirectFrom"),
        ({"redirectFrom": [f"/{number}" for number in range(101)]}, "redirectFrom"),
    ],
)
def test_invalid_options_are_refused_by_name(space: Space, fields: dict[str, Any], said: str) -> None:
    refused = space.try_edit(None, update(space.pages["A"], **fields))
    assert refused.status_code in (400, 404, 422) and said in refused.text


def test_a_conflict_about_the_layout_takes_an_edited_value(space: Space) -> None:
    page = space.pages["A"]
    change = space.create()
    space.edit(change, update(page, layout={"width": "wide"}))
    space.edit_main(update(page, layout={"width": "landing"}))
    assert space.update(change)["result"] == "conflicts"
    (conflict,) = space.conflicts(change)
    assert conflict["field"] == "layout.width"
    space.resolve(change, conflict["id"], choice="edited", value="default")
    assert space.page("A", change)["layout"]["width"] == "default"


@pytest.mark.parametrize(("y", "shown"), [(0, 50), (100, 0), (5000, 0), (-50, 75), (-100, 100)])
def test_the_position_of_a_cover_is_a_share_of_its_reach(y: float, shown: int) -> None:
    assert Cover("c.png", y=y).focus(800, 400, 800, 200) == shown
    assert Cover("c.png", y=y).focus(800, 100, 800, 200) == 50


def test_a_field_that_a_page_cannot_have_is_refused(space: Space) -> None:
    path = f"{space.path}/content"
    made = space.world.post("editor", path, {"changes": [{"operation": "insert_group", "title": "Group"}]})
    change = update(made["changes"][0]["page"]["id"], description="Words.")
    answer = space.world.call("editor", "POST", path, json={"changes": [change]})
    assert answer.status_code == 400 and answer.json()["error"]["field"].endswith("description"), answer.text
