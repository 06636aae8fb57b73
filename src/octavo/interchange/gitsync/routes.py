"""Syncing spaces, collections and sites with Git repositories.

What is the same of the three has one handler.
"""

from __future__ import annotations

from typing import Any

from octavo.content.changes.authorization import ChangeAccess
from octavo.content.changes.store import list_numbers
from octavo.errors import BadRequest
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.bodies import or_none
from octavo.kit.http.operation import PUBLIC, Actor, Area, Call, Deletion, RawBody
from octavo.organization.access.roles import Can
from octavo.organization.spaces.wire import GitSyncState

from . import connecting, store, webhooks, wire
from .authorization import SyncAccess
from .store import Connected, ProjectRow, SyncRow

operation = Area("gitsync").operation

_SPACE = "/spaces/{spaceId}/git"
_COLLECTION = "/collections/{collectionId}/git"
_SITE = "/orgs/{organizationId}/sites/{siteId}/git"
_SYNC = f"{_SPACE}/sync"
_OWN: dict[str, Any] = {"needs": Can.ADMIN, "extension": True}
_TRIGGER: dict[str, Any] = {"needs": Can.TRIGGER_GIT_SYNC, "extension": True}
_PREVIEW = {"returns": wire.GitProjectPreview, "errors": (400, 404, 409, 503), **_OWN}
_SECRET = {"returns": wire.GitSyncWithSecret, "status": 201, **_OWN}
_SECRETS = {"returns": wire.GitProjectWithSecret, "status": 201, **_OWN}
_ONE = {"returns": wire.GitSync, **_OWN}
_ALL = {"returns": wire.GitProject, **_OWN}
_END = {"returns": Deletion, **_OWN}
_HOOK: dict[str, Any] = {
    "needs": PUBLIC,
    "errors": (400, 404),
    "body_limit": 4 * 1024 * 1024,
    "extension": True,
}

SYNCS = ("changes:write", "content:write")
"""A sync brings content here and takes it elsewhere, and keeps change requests in step with branches."""
SYNCS_SPACES = (*SYNCS, "spaces:write")
SYNCS_SITE = (*SYNCS_SPACES, "sites:write")


def _around(tx: Transaction, row: Connected, actor: Actor) -> wire.Around:
    if isinstance(row, ProjectRow):
        members, whole = connecting.list_seen_members(tx, actor, row)
        return wire.Around(members=members, whole=whole)
    assert isinstance(row, SyncRow), "there are two kinds"
    project = store.find(tx, ProjectRow, row.project) if row.project is not None else None
    return wire.Around(ahead=store.count_ahead(tx, row.space_id), project=project)


@operation(
    "importGitRepository",
    "POST",
    f"{_SPACE}/import",
    needs=Can.TRIGGER_GIT_SYNC,
    returns=None,
    errors=(400, 404, 409),
    yields=SYNCS,
)
def import_repository(call: Call, at: SyncAccess, body: wire.ImportRepository) -> None:
    """Brings what a branch of a repository has new into main, in a job. The first time the space becomes what the
    repository is; from then on what both sides changed is merged, and what they changed differently is kept in a change
    request."""
    if body.standalone:
        raise BadRequest("standalone: an import always is of main")
    with call.db.write() as tx:
        connecting.run_once(tx, call.context, at, wire.wanted_once(body))


@operation(
    "exportToGitRepository",
    "POST",
    f"{_SPACE}/export",
    needs=Can.TRIGGER_GIT_SYNC,
    returns=None,
    errors=(400, 404, 409),
    yields=SYNCS,
)
def export_repository(call: Call, at: SyncAccess, body: wire.ExportToRepository) -> None:
    """Commits what main has new to a branch of a repository, in a job. The first time the branch becomes what the space
    is, on top of what it has; nothing is ever forced."""
    with call.db.write() as tx:
        connecting.run_once(tx, call.context, at, wire.wanted_once(body))


@operation("getSpaceGitInfo", "GET", f"{_SPACE}/info", needs=Can.VIEW, returns=GitSyncState, errors=(404,))
def get_git_info(call: Call, at: SyncAccess) -> GitSyncState:
    """Which repository a space is synced with. 404 for one that is synced with none."""
    with call.db.read() as tx:
        return wire.present_info(connecting.get_space_sync(tx, at.id))


