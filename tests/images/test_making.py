"""Image variants of a space: created by a job, shown to readers and in the API, and deleted with the space."""

from __future__ import annotations

import base64
import io
import re
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from light_client import LightClient
from octavo.content.images import making, scaling
from octavo.content.images.making import make_variants, note_images
from octavo.content.revisions.deriving import check_derived, rebuild_derived
from octavo.delivery.reader.app import reader_edge
from octavo.kit.clock import CLOCK, system_time
from octavo.operations.admin.backup import back_up, verify_installation
from octavo.operations.admin.import_export import import_space
from octavo.operations.admin.static_export import export_site
from octavo.organization.spaces.garbage import WAIT, remove_unused
from octavo.organization.spaces.purging import purge_spaces
from world import World

PAGE = """# Home

![A wide one](.gitbook/assets/wide%20one.png)

<figure><img src=".gitbook/assets/wide%20one.png" alt="Given" width="300"></figure>

![Small](.gitbook/assets/small.png) and <img src=".gitbook/assets/wide%20one.png" alt="In a line" data-size="line">

![Moves](.gitbook/assets/moves.gif)
"""
HEAD = "---\ncover: .gitbook/assets/wide one.png\n---\n\n"


def picture(width: int, height: int, seed: int = 1) -> bytes:
    out = io.BytesIO()
    Image.linear_gradient("L").rotate(seed).resize((width, height)).convert("RGB").save(out, "PNG")
    return out.getvalue()


def moving() -> bytes:
    out = io.BytesIO()
    frames = [Image.new("P", (700, 20), colour) for colour in (1, 200)]
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    return out.getvalue()


class Space:
    """Published space of a folder."""

    def __init__(self, world: World, folder: Path, page: str, assets: dict[str, bytes]) -> None:
        self.world, self.context = world, world.context
        place = folder / ".gitbook" / "assets"
        place.mkdir(parents=True)
        (folder / "README.md").write_text(page)
        for name, data in assets.items():
            (place / name).write_bytes(data)
        brought = import_space(
            self.context,
            str(folder),
            organization_id=world.home["organizationId"],
            title="Shop",
            publish=True,
        )
        self.id = brought.outcome.space
        assert brought.site_url is not None
        self.base = re.sub(r"^https?://[^/]+", "", brought.site_url)

    def make(self) -> None:
        make_variants(self.context, self.id)

    def get(self, path: str, whole: bool = False) -> httpx.Response:
        """Return a reader's response. ``whole``: the path is not relative to the site."""
        whole = whole or path.startswith(self.base)
        client = LightClient(reader_edge(self.context), "http://sites.test")
        return client.ask("GET", path if whole else self.base + path)

    def files(self, at: str = "content") -> dict[str, Any]:
        return {
            file["name"]: file for file in self.world.get("admin", f"/spaces/{self.id}/{at}/files")["items"]
        }

    def rows(self, query: str) -> list[Any]:
        with self.context.db.read() as tx:
            return tx.all(query, space=self.id)

    def variants(self) -> list[str]:
        return [row[0] for row in self.rows("SELECT file FROM image_variants WHERE space_id = :space")]


@pytest.fixture
def space(world: World, tmp_path: Path) -> Space:
    assets = {"wide one.png": picture(2000, 1000), "small.png": picture(100, 100), "moves.gif": moving()}
    return Space(world, tmp_path / "source", HEAD + PAGE, assets)


def images_of(page: str) -> list[dict[str, str]]:
    return [
        dict(re.findall(r'([\w-]+)="([^"]*)"', tag.replace("&amp;", "&")))
        for tag in re.findall(r"<img [^>]*>", page)
    ]


def addresses(srcset: str) -> dict[str, str]:
    return {width: url for url, width in (one.split(" ") for one in srcset.split(", "))}


