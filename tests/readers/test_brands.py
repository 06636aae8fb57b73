"""Tests of the branding that projects state, and of the site created from them."""

from __future__ import annotations

from typing import Any

import pytest

from readers.reading import brought
from transfer.bringing_in import PNG

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
def test_a_reader_passes_on_the_stated_branding(kind: str) -> None:
    files, look = STATED[kind]
    made = brought(files)
    brand = made.brand
    assert made.kind == kind
    assert (brand.color, brand.dark_color, brand.logo, brand.dark_logo, brand.favicon) == look
    assert not [one for one in made.problems if one.code == "look_left_out"]


def test_unusable_branding_is_reported() -> None:
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
        "the color hsl(1 2% 3%) must be in the format #rrggbb",
        "the favicon gone.png doesn't exist",
        "themeConfig.navbar.logo.src is computed when the site is built, so it wasn't imported",
    ]
