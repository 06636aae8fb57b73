"""Sync a space: merge new commits in its repository into the main version, and commit new main revisions.

A sync merges three states: the last synced state (the base), the main version ("ours"), and the branch.
``core/merge.py`` merges them. Where changes conflict, both sides get the main version, and a change request
contains both versions.

A sync can be interrupted at any point. The main revision, the change request, and the known state of the repository
are written in one transaction; changes that the repository doesn't have yet are stored in ``git_ahead`` until the
commit has been pushed. A commit is recorded in the row before it is pushed, so that the next sync can check whether
it arrived. A push never moves a branch that has changed since it was read."""

from __future__ import annotations

import io
import stat
from collections.abc import Callable, Mapping
from functools import partial
from typing import IO, Any

from msgspec.structs import replace

from octavo.content.changes.comparing import merge_into_main
from octavo.content.changes.saving import create_conflicted, create_with
from octavo.content.revisions.bodies import get_body, store_bodies
from octavo.content.revisions.item_versions import Item, list_items
from octavo.content.revisions.page_versions import list_pages, list_restricted
from octavo.content.revisions.revising import new_revision
from octavo.content.revisions.states import State, list_changed, main_state, revision_state
from octavo.content.revisions.store import BranchMoved, Changes, record_git_commit
from octavo.core.json_types import JsonObject
from octavo.core.merge import MergeConflict, Versions
from octavo.core.pages import Page
from octavo.core.problems import Problem
from octavo.core.sources import Source
from octavo.errors import NotFound
from octavo.interchange.transfer.importing import import_files
from octavo.interchange.transfer.opening import source_of_tree
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.scheduling import deadlines
from octavo.kit.work import jobs
from octavo.kit.work.outbox import emit
from octavo.organization.access.authorization import SpaceAccess, space_access
from octavo.organization.access.reach import actor_for_job
from octavo.organization.access.roles import Can
from octavo.organization.spaces.store import get_space

from . import store
from .branches import follow, known_to_changes
from .commit_authors import CommitDescription, describe
from .commit_status import report_commit
from .failures import Reason, Stopped
from .lfs import MOST_POINTER, LargeFiles, Pointer, Tracked, read_pointer
from .reading import ReadContent, read_changes
from .repository import CommittedFile, Repository, RepositoryBusy, is_safe, message_of
from .running import ROUNDS, SyncRun, record_failure, record_success, release, with_stop_reasons
from .store import SyncOutcome, SyncRow
from .synced_state import SyncedState, sides_beside
from .urls import read_remote, web_address
from .writing import Differing, FileContent, Writing, differing_from, write_all, write_files

_OF_THE_COMMIT = frozenset(
    {Reason.REWRITTEN, Reason.EMPTIED, Reason.TOO_LARGE, Reason.DAMAGED, Reason.CONTENT}
)
"""Reasons for failures that are caused by the content of the pushed commit."""


def run_sync(context: Context, space_id: str, cause: str, holder: str) -> str | None:
    """Run one sync. Return its outcome, or None if another sync is running. Raises LeaseLost if another process has
    taken over the sync."""
    with context.db.write() as tx:
        row = store.hold(tx, SyncRow, space_id, holder)
        if row is None:
            return None
        store.drop_runs(tx, space_id)
        run_id = store.insert_run(tx, space_id, cause)
    running: list[Sync] = []

    def run() -> SyncOutcome:
        running.append(Sync(context, row, holder))
        return running[0].run()

    try:
        outcome = with_stop_reasons(run)
    except Stopped as stopped:
        status = _ended_badly(context, row, holder, run_id, stopped, running[0].head if running else None)
        if stopped.__cause__ is not None:
            raise stopped.__cause__ from None
        return status
    except RepositoryBusy:
        with context.db.write() as tx:
            store.delete_run(tx, run_id)
            release(tx, store.require_held(tx, row, holder))
        return None
    problems = outcome.problems
    if outcome.commit is not None and not outcome.is_without_changes:
        problems = [*problems, *report_commit(context, row, outcome.commit, None)]
    with context.db.write() as tx:
        after = record_success(tx, row, holder)
        if outcome.is_without_changes and cause == "poll":
            store.delete_run(tx, run_id)
        else:
            store.end_run(
                tx,
                run_id,
                "nothing" if outcome.is_without_changes else "done",
                problems,
                commit_id=outcome.commit,
                pushed=outcome.pushed,
                revision=outcome.revision,
                change_id=outcome.change_id,
                imported=outcome.imported,
                exported=outcome.exported,
                conflicts=outcome.conflicts,
                followed=outcome.followed,
            )
        if not outcome.is_without_changes:
            _tell(tx, after, "space_gitsync_completed", after.revision, after.commit_id, state="success")
    return "synced"


