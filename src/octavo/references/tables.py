"""What the tables of references are."""

from __future__ import annotations

from ..content import derive_from_main
from ..kit.tables import Table, declare
from ..spaces import on_copy
from .index import apply, check, clear, copy_references, is_still_true, prepare

declare(Table(name="content_references", derived=True), Table(name="reference_questions", derived=True))
derive_from_main(prepare, is_still_true, apply, clear, check)
on_copy(copy_references)
