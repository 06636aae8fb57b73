"""Tests of the branding that projects state, and of the site created from them."""

from __future__ import annotations

import io
from functools import partial
from typing import Any

import pytest

from octavo.interchange.readers import gathering
from octavo.interchange.readers.choosing import read_source
from octavo.interchange.transfer.brand_images import store_brand
from octavo.operations.admin.docs_sites import import_as_site_or_space
from octavo.operations.admin.import_export import brand_new_site, import_space
from octavo.sites.site.creating import create_site
from readers.reading import adding, source_of
from readers.test_brands import PAGE, STATED
from transfer.bringing_in import PNG, Imports, archive


def write(folder: Any, files: dict[str, Any]) -> str:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return str(folder)


def look_of(world: Any, site: str) -> dict[str, Any]:
    at = f"/orgs/{world.home['organizationId']}/sites/{site}/customization"
    found: dict[str, Any] = world.get("admin", at)
    return found


@pytest.mark.sqlite_first
def test_a_published_site_has_the_branding(world: Any, tmp_path: Any) -> None:
    org = world.home["organizationId"]
    made = import_space(
        world.context, write(tmp_path / "d", STATED["docusaurus"][0]), organization_id=org, publish=True
    )
    sites = world.get("admin", f"/orgs/{org}/sites")["items"]
    site = next(one for one in sites if one["urls"]["published"] == made.site_url or one["title"] == "D")
    look = look_of(world, site["id"])
    assert look["styling"]["primaryColor"] == {"light": "#2e8555", "dark": "#25c2a0"}
    logo, icon = look["header"]["logo"], look["favicon"]["icon"]
    assert logo["light"].endswith("/logo.png") and logo["dark"].endswith("/dark.png")
    assert icon["light"] == icon["dark"] and icon["light"].endswith("/icon.png")
    assert "look_left_out" not in {one.code for one in made.outcome.problems}
    # Later settings by people stay.
    import_space(world.context, str(tmp_path / "d"), space_id=made.outcome.space, publish=True)
    assert look_of(world, site["id"]) == look


def test_branding_is_reported_if_no_site_is_created(sqlite_world: Any, tmp_path: Any) -> None:
    world = sqlite_world
    org = world.home["organizationId"]
    made = import_space(world.context, write(tmp_path / "d", STATED["mkdocs"][0]), organization_id=org)
    (told,) = [one for one in made.outcome.problems if one.code == "look_left_out"]
    assert told.message.startswith("logo, icon, color: ")


LANGUAGES = {
    **STATED["vitepress"][0],
    ".vitepress/config.ts": (
        "export default {title: 'V', locales: {root: {lang: 'en'}, de: {lang: 'de'}}, themeConfig: "
        "{logo: '/logo.png'}}"
    ),
    "de/index.md": PAGE,
    "public/logo.png": b"no picture",
}


def test_a_site_with_several_languages_has_the_branding(sqlite_world: Any, tmp_path: Any) -> None:
    world = sqlite_world
    made = import_as_site_or_space(
        world.context, write(tmp_path / "v", LANGUAGES), organization_id=world.home["organizationId"]
    )
    assert look_of(world, made.site)["styling"]["primaryColor"]["light"] == "#abc"
    assert [(one.path, one.code) for one in made.problems if one.code == "look_left_out"] == [
        ("public/logo.png", "look_left_out")
    ]
    # After another import, a site keeps what people have set since.
    again = import_as_site_or_space(
        world.context, str(tmp_path / "v"), organization_id=world.home["organizationId"]
    )
    assert (again.site, [one for one in again.problems if one.code == "look_left_out"]) == (made.site, [])


@pytest.mark.sqlite_first
def test_a_site_of_an_import_run_has_the_branding(world: Any) -> None:
    imports = Imports(world)
    key = imports.upload("docs.zip", archive({**LANGUAGES, "public/logo.png": PNG}), "admin")
    body = {"source": {"type": "file", "files": [key]}, "target": {"space": imports.space}, "variants": True}
    run = imports.run(world.call("admin", "POST", imports.runs, json=body).json()["id"], "admin")
    imports.work()
    run = imports.run(run["id"], "admin")
    assert [one for one in run["problems"] if one["code"] == "look_left_out"] == []
    look = look_of(world, run["site"])
    assert look["header"]["logo"]["light"].endswith("/logo.png")


@pytest.mark.parametrize("size", [10, gathering.MAX_PICTURE + 1])
def test_unreadable_and_oversized_images_are_reported(sqlite_world: Any, tmp_path: Any, size: int) -> None:
    """A source whose declared file size differs from its contents."""
    files = {**STATED["jekyll"][0], "_config.yml": "title: J\nlogo: /assets/logo.png\n"}
    del files["assets/logo.png"]
    source = source_of(files)
    source.files.add("assets/logo.png", size, partial(io.BytesIO, b"\x89PNG" * 10))
    made = read_source(source, lambda source: source, adding, lambda: None)
    told = [one.message for one in made.problems if one.code == "look_left_out"]
    if size > 100:
        assert (made.brand.logo, told) == ("", ["the logo is larger than 5 MB"])
        return
    stored = store_brand(sqlite_world.context, made.brand)
    assert (made.brand.logo, stored.images, told) == ("assets/logo.png", {}, [])
    with sqlite_world.context.db.write() as tx:
        site = create_site(tx, organization_id=sqlite_world.home["organizationId"], title="Of a damaged one")
        assert [one.message for one in brand_new_site(tx, sqlite_world.context, site, stored)] == [
            "the image can't be read"
        ]
