"""One look at the repository of a collection or a site: which folders are which spaces, and then a sync of each.

Loaded only where it is used, for Git takes long to load.
"""

from __future__ import annotations

import shutil
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from ..access import Can, SpaceAccess, act_for, space_access
from ..core.links import app_hosts
from ..core.problems import Problem
from ..errors import Forbidden, NotFound, OctavoError, Unauthorized
from ..kit import deadlines
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.fetch import Fetcher
from ..kit.jobs import LeaseLost
from . import store
from .asking import Cause, ask, ask_project
from .connecting import member_row
from .credentials import PROJECT_SECRET, unseal
from .people import Person
from .projects import Settled, kind_of, share_settings
from .reasons import DECIDED, Reason, Stopped
from .remotes import Connection
from .repository import Busy, CommitText, Entry, Repository, open_copy
from .signing import PROJECT_SIGNING, sign
from .store import First, ProjectRow, SyncRow
from .syncing import run_sync

_ROUNDS = 6
_AGAIN = 5_000
"""Milliseconds until a copy is tried again that another sync is at work on."""
MOST_PLACES = 500
"""Folders of a project that are looked at as spaces."""


class Folder:
    """The folder of a project in a commit, as ``projects.Ground``."""

    def __init__(self, copy: Repository, commit: str | None, before: str | None) -> None:
        self._copy = copy
        self._tree = copy.tree_of(commit)
        self._before = copy.tree_of(before) if copy.has(before) else None

    def folders(self) -> list[str]:
        return self._copy.folders(self._tree)[:MOST_PLACES]

    def holds(self, path: str) -> bool:
        return path == "" and self._tree is not None or self._find(path) is not None

    def read(self, path: str) -> bytes | None:
        found = self._copy.find(self._tree, path) if self._tree else None
        return self._copy.read(found[1]) if found is not None and Entry(*found).is_file else None

    def is_moved(self, old: str, new: str) -> bool:
        if self.holds(old) or not self.holds(new) or self._before is None:
            return False
        there = self._copy.find(self._before, old.rstrip("/"))
        here = self._find(new)
        if there is None or here is None or self._copy.find(self._before, new.rstrip("/")) is not None:
            return False
        were, are = (
            {entry.oid for _, entry in self._copy.files(found[1].encode())} for found in (there, here)
        )
        return 2 * len(were & are) >= len(were)

    def _find(self, path: str) -> tuple[int, str] | None:
        return self._copy.find(self._tree, path.rstrip("/")) if self._tree and path else None


def run_project(context: Context, project_id: str, cause: Cause, holder: str) -> str | None:
    """One look, and a sync of each space that may have something to sync; what became of it, None where another one is
    at work. Raises LeaseLost where another took over."""
    with context.db.write() as tx:
        row = store.hold_project(tx, project_id, holder)
        if row is None:
            found = store.find_project(tx, project_id)
            if found is not None:
                ask_project(tx, found.organization_id, project_id, cause, after=_AGAIN)
            return None
    try:
        running = _Run(context, row, holder)
        problems = running.look()
    except Busy:
        with context.db.write() as tx:
            store.set_project(tx, project_id, status="waiting", holder=None, held_until=None)
            ask_project(tx, row.organization_id, project_id, cause, after=_AGAIN)
        return None
    except Stopped as stopped:
        return _ended_badly(context, row, holder, stopped)
    except (NotFound, Forbidden, Unauthorized) as error:
        said = f"Whoever connected the repository may not sync it any more: {error.message}"
        return _ended_badly(context, row, holder, Stopped(Reason.RIGHTS, said))
    except (OctavoError, deadlines.OutOfTime) as error:
        return _ended_badly(context, row, holder, Stopped(Reason.CONTENT, str(error) or type(error).__name__))
    except LeaseLost:
        raise
    except Exception:
        said = "Something went wrong in Octavo; its log says what"
        _ended_badly(context, row, holder, Stopped(Reason.INTERNAL, said))
        raise
    running.sync_each(cause)
    with context.db.write() as tx:
        after = store.require_held_project(tx, project_id, holder)
        store.set_project(
            tx, project_id, status="synced", reason=None, error=None, failures=0, holder=None, held_until=None,
            problems=msgspec.json.encode(problems[: store.MOST_PROBLEMS]).decode(), synced_at=now(),
            next_at=now() + after.poll * 1000 if after.poll else None,
        )  # fmt: skip
    return "synced"


