"""Merge a newer state of a source into the content that an earlier run created.

The base of the merge is the content that the earlier run created from the source, so any differences from it in the
space are edits by people. If people and the source changed the same content, people's edits are kept, and a change
request contains both versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from octavo.content.changes.applying import EditedContent
from octavo.content.changes.comparing import Sides, merge_into_main
from octavo.content.changes.copying import CopiedMaterial, copy_material
from octavo.content.changes.saving import create_conflicted
from octavo.content.changes.store import find_change
from octavo.content.revisions.bodies import get_body
from octavo.content.revisions.drafting import same_version
from octavo.content.revisions.item_versions import ITEM_KINDS, Item, find_items, list_items
from octavo.content.revisions.page_versions import find_page, find_pages, list_pages
from octavo.content.revisions.states import State
from octavo.core.merge import MergeConflict, Versions
from octavo.core.pages import Page
from octavo.core.problems import Problem
from octavo.core.sources import SourceError
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import SpaceAccess

from . import store
from .importing import StagedFiles
from .matching import longest_in_order, match_pages, ranks_of
from .store import ImportChanges, ImportedContent, ImportRunRow, PartRow

SHOWN = 120
"""Maximum number of characters in a string to show in a problem."""


class Base(Struct, frozen=True):
    """Results of an earlier run, without later edits. ``run``: the run; None for an import by the command before
    runs were recorded. ``slugs``: the slugs of the pages in the source."""

    run: ImportRunRow | None
    pages: dict[str, Page]
    items: dict[str, Item]
    slugs: dict[str, str]

    @property
    def folder(self) -> str:
        return (self.run.folder if self.run is not None else None) or ""

    @property
    def above(self) -> str | None:
        """Return the page that is the parent of all imported pages."""
        return self.run.page_id if self.run is not None else None


class Update(Struct, frozen=True):
    """Content of the revision for a state of a source. ``pages``: the pages in the order of the source. ``left_out``:
    the IDs of new pages that have no place in the space. ``parts``: the state of the source, for the next run.
    ``conflicts``: the conflicts with content of the main version that people edited. ``changes``: the counts of
    changes; None if all content is new."""

    edited: EditedContent
    pages: list[Page]
    parts: list[PartRow]
    folder: str
    base: Base | None = None
    changes: ImportChanges | None = None
    problems: Sequence[Problem] = ()
    conflicts: Sequence[MergeConflict] = ()
    left_out: frozenset[str] = frozenset()

    def create_change_request(self, tx: Transaction, space: SpaceAccess) -> ImportChanges | None:
        """Create a change request for conflicts with the main version, if there are any. Return the changes."""
        if not self.conflicts or self.changes is None:
            return self.changes
        change = create_conflicted(
            tx, space, self.conflicts, subject="Content edited by people and changed by an import"
        )
        return replace(self.changes, change_request=change.id)

    def forget_earlier(self, tx: Transaction) -> None:
        """Delete the results of runs before the base. The base itself is kept, because it is still the merge base if
        the change request with this update is never merged."""
        if self.base is not None and (run := self.base.run) is not None:
            earlier = [one.id for one in store.completed_of(tx, run.origin or run.id) if one.id < run.id]
            store.forget_parts(tx, earlier)


def parts_of(pages: Iterable[Page], slugs: Iterable[str], items: Iterable[Item]) -> list[PartRow]:
    """Return the results of a run in the format to store, for comparison with later states. ``slugs``: the
    slugs of the pages in the source."""
    made = [
        PartRow(page.id, ImportedContent(page=replace(page, body=None), slug=slug), page.body, None)
        for page, slug in zip(pages, slugs, strict=True)
    ]
    for item in items:
        bare = item if item.kind == "variable" else replace(item, content=None)
        body = item.content if item.kind in ("reusable-content", "source") else None
        made.append(
            PartRow(item.id, ImportedContent(item=bare), body, item.content if item.kind == "file" else None)
        )
    return made


def find_base(tx: Transaction, space_id: str, origin: str, change_id: str | None = None) -> Base | None:
    """Return the stored results of the source's newest run whose content is in the target of the next run."""
    for earlier in store.completed_of(tx, origin):
        if earlier.change_id is not None and earlier.change_id != change_id:
            change = find_change(tx, space_id, earlier.change_id)
            if change is None or change.status != "merged":
                continue
        if parts := store.list_parts(tx, earlier.id):
            written = {part.part_id: part for part in parts}
            return Base(
                earlier,
                {
                    id: replace(part.written.page, body=part.body)
                    for id, part in written.items()
                    if part.written.page
                },
                {
                    id: replace(item, content=part.body or part.file or item.content)
                    for id, part in written.items()
                    if (item := part.written.item)
                },
                {id: part.written.slug for id, part in written.items() if part.written.page},
            )
    return None


def base_of_state(tx: Transaction, state: State) -> Base:
    """Return the results of an import for which only the resulting state of the space is known."""
    pages = {page.id: page for page in list_pages(tx, state)}
    items = {item.id: item for kind in ITEM_KINDS for item in list_items(tx, state, kind)}
    return Base(None, pages, items, {id: page.slug for id, page in pages.items()})