@operation(
    "deleteLegacyGitInstallation",
    "DELETE",
    f"{_SPACE}/legacy-installation",
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
    f"{_SPACE}/preview",
    returns=wire.GitPreview,
    errors=(400, 404, 503),
    **_OWN,
    yields=("content:read",),
)
def preview_sync(call: Call, at: SyncAccess, body: wire.GitTarget) -> wire.GitPreview:
    """What a first sync with a repository would change on either side. Nothing is written."""
    # Loaded only where it is used: Git takes long to load.
    from .previewing import preview

    return wire.present_differences(preview(call.context, at.id, wire.named_folder(body)))


@operation(
    "previewCollectionGitSync",
    "POST",
    f"{_COLLECTION}/preview",
    **_PREVIEW,
    yields=("content:read", "spaces:read"),
)
@operation(
    "previewSiteGitSync",
    "POST",
    f"{_SITE}/preview",
    **_PREVIEW,
    yields=("content:read", "sites:read", "spaces:read"),
)
def preview_project(call: Call, at: SyncAccess, body: wire.ConnectGit) -> wire.GitProjectPreview:
    """Which folders of a repository would be which spaces of a collection or a site. Nothing is written."""
    from .previewing import preview_project as look

    return wire.present_look(look(call.context, at, wire.wanted_sync(body)))


@operation("connectGitSync", "POST", f"{_SPACE}/sync", errors=(400, 404, 409), **_SECRET, yields=SYNCS)
@operation(
    "connectCollectionGitSync",
    "POST",
    f"{_COLLECTION}/sync",
    errors=(400, 404, 409),
    **_SECRETS,
    yields=SYNCS_SPACES,
)
@operation(
    "connectSiteGitSync", "POST", f"{_SITE}/sync", errors=(400, 404, 409), **_SECRETS, yields=SYNCS_SITE
)
def connect(call: Call, at: SyncAccess, body: wire.ConnectGit) -> Any:
    """Keeps both sides in step from now on: a space and a folder of a branch; each space that lies directly in a
    collection and a folder of its own, where new folders become spaces and new spaces get folders; the structure of a
    site and `docs.yaml`, and each of its spaces and the directory that this names. Credentials are sealed and never shown
    again; the secret that hooks are signed with is in this answer alone. With an ssh key the first sync waits until it is
    asked for, because the hoster has to know the key first."""
    with call.db.write() as tx:
        row, secret = connecting.connect(tx, call.context, at, wire.wanted_sync(body))
    call.response_headers["location"] = call.url(f"{wire.path_of(row)}/git/sync")
    return wire.present_with_secret(call, row, wire.Around(), secret)


@operation("getGitSync", "GET", _SYNC, returns=wire.GitSync, errors=(404,), **_TRIGGER)
@operation("getCollectionGitSync", "GET", f"{_COLLECTION}/sync", errors=(404,), **_ALL)
@operation("getSiteGitSync", "GET", f"{_SITE}/sync", errors=(404,), **_ALL)
def get_sync(call: Call, at: SyncAccess) -> Any:
    """How a space is synced, or a collection or a site and each of its spaces; when it was last, and what is in the
    way."""
    with call.db.read() as tx:
        row = connecting.get(tx, at)
        return wire.present_sync(call, row, _around(tx, row, at.actor))


@operation("updateGitSync", "PATCH", f"{_SPACE}/sync", errors=(400, 404, 409), **_ONE, yields=SYNCS)
@operation(
    "updateCollectionGitSync", "PATCH", f"{_COLLECTION}/sync", errors=(400, 404), **_ALL, yields=SYNCS_SPACES
)
@operation("updateSiteGitSync", "PATCH", f"{_SITE}/sync", errors=(400, 404), **_ALL, yields=SYNCS_SITE)
def update_sync(call: Call, at: SyncAccess, body: wire.UpdateGitSync) -> Any:
    """Changes how a space is synced, or all spaces of a collection or a site; the fields that are left out stay."""
    with call.db.write() as tx:
        row = connecting.update(tx, call.context, at, wire.changed_settings(body))
        return wire.present_sync(call, row, _around(tx, row, at.actor))


@operation("disconnectGitSync", "DELETE", f"{_SPACE}/sync", errors=(404, 409), **_END)
@operation("disconnectCollectionGitSync", "DELETE", f"{_COLLECTION}/sync", **_END)
@operation("disconnectSiteGitSync", "DELETE", f"{_SITE}/sync", **_END)
def disconnect_sync(call: Call, at: SyncAccess) -> bool:
    """Ends the sync, of a collection or a site that of its spaces as well. All content and the repository stay as they
    are; what was on its way may still arrive."""
    with call.db.write() as tx:
        return connecting.disconnect(tx, at)


