"""The header of a site: its tabs next to everything else, or in a second row."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from octavo.operations.admin.docs_sites import export_site_files, import_as_site_or_space
from visiting import Visitor

pytestmark = pytest.mark.sqlite_first

GROUP = """    - type: section-group
      key: group
      title: Products
      icon: box
      children: [{type: section, key: in, title: Payments, path: in, children: [
        {type: space, key: in-space, title: Payments, content: {directory: pages}}]}]
"""


def header(world: Any, folder: Path, titles: list[str]) -> tuple[list[str], str]:
    """Return the classes of a page, and its tabs as HTML."""
    (folder / "pages").mkdir()
    (folder / "pages" / "README.md").write_text("# Words\n")
    sections = "".join(
        f"    - {{type: section, key: s{at}, title: {title}, path: s{at}, children: "
        f"[{{type: space, key: x{at}, title: {title}, content: {{directory: pages}}}}]}}\n"
        for at, title in enumerate(titles)
    )
    (folder / "docs.yaml").write_text(f"site:\n  title: Handbook\n  structure:\n{sections}{GROUP}")
    organization = world.home["organizationId"]
    made = import_as_site_or_space(world.context, str(folder), organization_id=organization, publish=True)
    text = Visitor(world.context).get(urlsplit(made.site_url).path).text
    found = re.search(r'<html [^>]*class="([^"]*)"', text)
    nav = re.search(r'<nav class="sections".*?</nav>', text, re.DOTALL)
    assert nav is not None
    return found[1].split() if found else [], nav[0]


def test_a_group_shows_its_icon(world: Any, tmp_path: Path) -> None:
    _, tabs = header(world, tmp_path, ["Guides"])
    assert re.search(r"<summary>\s*<svg.*?</svg>Products", tabs)


def test_no_title_becomes_markup(world: Any, tmp_path: Path) -> None:
    _, tabs = header(
        world, tmp_path, ["'<img src=x onerror=alert(1)>'", '"\\"></a><script>alert(1)</script>"']
    )
    assert "<img" not in tabs and "<script" not in tabs and "&lt;script&gt;" in tabs


@pytest.mark.parametrize(
    ("titles", "below"),
    [
        (["Guides", "Reference"], False),
        (["Guides", "Integrations", "Developers", "Changelog", "Partners", "Questions", "Status"], True),
        (["Manual", "Elsa", "Developers", "Changelog", "PostgreSQL", "Status"], True),
        # Letters of some scripts are twice as wide.
        (["a" * 16, "b" * 16, "c" * 16], False),
        (["\u5165" * 16, "\u4f01" * 16, "\u5e38" * 16], True),
    ],
)
def test_tabs_that_do_not_fit_get_their_own_row(
    world: Any, tmp_path: Path, titles: list[str], below: bool
) -> None:
    classes, _ = header(world, tmp_path, titles)
    assert ("sections-below" in classes) is below


def test_sections_and_variants_are_named_in_the_language_of_the_reader(world: Any, tmp_path: Path) -> None:
    def section(key: str, title: str, german: str, children: str) -> str:
        return (
            f"    - {{type: section, key: {key}, title: {title}, path: {key},"
            f" localizedTitle: {{de: {german}}}, children: [{children}]}}\n"
        )

    spaces = (
        "{type: space, key: en, title: English, default: true, content: {directory: en, language: en}},"
        "{type: space, key: de, title: Deutsch, path: de, localizedTitle: {de: Auf Deutsch},"
        " content: {directory: de, language: de}}"
    )
    other = "{type: space, key: api, title: API, content: {directory: api}}"
    structure = section("guides", "Guides", "Anleitungen", spaces) + section("api", "Calls", "Aufrufe", other)
    for name in ("en", "de", "api"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "README.md").write_text("# Words\n")
    (tmp_path / "docs.yaml").write_text(f"site:\n  title: Handbook\n  structure:\n{structure}")
    organization = world.home["organizationId"]
    made = import_as_site_or_space(world.context, str(tmp_path), organization_id=organization, publish=True)
    assert [problem.code for problem in made.problems] == []
    base = urlsplit(made.site_url).path
    english, german = (Visitor(world.context).get(f"{base}{path}").text for path in ("", "de/"))
    assert "Guides" in english and "Calls" in english and "Anleitungen" not in english
    assert "Anleitungen" in german and "Aufrufe" in german and "Guides" not in german
    export_site_files(world.context, made.site, tmp_path / "out")
    assert "Anleitungen" in (tmp_path / "out" / "docs.yaml").read_text()
