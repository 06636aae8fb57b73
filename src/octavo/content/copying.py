"""The content of a copy of a space: rows of main as it is, copied inside the database.

Texts and files are shared by their hashes; pages and files keep their ids, which are theirs within a space, so that
every link among them holds.
"""

from __future__ import annotations

from ..kit.db import Transaction
from ..spaces import get_space
from .store import main_state

_PAGE = "page_id, to_seq, parent_id, rank, slug, kind, title, body, file_path, fields, created_at, updated_at"
_ITEM = "item_id, to_seq, kind, name, path, content, size, fields, created_at"


def copy_content(tx: Transaction, source_id: str, copy_id: str) -> None:
    """Fills the first revision of a copy with what main of its source holds."""
    source = main_state(tx, source_id).layers[0]
    for table, columns in (("page_versions", _PAGE), ("item_versions", _ITEM)):
        tx.run(
            f"""INSERT INTO {table} (branch_id, from_seq, {columns}) SELECT :branch, 1, {columns}
                FROM {table} WHERE branch_id = :source AND from_seq <= :sequence AND to_seq > :sequence""",
            branch=get_space(tx, copy_id).main_branch,
            source=source.branch_id,
            sequence=source.sequence,
        )