def _ended_badly(
    context: Context, row: SyncRow, holder: str, run_id: str, stopped: Stopped, seen: str | None
) -> str:
    problems: list[Problem] = []
    if seen and row.failures == 0 and stopped.reason in _OF_THE_COMMIT:
        problems = report_commit(context, row, seen, stopped.message)
    with context.db.write() as tx:
        after, status = record_failure(tx, row, holder, stopped, seen, row.space_id)
        store.end_run(tx, run_id, status, problems, reason=stopped.reason.value, error=stopped.message)
        if after.failures == 0:
            _tell(tx, after, "space_gitsync_completed", after.revision, after.commit_id, state="failure")
    return status


def _tell(
    tx: Transaction, row: SyncRow, type: str, revision: str | None, commit: str | None, **more: object
) -> None:
    organization = get_space(tx, row.space_id).organization_id
    emit(
        tx,
        type,
        organization_id=organization,
        space_id=row.space_id,
        revisionId=revision or "",
        commitId=commit or "",
        **more,
    )


class Sync(SyncRun[SyncRow]):
    """Sync of a space in progress."""

    def __init__(self, context: Context, row: SyncRow, holder: str) -> None:
        super().__init__(context, row, holder)
        self.space_id = row.space_id
        self._outcome = SyncOutcome()
        with context.db.read() as tx:
            self.organization_id = get_space(tx, row.space_id).organization_id
            self.space: SpaceAccess = space_access(
                tx, actor_for_job(row.user_id, self.organization_id), Can.TRIGGER_GIT_SYNC, row.space_id
            )
        self.large = LargeFiles(context, row.space_id, row.branch, self.connection)

    # --- the run --------------------------------------------------------------------------------------

    def run(self) -> SyncOutcome:
        def step(copy: Repository) -> None:
            self._round(copy)
            followed = follow(self, copy)
            self._outcome.followed += followed.count
            self._outcome.problems += followed.problems

        self.in_rounds(self.row.project or self.space_id, step)
        return self._outcome

    def _round(self, copy: Repository) -> None:
        if self.fresh().folder != copy.folder:
            raise Stopped(
                Reason.MOVED,
                "The space's folder was moved in the meantime. The next sync will pick up where this one stopped.",
            )
        with self.context.db.read() as tx:
            _require_open(tx, main_state(tx, self.space_id))
        head = self.fetch(copy)
        row = self.row
        if row.pushing is not None:
            if head is not None and (row.pushing == head or copy.since(head, row.pushing) is not None):
                self._record_agreement(row.pushing, row.pushing_revision)
            with self.context.db.write() as tx:
                store.set_fields(tx, row, pushing=None, pushing_revision=None)
            row = self.fresh()
        self.head = head
        if row.first == "export":
            if not self.is_as_seen(copy, head):
                raise Stopped(
                    Reason.REWRITTEN,
                    "The branch was changed after you chose a side. Choose a side again.",
                )
            self._export_all(copy, head)
            return
        if row.first == "import" and (row.commit_id is None or not copy.has(row.commit_id)):
            self._import_all(copy, head)
            row = self.fresh()
        self._step(copy, head, decided=row.first == "import")

    def _record_agreement(self, commit: str, revision: str | None) -> None:
        """Record that both sides agree on a pushed commit and the revision that the commit was created from."""
        with self.context.db.write() as tx:
            store.require_held(tx, self.row, self.holder)
            store.put_ahead(tx, self.space_id, {}, {})
            store.set_fields(
                tx,
                self.row,
                commit_id=commit,
                revision=revision,
                pushing=None,
                pushing_revision=None,
                first=None,
            )

    # --- the first time -------------------------------------------------------------------------------

    def _import_all(self, copy: Repository, head: str | None) -> None:
        if head is None:
            raise Stopped(
                Reason.BRANCH_GONE,
                f"There is no branch {self.row.branch} in the repository. Create it, or choose another"
                " branch.",
            )
        tree = copy.tree_of(head)
        if tree is None:
            raise Stopped(
                Reason.EMPTIED,
                f"There are no files in the folder {self.row.folder or '/'} of the branch. Choose another"
                " folder or branch.",
            )
        git = self._commit_data(copy, head)
        source = source_of_tree(copy.repo, tree, self.connection.remote.name, head)
        source = self._with_large(source)
        entries = dict(copy.files(tree))

        def agree(tx: Transaction, state: State, _: list[str]) -> None:
            """Record the synced state in the import's transaction, so that later edits are never overwritten."""
            store.require_held(tx, self.row, self.holder)
            store.put_ahead(tx, self.space_id, {}, {})
            store.put_blobs(tx, self.space_id, _oids(tx, state, entries))
            store.set_fields(tx, self.row, commit_id=head, revision=state.revision_id, first=None)

        made = import_files(
            self.context,
            source,
            self.space_id,
            author=self.row.user_id,
            message=git["message"] or None,
            git=git,
            progress=self._progress(),
            also=agree,
        )
        self._outcome.problems += made.problems
        self._outcome.imported += made.changed
        self._outcome.revision, self._outcome.commit = made.revision, head

    def _with_large(self, source: Source) -> Source:
        """Return the source with Git LFS files in place of their pointers."""
        small = [path for path in source.paths() if source.size(path) <= MOST_POINTER]
        found = {path: pointer for path in small if (pointer := read_pointer(source.read(path))) is not None}
        self.large.download(found.values())
        missing = []
        for path, pointer in found.items():
            if self.large.has(pointer):
                source.files.replace(path, pointer.size, partial(self._open_stored, pointer.oid))
            else:
                missing.append(Problem(path, 0, "lfs_pointer", self.large.explain_missing(pointer)))
        return replace(source, problems=(*source.problems, *missing))

    def _open_stored(self, content: str) -> IO[bytes]:
        return io.BytesIO(self.context.files.read(content))

    def _progress(self) -> Callable[[int, int], None]:
        refreshed = [now()]

        def progress(done: int, total: int) -> None:
            jobs.renew()
            if now() - refreshed[0] > store.HOLD // 4:
                refreshed[0] = now()
                self.fresh()

        return progress

    def _export_all(self, copy: Repository, head: str | None) -> None:
        tree = copy.tree_of(head)
        with self.context.db.read() as tx:
            main = main_state(tx, self.space_id)
            _require_open(tx, main)
            writing = write_all(tx, main, lambda digest: get_body(tx, digest))
            said = describe(tx, main, 0, self.row.message)
        there = {path: entry for path, entry in copy.files(tree) if entry.is_file and is_safe(path)}
        gone: dict[str, FileContent | None] = dict.fromkeys(set(there) - writing.files.keys())
        writing = replace(writing, files={**writing.files, **gone})
        said = replace(said, message="Export everything from Octavo")
        self._write(copy, head, main, Changes(), [], [], writing, None, said, all_new=True)

    # --- a step ---------------------------------------------------------------------------------------

    def _step(self, copy: Repository, head: str | None, *, decided: bool) -> None:
        row = self.row
        assert row.revision is not None
        before = copy if row.was is None else Repository(copy.repo, copy.where, row.was)
        old_tree = before.tree_of(row.commit_id)
        if head is None or not decided:
            head = self.require_same(copy, head, old_tree)
        new_tree = copy.tree_of(head)
        with self.context.db.read() as tx:
            base = revision_state(tx, self.space_id, row.revision)
            agreed = SyncedState(base, *store.list_ahead(tx, self.space_id))
        read = ReadContent(Versions(), [])
        if old_tree != new_tree:
            read = read_changes(
                self.context,
                copy,
                agreed,
                old_tree,
                new_tree,
                self.is_space,
                self.large,
                lambda: known_to_changes(self),
            )
            self._outcome.problems = list(read.problems)
        for _ in range(ROUNDS):
            try:
                self._merge(copy, head, agreed, read)
                return
            except BranchMoved:
                deadlines.check()
        raise BranchMoved

    def is_space(self, other: str) -> bool:
        with self.context.db.read() as tx:
            try:
                return get_space(tx, other).organization_id == self.organization_id
            except NotFound:
                return False

    def _merge(self, copy: Repository, head: str, agreed: SyncedState, read: ReadContent) -> None:
        theirs = read.versions
        with self.context.db.read() as tx:
            main = main_state(tx, self.space_id)
            _require_open(tx, main)
            touched = list_changed(tx, main.layers[0], agreed.state.layers[0].sequence)
            page_ids = {*touched.pages, *agreed.ahead_pages, *theirs.pages}
            item_ids = {*touched.items, *agreed.ahead_items, *theirs.items}
            if not page_ids and not item_ids and head == self.row.commit_id:
                return
            sides = sides_beside(tx, agreed, theirs, main, page_ids, item_ids)
            merged = merge_into_main(tx, sides, main, keeps_paths=True)
        store_bodies(self.context.db, merged.bodies)
        if self.row.direction == "export" and (merged.changes or merged.conflicts):
            # People resolve the conflicts; the main version and the next commit continue without the
            # repository's side.
            self._propose(main, merged, head)
            merged = replace(merged, changes=Changes(), bodies=[], conflicts=[], keys=[])
        with self.context.db.read() as tx:
            page_ids |= merged.changes.pages.keys()
            item_ids |= merged.changes.items.keys()
            then = agreed.with_changes(theirs)
            found = differing_from(tx, then, main, merged.changes, page_ids, item_ids)
            writing = Writing()
            if self.row.direction != "import":
                writing = write_files(tx, main, merged.changes, found, lambda digest: get_body(tx, digest))
            # Also describe revisions that aren't part of a pushed commit yet.
            since = agreed.state.layers[0].sequence
            if self.row.described is not None and (agreed.ahead_pages or agreed.ahead_items):
                since = self.row.described
            said = describe(tx, main, since, self.row.message)
        self._outcome.imported = len(merged.changes)
        self._write(
            copy,
            head,
            main,
            merged.changes,
            merged.keys,
            merged.conflicts,
            writing,
            found,
            said,
            read=read,
            since=since,
        )

    def _propose(self, main: State, merged: Any, head: str) -> None:
        subject = f"{self.row.branch}: {head[:12]}"
        change = create_with(self.context, self.space, main, merged, subject=subject)
        self._outcome.change_id = change.id
        self._outcome.conflicts = len(merged.conflicts)
        with self.context.db.read() as tx:
            if main_state(tx, self.space_id).layers != main.layers:
                raise BranchMoved

    def _write(
        self,
        copy: Repository,
        head: str | None,
        main: State,
        changes: Changes,
        keys: list[Any],
        conflicts: list[MergeConflict],
        writing: Writing,
        found: Differing | None,
        said: CommitDescription,
        *,
        read: ReadContent | None = None,
        since: int = 0,
        all_new: bool = False,
    ) -> None:
        """Write the next main revision and the known state of the repository in one transaction, and then create
        the commit. ``found``: the differences between the repository and the space after this write. ``since``: the
        sequence number of the last main revision that ``said`` doesn't describe."""
        store_bodies(self.context.db, writing.bodies)
        whole = Changes({**changes.pages, **writing.noted.pages}, {**changes.items, **writing.noted.items})
        entries, oids = self.entries(copy, head, writing.files)
        oids |= read.oids if read is not None else {}
        commit = (
            copy.add_commit(head, entries, self.text_of(said.message, said.author), self.signer())
            if entries
            else None
        )
        about = self._commit_data(copy, head) if head is not None and changes else None
        with new_revision(self.context, main, whole, keys=keys, if_any=True) as revision:
            tx = revision.tx
            store.require_held(tx, self.row, self.holder)
            made = revision.write(
                author=self.row.user_id,
                message=(about["message"] or None) if about else None,
                git=about,
            )
            if conflicts:
                change = create_conflicted(
                    tx,
                    self.space,
                    [replace(conflict, origin="repository") for conflict in conflicts],
                    subject=f"{self.row.branch}: conflicting changes",
                )
                self._outcome.change_id = change.id
                self._outcome.conflicts = len(conflicts)
            store.put_blobs(tx, self.space_id, oids)
            if not all_new:
                ahead_pages, ahead_items = _ahead(
                    found, writing, pushes=commit is not None or self._keeps_differences(found)
                )
                store.put_ahead(tx, self.space_id, ahead_pages, ahead_items)
                store.set_fields(
                    tx,
                    self.row,
                    commit_id=head,
                    revision=made.revision_id,
                    first=None,
                    described=since if ahead_pages or ahead_items else None,
                )
            if commit is not None:
                store.set_fields(tx, self.row, pushing=commit, pushing_revision=made.revision_id)
            elif all_new:
                store.put_ahead(tx, self.space_id, {}, {})
                store.set_fields(tx, self.row, commit_id=head, revision=made.revision_id, first=None)
            if commit is not None or whole:
                _tell(tx, self.row, "space_gitsync_started", made.revision_id, commit or head)
        self._outcome.revision, self._outcome.commit = made.revision_id, head
        if commit is None:
            self.fresh()
            return
        self.connection.push(copy, self.row.branch, commit, head)
        self._outcome.pushed, self._outcome.commit = commit, commit
        self._outcome.exported = len(entries)
        self._record_agreement(commit, made.revision_id)
        with self.context.db.write() as tx:
            record_git_commit(tx, made.revision_id, self._commit_data(copy, commit, own=True))

    def _keeps_differences(self, found: Differing | None) -> bool:
        """Return whether the repository stays different from the space, because this sync only reads from the
        repository."""
        return self.row.direction == "import" and found is not None

    # --- the commit -----------------------------------------------------------------------------------

    def entries(
        self, copy: Repository, commit: str | None, files: Mapping[str, FileContent | None]
    ) -> tuple[dict[str, CommittedFile | None], dict[str, str]]:
        """Return the files to change in a new commit on top of ``commit``, and the Git object IDs of all text and
        file contents. Files tracked by Git LFS are uploaded to the Git LFS server. Files that this server rejects
        stay unchanged in the commit."""
        found: dict[str, CommittedFile | None] = {}
        oids: dict[str, str] = {}
        tree, is_tracked = copy.tree_of(commit), Tracked(copy, commit)
        contents = [file.content for file in files.values() if file is not None]
        with self.context.db.read() as tx:
            known = store.find_blobs(tx, self.space_id, contents)
        large: dict[str, FileContent] = {}
        for path, file in files.items():
            jobs.renew()
            there = copy.find(tree, path)
            if there is not None and not stat.S_ISREG(there[0]):
                if file is not None and not stat.S_ISDIR(there[0]):
                    said = (
                        "not written: there is a symbolic link or a submodule at this path in the repository;"
                        " remove it, or rename the file"
                    )
                    self._outcome.problems.append(Problem(path, 0, "taken", said))
                    continue
                if file is None:
                    continue
            if file is None:
                if there is not None:
                    found[path] = None
                continue
            oid = known.get(file.content)
            if (there is None or there[1] != oid) and is_tracked(path):
                large[path] = file
                continue
            if oid is None or (there is None or there[1] != oid) and not self._is_plain(copy, oid):
                oid = copy.add_file(self._bytes(file))
            oids[file.content] = oid
            if there is None or there[1] != oid:
                found[path] = CommittedFile(_mode_of(there), oid)
        for path, oid in self._send_large(copy, large).items():
            there = copy.find(tree, path)
            oids[large[path].content] = oid
            if there is None or there[1] != oid:
                found[path] = CommittedFile(_mode_of(there), oid)
        return found, oids

    def _is_plain(self, copy: Repository, oid: str) -> bool:
        """Return whether a known object is in the copy and isn't a pointer."""
        return copy.holds(oid) and (copy.size(oid) > MOST_POINTER or read_pointer(copy.read(oid)) is None)

    def _send_large(self, copy: Repository, files: Mapping[str, FileContent]) -> dict[str, str]:
        """Upload these files to the Git LFS server, and return the Git object IDs of their pointers by path. Files
        that the server rejects are omitted."""
        pointers: dict[str, bytes] = {}
        sizes: dict[str, int] = {}
        for path, file in files.items():
            data = self._bytes(file)
            if read_pointer(data) is not None:
                pointers[path] = data  # a pointer whose bytes were never downloaded
                continue
            sizes[file.content] = len(data)
            pointers[path] = Pointer(file.content, len(data)).text()
        by_content = {file.content: file for file in files.values() if file.content in sizes}
        contents = {content: partial(self._bytes, file) for content, file in by_content.items()}
        wrong = self.large.send(contents, sizes)
        for path, file in files.items():
            if why := wrong.get(file.content):
                said = f"not written: this file is stored in Git LFS in the repository, and {why}"
                self._outcome.problems.append(Problem(path, 0, "lfs_upload", said))
        return {
            path: copy.add_file(data) for path, data in pointers.items() if files[path].content not in wrong
        }

    def _bytes(self, file: FileContent) -> bytes:
        if file.kind == "file":
            return bytes(self.context.files.read(file.content))
        with self.context.db.read() as tx:
            return get_body(tx, file.content).encode()

    def _commit_data(self, copy: Repository, commit: str, *, own: bool = False) -> JsonObject:
        """Return the commit data to store with a revision."""
        row = self.row
        found: JsonObject = {
            "oid": commit,
            "message": message_of(copy.commit(commit))[:10_000],
            "createdByService": own,
            "ref": f"refs/heads/{row.branch}",
        }
        url = f"{row.commit_url}{commit}" if row.commit_url else None
        if url is None:
            url = web_address(read_remote(row.remote, local=True), row.provider, "commit", commit)
        if url is not None:
            found["url"] = url
        return found


