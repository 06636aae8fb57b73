"""Preview the changes that a first sync would make on both sides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dulwich.objects import Blob
from dulwich.repo import Repo
from msgspec import Struct

from octavo.content.revisions.bodies import body_hash, get_body
from octavo.content.revisions.states import main_state
from octavo.errors import BadRequest, Unavailable
from octavo.kit.context import Context
from octavo.kit.net.fetch import Fetcher
from octavo.kit.scheduling import deadlines
from octavo.kit.temporary import TemporaryFolder

from .authorization import SyncAccess
from .connecting import new_row
from .failures import Stopped
from .lfs import MOST_POINTER, read_pointer
from .project_running import ProjectFolder
from .projects import kind_of
from .remotes import RemoteBranches, RemoteConnection
from .repository import Repository, is_safe, stop_on_damage
from .store import ProjectRow
from .types import Differences, ProjectLook, RepositoryFolder, RequestedSync, SeenRepository
from .urls import read_branch, read_folder
from .writing import FileContent, write_all

SECONDS = 60.0


class _FetchedRepository(Struct):
    """Repository in its current state. ``head``: the current commit; None if the branch doesn't exist."""

    copy: Repository
    heads: RemoteBranches
    head: str | None
    host_key: str | None

    def seen(self) -> SeenRepository:
        return SeenRepository(
            sorted(self.heads.branches), self.heads.default or None, self.head, self.host_key
        )


@contextmanager
def _fetch_repository(context: Context, where: RepositoryFolder) -> Iterator[_FetchedRepository]:
    """Fetch a repository. Raises BadRequest if it can't be read, and Unavailable if reading it takes too
    long."""
    given = where.credential
    credential = given if given is not None and given.kind != "ssh-key" else None
    connection = RemoteConnection(
        where.remote,
        lambda: credential,
        Fetcher(context.settings.allow_private_fetch),
        local=context.settings.allow_file_remotes,
        host_key=None,
    )
    branch, folder = read_branch(where.branch), read_folder(where.folder)
    try:
        with deadlines.limited(SECONDS), TemporaryFolder("git-preview") as place, stop_on_damage():
            heads = connection.heads()
            repo = Repo.init_bare(place)
            try:
                copy = Repository(repo, Path(place), folder)
                head = connection.fetch(copy, branch, None) if branch in heads.branches else None
                yield _FetchedRepository(copy, heads, head, connection.seen_host_key)
            finally:
                repo.close()
    except Stopped as stopped:
        raise BadRequest(f"remote: {stopped.message}") from None
    except deadlines.DeadlineExceeded:
        raise Unavailable(
            "The preview took longer than a minute, because the repository is too large. Connect the"
            " repository without a preview."
        ) from None


def preview_project(context: Context, at: SyncAccess, wanted: RequestedSync) -> ProjectLook:
    """Return the folders, each with the space that it would become. Raises BadRequest if the repository can't be
    read, Conflict if it can't be synced, and Unavailable if reading it takes too long."""
    with _fetch_repository(context, wanted.where) as looked, context.db.read() as tx:
        row, _ = new_row(tx, context, at, wanted)
        assert isinstance(row, ProjectRow)
        places, problems = kind_of(row).preview(
            tx, at.actor, row, ProjectFolder(looked.copy, looked.head, None)
        )
    return ProjectLook(looked.seen(), places, problems)


def preview(context: Context, space_id: str, where: RepositoryFolder) -> Differences:
    """Return the changes that a first sync would make. Raises BadRequest if the repository can't be read,
    and Unavailable if reading it takes too long."""
    with _fetch_repository(context, where) as looked:
        copy = looked.copy
        ours = _ours(context, space_id)
        theirs = {
            path: _names(copy, entry.oid)
            for path, entry in copy.files(copy.tree_of(looked.head))
            if entry.is_file and is_safe(path)
        }
    both = ours.keys() & theirs.keys()
    different = sorted(path for path in both if not theirs[path] & ours[path])
    return Differences(
        looked.seen(),
        same=len(both) - len(different),
        only_in_space=sorted(ours.keys() - theirs.keys()),
        only_in_repository=sorted(theirs.keys() - ours.keys()),
        different=different,
    )


def _names(copy: Repository, oid: str) -> set[str]:
    """Return the hashes that identify the content of a file: its Git object ID and, if it is an LFS pointer, the
    hash in the pointer."""
    pointer = read_pointer(copy.read(oid)) if copy.size(oid) <= MOST_POINTER else None
    return {oid} if pointer is None else {oid, pointer.oid}


def _ours(context: Context, space_id: str) -> dict[str, set[str]]:
    """Return the identifying hashes of each file in the space (see ``_names``), by path."""
    with context.db.read() as tx:
        writing = write_all(tx, main_state(tx, space_id), lambda digest: get_body(tx, digest))
    made = {body_hash(text): text for text in writing.bodies}
    found: dict[str, set[str]] = {}
    for path, file in writing.files.items():
        deadlines.check()
        assert isinstance(file, FileContent)
        if file.kind == "file":
            data = context.files.read(file.content)
        elif file.content in made:
            data = made[file.content].encode()
        else:
            with context.db.read() as tx:
                data = get_body(tx, file.content).encode()
        found[path] = {Blob.from_string(data).id.decode(), file.content}
    return found
