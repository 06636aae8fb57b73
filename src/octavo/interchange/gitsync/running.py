"""What a sync of a space and a look at the repository of a collection or a site have in common: the connection, the copy,
when they stop, and what is written down of how they ended.

Loaded only where it is used, for Git takes long to load.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from octavo.content.revisions.store import BranchMoved
from octavo.core.links import app_hosts
from octavo.errors import Forbidden, NotFound, OctavoError, Unauthorized
from octavo.interchange.transfer.sources import SourceError
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.net.fetch import Fetcher
from octavo.kit.scheduling import deadlines
from octavo.kit.work.jobs import LeaseLost
from octavo.kit.work.outbox import emit

from . import store
from .commit_authors import Person
from .credentials import credential_of
from .failures import DECIDED, Reason, Stopped
from .remotes import Connection
from .repository import Busy, CommitText, Repository, open_copy
from .signing import signer_of
from .store import Connected

ROUNDS = 6
"""How often one begins anew within a run because one side was changed meanwhile."""
R = TypeVar("R", bound=Connected)
T = TypeVar("T")


class Run(Generic[R]):
    """One that runs. ``head``: where the branch was when it was looked at."""

    def __init__(self, context: Context, row: R, holder: str) -> None:
        self.context, self.row, self.holder = context, row, holder
        self.head: str | None = None
        self.connection = Connection(
            row.remote,
            credential_of(context.sealer, row),
            Fetcher(context.settings.allow_private_fetch),
            local=context.settings.allow_file_remotes,
            host_key=row.host_key,
        )

    def in_rounds(self, copy_name: str, step: Callable[[Repository], T]) -> T:
        """What the step gives once neither side was changed meanwhile; with a new copy where the one that is there is
        damaged. Raises Stopped, Busy."""
        anew = True
        for _ in range(ROUNDS):
            deadlines.check()
            row = self.row
            with open_copy(self.context.settings.data_folder, copy_name, row.folder, row.remote) as copy:
                try:
                    return step(copy)
                except BranchMoved:
                    continue
                except Stopped as stopped:
                    if stopped.reason is Reason.DAMAGED and anew:
                        anew = False
                        shutil.rmtree(copy.where, ignore_errors=True)
                    elif stopped.reason is not Reason.MOVED:
                        raise
        raise Stopped(Reason.MOVED, "The branch was moved again and again meanwhile; the next sync goes on")

    def fetch(self, copy: Repository) -> str | None:
        """The head of the branch, which is brought. The key of an ssh server is remembered."""
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
        """The head. Raises Stopped where the repository is not what it was. ``before``: the tree that was synced last."""
        row = self.row
        if head is None:
            raise Stopped(Reason.BRANCH_GONE, f"The repository has no branch {row.branch} any more")
        if head != row.commit_id:
            if copy.since(head, row.commit_id) is None:
                known = (row.commit_id or "")[:12]
                raise Stopped(
                    Reason.REWRITTEN,
                    f"The branch does not contain {known} any more, which was synced last: its history was rewritten,"
                    " or it is another repository",
                )
            if copy.tree_of(head) is None and before is not None:
                raise Stopped(Reason.EMPTIED, "The branch has no files any more where there were some")
        return head

    def is_as_seen(self, copy: Repository, head: str | None) -> bool:
        """Whether the folder has what it had when somebody decided how to go on."""
        seen = self.row.seen
        if seen is None or seen == (head or ""):
            return True
        return copy.has(seen) and copy.tree_of(seen) == copy.tree_of(head)

    def signer(self) -> Callable[[bytes], bytes] | None:
        return signer_of(self.context.sealer, self.row)

    def text_of(self, message: str, author: Person | None = None) -> CommitText:
        """A commit from here, by ``author`` where there is one."""
        host = app_hosts(self.context.settings.url)[0]
        octavo = Person(self.context.settings.name, f"octavo@{host}")
        return CommitText(author or octavo, octavo, now() // 1000, message + "\n")


def told(run: Callable[[], T]) -> T:
    """What ``run`` gives. Raises Stopped for all that went wrong, with the cause of a defect of ours; Busy, LeaseLost."""
    try:
        return run()
    except (Stopped, Busy, LeaseLost):
        raise
    except (NotFound, Forbidden, Unauthorized) as error:
        said = f"Whoever connected the repository may not sync it any more: {error.message}"
        raise Stopped(Reason.RIGHTS, said) from None
    except (OctavoError, SourceError, deadlines.OutOfTime, BranchMoved) as error:
        raise Stopped(Reason.CONTENT, str(error) or type(error).__name__) from None
    except Exception as defect:
        # Whoever looks sees that the sync failed, and the log says why.
        raise Stopped(Reason.INTERNAL, "Something went wrong in Octavo; its log says what") from defect


def end_well(tx: Transaction, row: R, holder: str) -> R:
    """The row as it was before it ended."""
    after = store.require_held(tx, row, holder)
    store.set_fields(
        tx, after, status="synced", reason=None, error=None, failures=0, seen=None, holder=None, held_until=None,
        synced_at=now(), next_at=now() + after.poll * 1000 if after.poll else None,
    )  # fmt: skip
    return after


def end_badly(
    tx: Transaction, row: R, holder: str, stopped: Stopped, head: str | None, space_id: str | None
) -> tuple[R, store.RunStatus]:
    """The row as it was before it ended, and what became of it. ``head``: where the branch was. ``space_id``: where
    whoever connected it is told of the first failure in a row."""
    waits = stopped.reason in DECIDED
    after = store.require_held(tx, row, holder)
    pause = min(6 * 3_600_000, 30_000 * 2 ** min(after.failures, 10))
    fields: dict[str, Any] = {"seen": head or ""} if waits else {}
    if waits and after.commit_id:
        # What was decided before was about a branch that is not what it was then.
        fields["first"] = None
    status: store.RunStatus = "stopped" if waits else "failed"
    store.set_fields(
        tx, after, status=status, reason=stopped.reason.value, error=stopped.message, failures=after.failures + 1,
        holder=None, held_until=None, next_at=None if waits else now() + pause, **fields,
    )  # fmt: skip
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
    """Another one is at work on the copy; it is tried again."""
    store.set_fields(tx, row, status="waiting", holder=None, held_until=None)
