"""Tests that invalid documents and malicious texts in change requests do no harm when they are read again."""

import json
import re
import resource
import time
from typing import Any

import msgspec
import pytest

from hostile import VECTORS, every_node, wrapped
from octavo.core.document.json import DocumentError, from_json, to_json

from .working import insert, update

pytestmark = pytest.mark.sqlite_first

TEXT: dict[str, Any] = {"object": "text", "leaves": [{"object": "leaf", "text": "x", "marks": []}]}


def block(type: str = "paragraph", nodes: Any = (TEXT,), **fields: Any) -> dict[str, Any]:
    return {"object": "block", "type": type, "data": {}, "nodes": list(nodes), **fields}


def inline(type: str, **fields: Any) -> dict[str, Any]:
    return block(
        nodes=[{"object": "inline", "type": type, "data": {}, "nodes": [], "fragments": [], **fields}]
    )


def link(ref: Any) -> dict[str, Any]:
    return inline("link", data={"ref": ref})


WRONG: list[tuple[Any, str]] = [
    (5, "[0]"),
    (None, "[0]"),
    ([], "[0]"),
    ("x", "[0]"),
    ({}, "[0].type"),
    (block("no-such"), "[0].type"),
    (block(["x"]), "[0].type"),
    (block("link"), "[0].type"),
    (block("code-line"), "[0].type"),
    (block("list-unordered", [block()]), "[0].nodes[0].type"),
    (block(object="inline"), "[0].object"),
    (block(data=[]), "[0].data"),
    (block(data={"align": "x"}), "[0].data.align"),
    (block(nodes=[block()]), "[0].nodes[0].object"),
    (block(nodes=["x"]), "[0].nodes[0].object"),
    (block(nodes=[{"object": "text"}]), "[0].nodes[0].leaves"),
    (block(nodes=[{"object": "text", "leaves": [{"object": "leaf"}]}]), "[0].nodes[0].leaves[0].text"),
    (
        block(nodes=[{"object": "text", "leaves": [{"text": "x", "marks": [{"type": "blink"}]}]}]),
        "leaves[0].marks[0].type",
    ),
    (block("hint", [block()]), "[0].data.style"),
    (block("hint", [block()], data={"style": "x"}), "[0].data.style"),
    (block("blockquote", [block("hint", [block()])]), "[0].nodes[0].data.style"),
    (block("math", data={"formula": 5}), "[0].data.formula"),
    (block("heading-1", data={"level": -1}), "[0].data.level"),
    (
        block("columns", [block("column", [block()], data={"width": {"unit": "vh;", "value": 1}})]),
        "data.width.unit",
    ),
    (block(key="x" * 101), "[0].key"),
    (block(key={}), "[0].key"),
    (inline("no-such"), "[0].nodes[0].type"),
    (inline("emoji"), "data.code"),
    (inline("button", data={"label": "x", "kind": "huge"}), "data.kind"),
    (link(None), "data.ref"),
    (link("x"), "data.ref"),
    (link({}), "data.ref.kind"),
    (link({"kind": "x"}), "data.ref.kind"),
    (link({"kind": "page"}), "data.ref.page"),
    (link({"kind": "page", "page": 5}), "data.ref.page"),
    (link({"kind": "url", "url": "javascript:alert(1)"}), "data.ref.url"),
    (link({"kind": "file", "file": []}), "data.ref.file"),
    (block("table", data={"view": {}, "records": [], "definition": {}}), "[0].data.records"),
    (block("expandable", fragments=[block()]), "[0].fragments[0].object"),
]
"""Invalid node, and the end of the error's path."""


def send(space, change: str, nodes: list[Any] | str) -> Any:
    """Return the response to a batch that inserts a page with these nodes (or their JSON)."""
    raw = nodes if isinstance(nodes, str) else json.dumps(nodes)
    body = f'{{"changes": [{{"operation": "insert_page", "document": {{"document": {{"nodes": {raw}}}}}}}]}}'
    return space.world.call(
        "editor",
        "POST",
        space.url(change),
        content=body.encode(),
        headers={"content-type": "application/json"},
    )


def test_invalid_documents_name_the_place_of_the_error(space):
    change = space.create()
    before = space.world.digest()
    for node, place in WRONG:
        answer = send(space, change, [node])
        assert answer.status_code == 400, (node, answer.text)
        named = re.match(r"changes\[0\]\.document: document\.nodes(\S*): ", answer.json()["error"]["message"])
        assert named and named[1].endswith(place), (place, answer.text)
    assert space.world.digest() == before


@pytest.mark.parametrize(
    ("nodes", "status"),
    [
        (nodes, 400)
        for nodes in (
            '[{"object":"block","type":"blockquote","nodes":' * 10_000 + "[]" + "}]" * 10_000,
            '[{"object":"block","type":"blockquote","nodes":' * 200 + "[]" + "}]" * 200,
            '[{"object":"block","type":"paragraph","nodes":[{"object":"inline","type":"link","data":{"ref":{"kind":"url","url":"x"}},"nodes":'
            + '[{"object":"inline","type":"link","data":{"ref":{"kind":"url","url":"x"}},"nodes":' * 400
            + "[]"
            + "}]" * 400
            + "}]}]",
            '[{"object":"block","type":"table","data":{"view":' + '{"a":' * 5_000 + "1" + "}" * 5_000 + "}}]",
        )
    ]
    + [
        pytest.param(
            "[" + ",".join(['{"object":"block","type":"divider"}'] * 1_000_000) + "]",
            413,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            '[{"object":"block","type":"paragraph","nodes":['
            + ",".join(['{"object":"text","leaves":[]}'] * 1_000_000)
            + "]}]",
            413,
            marks=pytest.mark.slow,
        ),
    ],
    ids=["ten-thousand-deep", "deep", "deep-links", "deep-data", "million-blocks", "million-texts"],
)
def test_content_with_too_many_levels_or_nodes_is_refused_quickly(space, nodes, status):
    change = space.create()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    answer = send(space, change, nodes)
    took = time.process_time() - start
    assert answer.status_code == status, answer.text[:300]
    assert answer.json()["error"]["message"]
    assert took < 10
    # ru_maxrss is in kilobytes: the limit is what a decoded body of 40 MB may take.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1_500_000


