"""Imports with the `octavo import` command: the first import of a source, and later imports of newer states.

Each import is recorded as a run without a user, so that the next import can determine which content this import
created. If the process is killed at any point, the existing content stays intact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec import UNSET, Struct

from octavo.content.changes.applying import EditedContent
from octavo.content.changes.saving import retry_on_conflict
from octavo.content.revisions.history import list_revisions
from octavo.content.revisions.item_versions import ITEM_KINDS, list_items
from octavo.content.revisions.page_versions import find_pages, list_pages
from octavo.content.revisions.revising import new_revision
from octavo.content.revisions.states import State, main_state, revision_state
from octavo.content.revisions.store import Changes
from octavo.core.pages import slugify
from octavo.core.problems import Problem
from octavo.core.sources import Source
from octavo.errors import BadRequest
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import SpaceAccess, space_access
from octavo.organization.access.members import find_first_administrator
from octavo.organization.access.reach import actor_for_job
from octavo.organization.access.roles import Can
from octavo.organization.spaces.store import get_space, set_language_if_unset

from . import store
from .importing import ImportOutcome, StagedFiles, imported_from, replace_all, stage_for
from .recording import record
from .updating import Base, Update, add, base_of_state, find_base, parts_of, update

_LOOKED_AT = 20
"""Number of a space's most recent sources to consider. One of them may be this source at a previous location."""


