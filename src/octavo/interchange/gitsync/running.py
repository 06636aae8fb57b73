"""Common base for syncing spaces, collections, and sites: the connection, the repository copy, the conditions that
stop a sync, and the recorded result.

This module is imported only when needed, because Git is slow to load."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from octavo.content.revisions.store import BranchMoved
from octavo.core.links import app_hosts
from octavo.core.sources import SourceError
from octavo.errors import Forbidden, NotFound, OctavoError, Unauthorized
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.net.fetch import Fetcher
from octavo.kit.scheduling import deadlines
from octavo.kit.work.jobs import LeaseLost
from octavo.kit.work.outbox import emit

from . import store
from .app_access import credential_source
from .commit_authors import CommitPerson
from .failures import DECIDED, Reason, Stopped
from .remotes import RemoteConnection
from .repository import CommitText, Repository, RepositoryBusy, open_copy
from .signing import signer_of
from .store import Connected

ROUNDS = 6
"""Number of times that a run restarts because one side changed in the meantime."""
R = TypeVar("R", bound=Connected)
T = TypeVar("T")


class SyncRun(Generic[R]):
    """Sync in progress. ``head``: the branch's commit when the sync read it."""

    def __init__(self, context: Context, row: R, holder: str) -> None:
        self.context, self.row, self.holder = context, row, holder
        self.head: str | None = None
        self.connection = RemoteConnection(
            row.remote,
            credential_source(context, row),
            Fetcher(context.settings.allow_private_fetch),
            local=context.settings.allow_file_remotes,
            host_key=row.host_key,
        )

    def in_rounds(self, copy_name: str, step: Callable[[Repository], T]) -> T:
        """Repeat the step until neither side changes while it runs, and return its result. If the copy is damaged,
        recreate it. Raises Stopped if a sync can't continue, and RepositoryBusy if another sync is using the copy."""
        can_recreate = True
        for _ in range(ROUNDS):
            deadlines.check()
            row = self.row
            with open_copy(self.context.settings.data_folder, copy_name, row.folder, row.remote) as copy:
                try:
                    return step(copy)
                except BranchMoved:
                    continue
                except Stopped as stopped:
                    if stopped.reason is Reason.DAMAGED and can_recreate:
                        can_recreate = False
                        shutil.rmtree(copy.where, ignore_errors=True)
                    elif stopped.reason is not Reason.MOVED:
                        raise
        raise Stopped(
            Reason.MOVED,
            "The branch kept changing during the sync. The next sync will pick up where this one stopped.",
        )

    def fetch(self, copy: Repository) -> str | None:
        """Fetch and return the head of the branch, and store the SSH server's key."""
        row = self.fresh()
        head = self.connection.fetch(copy, row.branch, row.commit_id)
        if self.connection.seen_host_key and row.host_key is None:
            with self.context.db.write() as tx:
                store.set_fields(tx, row, host_key=self.connection.seen_host_key)
            self.fresh()
        return head

    def fresh(self) -> R:
        with self.context.db.write() as tx:
            self.row = store.require_held(tx, self.row, self.holder)
        return self.row

    def require_same(self, copy: Repository, head: str | None, before: bytes | None) -> str:
        """Return the head. Raises Stopped if the repository was rewritten. ``before``: the last synced
        tree."""
        row = self.row
        if head is None:
            raise Stopped(
                Reason.BRANCH_GONE,
                f"The branch {row.branch} no longer exists in the repository. Restore it, or choose another"
                " branch.",
            )
        if head != row.commit_id:
            if copy.since(head, row.commit_id) is None:
                known = (row.commit_id or "")[:12]
                raise Stopped(
                    Reason.REWRITTEN,
                    f"The branch no longer contains {known}, the last synced commit. Its history was"
                    " rewritten, or the branch is from another repository. Choose which side to keep.",
                )
            if copy.tree_of(head) is None and before is not None:
                raise Stopped(
                    Reason.EMPTIED,
                    "The branch no longer contains any files. Restore the files, or choose which side to keep.",
                )
        return head

    def is_as_seen(self, copy: Repository, head: str | None) -> bool:
        """Return whether the folder is unchanged since a person decided how to continue."""
        seen = self.row.seen
        if seen is None or seen == (head or ""):
            return True
        return copy.has(seen) and copy.tree_of(seen) == copy.tree_of(head)

    def signer(self) -> Callable[[bytes], bytes] | None:
        return signer_of(self.context.sealer, self.row)

    def text_of(self, message: str, author: CommitPerson | None = None) -> CommitText:
        """Return the author, committer, time, and message for a commit that Octavo creates. ``author``: the author,
        if any."""
        host = app_hosts(self.context.settings.url)[0]
        octavo = CommitPerson(self.context.settings.name, f"octavo@{host}")
        return CommitText(author or octavo, octavo, now() // 1000, message + "\n")


def with_stop_reasons(run: Callable[[], T]) -> T:
    """Return the result of ``run``. Busy and LeaseLost are raised unchanged, and all other failures are converted
    to Stopped. If the failure is a bug in Octavo, the original exception is the cause of Stopped."""
    try:
        return run()
    except (Stopped, RepositoryBusy, LeaseLost):
        raise
    except (NotFound, Forbidden, Unauthorized) as error:
        said = (
            f"The person who connected the repository can no longer sync it: {error.message} "
            "Ask someone with access to update the sync settings."
        )
        raise Stopped(Reason.RIGHTS, said) from None
    except (OctavoError, SourceError, deadlines.DeadlineExceeded, BranchMoved) as error:
        raise Stopped(Reason.CONTENT, str(error) or type(error).__name__) from None
    except Exception as defect:
        # People see that the sync failed, and the log has the reason.
        raise Stopped(
            Reason.INTERNAL, "The sync failed unexpectedly. Ask the server administrator to check the log."
        ) from defect


def record_success(tx: Transaction, row: R, holder: str) -> R:
    """Record success, and return the previous row."""
    after = store.require_held(tx, row, holder)
    store.set_fields(
        tx,
        after,
        status="synced",
        reason=None,
        error=None,
        failures=0,
        seen=None,
        holder=None,
        held_until=None,
        synced_at=now(),
        next_at=now() + after.poll * 1000 if after.poll else None,
    )
    return after


def record_failure(
    tx: Transaction, row: R, holder: str, stopped: Stopped, head: str | None, space_id: str | None
) -> tuple[R, store.RunStatus]:
    """Record a failure. Return the previous row and the status of the run. ``head``: the branch's commit.
    ``space_id``: the space that the notification is about. After the first of several consecutive failures, the
    person who connected the repository is notified."""
    waits = stopped.reason in DECIDED
    after = store.require_held(tx, row, holder)
    pause = min(6 * 3_600_000, 30_000 * 2 ** min(after.failures, 10))
    fields: dict[str, Any] = {"seen": head or ""} if waits else {}
    if waits and after.commit_id:
        # An earlier decision was made for another state of the branch.
        fields["first"] = None
    status: store.RunStatus = "stopped" if waits else "failed"
    store.set_fields(
        tx,
        after,
        status=status,
        reason=stopped.reason.value,
        error=stopped.message,
        failures=after.failures + 1,
        holder=None,
        held_until=None,
        next_at=None if waits else now() + pause,
        **fields,
    )
    organization_id = store.find_organization(tx, after)
    if after.failures == 0 and space_id is not None and organization_id is not None:
        emit(
            tx,
            "git_sync_failed",
            organization_id=organization_id,
            space_id=space_id,
            run=after.owner_id if after.kind == "space" else f"{after.kind}:{after.owner_id}",
            user=after.user_id,
            problem=stopped.message,
        )
    return after, status


def release(tx: Transaction, row: Connected) -> None:
    """Unlock a sync that couldn't run because another run is using the sync's repository copy, so that the sync is
    retried."""
    store.set_fields(tx, row, status="waiting", holder=None, held_until=None)
