"""What a first sync would change, on either side, before anything does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from dulwich.objects import Blob
from dulwich.repo import Repo
from msgspec import UNSET, Raw, Struct

from ..content import body_hash, get_body, main_state
from ..errors import BadRequest, Unavailable
from ..kit import deadlines
from ..kit.context import Context
from ..kit.fetch import Fetcher
from ..kit.temporary import TemporaryFolder
from .addresses import read_branch, read_folder
from .connecting import new_row
from .credentials import Credential
from .entering import SyncAccess
from .lfs import MOST_POINTER, read_pointer
from .project_running import Folder
from .projects import kind_of
from .reasons import Stopped
from .remotes import Connection, Heads
from .repository import Repository, is_safe, told_of_damage
from .store import ProjectRow
from .wire import ConnectGit, GitPlace, GitPreview, GitProjectPreview, GitTarget
from .writing import FileText, write_all

SECONDS = 60.0
_SHOWN = 100


class _Looked(Struct):
    """A repository as it is now. ``head``: None for a branch that is not there."""

    copy: Repository
    heads: Heads
    head: str | None
    host_key: str | None


@contextmanager
def _looked_at(context: Context, given: GitTarget) -> Iterator[_Looked]:
    """Raises BadRequest for a repository that cannot be read, Unavailable for one that takes too long."""
    credential = None
    if given.credential is not UNSET and given.credential.type != "ssh-key":
        secret = given.credential.secret
        credential = Credential(
            given.credential.type, secret if secret is not UNSET else "", given.credential.username or ""
        )
    connection = Connection(
        given.remote,
        credential,
        Fetcher(context.settings.allow_private_fetch),
        local=context.settings.allow_file_remotes,
        host_key=None,
    )
    branch, folder = read_branch(given.branch), read_folder(given.folder)
    try:
        with deadlines.limited(SECONDS), TemporaryFolder("git-preview") as where, told_of_damage():
            heads = connection.heads()
            repo = Repo.init_bare(where)
            try:
                copy = Repository(repo, Path(where), folder)
                head = connection.fetch(copy, branch, None) if branch in heads.branches else None
                yield _Looked(copy, heads, head, connection.seen_host_key)
            finally:
                repo.close()
    except Stopped as stopped:
        raise BadRequest(f"remote: {stopped.message}") from None
    except deadlines.OutOfTime:
        raise Unavailable(
            "The repository is too large to be looked at in a minute; connecting has more time."
        ) from None


def preview_project(context: Context, at: SyncAccess, given: ConnectGit) -> GitProjectPreview:
    """Which folders would be which spaces. Raises BadRequest, Conflict, Unavailable."""
    with _looked_at(context, given) as looked, context.db.read() as tx:
        row, _ = new_row(tx, context, at, given)
        assert isinstance(row, ProjectRow)
        ground = Folder(looked.copy, looked.head, None)
        places, problems = kind_of(row).look(tx, at.actor, row, ground)
    found: dict[str, Any] = {"commit": looked.head or UNSET, "default_branch": looked.heads.default or UNSET}
    return GitProjectPreview(
        spaces=[
            GitPlace(place.folder or "/", place.title, place.space_id or UNSET, place.first or UNSET)
            for place in places
        ],
        problems=Raw(msgspec.json.encode(problems[:_SHOWN])),
        branches=sorted(looked.heads.branches)[:_SHOWN],
        host_key=looked.host_key or UNSET,
        **found,
    )


def preview(context: Context, space_id: str, given: GitTarget) -> GitPreview:
    """Raises BadRequest for a repository that cannot be read, Unavailable."""
    with _looked_at(context, given) as looked:
        copy, heads, head = looked.copy, looked.heads, looked.head
        ours = _ours(context, space_id)
        theirs = {
            path: _names(copy, entry.oid)
            for path, entry in copy.files(copy.tree_of(head))
            if entry.is_file and is_safe(path)
        }
    only_space = sorted(ours.keys() - theirs.keys())
    only_repository = sorted(theirs.keys() - ours.keys())
    different = sorted(path for path in ours.keys() & theirs.keys() if not theirs[path] & ours[path])
    found: dict[str, Any] = {"commit": head or UNSET, "default_branch": heads.default or UNSET}
    return GitPreview(
        same=len(ours.keys() & theirs.keys()) - len(different),
        only_in_space=only_space[:_SHOWN],
        only_in_repository=only_repository[:_SHOWN],
        different=different[:_SHOWN],
        only_in_space_count=len(only_space),
        only_in_repository_count=len(only_repository),
        different_count=len(different),
        branches=sorted(heads.branches)[:_SHOWN],
        host_key=looked.host_key or UNSET,
        **found,
    )


def _names(copy: Repository, oid: str) -> set[str]:
    """What a file is called: by Git, and where it is a pointer, by Git LFS."""
    pointer = read_pointer(copy.read(oid)) if copy.size(oid) <= MOST_POINTER else None
    return {oid} if pointer is None else {oid, pointer.oid}


def _ours(context: Context, space_id: str) -> dict[str, set[str]]:
    """What Git and Git LFS would call each file of the space, by path."""
    with context.db.read() as tx:
        writing = write_all(tx, main_state(tx, space_id), lambda digest: get_body(tx, digest))
    made = {body_hash(text): text for text in writing.bodies}
    found: dict[str, set[str]] = {}
    for path, file in writing.files.items():
        deadlines.check()
        assert isinstance(file, FileText)
        if file.kind == "file":
            data = context.files.read(file.content)
        elif file.content in made:
            data = made[file.content].encode()
        else:
            with context.db.read() as tx:
                data = get_body(tx, file.content).encode()
        found[path] = {Blob.from_string(data).id.decode(), file.content}
    return found