def _oids(tx: Transaction, state: State, entries: Mapping[str, CommittedFile]) -> dict[str, str]:
    """Return the Git object IDs of the text and file contents of a state, by content hash."""
    pairs: list[tuple[str | None, str | None]] = [
        (page.file_path, page.body) for page in list_pages(tx, state)
    ]
    for kind in ("file", "reusable-content", "source"):
        pairs += [(item.path, item.content) for item in list_items(tx, state, kind)]
    return {content: entries[path].oid for path, content in pairs if content and path and path in entries}


def _mode_of(there: tuple[int, str] | None) -> int:
    """Return the mode of a file. Executable files keep their mode."""
    return there[0] if there is not None and stat.S_ISREG(there[0]) else 0o100644


def _ahead(
    found: Differing | None, writing: Writing, *, pushes: bool
) -> tuple[dict[str, Page | None], dict[str, Item | None]]:
    """Return the repository's versions of pages and items, which apply until the commit has been pushed. Settings
    that aren't stored in any file don't require a commit and are considered synced."""
    if found is None or not pushes:
        return {}, {}
    return (
        {id: old for id, (old, _) in found.pages.items()},
        {id: old for id, (old, _) in found.items.items()},
    )


def _require_open(tx: Transaction, main: State) -> None:
    """Raise Stopped if pages are restricted, because everyone with access to the repository could read them. Changes
    that people merge during a sync can restrict pages, so every state that is written is checked."""
    if list_restricted(tx, main):
        raise Stopped(
            Reason.CONTENT,
            "Restricted pages can't be synced with Git. Remove the restrictions, or disconnect the space.",
        )
