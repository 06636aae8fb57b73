"""Import versions and languages in addition to the variant that is imported into the target of a run. Each of these
variants gets its own space, and the spaces become variants of one site."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from msgspec import UNSET

from octavo.content.changes.saving import require_live
from octavo.core.docs_config import DocsEntry
from octavo.core.languages import LANGUAGES
from octavo.core.links import app_hosts
from octavo.core.problems import Problem
from octavo.core.sources import Source
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.authorization import find_space_access, space_access
from octavo.organization.access.roles import Can
from octavo.organization.spaces.creating import create_space
from octavo.organization.spaces.store import get_space, update_space
from octavo.organization.spaces.trash import discard_space
from octavo.organization.spaces.types import MAX_TITLE, UNTITLED

from . import store
from .brand_images import StoredBrand, store_brand
from .reimporting import begin_source, import_source
from .space_links import with_ids
from .store import ImportedVariant, ImportedVariants, ImportRunRow

Arrange = Callable[
    [
        Transaction,
        Context,
        Actor,
        str,
        str,
        Sequence[DocsEntry],
        Mapping[str, str],
        Mapping[str, Source],
        StoredBrand,
    ],
    tuple[str, list[Problem]],
]
_arrange: list[Arrange] = []


def on_variants(arrange: Arrange) -> Arrange:
    """Register ``arrange(tx, context, actor, organization_id, title, structure, spaces, parts, brand)``,
    which shows spaces as the variants of a site, and returns the ID of the site and the problems.
    ``spaces`` and ``parts`` are keyed by entry. A new site gets the ``brand``. The function raises
    Forbidden or NotFound if the actor doesn't have access to the site."""
    _arrange.append(arrange)
    return arrange


class Variants:
    """Variants of a source. One of them is imported into the target of a run, and each of the others into its own
    space."""

    def __init__(self, context: Context, actor: Actor, run: ImportRunRow, source: Source) -> None:
        self._context, self._actor, self._run, self._source = context, actor, run, source
        self._hosts = app_hosts(context.settings.url)
        structure = source.structure
        self._default = next((one for one in structure if one.default), structure[0]).key
        self._brand = StoredBrand(source.brand, {})
        self._identities: dict[str, str] = {}
        self.spaces: dict[str, str] = {}
        """Space of each variant, by key."""
        self.made: list[str] = []
        """Newly created spaces."""
        self.problems: list[Problem] = []

    def make_spaces(self) -> None:
        """Create all spaces, so that links between them are known before the first page is imported."""
        origin = self._run.origin or self._run.id
        for entry in self._source.structure:
            if entry.key == self._default:
                self.spaces[entry.key] = self._run.space_id
                continue
            identity = hashlib.sha256(f"run {origin} {entry.key}".encode()).hexdigest()
            self._identities[entry.key] = identity
            self.spaces[entry.key], is_new = _space_for(
                self._context, self._actor, self._run, entry, identity
            )
            if is_new:
                self.made.append(self.spaces[entry.key])

    def linked(self, part: Source) -> Source:
        """Return a variant in which links to other variants lead to the spaces of these variants."""
        return with_ids(part, self.spaces, self._hosts)

    def import_others(self, progress: Callable[[int, int], None]) -> None:
        """Import all variants except the one that is imported into the target."""
        self._brand = store_brand(self._context, self._source.brand)
        for key, identity in self._identities.items():
            brought = import_source(
                self._context,
                self.linked(self._source.parts[key]),
                self.spaces[key],
                identity=identity,
                author=self._actor.user_id,
                progress=progress,
            )
            self.problems += brought.problems

    def arrange(self, tx: Transaction, context: Context, was_empty: bool) -> list[Problem]:
        """Make the spaces variants of a site, in the transaction that ends the run. Return the problems.
        ``was_empty``: whether the target was empty before the import; if so, the target gets the name of its
        variant."""
        run, structure = self._run, self._source.structure
        first = next(entry for entry in structure if self.spaces[entry.key] == run.space_id)
        title = self._source.name if len(self._source.name) >= 2 else get_space(tx, run.space_id).title
        if was_empty:
            update_space(tx, run.space_id, title=first.title or "Documentation")
        site: str | None = None
        problems: list[Problem] = []
        for arrange in _arrange:
            site, said = arrange(
                tx,
                context,
                self._actor,
                run.organization_id,
                title[:128],
                structure,
                self.spaces,
                self._source.parts,
                self._brand,
            )
            problems += said
        brought = [
            ImportedVariant(
                one.key,
                one.title,
                self.spaces[one.key],
                one is first,
                one.path or UNSET,
                one.language or UNSET,
            )
            for one in structure
        ]
        store.set_variants(tx, run.id, ImportedVariants(brought, site or UNSET))
        return problems


@contextmanager
def space_for_each(
    context: Context, actor: Actor, run: ImportRunRow, source: Source
) -> Iterator[Variants | None]:
    """Yield the spaces for the variants of a source, or None if the source has no variants. New spaces are deleted
    if the ``with`` block fails."""
    if not source.parts:
        yield None
        return
    variants = Variants(context, actor, run, source)
    try:
        variants.make_spaces()
        yield variants
    except BaseException:
        with context.db.write() as tx:
            for space_id in variants.made:
                discard_space(tx, space_id)
        raise


def _space_for(
    context: Context, actor: Actor, run: ImportRunRow, entry: DocsEntry, identity: str
) -> tuple[str, bool]:
    """Return the space of a variant, and whether the space is new. If an earlier run imported this variant into a
    space that the caller can still edit, that space is used. Raises Forbidden if the caller can't create spaces,
    and Conflict if the space can be edited only in change requests."""
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
