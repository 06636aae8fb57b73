"""Syncing spaces with Git repositories."""

from __future__ import annotations

from msgspec import UNSET

from ..access import Can, SpaceAccess
from ..changes import ChangeAccess, list_numbers
from ..errors import BadRequest
from ..kit.db import Transaction
from ..kit.operation import PUBLIC, Area, Call, Deletion, RawBody
from ..kit.pagination import Listing, PageQuery, present_slice
from . import connecting, hooks, store, wire
from .wire import present_branch, present_info, present_run, present_sync, present_with_secret

operation = Area("gitsync").operation

_GIT = "/spaces/{spaceId}/git"
_SYNC = f"{_GIT}/sync"
_HOOK_LIMIT = 4 * 1024 * 1024


def _present(call: Call, tx: Transaction, row: store.SyncRow) -> wire.GitSync:
    project = store.find_project(tx, row.project) if row.project is not None else None
    return present_sync(call, row, store.count_ahead(tx, row.space_id), project)


@operation(
    "importGitRepository",
    "POST",
    f"{_GIT}/import",
    needs=Can.TRIGGER_GIT_SYNC,
    returns=None,
    errors=(400, 404, 409),
)
def import_repository(call: Call, space: SpaceAccess, body: wire.ImportRepository) -> None:
    """Brings what a branch of a repository has new into main, in a job. The first time the space becomes what the
    repository is; from then on what both sides changed is merged, and what they changed differently is kept in a change
    request."""
    if body.standalone:
        raise BadRequest("standalone: an import always is of main")
    with call.db.write() as tx:
        connecting.run_once(tx, call.context, space, body, "import")


@operation(
    "exportToGitRepository",
    "POST",
    f"{_GIT}/export",
    needs=Can.TRIGGER_GIT_SYNC,
    returns=None,
    errors=(400, 404, 409),
)
def export_repository(call: Call, space: SpaceAccess, body: wire.ExportToRepository) -> None:
    """Commits what main has new to a branch of a repository, in a job. The first time the branch becomes what the space
    is, on top of what it has; nothing is ever forced."""
    with call.db.write() as tx:
        connecting.run_once(tx, call.context, space, body, "export")


@operation("getSpaceGitInfo", "GET", f"{_GIT}/info", needs=Can.VIEW, returns=wire.GitInfo, errors=(404,))
def get_git_info(call: Call, space: SpaceAccess) -> wire.GitInfo:
    """Which repository a space is synced with. 404 for one that is synced with none."""
    with call.db.read() as tx:
        return present_info(connecting.get_sync(tx, space))


@operation(
    "deleteLegacyGitInstallation",
    "DELETE",
    f"{_GIT}/legacy-installation",
    needs=Can.ADMIN,
    returns=Deletion,
    errors=(404, 409),
)
def delete_legacy(call: Call, space: SpaceAccess) -> bool:
    """Disconnects a space from its repository; both stay as they are."""
    with call.db.write() as tx:
        return connecting.disconnect(tx, space)


@operation(
    "previewGitSync",
    "POST",
    f"{_GIT}/preview",
    needs=Can.ADMIN,
    returns=wire.GitPreview,
    errors=(400, 404, 503),
    extension=True,
)
def preview_sync(call: Call, space: SpaceAccess, body: wire.GitTarget) -> wire.GitPreview:
    """What a first sync with a repository would change on either side. Nothing is written."""
    # Loaded only where it is used: Git takes long to load.
    from .previewing import preview

    return preview(call.context, space, body)


@operation(
    "connectGitSync",
    "POST",
    _SYNC,
    needs=Can.ADMIN,
    returns=wire.GitSyncWithSecret,
    status=201,
    errors=(400, 404, 409),
    extension=True,
)
def connect_sync(call: Call, space: SpaceAccess, body: wire.ConnectGit) -> wire.GitSyncWithSecret:
    """Keeps a space and a folder of a branch in step from now on. Credentials are sealed and never shown again; the
    secret that hooks are signed with is in this answer alone. With an ssh key the first sync waits until it is asked
    for, because the hoster has to know the key first."""
    with call.db.write() as tx:
        row, secret = connecting.connect(tx, call.context, space, body)
    call.response_headers["location"] = call.url(_SYNC.format(spaceId=space.space_id))
    return present_with_secret(call, row, secret)


@operation(
    "getGitSync",
    "GET",
    _SYNC,
    needs=Can.TRIGGER_GIT_SYNC,
    returns=wire.GitSync,
    errors=(404,),
    extension=True,
)
def get_sync(call: Call, space: SpaceAccess) -> wire.GitSync:
    """How a space is synced, when it was last, and what is in the way."""
    with call.db.read() as tx:
        row = connecting.get_sync(tx, space)
        return _present(call, tx, row)


