"""Tests that the stated description of a whole site becomes that of its home page."""

from __future__ import annotations

from typing import Any

import pytest

from octavo.core.yaml_text import read_yaml
from octavo.interchange.readers.choosing import read_source
from octavo.interchange.readers.markdown.lines import front_text
from readers.reading import adding, brought, source_of

pytestmark = pytest.mark.sqlite_first

ABOUT = "Parcels: sent & tracked"
PAGE = "# Start\n\nText.\n"
STATED: dict[str, list[dict[str, str]]] = {
    "docusaurus": [
        {
            "docusaurus.config.js": f"export default {{tagline: '{ABOUT}', presets: [['classic', {{docs: {{}}}}]]}};",
            "docs/index.md": PAGE,
        },
    ],
    "mkdocs": [{"mkdocs.yml": f"site_name: A\nsite_description: '{ABOUT}'\n", "docs/index.md": PAGE}],
    "mintlify": [
        {
            "docs.json": f'{{"description": "{ABOUT}", "navigation": {{"pages": ["index"]}}}}',
            "index.mdx": PAGE,
        },
        {
            "docs.json": (
                f'{{"description": "{ABOUT}", "navigation": {{"languages": [{{"language": "en", '
                f'"pages": ["index"]}}]}}}}'
            ),
            "index.mdx": PAGE,
        },
    ],
    "vitepress": [
        {".vitepress/config.ts": f"export default {{description: '{ABOUT}'}}", "index.md": PAGE},
        {
            ".vitepress/config.ts": (
                f"export default {{description: 'x', locales: {{root: {{description: '{ABOUT}'}}}}}}"
            ),
            "index.md": PAGE,
        },
    ],
    "starlight": [
        {
            "astro.config.mjs": f"export default {{integrations: [starlight({{title: 'A', description: '{ABOUT}'}})]}}",
            "src/content/docs/index.md": PAGE,
        },
    ],
    "hugo": [
        {"hugo.toml": f"[params]\ndescription = '{ABOUT}'\n", "content/_index.md": PAGE},
        {
            "hugo.toml": f"[params]\ndescription = 'x'\n[languages.en.params]\ndescription = '{ABOUT}'\n",
            "content/_index.md": PAGE,
        },
    ],
    "jekyll": [{"_config.yml": "description: >-\n  Parcels: sent\n  & tracked\n", "index.md": PAGE}],
}


def description_of(text: str) -> Any:
    """Return the description in the front matter of a page."""
    front, _ = front_text(text)
    return (read_yaml(front).value or {}).get("description") if front else None


@pytest.mark.parametrize(
    ("kind", "files"), [(kind, files) for kind, sources in STATED.items() for files in sources]
)
def test_the_home_page_gets_the_stated_description(kind: str, files: dict[str, str]) -> None:
    made = brought(files)
    assert made.kind == kind
    assert description_of(made.read("README.md").decode()) == ABOUT


@pytest.mark.parametrize(
    ("kind", "files"), [(kind, files) for kind, sources in STATED.items() for files in sources]
)
def test_a_page_keeps_its_own_description(kind: str, files: dict[str, str]) -> None:
    own = {name: text.replace(PAGE, f"---\ndescription: Own.\n---\n\n{PAGE}") for name, text in files.items()}
    assert description_of(brought(own).read("README.md").decode()) == "Own."


def test_only_the_home_page_gets_the_stated_description() -> None:
    files = {**STATED["mkdocs"][0], "docs/other.md": "# Other\n"}
    assert description_of(brought(files).read("other.md").decode()) is None


TRANSLATED: list[dict[str, str]] = [
    {
        "mkdocs.yml": (
            f"site_name: A\nsite_description: '{ABOUT}'\nplugins:\n- i18n:\n    languages:\n"
            f"    - {{locale: en, default: true}}\n    - {{locale: fr}}\n"
        ),
        "docs/index.md": PAGE,
        "docs/index.fr.md": PAGE,
    },
    {
        ".vitepress/config.ts": (
            f"export default {{description: '{ABOUT}', locales: {{root: {{lang: 'en'}}, fr: {{lang: "
            f"'fr'}}}}}}"
        ),
        "index.md": PAGE,
        "fr/index.md": PAGE,
    },
    {
        "docs.json": (
            f'{{"description": "{ABOUT}", "navigation": {{"languages": [{{"language": "en", "pages": '
            f'["index"]}}, {{"language": "fr", "pages": ["fr/index"]}}]}}}}'
        ),
        "index.mdx": PAGE,
        "fr/index.mdx": PAGE,
    },
    {
        "docusaurus.config.js": (
            f"export default {{tagline: '{ABOUT}', i18n: {{defaultLocale: 'en', locales: ['en', "
            f"'fr']}}, presets: [['classic', {{docs: {{}}}}]]}};"
        ),
        "docs/index.md": PAGE,
        "i18n/fr/docusaurus-plugin-content-docs/current/index.md": PAGE,
    },
]


@pytest.mark.parametrize("files", TRANSLATED)
def test_a_translation_gets_no_description_in_another_language(files: dict[str, str]) -> None:
    made = read_source(source_of(files), lambda source: source, adding, lambda: None, several=True)
    found = sorted(str(description_of(part.read("README.md").decode())) for part in made.parts.values())
    assert found == ["None", ABOUT]
