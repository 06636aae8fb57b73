"""Tests of the branding that projects state, and of the site created from them."""

from __future__ import annotations

import io
from functools import partial
from typing import Any

import pytest

from octavo.interchange.transfer.readers import gathering
from octavo.interchange.transfer.readers.choosing import read_source
from octavo.operations.admin.docs_sites import bring_source
from octavo.operations.admin.import_export import brand_new_site, bring
from octavo.sites.site.creating import create_site

from .bringing_in import PNG, Imports, archive
from .test_readers import adding, brought, source_of

PAGE = "---\ntitle: A\n---\n\nText\n"
SVG = "<svg xmlns='http://www.w3.org/2000/svg'/>"
STATED: dict[str, tuple[dict[str, Any], tuple[str, str, str, str, str]]] = {
    "mkdocs": (
        {
            "mkdocs.yml": (
                "site_name: A\ntheme:\n  name: material\n  logo: img/logo.png\n  favicon: img/icon.png\n"
                "  palette:\n    - scheme: default\n      primary: teal\n    - scheme: slate\n"
                "      primary: amber\n"
            ),
            "docs/index.md": PAGE,
            "docs/img/logo.png": PNG,
            "docs/img/icon.png": PNG,
        },
        ("#009485", "#ffc105", "docs/img/logo.png", "", "docs/img/icon.png"),
    ),
    "docusaurus": (
        {
            "docusaurus.config.js": (
                "module.exports = {title: 'D', favicon: 'img/icon.png', themeConfig: {navbar: {logo: "
                "{src: '/img/logo.png', srcDark: 'img/dark.png'}}}}"
            ),
            "docs/a.md": PAGE,
            "static/img/logo.png": PNG,
            "static/img/dark.png": PNG,
            "static/img/icon.png": PNG,
            "src/css/custom.css": (
                ":root {\n  --ifm-color-primary: #2E8555;\n  --ifm-color-primary-dark: #29784c;\n}\n"
                "[data-theme='dark'] {\n  --ifm-color-primary: #25c2a0;\n}\n"
            ),
        },
        ("#2e8555", "#25c2a0", "static/img/logo.png", "static/img/dark.png", "static/img/icon.png"),
    ),
    "vitepress": (
        {
            ".vitepress/config.ts": (
                "export default {title: 'V', head: [['meta', {name: 'x'}], ['link', {rel: 'icon', "
                "href: '/icon.png'}]], themeConfig: {logo: {light: '/logo.png', dark: '/dark.png'}}}"
            ),
            "index.md": PAGE,
            "public/logo.png": PNG,
            "public/dark.png": PNG,
            "public/icon.png": PNG,
            ".vitepress/theme/style.css": ":root { --vp-c-brand-1: #abc; }",
        },
        ("#abc", "#abc", "public/logo.png", "public/dark.png", "public/icon.png"),
    ),
    "mintlify": (
        {
            "docs.json": (
                '{"name": "M", "colors": {"primary": "#0D9373", "light": "#07C983"}, "logo": '
                '"/logo.svg", "favicon": "/icon.svg", "navigation": {"pages": ["a"]}}'
            ),
            "a.mdx": PAGE,
            "logo.svg": SVG,
            "icon.svg": SVG,
        },
        ("#0d9373", "#07c983", "logo.svg", "", "icon.svg"),
    ),
    "starlight": (
        {
            "astro.config.mjs": (
                "export default {integrations: [starlight({title: 'S', logo: {src: "
                "'./src/assets/logo.png'}, favicon: '/icon.png', customCss: ['./src/a.css']})]}"
            ),
            "src/content/docs/index.md": PAGE,
            "src/assets/logo.png": PNG,
            "public/icon.png": PNG,
            "src/a.css": (
                ":root { --sl-color-accent: #123456ff; } :root[data-theme='light'] { "
                "--sl-color-accent: #654321; }"
            ),
        },
        ("#654321", "#123456", "src/assets/logo.png", "", "public/icon.png"),
    ),
    "sphinx": (
        {
            "conf.py": (
                "project = 'S'\nhtml_logo = '_static/logo.png'\nhtml_favicon = 'icon.png'\n"
                "html_theme_options = {'dark_logo': 'dark.png', 'light_css_variables': "
                "{'color-brand-primary': '#336790'}}\n"
            ),
            "index.rst": "A\n=\n",
            "_static/logo.png": PNG,
            "_static/dark.png": PNG,
            "icon.png": PNG,
        },
        ("#336790", "#336790", "_static/logo.png", "_static/dark.png", "icon.png"),
    ),
    "hugo": (
        {
            "hugo.toml": (
                "title = 'H'\n[params]\nlogo = '/img/logo.png'\nfavicon = 'img/icon.png'\n"
                "primaryColor = '#001122'\n"
            ),
            "content/_index.md": PAGE,
            "static/img/logo.png": PNG,
            "static/img/icon.png": PNG,
        },
        ("#001122", "#001122", "static/img/logo.png", "", "static/img/icon.png"),
    ),
    "jekyll": (
        {
            "_config.yml": "title: J\nlogo: /assets/logo.png\nfavicon_ico: https://example.org/icon.ico\n",
            "index.md": PAGE,
            "assets/logo.png": PNG,
        },
        ("", "", "assets/logo.png", "", "https://example.org/icon.ico"),
    ),
}


