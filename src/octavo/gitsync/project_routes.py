"""Syncing collections, and what the same operations of sites do."""

from __future__ import annotations

from msgspec import UNSET

from ..access import Can, CollectionAccess
from ..kit.operation import PUBLIC, Area, Call, Deletion, RawBody
from . import hooks, projects, store
from .project_wire import (
    GitProject,
    GitProjectPreview,
    GitProjectWithSecret,
    path_of,
    present_project,
    present_project_with_secret,
)
from .projects import Access
from .wire import ConnectGit, RunGitSync, UpdateGitSync

operation = Area("gitsync").operation

_GIT = "/collections/{collectionId}/git"
_SYNC = f"{_GIT}/sync"
HOOK_LIMIT = 4 * 1024 * 1024


def preview_project(call: Call, access: Access, body: ConnectGit) -> GitProjectPreview:
    # Loaded only where it is used: Git takes long to load.
    from .previewing import preview_project as look

    return look(call.context, access, body)


def connect_project(call: Call, access: Access, body: ConnectGit) -> GitProjectWithSecret:
    with call.db.write() as tx:
        row, secret = projects.connect_project(tx, call.context, access, body)
    call.response_headers["location"] = call.url(f"{path_of(row)}/git/sync")
    return present_project_with_secret(call, row, [], secret)


def show_project(call: Call, access: Access) -> GitProject:
    with call.db.read() as tx:
        row = projects.get_project(tx, access)
        return present_project(call, row, store.list_members(tx, row.id))


def update_project(call: Call, access: Access, body: UpdateGitSync) -> GitProject:
    with call.db.write() as tx:
        row = projects.update_project(tx, call.context, access, body)
        return present_project(call, row, store.list_members(tx, row.id))


def disconnect_project(call: Call, access: Access) -> bool:
    with call.db.write() as tx:
        return projects.disconnect_project(tx, access)


def run_project(call: Call, access: Access, body: RunGitSync) -> GitProject:
    with call.db.write() as tx:
        row = projects.ask_project_now(tx, access, body.first if body.first is not UNSET else None)
        return present_project(call, row, store.list_members(tx, row.id))


def rotate_project(call: Call, access: Access) -> GitProjectWithSecret:
    with call.db.write() as tx:
        row, secret = projects.renew_project_hook(tx, call.context, access)
        return present_project_with_secret(call, row, store.list_members(tx, row.id), secret)


@operation(
    "previewCollectionGitSync",
    "POST",
    f"{_GIT}/preview",
    needs=Can.ADMIN,
    returns=GitProjectPreview,
    errors=(400, 404, 409, 503),
    extension=True,
)
def preview_collection(call: Call, collection: CollectionAccess, body: ConnectGit) -> GitProjectPreview:
    """Which folders of a repository would be which spaces of a collection. Nothing is written."""
    return preview_project(call, collection, body)


@operation(
    "connectCollectionGitSync",
    "POST",
    _SYNC,
    needs=Can.ADMIN,
    returns=GitProjectWithSecret,
    status=201,
    errors=(400, 404, 409),
    extension=True,
)
def connect_collection(call: Call, collection: CollectionAccess, body: ConnectGit) -> GitProjectWithSecret:
    """Keeps every space that lies directly in a collection in step with a folder of a branch from now on. New folders
    become spaces, and new spaces get folders. Credentials are sealed and never shown again; the secret that hooks are
    signed with is in this answer alone."""
    return connect_project(call, collection, body)


@operation(
    "getCollectionGitSync", "GET", _SYNC, needs=Can.ADMIN, returns=GitProject, errors=(404,), extension=True
)
def get_collection_sync(call: Call, collection: CollectionAccess) -> GitProject:
    """How a collection is synced, and each of its spaces."""
    return show_project(call, collection)


@operation(
    "updateCollectionGitSync",
    "PATCH",
    _SYNC,
    needs=Can.ADMIN,
    returns=GitProject,
    errors=(400, 404),
    extension=True,
)
def update_collection_sync(call: Call, collection: CollectionAccess, body: UpdateGitSync) -> GitProject:
    """Changes how a collection is synced, for all of its spaces; the fields that are left out stay."""
    return update_project(call, collection, body)


@operation("disconnectCollectionGitSync", "DELETE", _SYNC, needs=Can.ADMIN, returns=Deletion, extension=True)
def disconnect_collection(call: Call, collection: CollectionAccess) -> bool:
    """Ends the sync of a collection and of its spaces. All of them and the repository stay as they are."""
    return disconnect_project(call, collection)


@operation(
    "runCollectionGitSync",
    "POST",
    f"{_SYNC}/run",
    needs=Can.ADMIN,
    returns=GitProject,
    status=202,
    errors=(404, 409),
    extension=True,
)
def run_collection_sync(call: Call, collection: CollectionAccess, body: RunGitSync) -> GitProject:
    """Syncs all spaces of a collection now, in a job. Where the sync waits for a decision, `first` is that decision, for
    each of the spaces that waits. 409 without one."""
    return run_project(call, collection, body)


@operation(
    "rotateCollectionGitSyncSecret",
    "POST",
    f"{_SYNC}/hook-secret",
    needs=Can.ADMIN,
    returns=GitProjectWithSecret,
    status=201,
    errors=(404,),
    extension=True,
)
def rotate_collection_secret(call: Call, collection: CollectionAccess) -> GitProjectWithSecret:
    """Another secret for hooks; the one before counts no more."""
    return rotate_project(call, collection)


@operation(
    "receiveCollectionGitHook",
    "POST",
    f"{_GIT}/hook",
    needs=PUBLIC,
    returns=None,
    errors=(400, 404),
    body_limit=HOOK_LIMIT,
    extension=True,
)
def receive_collection_hook(call: Call, collection_id: str, body: RawBody) -> None:
    """What hosters send when somebody pushed, for a collection; signed as the hook of a space is."""
    hooks.receive_for_project(call.context, collection_id, call.headers, body.data)