@operation(
    "updateGitSync",
    "PATCH",
    _SYNC,
    needs=Can.ADMIN,
    returns=wire.GitSync,
    errors=(400, 404, 409),
    extension=True,
)
def update_sync(call: Call, space: SpaceAccess, body: wire.UpdateGitSync) -> wire.GitSync:
    """Changes how a space is synced; the fields that are left out stay."""
    with call.db.write() as tx:
        row = connecting.update(tx, call.context, space, body)
        return _present(call, tx, row)


@operation(
    "disconnectGitSync",
    "DELETE",
    _SYNC,
    needs=Can.ADMIN,
    returns=Deletion,
    errors=(404, 409),
    extension=True,
)
def disconnect_sync(call: Call, space: SpaceAccess) -> bool:
    """Ends the sync. The space and the repository stay as they are; what was on its way may still arrive."""
    with call.db.write() as tx:
        return connecting.disconnect(tx, space)


@operation(
    "runGitSync",
    "POST",
    f"{_SYNC}/run",
    needs=Can.TRIGGER_GIT_SYNC,
    returns=wire.GitSync,
    status=202,
    errors=(404, 409),
    extension=True,
)
def run_sync(call: Call, space: SpaceAccess, body: wire.RunGitSync) -> wire.GitSync:
    """Syncs now, in a job. Where a sync waits for a decision, `first` is that decision: `import` follows the repository as
    it is, merged with what the space has new; `export` commits all that the space has on top of it. 409 without one."""
    first = body.first if body.first is not UNSET else None
    with call.db.write() as tx:
        row = connecting.ask_now(tx, space, first)
        return _present(call, tx, row)


@operation(
    "listGitSyncRuns",
    "GET",
    f"{_SYNC}/runs",
    needs=Can.TRIGGER_GIT_SYNC,
    returns=Listing[wire.GitRun],
    errors=(404,),
    extension=True,
)
def list_sync_runs(call: Call, space: SpaceAccess, query: PageQuery) -> Listing[wire.GitRun]:
    """What the syncs of a space did, newest first: two hundred are kept."""
    with call.db.read() as tx:
        connecting.get_sync(tx, space)
        found = store.list_runs(tx, space.space_id, query.limit, query.page)
        numbers = list_numbers(tx, [run.change_id for run in found.rows if run.change_id])
        return present_slice(found, lambda run: present_run(run, numbers))


@operation(
    "listGitBranches",
    "GET",
    f"{_SYNC}/branches",
    needs=Can.TRIGGER_GIT_SYNC,
    returns=Listing[wire.GitBranch],
    errors=(404,),
    extension=True,
)
def list_branches(call: Call, space: SpaceAccess, query: PageQuery) -> Listing[wire.GitBranch]:
    """The branches and pull requests of the repository that change requests are kept in step with, by the names of their
    branches."""
    with call.db.read() as tx:
        connecting.get_sync(tx, space)
        found = store.list_branches_page(tx, space.space_id, query.limit, query.page)
        numbers = list_numbers(tx, [row.change_id for row in found.rows if row.change_id])
        return present_slice(found, lambda row: present_branch(row, numbers))


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
        return present_branch(link, list_numbers(tx, [change.change_id]))


@operation(
    "rotateGitSyncSecret",
    "POST",
    f"{_SYNC}/hook-secret",
    needs=Can.ADMIN,
    returns=wire.GitSyncWithSecret,
    status=201,
    errors=(404, 409),
    extension=True,
)
def rotate_secret(call: Call, space: SpaceAccess) -> wire.GitSyncWithSecret:
    """Another secret for hooks; the one before counts no more."""
    with call.db.write() as tx:
        row, secret = connecting.renew_hook(tx, call.context, space)
    return present_with_secret(call, row, secret)


@operation(
    "receiveGitHook",
    "POST",
    f"{_GIT}/hook",
    needs=PUBLIC,
    returns=None,
    errors=(400, 404),
    body_limit=_HOOK_LIMIT,
    extension=True,
)
def receive_hook(call: Call, space_id: str, body: RawBody) -> None:
    """What GitHub, GitLab, Gitea, Forgejo and Bitbucket send when somebody pushed, or a pull request changed. It has to be signed with the secret of
    the space's sync; for GitLab that is the secret token. 400 without a signature, 404 with a wrong one."""
    hooks.receive(call.context, space_id, call.headers, body.data)
