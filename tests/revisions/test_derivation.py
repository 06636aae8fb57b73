"""Derived data changes only together with ``DERIVATION``, so that an upgrade rebuilds it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from changes.working import Space, insert, update
from octavo.content.revisions.deriving import DERIVATION
from octavo.kit.db.rows import read_rows, read_schema
from octavo.kit.db.tables import TABLES
from octavo.kit.work.worker import Worker
from world import World

EVERY_NODE = Path(__file__).parents[1] / "core" / "document" / "every_node.md"
DERIVED = Path(__file__).with_name("derived.txt")
ID = re.compile(r"\b[A-Za-z0-9]{20}\b|\b[0-9a-f]{64}\b")
NAMES = """# Naïve names

Ελληνικά, עברית, العربية, 日本語のページ, Łódź, Straße, co\u00adoperate, ﬁne, chat.postMessage and _private_var.
"""


def derived_rows(world: World, space: Space) -> list[str]:
    """Return the derived rows of a space, without values that differ between servers."""
    found: list[str] = []
    keys: set[str] = set()
    with world.context.db.read() as tx:
        for name, table in read_schema(world.context.db, tx).items():
            if not TABLES[name].derived or "space_id" not in table.columns or name == "derived_versions":
                continue
            for row in read_rows(tx, table, "space_id = :space", space=space.id):
                keys |= {row[column] for column in ("space_key", "organization_key") if column in row}
                said = [
                    f"{column}={'...' if isinstance(value, bytes) else value!r}"
                    for column, value in row.items()
                    if not column.endswith("_at") and column not in ("version", "id")
                ]
                found.append(f"{name}: {' '.join(said)}")
    own = re.compile("|".join([ID.pattern, *sorted(keys - {""})]))
    return sorted(own.sub("ID", line) for line in found)


def test_derived_rows_change_only_with_their_version(sqlite_world: World) -> None:
    space = Space(sqlite_world)
    text = EVERY_NODE.read_text().replace("# Every node", "# A").replace("page.md", "b.md")
    space.edit_main(update(space.pages["A"], document={"markdown": text}), insert(NAMES))
    Worker(sqlite_world.context.db, sqlite_world.context).run_pending()
    found = [f"DERIVATION = {DERIVATION}", *derived_rows(sqlite_world, space)]
    if os.environ.get("OCTAVO_TEST_RECORD"):
        DERIVED.write_text("\n".join(found) + "\n")
    # If the rows changed, increase DERIVATION in content/revisions/deriving.py and record them with
    # OCTAVO_TEST_RECORD=1.
    assert found == DERIVED.read_text().splitlines()
