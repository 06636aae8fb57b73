"""Declarations of the image tables."""

from __future__ import annotations

from octavo.content.revisions.deriving import Derived, register_derived
from octavo.content.revisions.revising import on_commit
from octavo.kit.db.tables import Table, declare, file
from octavo.organization.spaces.hooks import on_copy

from . import making, store

declare(
    Table(
        name="images",
        of_space="space_id IN {spaces}",
        many=True,
        derived=True,
        values={"state": ("waiting", "made")},
    ),
    Table(
        name="image_variants",
        of_space="space_id IN {spaces}",
        many=True,
        derived=True,
        columns=(file("file"),),
    ),
)
on_commit(making.enqueue_files)
register_derived(Derived.queued(making.enqueue_all_files, store.delete_variants, making.check))
on_copy(making.copy_or_enqueue)
