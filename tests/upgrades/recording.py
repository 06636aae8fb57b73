"""Installations as a released version left them, for the tests of upgrades.

A recording has all rows but those that a rebuild makes, the files, and the key of the secrets. It is named by the last
migration of its version. To record a release, check it out and run

    OCTAVO_TEST_RECORD=tests/upgrades .venv/bin/pytest -n 0 tests/upgrades -k current
"""

from __future__ import annotations

import base64
import json
import lzma
from pathlib import Path
from typing import Any

from changes.working import Space, update
from comments.talking import Talk
from octavo.kit.db.databases import open_database
from octavo.kit.db.migrations import load_migrations, migrate
from octavo.kit.db.rows import insert_rows, parents_first, read_rows, read_schema, set_counters
from octavo.kit.db.tables import TABLES
from world import World

EVERY_NODE = Path(__file__).parents[1] / "core" / "document" / "every_node.md"
REFERENCES = {"content_references", "reference_questions", "reference_totals"}
"""Derived, and recorded: an upgrade finds them as the version before made them."""


def nodes_of(document: Any) -> list[Any]:
    """Yield the blocks and fragments of a document over the API, in reading order."""
    found = []
    for child in [*document.get("nodes", []), *document.get("fragments", [])]:
        if child["object"] in ("block", "fragment"):
            found.append(child)
        found += nodes_of(child)
    return found


def discuss(world: World) -> dict[str, Any]:
    """Comment on every node of a page with every type of node, and on some in change requests that edit it."""
    space = Space(world)
    page = space.pages["A"]
    text = EVERY_NODE.read_text().replace("# Every node", "# A").replace("page.md", "b.md")
    space.edit_main(update(page, document={"markdown": text}))
    talk = Talk(space, space.path)
    posted = []
    for node in nodes_of(space.page("A", format="document")["document"]):
        posted.append(talk.post(page=page, node=node["key"]))
        if node.get("type") == "table":
            for record in node["data"]["records"]:
                for definition in node["data"]["definition"]:
                    cell = {"record": record, "definition": definition}
                    posted.append(talk.post(page=page, node=node["key"], tableCell=cell))
    merged = space.create()
    edited = text.replace("inner", "inner words").replace("Careful.", "Careful, please.", 1)
    space.write(merged, "A", edited.replace("Same\n", "Same as ever\n", 1))
    space.merge(merged)
    change = space.create()
    edited = space.text("A").replace("A quote", "One quote").replace("| Apple |", "| Apples |")
    space.write(change, "A", edited)
    there = Talk(space, f"{space.path}/change-requests/{change}", change)
    nodes = nodes_of(space.page("A", change, format="document")["document"])
    posted += [there.post(page=page, node=node["key"]) for node in nodes[::3]]
    paragraph = next(node["key"] for node in nodes if node.get("type") == "paragraph")
    posted.append(there.post("", page=page, node=paragraph, suggestion={"markdown": "Better."}))
    return {"space": space.id, "pages": space.pages, "comments": [comment["id"] for comment in posted]}


def record(world: World) -> bytes:
    """Record a furnished world on SQLite, after discussing it."""
    recording: dict[str, Any] = {"tables": {}, "files": {}, **discuss(world)}
    database, data = world.context.db, Path(world._settings.data)
    recording["secret_key"] = (data / "secret-key").read_text()
    with database.read() as tx:
        for name, table in read_schema(database, tx).items():
            if TABLES[name].derived and name not in REFERENCES:
                continue
            rows = list(read_rows(tx, table))
            for row in rows:
                for column in table.binary:
                    if row[column] is not None:
                        row[column] = base64.b64encode(row[column]).decode()
            recording["tables"][name] = rows
    for path in sorted((data / "files").rglob("*")):
        if path.is_file():
            recording["files"][str(path.relative_to(data))] = base64.b64encode(path.read_bytes()).decode()
    text = json.dumps(recording, ensure_ascii=False, sort_keys=True)
    return lzma.compress(text.encode(), preset=9)


def load(packed: bytes, last: int, data: Path, url: str) -> dict[str, Any]:
    """Make the installation that was recorded, with the migrations up to ``last``; the recording."""
    recording: dict[str, Any] = json.loads(lzma.decompress(packed))
    data.mkdir()
    (data / "secret-key").write_text(recording["secret_key"])
    for name, content in recording["files"].items():
        path = data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(content))
    database = open_database(url, 3)
    try:
        migrate(
            database,
            [each for each in load_migrations("octavo.operations.migrations") if each.number <= last],
        )
        with database.write() as tx:
            tables = read_schema(database, tx)
            for name, table in tables.items():
                if name in recording["tables"]:
                    rows = recording["tables"][name]
                    for row in rows:
                        for column in table.binary:
                            if row[column] is not None:
                                row[column] = base64.b64decode(row[column])
                    insert_rows(tx, table, parents_first(table, rows))
            set_counters(database, tx, tables.values())
    finally:
        database.close()
    return recording
