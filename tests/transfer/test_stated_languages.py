"""Tests that the language that a source states wins over the detected one."""

from __future__ import annotations

from typing import Any

import pytest

from octavo.operations.admin.import_export import import_space
from readers.test_stated_languages import GERMAN, PAGE
from transfer.bringing_in import Imports, archive, website


def language_of(world: Any, folder: Any, files: dict[str, str]) -> str | None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    brought = import_space(
        world.context, str(folder), organization_id=world.home["organizationId"], title="T"
    )
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
