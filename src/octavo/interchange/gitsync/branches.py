"""Sync branches of a repository with change requests in the repository's space.

An open pull request, or a branch whose name matches a pattern, becomes a change request with the same changes. New
commits on the branch are merged into the change request, with the previous state of the branch as the base and the
change request as "ours". The previous state is read from the branch's last synced commit, so Octavo stores only the
change request.

When a change request is pushed, a branch is created, and the edits are committed on top of the branch's commits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from octavo.content.changes.applying import EditedContent
from octavo.content.changes.authorization import ChangeAccess, change_access
from octavo.content.changes.comparing import merge_into_main
from octavo.content.changes.merging import mark_merged, update
from octavo.content.changes.pending import try_to_save_pending
from octavo.content.changes.saving import create_with, revise_change, set_status
from octavo.content.changes.store import ChangeRow, add_contribution, find_change
from octavo.content.revisions.bodies import get_body, store_bodies
from octavo.content.revisions.item_versions import find_items
from octavo.content.revisions.page_versions import find_pages, list_restricted
from octavo.content.revisions.restrictions import find_rules
from octavo.content.revisions.states import State, list_branch_content, main_state, revision_state
from octavo.content.revisions.store import BranchMoved, Changes
from octavo.core.app_urls import change_view, preview_view
from octavo.core.merge import Versions
from octavo.core.problems import Problem
from octavo.errors import OctavoError
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.net.fetch import Fetcher
from octavo.kit.work import jobs
from octavo.organization.access.authorization import SpaceAccess

from . import store
from .app_access import usable_credential
from .commit_authors import CommitPerson, describe_change, find_writers
from .commit_status import report_status
from .credentials import Credential
from .failures import Reason, Stopped
from .lfs import LargeFiles
from .pulls import MOST, Pull, find_pull, list_open
from .reading import ReadContent, name_of, read_changes
from .remotes import RemoteConnection
from .repository import CommittedFile, CommitText, Repository
from .store import BranchRow, SyncRow
from .synced_state import SyncedState, sides_beside
from .urls import Remote, fits, read_remote
from .writing import FileContent, differing_from, write_files

_HEADS = "refs/heads/"
_ROUNDS = 6
_OPEN = ("draft", "open")


class BranchSync(Protocol):
    """Interface through which code that follows branches accesses the running sync."""

    context: Context
    space_id: str
    row: SyncRow
    space: SpaceAccess
    connection: RemoteConnection
    large: LargeFiles

    def is_space(self, other: str) -> bool: ...

    def entries(
        self, copy: Repository, commit: str | None, files: Mapping[str, FileContent | None]
    ) -> tuple[dict[str, CommittedFile | None], dict[str, str]]: ...

    def text_of(self, message: str, author: CommitPerson | None = None) -> CommitText: ...

    def signer(self) -> Callable[[bytes], bytes] | None: ...


class FollowedBranches(Struct, frozen=True):
    """Result of following branches: the number of updated branches, and problems with the content of these branches."""

    count: int
    problems: list[Problem]


def follow(sync: BranchSync, copy: Repository) -> FollowedBranches:
    """Update the followed branches of a space that was just synced, and their change requests. A problem with one
    branch is recorded on that branch, and doesn't delay the others."""
    return _BranchFollower(sync, copy).run()


def known_to_changes(sync: BranchSync) -> Mapping[tuple[str, str], str]:
    """Return the IDs of pages and items that change requests imported from their branches or pushed to these
    branches. The main version uses the same IDs when it receives the commits."""
    found: dict[tuple[str, str], str] = {}
    with sync.context.db.read() as tx:
        for link in store.list_branches(tx, sync.space_id):
            change = find_change(tx, sync.space_id, link.change_id) if link.change_id else None
            if link.status == "open" and change is not None and change.status in _OPEN:
                found = _known_to(tx, change) | found
    return found


def _known_to(tx: Transaction, change: ChangeRow) -> dict[tuple[str, str], str]:
    held = list_branch_content(tx, change.state.layers[0])
    pages, items = find_pages(tx, change.state, held.pages), find_items(tx, change.state, held.items)
    return {name_of(page): id for id, page in pages.items()} | {
        name_of(item): id for id, item in items.items()
    }