def _ended_badly(context: Context, row: ProjectRow, holder: str, stopped: Stopped) -> str:
    waits = stopped.reason in DECIDED
    with context.db.write() as tx:
        after = store.require_held_project(tx, row.id, holder)
        pause = min(6 * 3_600_000, 30_000 * 2 ** min(after.failures, 10))
        store.set_project(
            tx, row.id, status="stopped" if waits else "failed", reason=stopped.reason.value, error=stopped.message,
            failures=after.failures + 1, holder=None, held_until=None, next_at=None if waits else now() + pause,
            first=after.first if after.commit_id is None or not waits else None,
        )  # fmt: skip
    return "stopped" if waits else "failed"


class _Run:
    def __init__(self, context: Context, row: ProjectRow, holder: str) -> None:
        self.context, self.row, self.holder = context, row, holder
        self.head: str | None = None
        self.actor = act_for(row.user_id, row.organization_id)
        self.kind = kind_of(row)
        with context.db.read() as tx:
            self.kind.require(tx, self.actor, row)
        self.connection = Connection(
            row.remote,
            unseal(context.sealer, row.id, row.secret, PROJECT_SECRET),
            Fetcher(context.settings.allow_private_fetch),
            local=context.settings.allow_file_remotes,
            host_key=row.host_key,
        )

    def look(self) -> list[Problem]:
        """Which folders are which spaces from now on. Raises Stopped, Busy."""
        anew, row = True, self.row
        for _ in range(_ROUNDS):
            deadlines.check()
            with open_copy(self.context.settings.data_folder, row.id, row.folder, row.remote) as copy:
                try:
                    return self._look(copy)
                except Stopped as stopped:
                    if stopped.reason is Reason.DAMAGED and anew:
                        anew = False
                        shutil.rmtree(copy.where, ignore_errors=True)
                    elif stopped.reason is not Reason.MOVED:
                        raise
        raise Stopped(Reason.MOVED, "The branch was moved again and again meanwhile; the next sync goes on")

    def _look(self, copy: Repository) -> list[Problem]:
        row = self._fresh()
        head = self.connection.fetch(copy, row.branch, row.commit_id)
        if self.connection.seen_host_key and row.host_key is None:
            with self.context.db.write() as tx:
                store.set_project(tx, row.id, host_key=self.connection.seen_host_key)
            row = self._fresh()
        self._require_same(copy, row, head)
        ground = Folder(copy, head, row.commit_id)
        with self.context.db.write() as tx:
            row = store.require_held_project(tx, row.id, self.holder)
            settled = self.kind.settle(tx, self.actor, row, ground)
            if not settled.files:
                self._settle(tx, row, ground, settled, head)
        if settled.files:
            head = self._commit(copy, head, settled.files)
            with self.context.db.write() as tx:
                row = store.require_held_project(tx, row.id, self.holder)
                self._settle(tx, row, ground, settled, head)
        self.row, self.head = self._fresh(), head
        return settled.problems

    def _settle(
        self, tx: Transaction, row: ProjectRow, ground: Folder, settled: Settled, head: str | None
    ) -> None:
        settled.problems += _Members(self.context, tx, self.actor, row, ground).become(settled)
        agreed = msgspec.json.encode(settled.agreed).decode()
        store.set_project(tx, row.id, commit_id=head, agreed=agreed, first=None)
        share_settings(tx, self.context, row)

    def _require_same(self, copy: Repository, row: ProjectRow, head: str | None) -> None:
        """Raises Stopped where the repository is not what it was, and nobody said how to go on."""
        if row.first is not None or row.commit_id is None:
            return
        if head is None:
            raise Stopped(Reason.BRANCH_GONE, f"The repository has no branch {row.branch} any more")
        if head == row.commit_id:
            return
        if copy.since(head, row.commit_id) is None:
            raise Stopped(
                Reason.REWRITTEN,
                f"The branch does not contain {row.commit_id[:12]} any more, which was synced last: its history was"
                " rewritten, or it is another repository",
            )
        if copy.tree_of(head) is None and copy.tree_of(row.commit_id) is not None:
            raise Stopped(Reason.EMPTIED, "The branch has no files any more where there were some")

    def _commit(self, copy: Repository, head: str | None, files: dict[str, bytes]) -> str | None:
        """What is the project's own and no space's, as docs.yaml is."""
        octavo = Person(self.context.settings.name, f"octavo@{app_hosts(self.context.settings.url)[0]}")
        entries: dict[str, Entry | None] = {
            path: Entry(0o100644, copy.add_file(data)) for path, data in files.items()
        }
        text = CommitText(octavo, octavo, now() // 1000, "The structure of the site\n")
        sealed, signer = self.row.signing_secret, None
        if sealed is not None:
            signer = partial(sign, PROJECT_SIGNING.open(self.context.sealer, sealed, self.row.id))
        commit = copy.add_commit(head, entries, text, signer)
        if commit is None:
            return head
        self.connection.push(copy, self.row.branch, commit, head)
        return commit

    def _fresh(self) -> ProjectRow:
        with self.context.db.write() as tx:
            self.row = store.require_held_project(tx, self.row.id, self.holder)
        return self.row

    def sync_each(self, cause: Cause) -> None:
        """One after another, for they share a copy of the repository."""
        with self.context.db.read() as tx:
            members = store.list_members(tx, self.row.id)
        for member in members:
            deadlines.check()
            if cause == "poll" and member.status == "synced" and member.commit_id == self.head:
                continue
            if member.status == "stopped" and member.first is None:
                continue
            self._fresh()
            try:
                done = run_sync(self.context, member.space_id, cause, self.holder)
            except LeaseLost:
                continue
            if done is None:
                with self.context.db.write() as tx:
                    if store.find_sync(tx, member.space_id) is not None:
                        ask(tx, self.row.organization_id, member.space_id, cause, after=_AGAIN)


class _Members:
    """The syncs of the spaces of a project."""

    def __init__(
        self, context: Context, tx: Transaction, actor: Any, row: ProjectRow, ground: Folder
    ) -> None:
        self.context, self.tx, self.actor, self.row, self.ground = context, tx, actor, row, ground
        self.problems: list[Problem] = []

    def become(self, settled: Settled) -> list[Problem]:
        there = {member.space_id: member for member in store.list_members(self.tx, self.row.id)}
        wanted = {space_id: (folder, made) for folder, (space_id, made) in settled.spaces.items()}
        for space_id in there.keys() - wanted.keys():
            store.delete_sync(self.tx, space_id)
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
            # That is what it waited for.
            fields |= {"status": "waiting", "reason": None, "error": None}
        store.set_fields(self.tx, member.space_id, **fields)

    def _begin(self, space_id: str, folder: str, made: bool) -> None:
        space = self._access(space_id, folder)
        if space is None:
            return
        if store.find_sync(self.tx, space_id) is not None:
            self._problem(
                folder,
                "synced",
                "this space is synced by itself or with another repository; it is left alone",
            )
            return
        in_repository = self.ground.holds(folder)
        if not in_repository and self.row.direction == "import":
            self._problem(
                folder, "missing_directory", "the repository has no such folder, and is never written"
            )
            return
        first: First = "export"
        if in_repository and (made or self.row.first is None or self.row.first == "import"):
            first = "import"
        row = member_row(self.context, self.row, space, f"{self.row.folder}{folder}", first)
        store.insert_sync(self.tx, replace(row, next_at=now() + store.HOLD))

    def _access(self, space_id: str, folder: str) -> SpaceAccess | None:
        try:
            return space_access(self.tx, self.actor, Can.ADMIN, space_id)
        except (NotFound, Forbidden):
            said = "whoever connected the repository may not sync this space"
            self._problem(folder, "rights_lost", said)
            return None

    def _problem(self, folder: str, code: str, message: str) -> None:
        self.problems.append(Problem(folder or "/", 0, code, message))
