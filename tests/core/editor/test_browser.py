"""The editor's documents in Python and in the browser: the same schema, the same conversion, the same steps."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from prosemirror.model import Node

from octavo.core.document.json import to_json
from octavo.core.document.page import split_page
from octavo.core.document.reader import read
from octavo.core.editor.reading import read_document, same
from octavo.core.editor.schema import SCHEMA, SPEC
from octavo.core.editor.steps import StepError, apply_steps, map_steps
from octavo.core.editor.writing import is_written, write_block

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
STEPS = 1500


def documents() -> list[Any]:
    files = [*sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "tests/core/document").glob("*.md"))]
    return [to_json(read(split_page(file.read_text())[2])) for file in files]


def ask_browser(documents: list[Any], steps: int, seed: int) -> Any:
    answer = subprocess.run(
        [
            *(str(Path(sys.executable).parent / "deno"), "run", "--allow-all"),
            *("--config", str(ROOT / "web/deno.json"), str(HERE / "browser.ts")),
        ],
        input=json.dumps({"documents": documents, "steps": steps, "seed": seed}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


@pytest.fixture(scope="module")
def given() -> list[Any]:
    return documents()


@pytest.fixture(scope="module")
def browser(given: list[Any]) -> Any:
    return ask_browser(given, STEPS, 7)


def without_uids(node: Any) -> Any:
    """Return the document without the numbers of links and annotations, which only distinguish adjacent ones."""
    if isinstance(node, dict):
        return {name: without_uids(value) for name, value in node.items() if name != "uid"}
    return [without_uids(value) for value in node] if isinstance(node, list) else node


def write(doc: Node) -> list[Any]:
    return [write_block(block) for block in doc.children if is_written(block)]


def test_browser_and_server_have_the_same_schema(browser):
    spec = browser["spec"]
    assert spec["names"] == list(SPEC["nodes"])
    assert spec["marks"] == SPEC["marks"] and list(spec["marks"]) == list(SPEC["marks"])
    shapes = {name: {**{"attrs": {}}, **shape} for name, shape in spec["shapes"].items()}
    assert shapes == {name: {**{"attrs": {}}, **shape} for name, shape in SPEC["nodes"].items()}


def test_browser_and_server_convert_documents_alike(given, browser):
    blocks = 0
    for document, found in zip(given, browser["documents"], strict=True):
        doc = read_document(document, itertools.count(1))
        assert without_uids(doc.to_json()) == without_uids(found["editor"])
        assert write(doc) == found["written"]["nodes"]
        assert same(write(doc), document["nodes"])
        blocks += doc.child_count
    assert blocks > 1000


def test_browser_and_server_apply_steps_alike(browser):
    """Equal documents after each, and the same steps that do not fit."""
    applied = refused = 0
    for run in browser["runs"]:
        doc = Node.from_json(SCHEMA, run["start"])
        for tried in run["tried"]:
            try:
                doc = apply_steps(doc, [tried["step"]]).doc
                doc.check()
            except (StepError, ValueError):
                assert not tried["fits"], tried
                refused += 1
            else:
                assert tried["fits"], tried
                applied += 1
        assert doc.to_json() == run["end"]
        assert write(doc) == run["written"]["nodes"]
        assert [is_written(block) for block in doc.children] == run["blocks"]
    assert applied > STEPS / 2 and refused > STEPS / 20


def test_mapped_late_steps_keep_edits_of_others(browser):
    """Each step is mapped over one that its author hasn't seen: accepted steps apply and delete nothing of
    the other."""
    taken = 0
    for run in browser["runs"]:
        fitting = [tried["step"] for tried in run["tried"][:1] if tried["fits"]]
        doc = Node.from_json(SCHEMA, run["start"])
        for late in fitting:
            ours = SCHEMA.nodes["paragraph"].create({"key": "other"}, SCHEMA.text("unseen")).to_json()
            other = {"stepType": "replace", "from": 0, "to": 0, "slice": {"content": [ours]}}
            between = apply_steps(doc, [other])
            mapped = map_steps([late], between.ranges)
            if mapped is None:
                continue
            after = apply_steps(between.doc, mapped).doc
            assert "unseen" in after.text_content
            assert after.content.size - between.doc.content.size == (
                apply_steps(doc, [late]).doc.content.size - doc.content.size
            )
            taken += 1
    assert taken