def add(
    tx: Transaction, state: State, staged: StagedFiles, *, folder: str, into: str | None, with_sources: bool
) -> Update:
    """Add a source alongside existing content, under the page ``into``. ``folder``: the folder for the source's
    files if their paths are already taken. ``with_sources``: whether to keep the configuration of the source's page
    tree if the space is empty."""
    items = [replace(item, id=ids.new_id()) for item in staged.items]
    planned = staged.pages(
        [ids.new_id() for _ in staged.reads],
        {item.path or "": item.id for item in items if item.kind == "file"},
    )
    # In any other place, the configuration of the tree would be incomplete.
    whole = (
        with_sources and into is None and not list_pages(tx, state) and not list_items(tx, state, "source")
    )
    kept = [item for item in items if whole or item.kind != "source"]
    edited = copy_material(
        tx, state, CopiedMaterial(planned, kept, get_body, True, folder, verbatim=True, into=into), {}
    )
    pages = [page for page in edited.changes.pages.values() if page is not None]
    made = [item for item in edited.changes.items.values() if item is not None]
    return Update(
        edited, pages, parts_of(pages, [page.slug for page in planned], made), _folder(planned, pages)
    )


def _folder(planned: Sequence[Page], made: Sequence[Page]) -> str:
    """Return the folder into which the files of a source were placed."""
    for before, page in zip(planned, made, strict=True):
        if before.file_path and page.file_path:
            return page.file_path.removesuffix(before.file_path)
    return ""


def update(tx: Transaction, base: Base, state: State, staged: StagedFiles, *, in_change: bool) -> Update:
    """Return the update that applies a newer state of the source to a state of the space. ``in_change``: whether
    the state belongs to a change request, in which conflicts stay open. Raises SourceError if the space no longer
    contains any content from the earlier run."""
    pages, items, slugs = _newer(tx, base, state, staged)
    here_before = find_pages(tx, state, base.pages)
    if not here_before:
        raise SourceError(
            "None of the content from the earlier import is left. Start a new import without `update`."
        )
    theirs_pages = _placed(tx, base, state, pages, here_before)
    theirs_items = {item.id: item for item in items}
    left_out = frozenset(page.id for page in pages if page.id not in theirs_pages)
    # Content that the source didn't change remains as people left it.
    page_ids = [
        id
        for id in {**base.pages, **theirs_pages}
        if id not in state.hidden and not same_version(base.pages.get(id), theirs_pages.get(id))
    ]
    item_ids = [
        id
        for id in {**base.items, **theirs_items}
        if not same_version(base.items.get(id), theirs_items.get(id))
    ]
    # The next run compares the source with what this run could apply.
    hidden = {id: page for id, page in base.pages.items() if id in state.hidden}
    applied = {id: page for id, page in theirs_pages.items() if id not in state.hidden} | hidden
    slug_of = dict(zip((page.id for page in pages), slugs, strict=True))
    slug_of |= {id: slug for id, slug in base.slugs.items() if applied.get(id) is base.pages[id]}
    here = find_pages(tx, state, page_ids), find_items(tx, state, item_ids)
    sides = Sides(
        Versions(
            {id: base.pages[id] for id in page_ids if id in base.pages},
            {id: base.items[id] for id in item_ids if id in base.items},
        ),
        Versions(
            {id: theirs_pages.get(id) for id in page_ids}, {id: theirs_items.get(id) for id in item_ids}
        ),
        Versions({id: here[0].get(id) for id in page_ids}, {id: here[1].get(id) for id in item_ids}),
    )
    # Hidden pages keep their slugs and paths.
    merged = merge_into_main(tx, sides, state.whole)
    conflicts = [replace(conflict, origin="import") for conflict in merged.conflicts]
    edited = EditedContent(
        merged.changes,
        merged.bodies,
        merged.keys,
        [],
        [],
        conflicts=conflicts if in_change else [],
    )
    return Update(
        edited,
        pages,
        parts_of(applied.values(), (slug_of[id] for id in applied), items),
        base.folder,
        base,
        _counted(edited, here, sides.change, len(conflicts)),
        [_problem(conflict, sides, base, staged) for conflict in conflicts],
        [] if in_change else conflicts,
        left_out,
    )


def _placed(
    tx: Transaction, base: Base, state: State, pages: Sequence[Page], here: Mapping[str, Page]
) -> dict[str, Page]:
    """Return the newer pages that have a place in the space, by ID. If the new parent of a page was deleted or is
    hidden, a page that is in the space stays in its place, and other pages aren't changed or added. ``pages``: the
    newer pages, parents first. ``here``: the pages of the base that are in the space."""
    placed: dict[str, Page] = {}

    def has_place(parent: str | None) -> bool:
        if parent is None or parent in here:
            return True
        if parent == base.above:
            return find_page(tx, state, parent) is not None
        is_written = parent in placed and not same_version(base.pages.get(parent), placed[parent])
        return is_written and parent not in state.hidden

    for page in pages:
        before = base.pages.get(page.id)
        if has_place(page.parent):
            placed[page.id] = page
        elif before is not None:
            moved = replace(page, parent=before.parent, rank=before.rank)
            placed[page.id] = moved if page.id in here else before
    return placed


