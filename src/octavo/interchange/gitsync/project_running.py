"""Sync a collection or a site: match folders in the repository with spaces, and then sync each space.

This module is imported only when needed, because Git is slow to load."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from octavo.core.problems import Problem
from octavo.errors import Forbidden, NotFound
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.work import jobs
from octavo.kit.work.jobs import LeaseLost
from octavo.organization.access.authorization import find_space_access, space_access
from octavo.organization.access.reach import actor_for_job
from octavo.organization.access.roles import Can

from . import store
from .connecting import member_row, share_settings
from .failures import Reason, Stopped
from .projects import MatchedProject, kind_of
from .repository import CommittedFile, Repository, RepositoryBusy
from .requesting import AGAIN, Cause, ask
from .running import SyncRun, record_failure, record_success, release, with_stop_reasons
from .store import First, ProjectRow, SyncRow
from .syncing import run_sync

MOST_PLACES = 500
"""Maximum number of folders in a project that can become spaces."""


class ProjectFolder:
    """Folder of a project in a commit; see ``projects.CommittedFolder``."""

    def __init__(self, copy: Repository, commit: str | None, seen: str | None) -> None:
        self._copy = copy
        self._tree = copy.tree_of(commit)
        self._seen = seen

    def folders(self) -> list[str]:
        return self._copy.folders(self._tree)[:MOST_PLACES]

    def holds(self, path: str) -> bool:
        return path == "" and self._tree is not None or self._find(path) is not None

    def read(self, path: str) -> bytes | None:
        found = self._copy.find(self._tree, path) if self._tree else None
        return self._copy.read(found[1]) if found is not None and CommittedFile(*found).is_file else None

    def is_as_seen(self, path: str) -> bool:
        if not self._seen:
            return self._seen is None or not self.holds(path)
        if not self._copy.has(self._seen):
            return False
        there = self._copy.tree_of(self._seen)
        return (self._copy.find(there, path) if there else None) == self._find(path)

    def is_moved(self, old: str, new: str, since: str | None) -> bool:
        before = self._copy.tree_of(since) if self._copy.has(since) else None
        if self.holds(old) or not self.holds(new) or before is None:
            return False
        there, here = self._copy.find(before, old.rstrip("/")), self._find(new)
        if there is None or here is None or self._copy.find(before, new.rstrip("/")) is not None:
            return False
        were, are = (
            {entry.oid for _, entry in self._copy.files(found[1].encode())} for found in (there, here)
        )
        return 2 * len(were & are) >= len(were)

    def _find(self, path: str) -> tuple[int, str] | None:
        return self._copy.find(self._tree, path.rstrip("/")) if self._tree and path else None


def run_project(context: Context, project_id: str, cause: Cause, holder: str) -> str | None:
    """Match folders and spaces once, and sync each space that may have changes. Return the outcome; None if another
    process is already running the sync. Raises LeaseLost if another process has taken over the sync."""
    with context.db.write() as tx:
        row = store.hold(tx, ProjectRow, project_id, holder)
        if row is None:
            return None
    running: list[_Run] = []

    def look() -> list[Problem]:
        running.append(_Run(context, row, holder))
        return running[0].in_rounds(row.id, running[0].match_folders)

    try:
        problems = with_stop_reasons(look)
    except RepositoryBusy:
        with context.db.write() as tx:
            release(tx, store.require_held(tx, row, holder))
        return None
    except Stopped as stopped:
        with context.db.write() as tx:
            head = running[0].head if running else None
            _, status = record_failure(tx, row, holder, stopped, head, _space_to_notify(tx, row))
        if stopped.__cause__ is not None:
            raise stopped.__cause__ from None
        return status
    running[0].sync_each(cause)
    with context.db.write() as tx:
        after = record_success(tx, row, holder)
        kept = msgspec.json.encode(problems[: store.MOST_PROBLEMS]).decode()
        store.set_fields(tx, after, problems=kept)
    return "synced"


def _space_to_notify(tx: Transaction, row: ProjectRow) -> str | None:
    """Return the space that is shown when the person who connected the project is notified about a failure; None if
    that person can't see any of its spaces."""
    actor = actor_for_job(row.user_id, row.organization_id)
    spaces = [member.space_id for member in store.list_members(tx, row.id)] or kind_of(row).spaces(tx, row)
    return next((id for id in spaces if find_space_access(tx, actor, Can.VIEW, id) is not None), None)


