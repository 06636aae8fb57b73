"""Tests that the language that a source states wins over the detected one."""

from __future__ import annotations

from typing import Any

import pytest

from octavo.interchange.transfer.readers.choosing import KINDS
from octavo.operations.admin.import_export import bring
from transfer.bringing_in import Imports, archive, website
from transfer.test_readers import brought

pytestmark = pytest.mark.sqlite_first

GERMAN = (
    "Dieses Handbuch erklärt, wie das System Schritt für Schritt eingerichtet wird. Bitte lesen Sie alles.\n"
)
PAGE = f"# Titel\n\n{GERMAN}"

STATED: dict[str, list[dict[str, str]]] = {
    "docusaurus": [
        {
            "docusaurus.config.js": (
                "export default {i18n: {defaultLocale: 'ar', locales: ['ar']}, presets: [['classic', "
                "{docs: {}}]]};"
            ),
            "docs/a.md": PAGE,
        },
        {
            "docusaurus.config.js": (
                "export default {i18n: {defaultLocale: 'x', localeConfigs: {x: {htmlLang: 'ar-SA'}}}, "
                "presets: [['classic', {docs: {}}]]};"
            ),
            "docs/a.md": PAGE,
        },
    ],
    "mkdocs": [
        {"mkdocs.yml": "site_name: A\ntheme:\n  name: material\n  language: ar\n", "docs/index.md": PAGE},
        {"mkdocs.yml": "site_name: A\ntheme:\n  name: mkdocs\n  locale: ar_SA\n", "docs/index.md": PAGE},
        {
            "mkdocs.yml": "plugins:\n- i18n:\n    languages:\n    - {locale: ar, default: true}\n",
            "docs/index.md": PAGE,
        },
    ],
    "mintlify": [
        {"docs.json": '{"navigation": {"languages": [{"language": "ar", "pages": ["a"]}]}}', "a.mdx": PAGE},
    ],
    "vitepress": [
        {".vitepress/config.ts": "export default {lang: 'ar', themeConfig: {}}", "index.md": PAGE},
        {".vitepress/config.ts": "export default {locales: {root: {lang: 'ar-EG'}}}", "index.md": PAGE},
    ],
    "starlight": [
        {
            "astro.config.mjs": (
                "export default {integrations: [starlight({title: 'A', locales: {root: {lang: 'ar'}}})]}"
            ),
            "src/content/docs/index.md": PAGE,
        },
        {
            "astro.config.mjs": (
                "export default {integrations: [starlight({title: 'A', defaultLocale: 'ar', locales: "
                "{ar: {}}})]}"
            ),
            "src/content/docs/ar/index.md": PAGE,
        },
    ],
    "fumadocs": [
        {
            "source.config.ts": "from 'fumadocs-mdx/config'",
            "lib/i18n.ts": "defineI18n({defaultLanguage: 'ar', languages: ['ar']})",
            "content/docs/index.mdx": PAGE,
        },
        {
            "source.config.ts": "from 'fumadocs-mdx/config'",
            "app/layout.tsx": 'export default () => <html lang="ar" dir="rtl"><body/></html>',
            "content/docs/index.mdx": PAGE,
        },
    ],
    "nextra": [
        {
            "next.config.mjs": (
                "import nextra from 'nextra';\nexport default {i18n: {locales: ['ar'], defaultLocale: 'ar'}}"
            ),
            "content/index.mdx": PAGE,
        },
        {
            "next.config.mjs": "import nextra from 'nextra';\nexport default {}",
            "app/layout.jsx": 'export default () => <html lang="ar" dir="rtl"><body/></html>',
            "content/index.mdx": PAGE,
        },
    ],
    "hugo": [
        {"hugo.toml": "languageCode = 'ar-SA'\n", "content/_index.md": PAGE},
        {"hugo.toml": "locale = 'ar'\n", "content/_index.md": PAGE},
        {"hugo.toml": "defaultContentLanguage = 'ar'\n", "content/_index.md": PAGE},
        {
            "hugo.toml": "defaultContentLanguage = 'x'\n[languages.x]\nlanguageCode = 'ar'\n",
            "content/_index.md": PAGE,
        },
    ],
    "jekyll": [
        {"_config.yml": "lang: ar\n", "index.md": f"---\ntitle: A\n---\n{GERMAN}"},
        {"_config.yml": "locale: ar-SA\n", "index.md": f"---\ntitle: A\n---\n{GERMAN}"},
    ],
    "sphinx": [{"conf.py": "project = 'A'\nlanguage = 'ar'\n", "index.rst": f"A\n=\n\n{GERMAN}"}],
    "wikijs": [
        {"ar/home.md": f"---\ntitle: A\npublished: true\ndate: 2024-01-01\neditor: markdown\n---\n{GERMAN}"}
    ],
    "antora": [
        {
            "antora.yml": "name: a\nversion: ~\nasciidoc:\n  attributes:\n    lang: ar\n",
            "modules/ROOT/pages/index.adoc": f"= A\n\n{GERMAN}",
        },
    ],
    "asciidoc": [{"index.adoc": f"= A\n:lang: ar\n\n{GERMAN}"}],
    "html": [{"index.html": f"<html lang='ar'><body><main><h1>A</h1><p>{GERMAN}</p></main></body></html>"}],
}