@operation(
    "runGitSync",
    "POST",
    f"{_SYNC}/run",
    returns=wire.GitSync,
    status=202,
    errors=(404, 409),
    **_TRIGGER,
    yields=SYNCS,
)
@operation(
    "runCollectionGitSync",
    "POST",
    f"{_COLLECTION}/sync/run",
    status=202,
    errors=(404, 409),
    **_ALL,
    yields=SYNCS_SPACES,
)
@operation(
    "runSiteGitSync", "POST", f"{_SITE}/sync/run", status=202, errors=(404, 409), **_ALL, yields=SYNCS_SITE
)
def run_sync(call: Call, at: SyncAccess, body: wire.RunGitSync) -> Any:
    """Syncs now, in a job. Where a sync waits for a decision, `first` is that decision, of a collection or a site for each
    of the spaces that waits: `import` follows the repository as it is, merged with what is new here; `export` commits all
    that is here on top of it. 409 without one."""
    with call.db.write() as tx:
        row = connecting.ask_now(tx, at, or_none(body.first))
        return wire.present_sync(call, row, _around(tx, row, at.actor))


@operation(
    "rotateGitSyncSecret", "POST", f"{_SPACE}/sync/hook-secret", errors=(404, 409), **_SECRET, yields=SYNCS
)
@operation(
    "rotateCollectionGitSyncSecret",
    "POST",
    f"{_COLLECTION}/sync/hook-secret",
    errors=(404,),
    **_SECRETS,
    yields=SYNCS_SPACES,
)
@operation(
    "rotateSiteGitSyncSecret",
    "POST",
    f"{_SITE}/sync/hook-secret",
    errors=(404,),
    **_SECRETS,
    yields=SYNCS_SITE,
)
def rotate_secret(call: Call, at: SyncAccess) -> Any:
    """Another secret for hooks; the one before counts no more."""
    with call.db.write() as tx:
        row, secret = connecting.renew_hook(tx, call.context, at)
        return wire.present_with_secret(call, row, _around(tx, row, at.actor), secret)


@operation(
    "listGitSyncRuns",
    "GET",
    f"{_SYNC}/runs",
    returns=Listing[wire.GitRun],
    errors=(404,),
    **_TRIGGER,
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
    returns=Listing[wire.GitBranch],
    errors=(404,),
    **_TRIGGER,
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
    returns=wire.GitBranch,
    status=202,
    errors=(400, 404, 409),
    **_TRIGGER,
    yields=SYNCS,
)
def push_change_request(call: Call, change: ChangeAccess, body: wire.PushChangeRequest) -> wire.GitBranch:
    """Keeps a change request in step with a branch of the repository from now on, so that developers review it there: its
    edits are commits of the branch, which is made where there is none, and pushes to it become edits. Nothing is ever
    forced. It happens in a job."""
    with call.db.write() as tx:
        link = connecting.push_change(tx, change, or_none(body.branch))
        return wire.present_branch(link, list_numbers(tx, [change.change_id]))


@operation("receiveGitHook", "POST", f"{_SPACE}/hook", **_HOOK)
def receive_hook(call: Call, space_id: str, body: RawBody) -> None:
    """What GitHub, GitLab, Gitea, Forgejo and Bitbucket send when somebody pushed, or a pull request changed. It has to be
    signed with the secret of the space's sync; for GitLab that is the secret token. 400 without a signature, 404 with a
    wrong one."""
    webhooks.receive(call.context, SyncRow, space_id, call.headers, body.data)


@operation("receiveCollectionGitHook", "POST", f"{_COLLECTION}/hook", **_HOOK)
def receive_collection_hook(call: Call, collection_id: str, body: RawBody) -> None:
    """What hosters send when somebody pushed, for a collection; signed as the hook of a space is."""
    webhooks.receive(call.context, ProjectRow, collection_id, call.headers, body.data)


@operation("receiveSiteGitHook", "POST", "/sites/{siteId}/git/hook", **_HOOK)
def receive_site_hook(call: Call, site_id: str, body: RawBody) -> None:
    """What hosters send when somebody pushed, for a site; signed as the hook of a space is."""
    webhooks.receive(call.context, ProjectRow, site_id, call.headers, body.data)
