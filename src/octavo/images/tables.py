"""What the tables of images are."""

from __future__ import annotations

from ..content import Derived, derive_from_main, on_commit
from ..kit.tables import Table, declare, file
from ..spaces import on_copy
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
on_commit(making.note_files)
derive_from_main(
    Derived(making.prepare_anew, lambda *_: True, making.note_all_files, store.remove, making.check)
)
on_copy(making.copy_made)