@pytest.mark.sqlite_first
def test_browsers_choose_a_variant_by_screen(space: Space) -> None:
    page = space.get("").text
    assert "srcset" not in page and space.rows("SELECT state FROM images WHERE space_id = :space") == [
        ("waiting",)
    ]
    space.make()
    cover, wide, given, small, line, gif = images_of(space.get("").text)
    sources = addresses(wide["srcset"])
    assert list(sources) == ["480w", "960w", "1600w", "2000w"] and sources["2000w"] == wide["src"]
    assert (wide["width"], wide["height"], wide["decoding"]) == ("2000", "1000", "async")
    assert wide["sizes"] == "(max-width: 767px) calc(100vw - 40px), 736px" and "loading" not in wide
    assert given["sizes"] == "(max-width: 340px) calc(100vw - 40px), 300px" and given["loading"] == "lazy"
    assert line["sizes"].endswith(" 48px") and cover["sizes"] == "max(100vw, 480px)"
    assert cover["srcset"] == given["srcset"] == line["srcset"] == wide["srcset"]
    assert not {"srcset", "sizes"} & {*small, *gif}
    original = space.get(wide["src"])
    for width in ("480w", "960w", "1600w"):
        found = space.get(sources[width])
        assert found.headers["content-type"] == "image/webp"
        assert found.headers["cache-control"] == original.headers["cache-control"] == "public, max-age=3600"
        assert Image.open(io.BytesIO(found.content)).size == (int(width[:-1]), int(width[:-1]) // 2)
        assert len(found.content) < len(original.content)


@pytest.mark.sqlite_first
def test_a_missing_width_returns_the_image_without_opening_a_file(space: Space) -> None:
    space.make()
    [wide] = [image for image in images_of(space.get("").text) if image.get("alt") == "A wide one"]
    made = addresses(wide["srcset"])["480w"]
    assert space.get(made.replace("/480/", "/500/")).content == space.get(wide["src"]).content
    for wrong in ("/0/", "/99999/", "/x/", "/-480/", "/480/480/"):
        assert space.get(made.replace("/480/", wrong)).status_code == 404
    # Neither a file from elsewhere nor one that this revision no longer has.
    file = made.split("/~files/")[1].split("/")[0]
    assert space.get(made.replace(file, file[::-1])).status_code == 404
    change = space.world.post("admin", f"/spaces/{space.id}/change-requests", {"subject": "Away"})["id"]
    path = f"/spaces/{space.id}/change-requests/{change}"
    gone = {"operation": "delete_file", "file": file}
    space.world.post("admin", f"{path}/content", {"changes": [gone]})
    space.world.post("admin", f"{path}/merge")
    assert space.get(made).status_code == space.get(wide["src"]).status_code == 404
    with space.context.db.write() as tx:
        tx.run("UPDATE sites SET visibility = 'visitor-auth'")
    assert space.get(made).status_code in (401, 403, 404)


@pytest.mark.sqlite_first
def test_an_image_that_crashes_the_process_does_not_affect_others(
    world: World, tmp_path: Path, monkeypatch: Any
) -> None:
    assets = {f"{n}.png": picture(700, 300, n) for n in range(1, 5)}
    page = "# Shop\n\n" + "\n\n".join(f"![](<.gitbook/assets/{name}>)" for name in assets)
    space = Space(world, tmp_path / "source", page, assets)

    def run_until_bad(module: str, folder: Path, names: list[str], *, bounds: object) -> bool:
        for name in names:
            if (folder / name / "source").read_bytes() == assets["2.png"]:
                return False
            scaling.main([str(folder), name])
        return True

    monkeypatch.setattr(making, "run_apart", run_until_bad)
    space.make()
    assert {name for name, file in space.files().items() if "variants" in file} == {*assets} - {"2.png"}
    assert space.rows("SELECT DISTINCT state FROM images WHERE space_id = :space") == [("made",)]


@pytest.mark.sqlite_first
def test_the_api_lists_image_variants(space: Space) -> None:
    assert "variants" not in space.files()["wide one.png"]
    space.make()
    files = space.files()
    assert [name for name, file in files.items() if "variants" in file] == ["wide one.png"]
    wide = files["wide one.png"]
    assert wide["dimensions"] == {"width": 2000, "height": 1000}
    assert [(one["width"], one["height"]) for one in wide["variants"]] == [
        (480, 240),
        (960, 480),
        (1600, 800),
    ]
    one = wide["variants"][0]
    found = space.get(re.sub(r"^https?://[^/]+", "", one["downloadURL"]), whole=True)
    assert found.headers["content-type"] == "image/webp" and len(found.content) == one["size"] < wide["size"]


@pytest.mark.sqlite_first
def test_images_of_change_requests_get_variants(space: Space) -> None:
    world = space.world
    change = world.post("admin", f"/spaces/{space.id}/change-requests", {"subject": "More"})["id"]
    path = f"/spaces/{space.id}/change-requests/{change}"
    data = base64.b64encode(picture(700, 300, 7)).decode()
    files = [{"name": "new.png", "base64": data, "contentType": "image/png"}]
    world.post("admin", f"{path}/content", {"changes": [{"operation": "insert_files", "files": files}]})
    space.make()
    new = space.files(f"change-requests/{change}/content")["new.png"]
    assert [one["width"] for one in new["variants"]] == [480, 700]


@pytest.mark.sqlite_first
def test_a_review_shows_variants_of_both_sides(space: Space) -> None:
    space.make()
    world, wide = space.world, space.files()["wide one.png"]
    change = world.post("admin", f"/spaces/{space.id}/change-requests", {"subject": "Other"})["id"]
    path = f"/spaces/{space.id}/change-requests/{change}"
    other = base64.b64encode(picture(700, 300, 7)).decode()
    content = {"name": "wide one.png", "base64": other, "contentType": "image/png"}
    replaced = {"operation": "update_file", "file": wide["id"], "content": content}
    world.post("admin", f"{path}/content", {"changes": [replaced]})
    space.make()
    [shown] = world.get("admin", f"{path}/changes")["changes"]
    widths = {
        side: [one["width"] for one in found] for side, found in shown["attributes"]["variants"].items()
    }
    assert widths == {"before": [480, 960, 1600], "after": [480, 700]}
    assert [one["width"] for one in shown["file"]["variants"]] == [480, 700]
    old = shown["attributes"]["variants"]["before"][0]["downloadURL"]
    found = space.get(re.sub(r"^https?://[^/]+", "", old), whole=True)
    assert Image.open(io.BytesIO(found.content)).size == (480, 240)


@pytest.mark.sqlite_first
def test_copies_have_variants_and_lost_ones_are_recreated(space: Space) -> None:
    space.make()
    copy = space.world.post("admin", f"/spaces/{space.id}/duplicate", {})["id"]
    with space.context.db.read() as tx:
        assert check_derived(tx, copy, ()) == []
        assert tx.value("SELECT count(*) FROM image_variants WHERE space_id = :id", id=copy) == 3
    with space.context.db.write() as tx:
        tx.run("DELETE FROM images WHERE space_id = :id", id=space.id)
        tx.run("DELETE FROM image_variants WHERE space_id = :id", id=space.id)
    with space.context.db.read() as tx:
        assert check_derived(tx, space.id, ()) == ["images: variants of 1 image missing"]
    rebuild_derived(space.context.db, space.id, ())
    note_images(space.context, space.id)
    # The same file isn't scaled again in another space.
    space.make()
    with space.context.db.read() as tx:
        assert check_derived(tx, space.id, ()) == []
    assert len(space.variants()) == 3


def test_variants_are_deleted_with_the_space_and_not_backed_up(
    space: Space, tmp_path: Path, monkeypatch: Any
) -> None:
    space.make()
    variants = space.variants()
    assert verify_installation(space.context) == []
    back_up(space.context, tmp_path / "backup.zip")
    kept = "\n".join(zipfile.ZipFile(tmp_path / "backup.zip").namelist())
    assert not any(one in kept for one in variants)
    space.world.call("admin", "DELETE", f"/spaces/{space.id}")
    monkeypatch.setattr(CLOCK, "read", lambda: system_time() + 9 * WAIT)
    purge_spaces(space.context)
    assert space.variants() == []
    monkeypatch.setattr(CLOCK, "read", lambda: system_time() + 12 * WAIT)
    remove_unused(space.context)
    assert not any(space.context.files.exists(one) for one in variants)


@pytest.mark.sqlite_first
def test_a_broken_image_stays_unchanged(world: World, tmp_path: Path) -> None:
    page = "# Home\n\n![Broken](.gitbook/assets/broken.png)\n"
    space = Space(world, tmp_path / "source", page, {"broken.png": picture(900, 900)[:2000]})
    space.make()
    assert space.rows("SELECT state, width FROM images WHERE space_id = :space") == [("made", None)]
    [image] = images_of(space.get("").text)
    assert image["width"] == "900" and "srcset" not in image and space.get(image["src"]).status_code == 200


@pytest.mark.sqlite_first
def test_a_static_export_contains_variants(space: Space, tmp_path: Path) -> None:
    with space.context.db.read() as tx:
        site = tx.value("SELECT site_id FROM site_spaces WHERE space_id = :id", id=space.id)
    done = export_site(space.context, site, tmp_path / "out", base="/docs/")
    assert not done.broken
    page = (tmp_path / "out" / "index.html").read_text()
    [wide] = [image for image in images_of(page) if image.get("alt") == "A wide one"]
    for url in addresses(wide["srcset"]).values():
        assert url.startswith("/docs/~files/")
        assert (
            tmp_path / "out" / re.sub(r"%20", " ", url.removeprefix("/docs/").partition("?")[0])
        ).is_file()
