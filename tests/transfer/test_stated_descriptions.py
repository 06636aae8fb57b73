"""Tests that an import sets the description of the home page to the stated description of the whole site."""

from __future__ import annotations

from typing import Any

from octavo.operations.admin.import_export import import_space
from readers.test_stated_descriptions import ABOUT, STATED


def test_a_stated_description_is_imported(world: Any, tmp_path: Any) -> None:
    for name, text in STATED["jekyll"][0].items():
        (tmp_path / name).write_text(text)
    outcome = import_space(
        world.context, str(tmp_path), organization_id=world.home["organizationId"], title="T"
    )
    pages = world.get("admin", f"/spaces/{outcome.outcome.space}/content/pages")["pages"]
    assert pages[0]["description"] == ABOUT
