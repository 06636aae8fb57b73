"""A copy of a space: everything main holds, as the first revision of a new branch.

Rows are copied inside the database, by the packages that own them (``hooks.on_copy``).
"""

from __future__ import annotations

from ..access import SpaceAccess, audit
from ..kit import ids
from ..kit.clock import now
from ..kit.db import Transaction
from ..kit.operation import Call
from ..kit.outbox import emit
from . import placing, store
from .hooks import copied
from .store import SpaceRow

_MAX_TITLE = 50
_SUFFIX = " (copy)"


def duplicate_space(tx: Transaction, call: Call, space: SpaceAccess) -> SpaceRow:
    """Puts a copy right behind the original, with its settings and what was granted there. Raises Forbidden where
    the caller may not create content."""
    source = store.get_space(tx, space.space_id)
    placing.require_parent(tx, space.organization, source.collection_id)
    made = _copy(tx, source, space.user_id)
    after = {"title": made.title, "duplicateOf": source.id}
    audit(tx, call, "space.created", space.organization_id, ("space", made.id), after=after)
    return made


def _copy(tx: Transaction, source: SpaceRow, user_id: str) -> SpaceRow:
    space_id = source.id
    placing.lock_order(tx, source.organization_id)
    copy_id, branch_id, revision_id, moment = ids.new_id(), ids.new_id(), ids.new_id(), now()
    # Holds off who would make a revision meanwhile: the copy is of one state.
    tx.one(f"SELECT 1 FROM branches WHERE id = :branch{tx.for_update}", branch=source.main_branch)
    tx.run(
        """INSERT INTO spaces (id, organization_id, collection_id, rank, title, emoji, icon, language, edit_mode,
                               default_level, merge_rules, main_branch, main_revision, created_by, created_at, updated_at)
           SELECT :id, organization_id, collection_id, :rank, :title, emoji, icon, language, edit_mode,
                  default_level, merge_rules, :branch, :revision, :by, :at, :at FROM spaces WHERE id = :source""",
        id=copy_id,
        rank=placing.rank_behind(tx, source.organization_id, source.collection_id, ("space", space_id)),
        title=source.title[: _MAX_TITLE - len(_SUFFIX)] + _SUFFIX,
        branch=branch_id,
        revision=revision_id,
        by=user_id,
        at=moment,
        source=space_id,
    )
    tx.run(
        """INSERT INTO grants (object_type, object_id, subject_type, subject_id, role, created_at)
           SELECT object_type, :id, subject_type, subject_id, role, :at FROM grants
           WHERE object_type = 'space' AND object_id = :source""",
        id=copy_id,
        at=moment,
        source=space_id,
    )
    store.insert_main_branch(tx, copy_id, branch_id, revision_id, author=user_id)
    copied(tx, space_id, copy_id)
    emit(tx, "space_duplicated", organization_id=source.organization_id, space_id=copy_id, source=space_id)
    return store.get_space(tx, copy_id)
