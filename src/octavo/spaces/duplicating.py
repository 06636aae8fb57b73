"""A copy of a space: everything main holds, as the first revision of a new branch.

Rows are copied inside the database. Texts and files are shared by their hashes; pages and files keep their ids,
which are theirs within a space, so that every link among them holds.
"""

from __future__ import annotations

from ..access import SpaceAccess, audit
from ..kit import ids
from ..kit.clock import now
from ..kit.db import Transaction
from ..kit.operation import Call
from ..kit.outbox import emit
from . import placing, store
from .following import tell_copied
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
    sequence = tx.one(
        f"SELECT sequence FROM branches WHERE id = :branch{tx.for_update}", branch=source.main_branch
    )
    assert sequence is not None, "a space has its main branch"
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
    copied = {"branch": branch_id, "source": source.main_branch, "seq": sequence[0]}
    tx.run(
        """INSERT INTO page_versions (branch_id, page_id, from_seq, to_seq, parent_id, rank, slug, kind, title, body,
                                      file_path, fields, created_at, updated_at)
           SELECT :branch, page_id, 1, to_seq, parent_id, rank, slug, kind, title, body,
                  file_path, fields, created_at, updated_at
           FROM page_versions WHERE branch_id = :source AND to_seq > :seq""",
        **copied,
    )
    tx.run(
        """INSERT INTO item_versions (branch_id, item_id, from_seq, to_seq, kind, name, path, content, size, fields,
                                      created_at)
           SELECT :branch, item_id, 1, to_seq, kind, name, path, content, size, fields, created_at
           FROM item_versions WHERE branch_id = :source AND to_seq > :seq""",
        **copied,
    )
    tell_copied(tx, space_id, copy_id)
    emit(tx, "space_duplicated", organization_id=source.organization_id, space_id=copy_id, source=space_id)
    return store.get_space(tx, copy_id)