class _Run(SyncRun[ProjectRow]):
    def __init__(self, context: Context, row: ProjectRow, holder: str) -> None:
        super().__init__(context, row, holder)
        self.actor = actor_for_job(row.user_id, row.organization_id)
        self.kind = kind_of(row)
        with context.db.read() as tx:
            self.kind.require(tx, self.actor, row)

    def match_folders(self, copy: Repository) -> list[Problem]:
        """Match folders in the repository with spaces, and return the problems."""
        self.head = head = self.fetch(copy)
        row = self.row
        # Without a commit, nothing has been synced yet; after a decision, the current state is used.
        if row.first is None and row.commit_id is not None:
            self.require_same(copy, head, copy.tree_of(row.commit_id))
        ground = ProjectFolder(copy, head, row.seen)
        with self.context.db.write() as tx:
            row = store.require_held(tx, row, self.holder)
            settled = self.kind.apply_repository(tx, self.actor, row, ground)
            if not settled.files:
                self._apply_repository(tx, row, ground, settled, head)
        if settled.files:
            head = self._commit(copy, head, settled.files)
            with self.context.db.write() as tx:
                row = store.require_held(tx, row, self.holder)
                self._apply_repository(tx, row, ground, settled, head)
        self.fresh()
        self.head = head
        return settled.problems

    def _apply_repository(
        self,
        tx: Transaction,
        row: ProjectRow,
        ground: ProjectFolder,
        settled: MatchedProject,
        head: str | None,
    ) -> None:
        settled.problems += _Members(self.context, tx, self.actor, row, ground).become(settled)
        agreed = msgspec.json.encode(settled.agreed).decode()
        store.set_fields(tx, row, commit_id=head, agreed=agreed, first=None)
        share_settings(tx, self.context, row)

    def _commit(self, copy: Repository, head: str | None, files: dict[str, bytes]) -> str | None:
        """Commit the files that belong to the project but not to any space, such as docs.yaml."""
        entries: dict[str, CommittedFile | None] = {
            path: CommittedFile(0o100644, copy.add_file(data)) for path, data in files.items()
        }
        commit = copy.add_commit(head, entries, self.text_of("The structure of the site"), self.signer())
        if commit is None:
            return head
        self.connection.push(copy, self.row.branch, commit, head)
        return commit

    def sync_each(self, cause: Cause) -> None:
        """Sync the spaces one after another, because they share a copy of the repository."""
        with self.context.db.read() as tx:
            members = store.list_members(tx, self.row.id)
        for member in members:
            jobs.renew()
            if cause == "poll" and member.status == "synced" and member.commit_id == self.head:
                continue
            if member.status == "stopped" and member.first is None:
                continue
            self.fresh()
            try:
                done = run_sync(self.context, member.space_id, cause, self.holder)
            except LeaseLost:
                continue
            if done is None:
                with self.context.db.write() as tx:
                    if store.find(tx, SyncRow, member.space_id) is not None:
                        ask(tx, self.row.organization_id, SyncRow, member.space_id, cause, after=AGAIN)


class _Members:
    """Syncs of the spaces of a project."""

    def __init__(
        self, context: Context, tx: Transaction, actor: Any, row: ProjectRow, ground: ProjectFolder
    ) -> None:
        self.context, self.tx, self.actor, self.row, self.ground = context, tx, actor, row, ground
        self.problems: list[Problem] = []

    def become(self, settled: MatchedProject) -> list[Problem]:
        there = {member.space_id: member for member in store.list_members(self.tx, self.row.id)}
        wanted = {space_id: (folder, made) for folder, (space_id, made) in settled.spaces.items()}
        for space_id in there.keys() - wanted.keys():
            store.delete(self.tx, SyncRow, space_id)
        for space_id, (folder, made) in wanted.items():
            member = there.get(space_id)
            if member is None:
                self._begin(space_id, folder, made)
            elif member.folder != f"{self.row.folder}{folder}":
                self._move(member, folder)
        return self.problems

    def _move(self, member: SyncRow, folder: str) -> None:
        fields: dict[str, Any] = {"folder": f"{self.row.folder}{folder}", "was": member.was or member.folder}
        if member.reason == Reason.EMPTIED.value:
            # The sync was waiting for this change.
            fields |= {"status": "waiting", "reason": None, "error": None}
        store.set_fields(self.tx, member, **fields)

    def _begin(self, space_id: str, folder: str, made: bool) -> None:
        try:
            space_access(self.tx, self.actor, Can.ADMIN, space_id)
        except (NotFound, Forbidden):
            said = (
                "the person who connected the repository can no longer sync this space; ask a space"
                " administrator to update the sync settings"
            )
            self._problem(folder, "rights_lost", said)
            return
        if store.find(self.tx, SyncRow, space_id) is not None:
            self._problem(
                folder,
                "synced",
                "this space was skipped, because it has its own sync or belongs to another repository",
            )
            return
        in_repository = self.ground.holds(folder)
        if not in_repository and self.row.direction == "import":
            self._problem(
                folder,
                "missing_directory",
                "this folder isn't in the repository, and this sync never pushes; add the folder to the"
                " repository",
            )
            return
        first: First = "export"
        if in_repository and (made or self.row.first is None or self.row.first == "import"):
            first = "import"
        row = member_row(self.context, self.row, space_id, f"{self.row.folder}{folder}", first)
        store.insert(self.tx, replace(row, next_at=now() + store.HOLD))

    def _problem(self, folder: str, code: str, message: str) -> None:
        self.problems.append(Problem(folder or "/", 0, code, message))