SILENT = {
    "octavo",
    "markdown",
    "github-wiki",
    "obsidian",
    "readme",
    "notion",
    "outline",
    "docmost",
    "bookstack",
    "confluence",
    "confluence-xml",
}
"""Kinds of sources that state no language. Spaces in Octavo's own format have it in the site's ``docs.yaml``."""


def test_every_kind_of_source_is_accounted_for() -> None:
    assert STATED.keys() | SILENT == KINDS.keys()
    assert not STATED.keys() & SILENT


@pytest.mark.parametrize(
    ("kind", "files"), [(kind, files) for kind, sources in STATED.items() for files in sources]
)
def test_a_reader_passes_on_the_stated_language(kind: str, files: dict[str, str]) -> None:
    made = brought(files)
    assert made.kind == kind
    assert made.language.partition("-")[0].partition("_")[0] == "ar"


def language_of(world: Any, folder: Any, files: dict[str, str]) -> str | None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    brought = bring(world.context, str(folder), organization_id=world.home["organizationId"], title="T")
    found = world.get("admin", f"/spaces/{brought.outcome.space}").get("language")
    assert found is None or isinstance(found, str)
    return found


@pytest.mark.parametrize(
    ("stated", "expected"),
    [("ar", "ar"), ("pt_BR", "pt-br"), ("zh-Hans", "zh"), ("nb-NO", "no"), ("fa", None), (None, "de")],
)
def test_the_command_sets_the_stated_language(
    world: Any, tmp_path: Any, stated: str | None, expected: str | None
) -> None:
    config = f"lang: {stated}\n" if stated else "title: A\n"
    files = {"_config.yml": config, "index.md": f"---\ntitle: A\n---\n{GERMAN}"}
    assert language_of(world, tmp_path, files) == expected


def test_each_variant_gets_its_own_language(world: Any) -> None:
    imports = Imports(world)
    files = {
        "mkdocs.yml": (
            "site_name: A\nplugins:\n- i18n:\n    languages:\n    - {locale: ar, default: true}\n"
            "    - {locale: fr}\n"
        ),
        "docs/index.md": PAGE,
        "docs/index.fr.md": PAGE,
    }
    key = imports.upload("docs.zip", archive(files), "admin")
    body = {"source": {"type": "file", "files": [key]}, "target": {"space": imports.space}, "variants": True}
    run = world.call("admin", "POST", imports.runs, json=body).json()["id"]
    imports.work()
    variants = imports.run(run, "admin")["variants"]
    languages = {
        one["title"]: world.get("admin", f"/spaces/{one['space']}").get("language") for one in variants
    }
    assert languages == {"العربية": "ar", "Français": "fr"}


def test_a_website_states_its_language(world: Any) -> None:
    imports = Imports(world)
    page = ("text/html", f"<html lang='ar'><body><main><h1>A</h1><p>{GERMAN}</p></main></body></html>")
    with website({"/": page}) as site:
        imports.allow(site.address)
        run = imports.start({"type": "website", "url": f"{site.url}/"})
        imports.work()
        assert imports.run(run)["status"] == "completed"
    assert world.get("admin", f"/spaces/{imports.space}")["language"] == "ar"
