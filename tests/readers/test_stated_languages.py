"""Tests that the language that a source states wins over the detected one."""

from __future__ import annotations

import pytest

from octavo.interchange.readers.choosing import KINDS
from readers.reading import brought

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
