"""Record the results of a run that imported content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import msgspec

from octavo.core.problems import Problem
from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import SpaceAccess

from . import store
from .importing import StagedFiles
from .store import ImportChanges
from .updating import Update


class Canceled(Exception):
    """Raised if the run was canceled, or ended by another worker. All of its results must be discarded."""


def record(
    tx: Transaction,
    run_id: str,
    brought: Update,
    staged: StagedFiles,
    space: SpaceAccess | None,
    revision: str | None,
    problems: Sequence[Problem],
    urls: Mapping[str, str] = MappingProxyType({}),
) -> ImportChanges | None:
    """End a run in the transaction that writes its results, and return the changes. Raises Canceled if the run has
    already ended. ``space``: the access for creating a change request for conflicts; required only if there are
    conflicts. ``urls``: the page URLs of a website."""
    imported = [
        store.ImportedPage(
            page.id,
            urls.get(read.planned.file_path or "", msgspec.UNSET),
            staged.original(read.planned.file_path) or msgspec.UNSET,
        )
        for (read, _, _), page in zip(staged.reads, brought.pages, strict=True)
        if page.kind == "document" and page.id not in brought.left_out
    ]
    changes = brought.changes if space is None else brought.create_change_request(tx, space)
    ended = store.end_run(
        tx,
        run_id,
        "completed",
        problems=[*brought.problems, *problems],
        pages=imported,
        revision=revision,
        folder=brought.folder,
        changes=changes,
    )
    if not ended:
        raise Canceled
    store.put_parts(tx, run_id, brought.parts)
    brought.forget_earlier(tx)
    return changes
