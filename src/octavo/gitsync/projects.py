"""A branch that several spaces are synced with, each in a folder of its own: the spaces of a collection, or of a site.

A project has the remote, the credential, the settings and the hook. Each of its spaces is a synced space like any other,
with its own state, that got all of this from its project. What is a space and where its folder is, the kind of the
project says (``ProjectKind``); ``project_running.py`` asks it at each look.
"""

from __future__ import annotations

import secrets
from typing import Any, Literal, Protocol

from msgspec import Struct, field

from ..access import CollectionAccess, SiteAccess, audit
from ..core.problems import Problem
from ..errors import Conflict, NotFound
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.operation import Actor
from . import store
from .addresses import read_branch, read_folder
from .asking import ask_project
from .connecting import (
    allowed_remote,
    changed_settings,
    chosen_settings,
    read_credential,
    require_free,
    shared_settings,
)
from .credentials import PROJECT_HOOK_SECRET, PROJECT_SECRET, seal
from .reasons import Reason
from .signing import PROJECT_SIGNING, make_signing_key
from .store import First, ProjectRow
from .wire import ConnectGit, UpdateGitSync

Kind = Literal["collection", "site"]


class Place(Struct, frozen=True):
    """A folder that is a space, below the project's and ending in a slash, or empty for all of it. ``space_id``: None
    for one that is yet to be made. ``first``: the side that the other becomes equal to; None: none, it is synced or is
    left alone."""

    folder: str
    title: str
    space_id: str | None
    first: First | None


class Ground(Protocol):
    """A project's folder in a commit."""

    def folders(self) -> list[str]:
        """The names of the folders directly in it."""
        ...

    def holds(self, path: str) -> bool:
        """Whether there is a file, or below a folder that ends in a slash anything."""
        ...

    def read(self, path: str) -> bytes | None: ...

    def is_moved(self, old: str, new: str) -> bool:
        """Whether a folder that was there at the last look and is no more is the one that is there now."""
        ...


class Settled(Struct):
    """What a look came to. ``spaces``: by folder the space that is synced with it, and whether it was made just now.
    ``files``: what is committed of the project itself. ``agreed``: what is remembered, once that arrived."""

    spaces: dict[str, tuple[str, bool]]
    agreed: Any
    files: dict[str, bytes] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


class ProjectKind(Protocol):
    """What the spaces of a project are, and where."""

    def require(self, tx: Transaction, actor: Actor, row: ProjectRow) -> None:
        """Raises NotFound or Forbidden for who may not sync it."""
        ...

    def look(
        self, tx: Transaction, actor: Actor, row: ProjectRow, ground: Ground
    ) -> tuple[list[Place], list[Problem]]:
        """What a first sync would do. Writes nothing. Raises BadRequest."""
        ...

    def settle(self, tx: Transaction, actor: Actor, row: ProjectRow, ground: Ground) -> Settled:
        """Makes spaces and structure what the repository says where that counts, and nothing where it is the repository
        that is to change. Raises OctavoError, Stopped."""
        ...


_kinds: dict[Kind, ProjectKind] = {}


def add_kind(name: Kind, kind: ProjectKind) -> None:
    _kinds[name] = kind


def kind_of(row: ProjectRow) -> ProjectKind:
    return _kinds["collection" if row.collection_id is not None else "site"]


Access = CollectionAccess | SiteAccess


def _id_of(access: Access) -> str:
    return access.collection_id if isinstance(access, CollectionAccess) else access.site_id


def _target(access: Access) -> tuple[str, str]:
    return ("collection" if isinstance(access, CollectionAccess) else "site"), _id_of(access)


def _told(row: ProjectRow) -> dict[str, Any]:
    return {"remote": row.remote, "branch": row.branch, "folder": row.folder, "direction": row.direction}


def get_project(tx: Transaction, access: Access) -> ProjectRow:
    """Raises NotFound for what is not synced."""
    found = store.find_project(tx, _id_of(access))
    if found is None:
        raise NotFound(f"This {_target(access)[0]} is not synced with a Git repository.")
    return found


