"""Syncing spaces, collections and sites with Git repositories.

What is the same of the three is declared once (``_each``): collections and sites have what spaces have, under their own
names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import UNSET

from ..access import Can
from ..changes import ChangeAccess, list_numbers
from ..errors import BadRequest
from ..kit.db import Transaction
from ..kit.operation import PUBLIC, Area, Call, Deletion, Method, RawBody
from ..kit.pagination import Listing, PageQuery, present_slice
from . import connecting, hooks, store, wire
from .entering import SyncAccess
from .store import Connected, ProjectRow, SyncRow

operation = Area("gitsync").operation

_GIT = "/spaces/{spaceId}/git"
_SYNC = f"{_GIT}/sync"
_OF_PROJECTS = (
    ("Collection", "/collections/{collectionId}/git"),
    ("Site", "/orgs/{organizationId}/sites/{siteId}/git"),
)
_HOOK_LIMIT = 4 * 1024 * 1024
_H = TypeVar("_H", bound=Callable[..., Any])


def _projects(name: str, method: Method, below: str, **more: Any) -> Callable[[_H], _H]:
    """Declares a handler for collections and for sites. ``name``: of the operation, with a place for which of them."""

    def declare(handler: _H) -> _H:
        for word, at in _OF_PROJECTS:
            operation(name.format(word), method, f"{at}{below}", needs=Can.ADMIN, extension=True, **more)(
                handler
            )
        return handler

    return declare


def _each(
    name: str,
    method: Method,
    below: str,
    *,
    returns: tuple[Any, Any],
    spaces: Can = Can.ADMIN,
    errors: tuple[int, ...] = (404,),
    **more: Any,
) -> Callable[[_H], _H]:
    """Declares a handler for spaces, and for collections and sites. ``returns``: of spaces, and of the others.
    ``spaces``: what is needed at a space."""

    def declare(handler: _H) -> _H:
        here, there = returns
        operation(
            name.format(""),
            method,
            f"{_GIT}{below}",
            needs=spaces,
            returns=here,
            errors=errors,
            extension=True,
            **more,
        )(handler)
        return _projects(name, method, below, returns=there, errors=errors, **more)(handler)

    return declare


_ONE = (wire.GitSync, wire.GitProject)
_WITH_SECRET = (wire.GitSyncWithSecret, wire.GitProjectWithSecret)


def _around(tx: Transaction, row: Connected) -> wire.Around:
    if not isinstance(row, SyncRow):
        return wire.Around(members=store.list_members(tx, row.owner_id))
    project = store.find(tx, ProjectRow, row.project) if row.project is not None else None
    return wire.Around(ahead=store.count_ahead(tx, row.space_id), project=project)


@operation(
    "importGitRepository",
    "POST",
    f"{_GIT}/import",
    needs=Can.TRIGGER_GIT_SYNC,
    returns=None,
    errors=(400, 404, 409),
)
def import_repository(call: Call, at: SyncAccess, body: wire.ImportRepository) -> None:
    """Brings what a branch of a repository has new into main, in a job. The first time the space becomes what the
    repository is; from then on what both sides changed is merged, and what they changed differently is kept in a change
    request."""
    if body.standalone:
        raise BadRequest("standalone: an import always is of main")
    with call.db.write() as tx:
        connecting.run_once(tx, call.context, at, body, "import")


@operation(
    "exportToGitRepository",
    "POST",
    f"{_GIT}/export",
    needs=Can.TRIGGER_GIT_SYNC,
    returns=None,
    errors=(400, 404, 409),
)
def export_repository(call: Call, at: SyncAccess, body: wire.ExportToRepository) -> None:
    """Commits what main has new to a branch of a repository, in a job. The first time the branch becomes what the space
    is, on top of what it has; nothing is ever forced."""
    with call.db.write() as tx:
        connecting.run_once(tx, call.context, at, body, "export")


@operation("getSpaceGitInfo", "GET", f"{_GIT}/info", needs=Can.VIEW, returns=wire.GitInfo, errors=(404,))
def get_git_info(call: Call, at: SyncAccess) -> wire.GitInfo:
    """Which repository a space is synced with. 404 for one that is synced with none."""
    with call.db.read() as tx:
        return wire.present_info(connecting.get_space_sync(tx, at.id))


@operation(
    "deleteLegacyGitInstallation",
    "DELETE",
    f"{_GIT}/legacy-installation",
    needs=Can.ADMIN,
    returns=Deletion,
    errors=(404, 409),
)
def delete_legacy(call: Call, at: SyncAccess) -> bool:
    """Disconnects a space from its repository; both stay as they are."""
    with call.db.write() as tx:
        return connecting.disconnect(tx, at)


@operation(
    "previewGitSync",
    "POST",
    f"{_GIT}/preview",
    needs=Can.ADMIN,
    returns=wire.GitPreview,
    errors=(400, 404, 503),
    extension=True,
)
def preview_sync(call: Call, at: SyncAccess, body: wire.GitTarget) -> wire.GitPreview:
    """What a first sync with a repository would change on either side. Nothing is written."""
    # Loaded only where it is used: Git takes long to load.
    from .previewing import preview

    return preview(call.context, at.id, body)


@_projects(
    "preview{}GitSync", "POST", "/preview", returns=wire.GitProjectPreview, errors=(400, 404, 409, 503)
)
def preview_project(call: Call, at: SyncAccess, body: wire.ConnectGit) -> wire.GitProjectPreview:
    """Which folders of a repository would be which spaces of a collection or a site. Nothing is written."""
    from .previewing import preview_project as look

    return look(call.context, at, body)


@_each("connect{}GitSync", "POST", "/sync", returns=_WITH_SECRET, status=201, errors=(400, 404, 409))
def connect(call: Call, at: SyncAccess, body: wire.ConnectGit) -> Any:
    """Keeps both sides in step from now on: a space and a folder of a branch; each space that lies directly in a
    collection and a folder of its own, where new folders become spaces and new spaces get folders; the structure of a
    site and `docs.yaml`, and each of its spaces and the directory that this names. Credentials are sealed and never shown
    again; the secret that hooks are signed with is in this answer alone. With an ssh key the first sync waits until it is
    asked for, because the hoster has to know the key first."""
    with call.db.write() as tx:
        row, secret = connecting.connect(tx, call.context, at, body)
    call.response_headers["location"] = call.url(f"{wire.path_of(row)}/git/sync")
    return wire.present_with_secret(call, row, wire.Around(), secret)


@_each("get{}GitSync", "GET", "/sync", returns=_ONE, spaces=Can.TRIGGER_GIT_SYNC)
def get_sync(call: Call, at: SyncAccess) -> Any:
    """How a space is synced, or a collection or a site and each of its spaces; when it was last, and what is in the
    way."""
    with call.db.read() as tx:
        row = connecting.get(tx, at)
        return wire.present_sync(call, row, _around(tx, row))


@_each("update{}GitSync", "PATCH", "/sync", returns=_ONE, errors=(400, 404, 409))
def update_sync(call: Call, at: SyncAccess, body: wire.UpdateGitSync) -> Any:
    """Changes how a space is synced, or all spaces of a collection or a site; the fields that are left out stay."""
    with call.db.write() as tx:
        row = connecting.update(tx, call.context, at, body)
        return wire.present_sync(call, row, _around(tx, row))


@_each("disconnect{}GitSync", "DELETE", "/sync", returns=(Deletion, Deletion), errors=(404, 409))
def disconnect_sync(call: Call, at: SyncAccess) -> bool:
    """Ends the sync, of a collection or a site that of its spaces as well. All content and the repository stay as they
    are; what was on its way may still arrive."""
    with call.db.write() as tx:
        return connecting.disconnect(tx, at)


@_each(
    "run{}GitSync",
    "POST",
    "/sync/run",
    returns=_ONE,
    spaces=Can.TRIGGER_GIT_SYNC,
    status=202,
    errors=(404, 409),
)
def run_sync(call: Call, at: SyncAccess, body: wire.RunGitSync) -> Any:
    """Syncs now, in a job. Where a sync waits for a decision, `first` is that decision, of a collection or a site for each
    of the spaces that waits: `import` follows the repository as it is, merged with what is new here; `export` commits all
    that is here on top of it. 409 without one."""
    first = body.first if body.first is not UNSET else None
    with call.db.write() as tx:
        row = connecting.ask_now(tx, at, first)
        return wire.present_sync(call, row, _around(tx, row))


@_each(
    "rotate{}GitSyncSecret", "POST", "/sync/hook-secret", returns=_WITH_SECRET, status=201, errors=(404, 409)
)
def rotate_secret(call: Call, at: SyncAccess) -> Any:
    """Another secret for hooks; the one before counts no more."""
    with call.db.write() as tx:
        row, secret = connecting.renew_hook(tx, call.context, at)
        return wire.present_with_secret(call, row, _around(tx, row), secret)


@operation(
    "listGitSyncRuns",
    "GET",
    f"{_SYNC}/runs",
    needs=Can.TRIGGER_GIT_SYNC,
    returns=Listing[wire.GitRun],
    errors=(404,),
    extension=True,
)
def list_sync_runs(call: Call, at: SyncAccess, query: PageQuery) -> Listing[wire.GitRun]:
    """What the syncs of a space did, newest first: two hundred are kept."""
    with call.db.read() as tx:
        connecting.get_space_sync(tx, at.id)
        found = store.list_runs(tx, at.id, query.limit, query.page)
        numbers = list_numbers(tx, [run.change_id for run in found.rows if run.change_id])
        return present_slice(found, lambda run: wire.present_run(run, numbers))


@operation(
    "listGitBranches",
    "GET",
    f"{_SYNC}/branches",
    needs=Can.TRIGGER_GIT_SYNC,
    returns=Listing[wire.GitBranch],
    errors=(404,),
    extension=True,
)
def list_branches(call: Call, at: SyncAccess, query: PageQuery) -> Listing[wire.GitBranch]:
    """The branches and pull requests of the repository that change requests are kept in step with, by the names of their
    branches."""
    with call.db.read() as tx:
        connecting.get_space_sync(tx, at.id)
        found = store.list_branches_page(tx, at.id, query.limit, query.page)
        numbers = list_numbers(tx, [row.change_id for row in found.rows if row.change_id])
        return present_slice(found, lambda row: wire.present_branch(row, numbers))


@operation(
    "pushChangeRequestToGit",
    "POST",
    "/spaces/{spaceId}/change-requests/{changeRequestId}/git/push",
    needs=Can.TRIGGER_GIT_SYNC,
    returns=wire.GitBranch,
    status=202,
    errors=(400, 404, 409),
    extension=True,
)
def push_change_request(call: Call, change: ChangeAccess, body: wire.PushChangeRequest) -> wire.GitBranch:
    """Keeps a change request in step with a branch of the repository from now on, so that developers review it there: its
    edits are commits of the branch, which is made where there is none, and pushes to it become edits. Nothing is ever
    forced. It happens in a job."""
    with call.db.write() as tx:
        branch = body.branch if body.branch is not UNSET else None
        link = connecting.push_change(tx, change, branch)
        return wire.present_branch(link, list_numbers(tx, [change.change_id]))


def _hook(name: str, path: str) -> Callable[[_H], _H]:
    return operation(
        name,
        "POST",
        path,
        needs=PUBLIC,
        returns=None,
        errors=(400, 404),
        body_limit=_HOOK_LIMIT,
        extension=True,
    )


@_hook("receiveGitHook", f"{_GIT}/hook")
def receive_hook(call: Call, space_id: str, body: RawBody) -> None:
    """What GitHub, GitLab, Gitea, Forgejo and Bitbucket send when somebody pushed, or a pull request changed. It has to be
    signed with the secret of the space's sync; for GitLab that is the secret token. 400 without a signature, 404 with a
    wrong one."""
    hooks.receive(call.context, SyncRow, space_id, call.headers, body.data)


@_hook("receiveCollectionGitHook", "/collections/{collectionId}/git/hook")
def receive_collection_hook(call: Call, collection_id: str, body: RawBody) -> None:
    """What hosters send when somebody pushed, for a collection; signed as the hook of a space is."""
    hooks.receive(call.context, ProjectRow, collection_id, call.headers, body.data)


@_hook("receiveSiteGitHook", "/sites/{siteId}/git/hook")
def receive_site_hook(call: Call, site_id: str, body: RawBody) -> None:
    """What hosters send when somebody pushed, for a site; signed as the hook of a space is."""
    hooks.receive(call.context, ProjectRow, site_id, call.headers, body.data)