def import_source(
    context: Context,
    source: Source,
    space_id: str,
    *,
    identity: str,
    whole: bool = False,
    state_of: str = "",
    author: str | None = None,
    git: Mapping[str, object] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> ImportOutcome:
    """Import a source into the main version, as one revision. Content from an earlier import is updated from the
    source if no one has edited it; otherwise, the changes are merged. Content that people added is kept.

    ``identity``: the identity of the source. ``whole``: whether to replace the content of the space with the
    source. ``state_of``: an identifier for the state of the source, if it is known (``known_space``). Raises
    BadRequest if both sides changed the same content and the organization has no administrator to resolve the
    conflict."""
    staged = stage_for(context, source, space_id, progress)
    with context.db.read() as tx:
        state = main_state(tx, space_id)
        is_empty = not list_pages(tx, state) and not any(list_items(tx, state, kind) for kind in ITEM_KINDS)
    bringing = _CommandImport(context, space_id, identity, state_of, staged, author, git)
    if whole or is_empty:
        state, changed = replace_all(
            context,
            space_id,
            staged,
            author=author,
            message=imported_from(staged),
            git=git,
            also=bringing.record_whole,
        )
    else:
        state, changed = retry_on_conflict(bringing.merge)
    if changed and is_empty and staged.language is not None:
        with context.db.write() as tx:
            set_language_if_unset(tx, space_id, staged.language)
    brought = bringing.brought
    return ImportOutcome(
        space_id,
        state.revision_id,
        len(staged.plan.pages),
        sum(item.kind == "file" for item in staged.items),
        changed,
        [*brought.problems, *staged.problems, *staged.failures()],
        bringing.changes or UNSET,
    )


class CommandSource(Struct, tag="command", omit_defaults=True):
    """Details about the source, which are stored with a run of the command. ``state`` identifies the state that was
    imported."""

    name: str
    state: str = ""


def known_space(tx: Transaction, organization_id: str, identity: str) -> tuple[str, str] | None:
    """Return the space into which a source was last imported and the state that was imported; None if the source
    was never imported, or if the space is in the trash."""
    run = store.find_known(tx, organization_id, identity)
    if run is None or get_space(tx, run.space_id).deleted_at is not None:
        return None
    is_whole = run.status == "completed"
    return run.space_id, msgspec.json.decode(run.source, type=CommandSource).state if is_whole else ""


def begin_source(tx: Transaction, space_id: str, identity: str, name: str) -> None:
    """Record that a source is being imported into a space, so that an interrupted import can continue in the same
    space."""
    _begin(tx, space_id, identity, CommandSource(name))


class NotedChange(Struct, frozen=True):
    """Local change request into which a remote change request was imported. ``is_whole``: whether the import was
    completed."""

    change_id: str | None
    is_whole: bool


def find_noted_change(tx: Transaction, organization_id: str, identity: str) -> NotedChange | None:
    run = store.find_known(tx, organization_id, identity)
    return None if run is None else NotedChange(run.change_id, run.status == "completed")


def end_noted(tx: Transaction, run_id: str, problems: Sequence[Problem]) -> None:
    """Record that a change request was fully imported."""
    store.end_run(tx, run_id, "completed", problems=problems)


def note_change(tx: Transaction, space_id: str, change_id: str, identity: str, name: str) -> str:
    """Record, in a run, the local change request into which a remote change request is imported. Return the ID of
    the run, which stays open."""
    return _begin(tx, space_id, identity, CommandSource(name), change_id=change_id).id


def _begin(
    tx: Transaction,
    space_id: str,
    identity: str,
    source: CommandSource,
    *,
    change_id: str | None = None,
    origin: str | None = None,
) -> store.ImportRunRow:
    """Start a run of `octavo import`, which replaces an interrupted run of the same source."""
    store.drop_begun(tx, space_id, identity)
    return store.insert_run(
        tx,
        organization_id=get_space(tx, space_id).organization_id,
        space_id=space_id,
        change_id=change_id,
        page_id=None,
        user_id=store.NOBODY,
        source=source,
        origin=origin,
        identity=identity,
    )


class _CommandImport:
    """Import with the `octavo import` command. ``changes``: the changes to existing content, if the source was
    merged with it."""

    def __init__(
        self,
        context: Context,
        space_id: str,
        identity: str,
        state_of: str,
        staged: StagedFiles,
        author: str | None,
        git: Mapping[str, object] | None,
    ) -> None:
        self._context, self._space_id, self._identity = context, space_id, identity
        self._state_of = state_of
        self._staged, self._author, self._git = staged, author, git
        self.brought: Update
        self.changes: store.ImportChanges | None = None

    def record_whole(self, tx: Transaction, state: State, page_ids: list[str]) -> None:
        """Record the results of a revision that contains only content from the source."""
        base = self._find_base(tx)
        known = {page.id: page for page in list_pages(tx, state)}
        pages = [known[id] for id in page_ids]
        items = [item for kind in ITEM_KINDS for item in list_items(tx, state, kind)]
        parts = parts_of(pages, [page.slug for page in pages], items)
        self.brought = Update(EditedContent(Changes(), [], [], [], []), pages, parts, "", base)
        self._record(tx, state, None)

    def merge(self) -> tuple[State, int]:
        """Try to merge once. Raises BranchMoved if the main version has changed in the meantime."""
        with self._context.db.read() as tx:
            state = main_state(tx, self._space_id)
            brought = self.brought = self._make_update(tx, state)
            space = self._conflict_owner(tx) if brought.conflicts else None
        edited = brought.edited
        with new_revision(
            self._context, state, edited.changes, edited.bodies, edited.keys, if_any=True
        ) as revision:
            made = revision.write(author=self._author, message=imported_from(self._staged), git=self._git)
            self._record(revision.tx, made, space)
        return made, len(edited.changes)

    def _make_update(self, tx: Transaction, state: State) -> Update:
        base = self._find_base(tx)
        if base is not None and find_pages(tx, state, base.pages):
            return update(tx, base, state, self._staged, in_change=False)
        name = self._staged.source.name if self._staged.source is not None else ""
        return add(tx, state, self._staged, folder=slugify(name) or "import", into=None, with_sources=True)

    def _find_base(self, tx: Transaction) -> Base | None:
        """Return the content that an earlier import of this source created. An import is considered to be of this
        source if it is from the same location, or if at least half of its files are also in this source."""
        known = store.origins_in(tx, self._space_id, _LOOKED_AT)
        for origin, identity in known:
            if identity == self._identity and (base := find_base(tx, self._space_id, origin)):
                return base
        for origin, _ in known:
            base = find_base(tx, self._space_id, origin)
            if base is not None and self._is_of_source(base):
                return base
        if any(identity for _, identity in known):
            return None
        base = self._before_runs(tx)
        return base if base is not None and self._is_of_source(base) else None

    def _is_of_source(self, base: Base) -> bool:
        now_there = {read.planned.file_path for read, _, _ in self._staged.reads}
        before = {page.file_path.removeprefix(base.folder) for page in base.pages.values() if page.file_path}
        return bool(before) and 2 * len(before & now_there) >= len(before)

    def _before_runs(self, tx: Transaction) -> Base | None:
        """Return the content that the command's last import created, if that import happened before imports were
        recorded as runs. The revision of such an import has no author, and its content is identical to the source."""
        place = None
        while True:
            found = list_revisions(tx, self._space_id, 100, place)
            for row in found.rows:
                if row.author is None:
                    return base_of_state(tx, revision_state(tx, self._space_id, row.id))
            if (place := found.next_token) is None:
                return None

    def _conflict_owner(self, tx: Transaction) -> SpaceAccess:
        """Return the access of a person who can create a change request for conflicts."""
        organization = get_space(tx, self._space_id).organization_id
        administrator = find_first_administrator(tx, organization)
        if administrator is None:
            raise BadRequest(
                "The same content was changed in both Octavo and the source, but the organization has no"
                " administrator to resolve the conflict. Nothing was changed. Add an administrator, or use"
                " --replace to overwrite the space."
            )
        return space_access(tx, actor_for_job(administrator, organization), Can.EDIT, self._space_id)

    def _record(self, tx: Transaction, state: State, space: SpaceAccess | None) -> None:
        earlier = self.brought.base.run if self.brought.base is not None else None
        name = self._staged.source.name if self._staged.source is not None else ""
        run = _begin(
            tx,
            self._space_id,
            self._identity,
            CommandSource(name, self._state_of),
            origin=None if earlier is None else earlier.origin or earlier.id,
        )
        if self._staged.source is not None and self._staged.source.kind:
            store.set_kind(tx, run.id, self._staged.source.kind)
        self.changes = record(
            tx, run.id, self.brought, self._staged, space, state.revision_id, self._staged.problems
        )
