"""A defect at one block never affects others: if our own code fails at a block, every output of its site
continues without that block."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from octavo.content.revisions.states import main_state
from octavo.core.document import anchors as places
from octavo.core.document import containing, evaluating, html, json, reader, tag_reader, typst, writer
from octavo.core.document import text as said
from octavo.operations.admin.import_export import import_space
from octavo.sites.printing.inputs import collect_order
from octavo.sites.printing.store import PrintSubject
from octavo.sites.printing.typesetting import Typesetter
from reader.test_sites import Visitor

# The package has a function with this name, too.
found_references = import_module("octavo.core.document.references")

pytestmark = pytest.mark.sqlite_first

BAD = (
    '# Bad\n\nwords before\n\n{% hint style="info" %}\n'
    'broken **bits** of <code class="expression">1 + 1</code>\n{% endhint %}\n\n## Below\n\n'
    "words after\n"
)
GOOD = "# Good\n\nfine words\n"


def _fails(block: Any) -> bool:
    return getattr(block, "type", None) == "hint"


def _failing(given: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with a defect at hints."""

    def fail(*args: Any, **named: Any) -> Any:
        if any(map(_fails, args)):
            raise KeyError("a defect")
        return given(*args, **named)

    return fail


def _explode(*args: Any) -> Any:
    raise KeyError("a defect")


DEFECTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "read": lambda patch: patch.setitem(tag_reader.TAGS, "hint", _explode),
    "read whole": lambda patch: patch.setattr(reader, "pair", _explode),
    "place": lambda patch: patch.setattr(places, "_place", _failing(places._place)),
    "reference": lambda patch: patch.setattr(
        found_references,
        "_references_of",
        _failing(found_references._references_of),  # type: ignore[attr-defined]
    ),
    "evaluate": lambda patch: patch.setattr(evaluating, "_seen", _failing(evaluating._seen)),
    "find": lambda patch: patch.setattr(said, "_line", _failing(said._line)),
    "json": lambda patch: patch.setattr(json, "_show", _failing(json._show)),
    "draw": lambda patch: patch.setitem(html._DocumentRenderer.blocks, "hint", _explode),
    "print": lambda patch: patch.setitem(typst._BLOCKS, "hint", _explode),
    "write": lambda patch: patch.setitem(writer._WRITERS, "hint", _explode),
}


@pytest.mark.parametrize("stage", DEFECTS)
def test_every_output_continues_without_the_block(
    world: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    told: list[str] = []
    monkeypatch.setattr(containing, "_reports", [lambda stage, error, count: told.append(stage)])
    DEFECTS[stage](monkeypatch)
    source = tmp_path / "source"
    source.mkdir()
    (source / "README.md").write_text("# Home\n\nhome words\n")
    # A distinct text, because others are cached. Of an unreadable page, nothing is shown
    # that may depend on a condition.
    bad = BAD if stage != "read whole" else re.sub(r"\{%.*%\}\n", "", BAD)
    (source / "bad.md").write_text(bad.replace("words", f"words{stage.replace(' ', '')}"))
    (source / "good.md").write_text(GOOD)
    (source / "SUMMARY.md").write_text("* [Home](README.md)\n* [Bad](bad.md)\n* [Good](good.md)\n")
    brought = import_space(
        world.context, str(source), organization_id=world.home["organizationId"], publish=True
    )
    base = re.sub(r"^https?://[^/]+", "", str(brought.site_url))
    space = brought.outcome.space
    visitor = Visitor(world.context)
    word = f"words{stage.replace(' ', '')}"

    def get(path: str) -> str:
        answer = visitor.get(f"{base}{path}")
        assert answer.status_code == 200, (path, answer.text)
        return answer.text

    for path in ("bad", "bad.md", "llms-full.txt"):
        text = get(path)
        assert f"{word} before" in text, path
        assert f"{word} after" in text, path
    assert "fine words" in get("good")
    assert "fine words" in get("llms-full.txt")
    assert "/bad<" in get("sitemap-pages.xml")
    assert "good" in get("~search?q=fine")
    assert "bad" in get(f"~search?q={word}")
    # In the API, which is also used for editing.
    page = world.get("admin", f"/spaces/{space}/content/path/bad")
    assert f"{word} after" in str(page["document"])
    assert world.get("admin", f"/spaces/{space}/content/page/{page['id']}?format=markdown")[
        "markdown"
    ].startswith("# Bad")
    change = world.post("admin", f"/spaces/{space}/change-requests", {"subject": "x"})["id"]
    edits = {
        "changes": [{"operation": "insert_page", "document": {"markdown": bad.replace("# Bad", "# More")}}]
    }
    world.post("admin", f"/spaces/{space}/change-requests/{change}/content", edits)
    world.post("admin", f"/spaces/{space}/change-requests/{change}/merge")
    assert "\nwords after" in get("llms-full.txt")
    # For renderers and in print.
    shown = world.call("nobody", "POST", "/urls/published", json={"url": str(brought.site_url)}).json()
    by_token = {"authorization": f"Bearer {shown['apiToken']}"}
    for form in ("document", "markdown"):
        path = f"/spaces/{space}/content/page/{page['id']}?format={form}"
        answer = world.call("nobody", "GET", path, headers=by_token)
        assert answer.status_code == 200 and f"{word} after" in answer.text, (form, answer.text)
    with world.context.db.read() as tx:
        state = main_state(tx, space)
        order = collect_order(world.context, tx, state, PrintSubject(space, state.revision_id), tmp_path)
    Typesetter(order, tmp_path).write()
    assert any(f"{word} after" in file.read_text() for file in tmp_path.glob("p*.typ"))
    assert told