class _RequestedBranch(Struct, frozen=True):
    """Branch to sync with a change request."""

    ref: str
    title: str
    branch: str | None = None
    pull: str | None = None
    url: str | None = None


class _BranchFollower:
    def __init__(self, sync: BranchSync, copy: Repository) -> None:
        self.sync, self.copy, self.context, self.space_id = sync, copy, sync.context, sync.space_id
        self.row = sync.row
        self.remote = read_remote(self.row.remote, local=True)
        self.wrong: list[str] = []
        self._count = 0
        self._problems: list[Problem] = []
        self.pulls: dict[str, Pull] | None = None
        """Open pull requests by number; None if the provider doesn't return pull requests."""

    def run(self) -> FollowedBranches:
        row = self.row
        with self.context.db.read() as tx:
            links = {link.ref: link for link in store.list_branches(tx, self.space_id)}
        if row.pulls or row.pattern or any(link.status == "open" for link in links.values()):
            try:
                self._run(links)
            except Stopped as stopped:
                if stopped.reason is Reason.DAMAGED:
                    raise
                self.wrong.append(stopped.message)
        said = "; ".join(dict.fromkeys(self.wrong))[:2000] or None
        if said != row.branches_error:
            with self.context.db.write() as tx:
                store.set_fields(tx, self.row, branches_error=said)
        return FollowedBranches(self._count, self._problems)

    def _run(self, links: dict[str, BranchRow]) -> None:
        if self.row.pulls:
            self._ask_pulls()
        wanted: dict[str, _RequestedBranch] = {}
        there: dict[str, str] = {}

        def choose(refs: dict[str, str]) -> list[str]:
            there.update(refs)
            wanted.update(self._wanted(refs, links))
            return list(wanted)

        heads = self.sync.connection.fetch_chosen(self.copy, choose)
        for ref, want in wanted.items():
            jobs.renew()
            if ref in heads:
                self._update_branch(
                    links.get(ref) or self._new(want), partial(self._sync_branch, want, heads[ref])
                )
        for ref, link in links.items():
            if ref not in wanted and link.status == "open":
                jobs.renew()
                first = link.pushes and link.commit_id is None
                self._update_branch(
                    link, partial(self._push_first if first else self._stop_following, ref in there)
                )

    def _update_branch(self, link: BranchRow, do: Callable[[BranchRow], None]) -> None:
        """Update one branch and record any failure on it."""
        try:
            do(link)
            said = None
        except BranchMoved:
            return  # another process was faster; the next sync continues
        except (Stopped, OctavoError) as error:
            if isinstance(error, Stopped) and error.reason is Reason.DAMAGED:
                raise
            if isinstance(error, Stopped) and error.reason is Reason.MOVED:
                return
            said = error.message
        with self.context.db.write() as tx:
            after = store.find_branch(tx, self.space_id, link.ref)
            if after is not None and after.change_id is not None:
                if after.error != said:
                    store.put_branch(tx, replace(after, error=said))
            elif said is not None:
                self.wrong.append(f"{link.branch or link.ref}: {said}")

    # --- which branches to follow ---------------------------------------------------------------------

    def _ask_pulls(self) -> None:
        try:
            found, whole = list_open(*self._provider(), self.row.branch)
        except OctavoError as error:
            self.wrong.append(f"pull requests: {error.message}")
            return
        self.pulls = {pull.number: pull for pull in found}
        if not whole:
            self.wrong.append(
                f"pull requests: Octavo follows only the first {MOST}; close some of them to follow the"
                " others"
            )
            self.pulls = None if len(found) < MOST else self.pulls

    def _provider(self) -> tuple[Fetcher, Remote, str, Credential | None]:
        return (
            Fetcher(self.context.settings.allow_private_fetch),
            self.remote,
            self.row.provider,
            usable_credential(self.context, self.row),
        )

    def _wanted(self, refs: Mapping[str, str], links: Mapping[str, BranchRow]) -> dict[str, _RequestedBranch]:
        found: dict[str, _RequestedBranch] = {}
        for pull in (self.pulls or {}).values():
            # A pull request's branch can be deleted while the pull request is open, but providers keep a ref
            # to its commits.
            ref = pull.ref
            if ref is None or pull.branch == self.row.branch:
                self.wrong.append(
                    f"pull request {pull.number}: the branch is in another repository, which Octavo can't"
                    " fetch from"
                )
                continue
            found[ref] = _RequestedBranch(ref, pull.title, pull.branch, pull.number, pull.url or None)
        for ref in sorted(refs):
            name = ref.removeprefix(_HEADS)
            if ref in found or name in (ref, self.row.branch) or "\\" in name:
                continue
            link = links.get(ref)
            if (
                link is not None
                and link.pushes
                and link.status == "open"
                and (link.commit_id or link.pushing)
            ):
                found[ref] = _RequestedBranch(ref, link.title, name, link.pull, link.url)
            elif fits(self.row.pattern, name):
                found[ref] = _RequestedBranch(ref, name, name)
        if self.row.pulls and self.pulls is None:
            # The provider didn't return the open pull requests, so the known ones are kept.
            for ref, link in links.items():
                if link.pull is not None and link.status == "open" and ref in refs:
                    found.setdefault(ref, _RequestedBranch(ref, link.title, link.branch, link.pull, link.url))
        if len(found) > MOST:
            self.wrong.append(
                f"only {MOST} of {len(found)} matching branches are followed; use a more specific branch"
                " pattern"
            )
            known = [ref for ref in found if ref in links and links[ref].change_id is not None]
            kept = dict.fromkeys([*known, *(ref for ref in found if ref not in links), *found])
            found = {ref: found[ref] for ref in list(kept)[:MOST]}
        return found

    def _new(self, want: _RequestedBranch) -> BranchRow:
        moment = now()
        return BranchRow(
            self.space_id,
            want.ref,
            want.branch,
            want.title,
            pushes=0,
            status="open",
            created_at=moment,
            updated_at=moment,
            pull=want.pull,
            url=want.url,
        )

    # --- one branch -----------------------------------------------------------------------------------

    def _change(self, link: BranchRow) -> ChangeRow | None:
        if link.change_id is None:
            return None
        try_to_save_pending(self.context, link.change_id)
        with self.context.db.read() as tx:
            return find_change(tx, self.space_id, link.change_id)

    def _access(self, change: ChangeRow) -> ChangeAccess:
        with self.context.db.read() as tx:
            return change_access(tx, self.sync.space, change.id)

    def _sync_branch(self, want: _RequestedBranch, head: str, link: BranchRow) -> None:
        """Bring a branch and its change request up to date with each other."""
        about = replace(link, title=want.title, url=want.url, pull=want.pull, branch=want.branch)
        if about != link and link.change_id is not None:
            self._put(about)
        link = about
        change = self._change(link)
        if change is None or (change.status == "merged" and head != link.commit_id):
            if (head, self.row.commit_id) != (link.commit_id, link.checked):
                self._create(replace(link, pushes=0, status="open"), head)
            return
        if change.status not in _OPEN:
            if change.status == "archived" and link.status == "closed":
                access = self._access(change)
                with self.context.db.write() as tx:
                    set_status(tx, access, change, "open")
                    store.put_branch(tx, replace(link, status="open"))
                self._count += 1
            elif change.status == "merged" and link.status == "open":
                self._put(replace(link, status="merged"))
            return
        if link.pushing is not None:
            if head == link.pushing or self.copy.since(head, link.pushing) is not None:
                link = replace(link, commit_id=link.pushing)
            link = replace(link, pushing=None)
            self._put(link)
        if (head, self.row.commit_id) != (link.commit_id, link.checked):
            arrived = self._is_synced(head) and link.commit_id is not None
            if head != link.commit_id:
                self._merge_pushed(link, change, head)
                link = replace(link, commit_id=head)
            link = replace(link, checked=self.row.commit_id)
            self._put(link)
            if arrived:
                self._finish_merged(link)
                return
        if link.pushes:
            self._push(link)

    def _put(self, link: BranchRow) -> None:
        with self.context.db.write() as tx:
            store.put_branch(tx, link)

    def _is_synced(self, commit: str) -> bool:
        """Return whether a commit is in the synced branch."""
        return self.row.commit_id is not None and self.copy.fork(commit, self.row.commit_id) == commit

    def _state_in(self, commit: str, change: ChangeRow | None = None) -> SyncedState:
        """Return the state of the space at a commit in the repository."""
        row = self.row
        assert row.revision is not None
        with self.context.db.read() as tx:
            synced = SyncedState(
                revision_state(tx, self.space_id, row.revision), *store.list_ahead(tx, self.space_id)
            )
        if commit == row.commit_id:
            return synced
        return synced.with_changes(self._read(synced, row.commit_id, commit, change).versions)

    def _read(self, agreed: SyncedState, old: str | None, new: str, change: ChangeRow | None) -> ReadContent:
        def known() -> Mapping[tuple[str, str], str]:
            if change is None:
                return {}
            with self.context.db.read() as tx:
                return _known_to(tx, change)

        copy = self.copy
        return read_changes(
            self.context,
            copy,
            agreed,
            copy.tree_of(old),
            copy.tree_of(new),
            self.sync.is_space,
            self.sync.large,
            known,
        )

    def _fork_point(self, head: str) -> str:
        """Return the commit at which a branch diverged from the synced branch."""
        synced = self.row.commit_id
        assert synced is not None
        found = self.copy.fork(head, synced)
        if found is None or not self.copy.has(found):
            # Only the newest commits of the synced branch were fetched, but now all of them are needed.
            self.copy.forget()
            self.sync.connection.fetch(self.copy, self.row.branch, None, whole=True)
            found = self.copy.fork(head, synced)
        if found is None or not self.copy.has(found):
            raise Stopped(
                Reason.CONTENT,
                f"the branch shares no history with {self.row.branch}; rebase it onto that branch",
            )
        return found

    def _create(self, link: BranchRow, head: str) -> None:
        """Create a change request with a branch's changes, unless the branch has no changes."""
        parted = self._fork_point(head)
        checked = replace(link, change_id=None, commit_id=head, checked=self.row.commit_id)
        if parted == head:
            self._put(checked)
            return
        base = self._state_in(parted)
        read = self._read(base, parted, head, None)
        writers = self.copy.writers(head, [parted])
        for _ in range(_ROUNDS):
            with self.context.db.read() as tx:
                main = main_state(tx, self.space_id)
                pages, items = set(read.versions.pages), set(read.versions.items)
                merged = merge_into_main(tx, sides_beside(tx, base, read.versions, main, pages, items), main)
            if not merged.changes and not merged.conflicts:
                self._put(checked)
                return
            conflicts = [replace(conflict, origin="repository") for conflict in merged.conflicts]

            def also(tx: Transaction, change: ChangeRow) -> None:
                store.put_branch(tx, replace(checked, change_id=change.id, created_at=now()))
                self._contributed(tx, change.id, writers)
                set_status(tx, self.sync.space, change, "open")

            try:
                change = create_with(
                    self.context,
                    self.sync.space,
                    main,
                    replace(merged, conflicts=conflicts),
                    subject=link.title,
                    also=also,
                )
                break
            except BranchMoved:
                continue
        else:
            raise BranchMoved
        self._noted(link, read)
        self._report_status(change, head)

    def _contributed(self, tx: Transaction, change_id: str, writers: set[CommitPerson]) -> None:
        """Record the authors of pushed commits as contributors, so that these people can't review the change
        request."""
        organization = self.sync.space.organization_id
        for user_id in find_writers(tx, organization, writers) - {self.sync.space.user_id}:
            add_contribution(tx, change_id, user_id, "edit")

    def _noted(self, link: BranchRow, read: ReadContent) -> None:
        self._count += 1
        name = link.branch or link.ref
        self._problems += [
            Problem(f"{name}:{problem.path}", problem.line, problem.code, problem.message)
            for problem in read.problems
        ]

    def _report_status(self, change: ChangeRow, head: str) -> None:
        """Report the state of the change request to the provider as a commit status."""
        with self.context.db.read() as tx:
            fresh = find_change(tx, self.space_id, change.id) or change
        count = len(fresh.open_conflicts)
        said = f"Change request {fresh.number}"
        view = preview_view(fresh.number)
        if count:
            said += f": {count} conflict{'s' if count > 1 else ''} to resolve"
            view = f"{change_view(fresh.number)}/~/conflicts"
        self._problems += report_status(self.context, self.row, head, said, view, failed=bool(count))

    def _merge_pushed(self, link: BranchRow, change: ChangeRow, head: str) -> None:
        """Merge the pushed commits of a branch into its change request, in addition to the edits made in
        Octavo."""
        access = self._access(change)
        if change.outdated and change.conflicts is None:
            # If the synced branch was merged into this branch, those changes belong to the main version.
            update(self.context, access)
        before = link.commit_id
        if before is None or not self.copy.has(before):
            before = self._fork_point(head)
        base = self._state_in(before, change)
        read = self._read(base, before, head, change)
        writers = self.copy.writers(head, [before, self.copy.fork(head, self.row.commit_id or head)])
        pages, items = set(read.versions.pages), set(read.versions.items)

        def make(tx: Transaction, state: State, started: State | None) -> EditedContent:
            merged = merge_into_main(tx, sides_beside(tx, base, read.versions, state, pages, items), state)
            conflicts = [replace(conflict, origin="repository") for conflict in merged.conflicts]
            return EditedContent(merged.changes, merged.bodies, merged.keys, [], [], conflicts=conflicts)

        def also(tx: Transaction, made: State) -> None:
            store.put_branch(tx, replace(link, commit_id=head))
            self._contributed(tx, change.id, writers)

        revise_change(self.context, access, make, also)
        self._noted(link, read)
        self._report_status(change, head)

    # --- end of a branch ------------------------------------------------------------------------------

    def _stop_following(self, is_there: bool, link: BranchRow) -> None:
        """Stop following a branch that was merged, closed, or deleted, or that no longer matches the settings."""
        change = self._change(link)
        if change is None or change.status not in _OPEN:
            self._finish(link)
            return
        if link.pull is not None:
            if not self.row.pulls:
                self._finish(link)
                return
            if self.pulls is None:
                return
            pull = find_pull(*self._provider(), self.row.branch, link.pull)
            if pull is not None and pull.state == "open":
                return
            if pull is not None and pull.state == "merged":
                commit = pull.merged
                if commit is None or (self.copy.has(commit) and self._is_synced(commit)):
                    self._finish_merged(link)
                return  # the next sync fetches the rest
        elif is_there:
            self._finish(link)  # the pattern has changed
            return
        if link.commit_id is not None and self._is_synced(link.commit_id):
            self._finish_merged(link)
        elif self._is_in_main(change):
            self._merged(link, change)
        elif link.pushes and link.pull is None:
            self._finish(link)  # the change request was created in Octavo, so it stays open
        else:
            access = self._access(change)
            with self.context.db.write() as tx:
                set_status(tx, access, change, "archived")
                store.put_branch(tx, replace(link, status="closed"))
            self._count += 1

    def _finish(self, link: BranchRow) -> None:
        with self.context.db.write() as tx:
            store.delete_branch(tx, link)

    def _finish_merged(self, link: BranchRow) -> None:
        """Stop following a branch whose changes are in the synced branch. The change request is merged unless it has
        other edits."""
        change = self._change(link)
        if change is None or change.status not in _OPEN:
            self._finish(link)
            return
        commit = link.commit_id
        if commit is not None and self.copy.has(commit):
            base = self._state_in(commit, change)
            with self.context.db.read() as tx:
                main = main_state(tx, self.space_id)
                held = list_branch_content(tx, change.state.layers[0])
                pages, items = set(held.pages), set(held.items)
                own = Versions(
                    {id: find_pages(tx, change.state, pages).get(id) for id in pages},
                    {id: find_items(tx, change.state, items).get(id) for id in items},
                )
                merged = merge_into_main(tx, sides_beside(tx, base, own, main, pages, items), main)
            if not merged.changes and not merged.conflicts:
                self._merged(link, change)
                return
        if self._is_in_main(change):
            self._merged(link, change)
            return
        self._finish(link)
        name = link.branch or link.ref
        said = f"the branch was merged, but change request {change.number} has more edits and stays open"
        self._problems.append(Problem(name, 0, "edits_besides", said))
        self._count += 1

    def _is_in_main(self, change: ChangeRow) -> bool:
        """Return whether the main version already contains a change request, so that merging it would have no
        effect."""
        with self.context.db.read() as tx:
            main = main_state(tx, self.space_id)
            held = list_branch_content(tx, change.state.layers[0])
            pages, items = set(held.pages), set(held.items)
            found = differing_from(tx, SyncedState(main, {}, {}), change.state, Changes(), pages, items)
        return not found.pages and not found.items

    def _merged(self, link: BranchRow, change: ChangeRow) -> None:
        access = self._access(change)
        with self.context.db.write() as tx:
            main = main_state(tx, self.space_id)
            mark_merged(tx, access, change, main.revision_id)
            store.put_branch(tx, replace(link, status="merged"))
        self._count += 1

    # --- pushing --------------------------------------------------------------------------------------

    def _push_first(self, is_there: bool, link: BranchRow) -> None:
        """Push a change request for the first time. The branch must not exist yet."""
        change = self._change(link)
        if change is None or change.status not in _OPEN:
            self._finish(link)
        elif is_there:
            raise Stopped(
                Reason.CONTENT, "the repository already has a branch with this name; push to another branch"
            )
        else:
            self._push(link)

    def _push(self, link: BranchRow) -> None:
        """Commit the edits in a change request on top of its branch."""
        change, branch = self._change(link), link.branch
        if change is None or change.status not in _OPEN or branch is None or self.row.commit_id is None:
            return
        if self.row.direction == "import":
            raise Stopped(
                Reason.CONTENT,
                "this sync only imports and never pushes; change its direction before you push",
            )
        with self.context.db.read() as tx:
            _require_open(tx, change.state)
        access = self._access(change)
        if change.outdated and change.conflicts is None:
            update(self.context, access)
            change = self._change(link) or change
        if change.conflicts is not None:
            raise Stopped(Reason.CONTENT, "the change request has conflicts; resolve them before you push")
        parent = link.commit_id or self.row.commit_id
        base = self._state_in(parent, change)
        with self.context.db.read() as tx:
            # The update may have restricted pages. Rules that no longer exist still apply to pages that were deleted
            # from main, which the change request may contain.
            _require_open(tx, change.state, find_rules(tx, change.state))
            held = list_branch_content(tx, change.state.layers[0])
            pages, items = set(held.pages), set(held.items)
            found = differing_from(tx, base, change.state, Changes(), pages, items)
            writing = write_files(tx, change.state, Changes(), found, lambda digest: get_body(tx, digest))
            said = describe_change(tx, change, self.row.message)
        store_bodies(self.context.db, writing.bodies)
        entries, _ = self.sync.entries(self.copy, parent, writing.files)
        if not entries:
            if link.commit_id is None:
                raise Stopped(Reason.CONTENT, "the change request doesn't change any files yet")
            return
        if writing.noted:
            # The change request determines the locations of files, so that both sides refer to the same
            # files.
            noted = writing.noted

            def make(tx: Transaction, state: State, started: State | None) -> EditedContent:
                if state.revision_id != change.revision:
                    raise Stopped(
                        Reason.MOVED,
                        "the change request was edited in the meantime; the next sync will push it",
                    )
                return EditedContent(noted, [], [], [], [])

            revise_change(self.context, access, make)
        commit = self.copy.add_commit(
            parent, entries, self.sync.text_of(said.message, said.author), self.sync.signer()
        )
        if commit is None:
            return
        link = replace(link, pushing=commit)
        self._put(link)
        self.sync.connection.push(self.copy, branch, commit, link.commit_id, above=parent)
        self._put(replace(link, commit_id=commit, pushing=None, checked=self.row.commit_id))
        self._count += 1
        self._report_status(change, commit)


def _require_open(tx: Transaction, state: State, restricted: Iterable[str] = ()) -> None:
    """Raise Stopped if the state of a change request includes restricted pages. ``restricted``: IDs of more restricted
    pages."""
    if list_restricted(tx, state) or find_pages(tx, state, restricted):
        raise Stopped(
            Reason.CONTENT, "the change request has restricted pages, which can't be synced with Git"
        )