def table(rows: int, columns: int) -> dict[str, Any]:
    names = [f"c{n}" for n in range(columns)]
    return block(
        "table",
        [],
        data={
            "view": {"type": "grid", "columns": names},
            "definition": {name: {"id": name, "title": name, "type": "number"} for name in names},
            "records": {
                f"r{n}": {"orderIndex": f"{n:06d}", "values": dict.fromkeys(names, n)} for n in range(rows)
            },
        },
        fragments=[],
    )


@pytest.mark.parametrize(
    ("rows", "columns"), [pytest.param(20_000, 5, marks=pytest.mark.slow), (2_000, 5), (5, 1_000)]
)
def test_huge_tables_take_time_in_proportion_to_their_size(space, rows, columns):
    change = space.create()
    start = time.process_time()
    answer = send(space, change, [table(rows, columns)])
    assert answer.status_code in (200, 400, 413), answer.text[:300]
    assert time.process_time() - start < 20


def urls_in(value: Any) -> list[str]:
    """Yield all URLs of references anywhere in a response."""
    if isinstance(value, dict):
        own = [value["url"]] if value.get("kind") == "url" and isinstance(value.get("url"), str) else []
        return own + [found for part in value.values() for found in urls_in(part)]
    return [found for part in value for found in urls_in(part)] if isinstance(value, list) else []


def test_text_stays_text_in_every_response(space):
    """Send pages with all attack vectors as Markdown, then read them as nodes, compare, search, and comment on them."""
    change = space.create()
    sent = [vector for vector in VECTORS if len(vector) < 600 and "\ud83d" not in vector][::6]
    for vector in sent:
        text = "\n\n".join([f"# {' '.join(vector.split()) or 'x'}", *wrapped(vector)])
        page = space.edit(change, insert(text))["changes"][0]["page"]["id"]
        path = f"{space.path}/change-requests/{change}"
        asked = [
            space.world.call("reader", "GET", f"{path}/content/page/{page}", params={"format": form})
            for form in ("document", "markdown")
        ]
        asked.append(space.world.call("reader", "GET", f"{path}/content/page/{page}/links"))
        body = {"body": {"markdown": f"{vector} x"}, "page": page}
        asked.append(space.world.call("commenter", "POST", f"{path}/comments", json=body))
        for answer in asked:
            assert answer.is_success, (vector, answer.text[:300])
            assert_inert(answer)
        edited = update(page, document={"markdown": text.replace("x", "y", 1)})
        assert space.try_edit(change, edited).is_success
    assert_inert(space.world.call("reader", "GET", f"{space.path}/change-requests/{change}/changes"))
    space.merge(change)
    for words in ("alert", "script", "onerror"):
        found = space.world.call("reader", "GET", f"{space.path}/search", params={"query": words})
        assert_inert(found)


ACTS = re.compile(r"(javascript|vbscript|file|data(?!:image/(gif|png|jpeg|webp)[;,])):", re.IGNORECASE)
"""Schemes that execute something. Others that a page does not link to, such as ``vscode:``, are content."""


def bare(address: str) -> str:
    """Normalize a URL like the URL standard does first: without controls and spaces at the ends, tabs, and
    line breaks."""
    return re.sub(r"[\t\n\r]", "", address).strip("".join(map(chr, range(33))))


def assert_inert(answer: Any) -> None:
    assert answer.is_success, answer.text[:300]
    assert answer.headers["content-type"].partition(";")[0] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    for address in urls_in(answer.json()):
        assert not ACTS.match(bare(address)), address


def wire(node: Any) -> dict[str, Any]:
    """Return the JSON of a node without validating its content."""
    kind = type(node).__name__.lower()
    shown = {
        "object": kind,
        **{name: getattr(node, name) for name in ("type", "data", "fragment") if hasattr(node, name)},
    }
    if kind == "text":
        leaves = [{"text": leaf.text, "marks": msgspec.to_builtins(leaf.marks)} for leaf in node.leaves]
        return {"object": "text", "leaves": leaves}
    return shown | {name: [wire(n) for n in getattr(node, name, ())] for name in ("nodes", "fragments")}


@pytest.mark.parametrize("vector", [v for v in VECTORS if len(v) < 600 and "\ud83d" not in v], ids=repr)
def test_a_document_of_vectors_is_refused_or_harmless(vector):
    kept = 0
    for node in map(wire, every_node(vector).nodes):
        try:
            document = from_json({"object": "document", "nodes": [node]})
        except DocumentError as error:
            assert str(error).startswith("document.nodes[0]")
            continue
        kept += 1
        for address in urls_in(to_json(document)):
            assert not ACTS.match(bare(address)), address
    assert kept > 0


def test_half_of_a_surrogate_pair_is_refused(space):
    change = space.create()
    raw = json.dumps([block(nodes=[{"object": "text", "leaves": [{"object": "leaf", "text": "a\ud83db"}]}])])
    answer = send(space, change, raw)
    assert answer.status_code in (200, 400)
    assert "\ud83d" not in answer.text
