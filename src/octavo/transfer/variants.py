"""Versions and languages that an import run brings beside its target: each into a space of its own, all of them variants
of one site."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from msgspec import UNSET

from ..access import Actor, Can, find_space_access, space_access
from ..changes import require_live
from ..core.docs_config import DocsEntry
from ..core.problems import Problem
from ..kit.context import Context
from ..kit.db import Transaction
from ..spaces import LANGUAGES, MAX_TITLE, UNTITLED, create_space, get_space, take_back_space, update_space
from . import store
from .repeating import begin_source, import_source
from .sources import Source
from .store import ImportedVariant, ImportedVariants, RunRow

Arrange = Callable[
    [Transaction, Context, Actor, str, str, list[DocsEntry], Mapping[str, str], Mapping[str, Source]],
    tuple[str, list[Problem]],
]
_arrange: list[Arrange] = []


def on_variants(arrange: Arrange) -> Arrange:
    """Registers ``arrange(tx, context, actor, organization_id, title, structure, spaces, parts)``, which shows spaces as the
    variants of a site and answers with its id and what could not be done. ``spaces`` and ``parts``: by the key of an entry. Raises Forbidden,
    NotFound."""
    _arrange.append(arrange)
    return arrange


class Variants:
    """What came beside the target of a run."""

    def __init__(self, source: Source, actor: Actor, run: RunRow, spaces: dict[str, str]) -> None:
        self._source, self._actor, self._run, self._spaces = source, actor, run, spaces
        self.problems: list[Problem] = []

    def arrange(self, tx: Transaction, context: Context, was_empty: bool) -> list[Problem]:
        """Makes them the variants of a site, in the transaction that ends the run; what could not be done. ``was_empty``:
        the target held nothing before, so it is called like its variant."""
        run, structure = self._run, self._source.structure
        first = next(entry for entry in structure if self._spaces[entry.key] == run.space_id)
        title = self._source.name if len(self._source.name) >= 2 else get_space(tx, run.space_id).title
        if was_empty:
            update_space(tx, run.space_id, title=first.title or "Documentation")
        site: str | None = None
        problems: list[Problem] = []
        for arrange in _arrange:
            site, said = arrange(
                tx, context, self._actor, run.organization_id, title[:128], structure, self._spaces,
                self._source.parts,
            )  # fmt: skip
            problems += said
        brought = [
            ImportedVariant(
                one.key,
                one.title,
                self._spaces[one.key],
                one is first,
                one.path or UNSET,
                one.language or UNSET,
            )
            for one in structure
        ]
        store.set_variants(tx, run.id, ImportedVariants(brought, site or UNSET))
        return problems


@contextmanager
def brought_variants(
    context: Context, actor: Actor, run: RunRow, source: Source, progress: Callable[[int, int], None]
) -> Iterator[Variants | None]:
    """Brings all parts of a source but the first, each into a space of its own; None where there are no parts. Spaces that
    were made for it are taken back where the block fails."""
    if not source.parts:
        yield None
        return
    origin = run.origin or run.id
    spaces: dict[str, str] = {}
    made: list[str] = []
    variants = Variants(source, actor, run, spaces)
    try:
        for entry in source.structure:
            part = source.parts[entry.key]
            if part is source:
                spaces[entry.key] = run.space_id
                continue
            identity = hashlib.sha256(f"run {origin} {entry.key}".encode()).hexdigest()
            spaces[entry.key], is_new = _space_for(context, actor, run, entry, identity)
            if is_new:
                made.append(spaces[entry.key])
            brought = import_source(
                context, part, spaces[entry.key], identity=identity, author=actor.user_id, progress=progress
            )
            variants.problems += brought.problems
        yield variants
    except BaseException:
        with context.db.write() as tx:
            for space_id in made:
                take_back_space(tx, space_id)
        raise


def _space_for(
    context: Context, actor: Actor, run: RunRow, entry: DocsEntry, identity: str
) -> tuple[str, bool]:
    """The space that an earlier run brought this variant into, as long as they may edit it, else a new one; and whether
    it is new. Raises Forbidden, and Conflict for one that is edited in change requests alone."""
    with context.db.write() as tx:
        target = space_access(tx, actor, Can.EDIT, run.space_id)
        known = store.find_known(tx, run.organization_id, identity)
        there = find_space_access(tx, actor, Can.EDIT, known.space_id) if known is not None else None
        if known is not None and there is not None:
            require_live(there)
            return known.space_id, known.status != "completed"
        collection = get_space(tx, run.space_id).collection_id
        language = entry.language if entry.language in LANGUAGES else None
        title = entry.title.strip()[:MAX_TITLE] or UNTITLED
        space_id = create_space(tx, target.organization, title, parent=collection, language=language).id
        begin_source(tx, space_id, identity, entry.title)
        return space_id, True