@pytest.mark.parametrize("kind", STATED)
def test_a_reader_passes_on_the_stated_look(kind: str) -> None:
    files, look = STATED[kind]
    made = brought(files)
    brand = made.brand
    assert made.kind == kind
    assert (brand.color, brand.dark_color, brand.logo, brand.dark_logo, brand.favicon) == look
    assert not [one for one in made.problems if one.code == "look_left_out"]


def test_what_cannot_be_used_is_told() -> None:
    made = brought(
        {
            "docusaurus.config.js": (
                "import {logo} from 'elsewhere';\n"
                "export default {favicon: 'gone.png', themeConfig: {navbar: {logo: {src: logo}}}}"
            ),
            "docs/a.md": PAGE,
            "src/a.css": ":root { --ifm-color-primary: hsl(1 2% 3%); }",
        }
    )
    assert not made.brand
    assert sorted(one.message for one in made.problems if one.code == "look_left_out") == [
        "the color hsl(1 2% 3%) isn't in the form #rrggbb",
        "the favicon gone.png doesn't exist",
        "themeConfig.navbar.logo.src is only known when the site is built",
    ]


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
def test_a_site_that_is_published_has_the_look(world: Any, tmp_path: Any) -> None:
    org = world.home["organizationId"]
    made = bring(
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
    bring(world.context, str(tmp_path / "d"), space_id=made.outcome.space, publish=True)
    assert look_of(world, site["id"]) == look


def test_where_no_site_is_made_the_look_is_told(sqlite_world: Any, tmp_path: Any) -> None:
    world = sqlite_world
    org = world.home["organizationId"]
    made = bring(world.context, write(tmp_path / "d", STATED["mkdocs"][0]), organization_id=org)
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


def test_a_site_of_several_languages_has_the_look(sqlite_world: Any, tmp_path: Any) -> None:
    world = sqlite_world
    made = bring_source(
        world.context, write(tmp_path / "v", LANGUAGES), organization_id=world.home["organizationId"]
    )
    assert look_of(world, made.site)["styling"]["primaryColor"]["light"] == "#abc"
    assert [(one.path, one.code) for one in made.problems if one.code == "look_left_out"] == [
        ("public/logo.png", "look_left_out")
    ]
    # After another import, a site keeps what people have set since.
    again = bring_source(world.context, str(tmp_path / "v"), organization_id=world.home["organizationId"])
    assert (again.site, [one for one in again.problems if one.code == "look_left_out"]) == (made.site, [])


@pytest.mark.sqlite_first
def test_a_site_of_an_import_run_has_the_look(world: Any) -> None:
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
def test_a_picture_that_cannot_be_read_or_is_too_large_is_told(
    sqlite_world: Any, tmp_path: Any, size: int
) -> None:
    """A source whose declared file size differs from its contents."""
    files = {**STATED["jekyll"][0], "_config.yml": "title: J\nlogo: /assets/logo.png\n"}
    del files["assets/logo.png"]
    source = source_of(files)
    source.add("assets/logo.png", size, partial(io.BytesIO, b"\x89PNG" * 10))
    made = read_source(source, lambda source: source, adding, lambda: None)
    told = [one.message for one in made.problems if one.code == "look_left_out"]
    if size > 100:
        assert (made.brand.logo, told) == ("", ["the logo is larger than 5 MB"])
        return
    made.brand.store(sqlite_world.context)
    assert (made.brand.logo, made.brand.stored, told) == ("assets/logo.png", {}, [])
    with sqlite_world.context.db.write() as tx:
        site = create_site(tx, organization_id=sqlite_world.home["organizationId"], title="Of a damaged one")
        assert [one.message for one in brand_new_site(tx, sqlite_world.context, site, made.brand)] == [
            "it cannot be read"
        ]