def new_project(
    tx: Transaction, context: Context, access: Access, given: ConnectGit
) -> tuple[ProjectRow, str]:
    """The row, which is not written yet, and the secret of its hooks. Raises BadRequest, Conflict."""
    id = _id_of(access)
    remote = allowed_remote(context, given.remote)
    branch, folder = read_branch(given.branch), read_folder(given.folder)
    require_free(tx, access.organization_id, id, remote, branch, folder)
    credential, public = read_credential(remote, given.credential, id)
    moment, hook = now(), secrets.token_urlsafe(32)
    signing_secret = signing_key = None
    if given.sign_commits:
        signing_secret, signing_key = make_signing_key(context.sealer, id, PROJECT_SIGNING)
    values: dict[str, Any] = {
        **dict.fromkeys(ProjectRow.__struct_fields__),
        "id": id,
        "organization_id": access.organization_id,
        f"{_target(access)[0]}_id": id,
        "remote": remote.url,
        "branch": branch,
        "folder": folder,
        "secret": seal(context.sealer, id, credential, PROJECT_SECRET),
        "credential": credential.kind if credential else None,
        "public_key": public,
        "signing_secret": signing_secret,
        "signing_key": signing_key,
        "hook_secret": PROJECT_HOOK_SECRET.seal(context.sealer, hook, id),
        "user_id": access.user_id,
        "problems": "[]",
        "status": "waiting",
        "failures": 0,
        "created_at": moment,
        "updated_at": moment,
        **chosen_settings(remote, credential, given),
    }
    return ProjectRow(**values), hook


def connect_project(
    tx: Transaction, context: Context, access: Access, given: ConnectGit
) -> tuple[ProjectRow, str]:
    """The row and the secret of its hooks. Raises BadRequest, Conflict for what is synced already."""
    if store.find_project(tx, _id_of(access)) is not None:
        raise Conflict(f"This {_target(access)[0]} is synced already; disconnect it first.")
    row, hook = new_project(tx, context, access, given)
    store.insert_project(tx, row)
    audit(tx, access.actor, "git.connected", access.organization_id, _target(access), after=_told(row))
    if row.credential != "ssh-key":
        ask_project(tx, row.organization_id, row.id, "connected")
    return row, hook


def update_project(tx: Transaction, context: Context, access: Access, given: UpdateGitSync) -> ProjectRow:
    """Also for each of its spaces. Raises NotFound, BadRequest."""
    row = get_project(tx, access)
    fields = changed_settings(context, row, row.id, given, PROJECT_SECRET, PROJECT_SIGNING)
    if not fields:
        return row
    store.set_project(tx, row.id, **fields, user_id=access.user_id, next_at=now() + 1000)
    after = get_project(tx, access)
    share_settings(tx, context, after)
    if given.forget_host_key:
        for member in store.list_members(tx, row.id):
            if member.status == "stopped" and member.reason == Reason.HOST_KEY.value:
                store.set_fields(tx, member.space_id, status="waiting", reason=None, error=None)
    target = _target(access)
    audit(tx, access.actor, "git.updated", row.organization_id, target, before=_told(row), after=_told(after))
    return after


def share_settings(tx: Transaction, context: Context, row: ProjectRow) -> None:
    """Gives each of the spaces what the project is now."""
    for member in store.list_members(tx, row.id):
        store.set_fields(tx, member.space_id, **shared_settings(context, row, member.space_id))


def ask_project_now(tx: Transaction, access: Access, first: First | None) -> ProjectRow:
    """A sync of all. ``first``: what somebody decided where it waits, for each space that waits as well. Raises NotFound,
    Conflict for one that waits for a decision."""
    row = get_project(tx, access)
    if first is not None:
        decide(tx, row.id, first)
        store.set_project(tx, row.id, user_id=access.user_id)
        target = _target(access)
        audit(tx, access.actor, "git.decided", row.organization_id, target, after={"first": first})
    elif row.status == "stopped":
        raise Conflict(
            f"This sync waits for a decision: {row.error} Say with `first` which side to go on from."
        )
    store.set_project(tx, row.id, status="waiting" if row.holder is None else row.status, failures=0)
    ask_project(tx, row.organization_id, row.id, "asked")
    return get_project(tx, access)


def decide(tx: Transaction, project_id: str, first: First) -> None:
    """The side to go on from, also for each of the spaces that waits for it."""
    row = store.find_project(tx, project_id)
    if row is None:
        return
    store.set_project(tx, project_id, first=first)
    for member in store.list_members(tx, project_id):
        if member.status == "stopped" or row.status == "stopped":
            store.set_first(tx, member.space_id, first)


def disconnect_project(tx: Transaction, access: Access) -> bool:
    """False for what is not synced. All spaces and the repository stay as they are."""
    row = store.find_project(tx, _id_of(access))
    if row is None:
        return False
    store.delete_project(tx, row.id)
    audit(tx, access.actor, "git.disconnected", row.organization_id, _target(access), before=_told(row))
    return True


def renew_project_hook(tx: Transaction, context: Context, access: Access) -> tuple[ProjectRow, str]:
    """Another secret for hooks. Raises NotFound."""
    row, hook = get_project(tx, access), secrets.token_urlsafe(32)
    store.set_project(tx, row.id, hook_secret=PROJECT_HOOK_SECRET.seal(context.sealer, hook, row.id))
    audit(tx, access.actor, "git.hook_renewed", row.organization_id, _target(access))
    return get_project(tx, access), hook
