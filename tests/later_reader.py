"""A reader as a later version of the program may have it: the same texts, read as other nodes."""

from __future__ import annotations

import pytest

from octavo.content.revisions import bodies
from octavo.core.document.nodes import Block, Document, Text, walk
from octavo.core.document.reader import read
from octavo.kit.db.database import Database


def read_otherwise(text: str) -> Document:
    """Read quotes as hints, listings in another language, and one letter as another."""
    document = read(text)
    for top in document.nodes:
        for node in walk(top):
            if isinstance(node, Block) and node.type == "blockquote":
                node.type, node.data = "hint", {"style": "info"}
            if isinstance(node, Block) and node.type == "code":
                node.data = {**node.data, "syntax": f"later-{node.data.get('syntax')}"}
            if isinstance(node, Text):
                for leaf in node.leaves:
                    leaf.text = leaf.text.replace("e", "é")
    return document


def upgrade_reader(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have everything that is read from now on be read by that reader. ``forget_reader`` ends it."""
    monkeypatch.setattr(bodies, "read", read_otherwise)
    forget_reader()
    database.caches.clear()


def forget_reader() -> None:
    """Drop what any reader has read."""
    bodies._parsed.clear()