def _newer(
    tx: Transaction, base: Base, state: State, staged: StagedFiles
) -> tuple[list[Page], list[Item], list[str]]:
    """Return the pages and items of the newer state as the earlier run would have created them, and the slugs of
    the pages in the source."""
    folder, moment = base.folder, now()
    old = {
        page.id: replace(
            page,
            parent=page.parent if page.parent in base.pages else None,
            file_path=page.file_path.removeprefix(folder) if page.file_path else None,
        )
        for page in base.pages.values()
    }
    page_ids = match_pages(staged.reads, old, lambda digest: get_body(tx, digest))
    items = list(_items(tx, base, state, staged, moment))
    by_path = {(item.path or "").removeprefix(folder): item.id for item in items if item.kind == "file"}
    planned = staged.pages(page_ids, by_path)
    ranks = _ranks(planned, old)
    pages = []
    for page in planned:
        before = base.pages.get(page.id)
        kept = before is not None and base.slugs.get(page.id) == page.slug
        pages.append(
            replace(
                page,
                parent=page.parent or base.above,
                rank=ranks[page.id],
                slug=before.slug if kept and before is not None else page.slug,
                file_path=folder + page.file_path if page.file_path else None,
                created_at=before.created_at if before is not None else moment,
                updated_at=moment,
            )
        )
    return pages, items, [page.slug for page in planned]


def _items(tx: Transaction, base: Base, state: State, staged: StagedFiles, moment: int) -> Iterable[Item]:
    known = {(item.kind, item.path or item.name): item for item in base.items.values()}
    with_sources = any(item.kind == "source" for item in base.items.values())
    variables = {item.name for item in list_items(tx, state, "variable")}
    for item in staged.items:
        path = base.folder + item.path if item.path else None
        before = known.get((item.kind, path or item.name))
        if before is None and (
            (item.kind == "source" and not with_sources)
            or (item.kind == "variable" and item.name in variables)
        ):
            continue
        yield replace(
            item,
            id=before.id if before is not None else ids.new_id(),
            path=path,
            created_at=before.created_at if before is not None else moment,
        )


def _ranks(pages: Sequence[Page], old: dict[str, Page]) -> dict[str, str]:
    """Return the ranks of pages. Existing ranks are kept unless the order in the source has changed."""
    siblings: dict[str | None, list[str]] = {}
    for page in pages:
        siblings.setdefault(page.parent, []).append(page.id)
    ranks: dict[str, str] = {}
    for parent, order in siblings.items():
        stayed = [id for id in order if id in old and old[id].parent == parent]
        before = sorted(stayed, key=lambda id: (old[id].rank, id))
        kept = {id: old[id].rank for id in longest_in_order(stayed, before)}
        ranks |= zip(order, ranks_of(order, kept), strict=True)
    return ranks


def _counted(
    edited: EditedContent, here: tuple[dict[str, Page], dict[str, Item]], source: Versions, kept: int
) -> ImportChanges:
    counted = ImportChanges(kept=kept)
    sides = ((edited.changes.pages, here[0], source.pages), (edited.changes.items, here[1], source.items))
    for written, known, wanted in sides:
        for id, now_there in written.items():
            if getattr(now_there or known.get(id), "kind", "") == "source":
                continue  # The configuration of the tree only repeats the pages' data.
            if now_there is None:
                counted.deleted += 1
            elif id in known:
                counted.updated += 1
                counted.merged += not same_version(now_there, wanted.get(id))
            else:
                counted.created += 1
    return counted


def _problem(conflict: MergeConflict, sides: Sides, base: Base, staged: StagedFiles) -> Problem:
    """Return the problem to report for content that was changed both by people and in the source."""
    named: list[Callable[[Versions], str | None]] = [
        lambda side: page.file_path or page.slug if (page := side.pages.get(conflict.id)) else None,
        lambda side: item.path or item.name if (item := side.items.get(conflict.id)) else None,
    ]
    name = next(
        (found for side in (sides.change, sides.main, sides.base) for name in named if (found := name(side))),
        conflict.id,
    ).removeprefix(base.folder)
    origins = staged.source.origins if staged.source is not None else {}
    if conflict.kind == "deleted":
        said = (
            "the source no longer has this content, but it was kept because people changed it"
            if conflict.theirs is None
            else "people removed this content, but it was restored because the source changed"
        )
    else:
        new = "empty" if conflict.theirs is None else f"“{' '.join(str(conflict.theirs).split())[:SHOWN]}”"
        stays = "people's edits were kept" if conflict.kept == "ours" else "the source's version was used"
        field = conflict.field if conflict.kind == "field" else "content"
        said = f"both people and the source changed this content: the source's {field} is now {new}; {stays}"
    return Problem(origins.get(name, name), 0, "kept_by_people", said)
