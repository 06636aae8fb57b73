"""Operations for syncing spaces, collections, and sites with Git repositories.

An operation that exists for more than one of these kinds of objects has a single handler."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from octavo.content.changes.authorization import ChangeAccess
from octavo.content.changes.store import list_numbers
from octavo.errors import BadRequest
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.bodies import or_none
from octavo.kit.http.operation import PUBLIC, Actor, Area, Call, RawBody
from octavo.organization.access.roles import Can
from octavo.organization.spaces.wire import GitSyncState

from . import app_access, connecting, installation_routes, store, webhooks, wire
from .authorization import SyncAccess
from .requesting import SYNCS, SYNCS_SITE, SYNCS_SPACES
from .store import Connected, ProjectRow, SyncRow
from .types import RepositoryFolder

operation = Area("gitsync").operation

__all__ = ["installation_routes"]

_SPACE = "/spaces/{spaceId}/git"
_COLLECTION = "/collections/{collectionId}/git"
_SITE = "/orgs/{organizationId}/sites/{siteId}/git"
_SYNC = f"{_SPACE}/sync"
_PREVIEW: dict[str, Any] = {"needs": Can.ADMIN, "errors": (400, 404, 409, 503)}
_SECRET: dict[str, Any] = {"needs": Can.ADMIN, "returns": wire.GitSyncWithSecret, "status": 201}
_SECRETS: dict[str, Any] = {"needs": Can.ADMIN, "returns": wire.GitProjectWithSecret, "status": 201}
_ONE: dict[str, Any] = {"needs": Can.ADMIN, "returns": wire.GitSync}
_ALL: dict[str, Any] = {"needs": Can.ADMIN, "returns": wire.GitProject}
_HOOK: dict[str, Any] = {
    "needs": PUBLIC,
    "errors": (400, 404),
    "body_limit": 4 * 1024 * 1024,
}


def _around(tx: Transaction, row: Connected, actor: Actor) -> wire.SyncContext:
    if isinstance(row, ProjectRow):
        members, whole = connecting.list_seen_members(tx, actor, row)
        return wire.SyncContext(members=members, whole=whole)
    assert isinstance(row, SyncRow), "a sync belongs to a space or to a project"
    project = store.find(tx, ProjectRow, row.project) if row.project is not None else None
    return wire.SyncContext(ahead=store.count_ahead(tx, row.space_id), project=project)


def _previewed(call: Call, at: SyncAccess, where: RepositoryFolder) -> RepositoryFolder:
    remote = connecting.allowed_remote(call.context, where.remote)
    return app_access.resolve_preview(call.context, at, where, remote)


@operation(
    "importGitRepository",
    "POST",
    f"{_SPACE}/import",
    needs=Can.TRIGGER_GIT_SYNC,
    errors=(400, 404, 409),
    yields=SYNCS,
)
def import_repository(call: Call, at: SyncAccess, body: wire.ImportRepository) -> None:
    """Import new commits on a branch into the main version, in a job. The first import replaces the space's content
    with the content of the repository. Later imports merge changes from both sides, and put conflicts in a change
    request."""
    if body.standalone:
        raise BadRequest("standalone: isn't supported, because imports always go to main. Omit it.")
    with call.db.write() as tx:
        connecting.run_once(tx, call.context, at, wire.read_one_time_sync(body))


@operation(
    "exportToGitRepository",
    "POST",
    f"{_SPACE}/export",
    needs=Can.TRIGGER_GIT_SYNC,
    errors=(400, 404, 409),
    yields=SYNCS,
)
def export_repository(call: Call, at: SyncAccess, body: wire.ExportToRepository) -> None:
    """Commit new changes in the main version to a branch of a repository, in a job. The first export makes
    the branch match the space, on top of the branch's history. Octavo never force-pushes."""
    with call.db.write() as tx:
        connecting.run_once(tx, call.context, at, wire.read_one_time_sync(body))


@operation("getSpaceGitInfo", "GET", f"{_SPACE}/info", needs=Can.VIEW, errors=(404,))
def get_git_info(call: Call, at: SyncAccess) -> GitSyncState:
    """Get the repository that a space is synced with. Returns 404 if the space isn't synced."""
    with call.db.read() as tx:
        row = connecting.get_space_sync(tx, at.id)
        runs = store.list_runs(tx, at.id, 1, None).rows
        return wire.present_info(row, runs[0] if runs else None)


@operation(
    "deleteLegacyGitInstallation",
    "DELETE",
    f"{_SPACE}/legacy-installation",
    needs=Can.ADMIN,
    errors=(404, 409),
)
def delete_legacy(call: Call, at: SyncAccess) -> bool:
    """Disconnect a space from its repository. The content of both stays unchanged."""
    with call.db.write() as tx:
        return connecting.disconnect(tx, at)


@operation(
    "previewGitSync",
    "POST",
    f"{_SPACE}/preview",
    errors=(400, 404, 503),
    needs=Can.ADMIN,
    yields=("content:read",),
)
def preview_sync(call: Call, at: SyncAccess, body: wire.GitTarget) -> wire.GitPreview:
    """Preview the changes that a first sync with a repository would make on both sides, without making them."""
    # Git is imported here, because it is slow to load.
    from .previewing import preview

    where = _previewed(call, at, wire.named_folder(body))
    return wire.present_differences(preview(call.context, at.id, where))


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
    """Preview the spaces that the folders of a repository would become in a collection or site, without creating
    them."""
    from .previewing import preview_project as look

    wanted = wire.read_sync_request(body)
    return wire.present_look(
        look(call.context, at, structs.replace(wanted, where=_previewed(call, at, wanted.where)))
    )


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
def connect(
    call: Call, at: SyncAccess, body: wire.ConnectGit
) -> wire.GitSyncWithSecret | wire.GitProjectWithSecret:
    """Connect a Git repository, and keep both sides in sync. A space is synced with a folder on a branch. In a
    collection, each space directly in it is synced with its own folder; new folders become spaces, and new spaces
    get folders. In a site, the structure is synced with `docs.yaml`, and each space is synced with the directory
    that this file specifies for it. Credentials are stored encrypted and never returned. Only this response contains
    the secret that signs webhooks. With an SSH key, the first sync starts only when you request it, because you must
    first add the key to the Git provider's settings."""
    wanted = wire.read_sync_request(body)
    remote = connecting.allowed_remote(call.context, body.remote)
    where, through_app = app_access.resolve(call.context, at, wanted.where, remote)
    wanted = structs.replace(wanted, where=where)
    with call.db.write() as tx:
        row, secret = connecting.connect(tx, call.context, at, wanted, through_app)
    call.response_headers["location"] = call.url(f"{wire.path_of(row)}/git/sync")
    return wire.present_with_secret(call, row, wire.SyncContext(), secret)


@operation("getGitSync", "GET", _SYNC, needs=Can.TRIGGER_GIT_SYNC, returns=wire.GitSync, errors=(404,))
@operation("getCollectionGitSync", "GET", f"{_COLLECTION}/sync", errors=(404,), **_ALL)
@operation("getSiteGitSync", "GET", f"{_SITE}/sync", errors=(404,), **_ALL)
def get_sync(call: Call, at: SyncAccess) -> wire.GitSync | wire.GitProject:
    """Get the sync settings of a space, or of a collection or site and each of its spaces, with the time of
    the last sync and any problems."""
    with call.db.read() as tx:
        row = connecting.get(tx, at)
        return wire.present_sync(call, row, _around(tx, row, at.actor))


@operation("updateGitSync", "PATCH", f"{_SPACE}/sync", errors=(400, 404, 409), **_ONE, yields=SYNCS)
@operation(
    "updateCollectionGitSync", "PATCH", f"{_COLLECTION}/sync", errors=(400, 404), **_ALL, yields=SYNCS_SPACES
)
@operation("updateSiteGitSync", "PATCH", f"{_SITE}/sync", errors=(400, 404), **_ALL, yields=SYNCS_SITE)
def update_sync(call: Call, at: SyncAccess, body: wire.UpdateGitSync) -> wire.GitSync | wire.GitProject:
    """Update the sync settings of a space, or of all spaces in a collection or site. Omitted fields don't
    change."""
    with call.db.write() as tx:
        row = connecting.update(tx, call.context, at, wire.changed_settings(body))
        return wire.present_sync(call, row, _around(tx, row, at.actor))


@operation("disconnectGitSync", "DELETE", f"{_SPACE}/sync", errors=(404, 409), needs=Can.ADMIN)
@operation("disconnectCollectionGitSync", "DELETE", f"{_COLLECTION}/sync", needs=Can.ADMIN)
@operation("disconnectSiteGitSync", "DELETE", f"{_SITE}/sync", needs=Can.ADMIN)
def disconnect_sync(call: Call, at: SyncAccess) -> bool:
    """Disconnect the repository from a space, or from a collection or site and its spaces. All content and
    the repository stay unchanged, but a sync in progress may still finish."""
    with call.db.write() as tx:
        return connecting.disconnect(tx, at)


@operation(
    "runGitSync",
    "POST",
    f"{_SYNC}/run",
    returns=wire.GitSync,
    status=202,
    errors=(404, 409),
    needs=Can.TRIGGER_GIT_SYNC,
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
def run_sync(call: Call, at: SyncAccess, body: wire.RunGitSync) -> wire.GitSync | wire.GitProject:
    """Sync now, in a job. If a sync is waiting for a decision, use `first` to decide; for a collection or
    site, the decision applies to each waiting space. `import` uses the current state of the repository and
    merges new changes from the space; `export` commits the content of the space on top of the repository.
    Returns 409 if a required decision is missing."""
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
def rotate_secret(call: Call, at: SyncAccess) -> wire.GitSyncWithSecret | wire.GitProjectWithSecret:
    """Rotate the webhook secret. The previous secret stops working immediately."""
    with call.db.write() as tx:
        row, secret = connecting.renew_hook(tx, call.context, at)
        return wire.present_with_secret(call, row, _around(tx, row, at.actor), secret)


@operation("listGitSyncRuns", "GET", f"{_SYNC}/runs", errors=(404,), needs=Can.TRIGGER_GIT_SYNC)
def list_sync_runs(call: Call, at: SyncAccess, query: PageQuery) -> Listing[wire.GitRun]:
    """List the syncs of a space, newest first. Octavo keeps the last 200."""
    with call.db.read() as tx:
        connecting.get_space_sync(tx, at.id)
        found = store.list_runs(tx, at.id, query.limit, query.page)
        numbers = list_numbers(tx, [run.change_id for run in found.rows if run.change_id])
        return present_slice(found, lambda run: wire.present_run(run, numbers))


@operation("listGitBranches", "GET", f"{_SYNC}/branches", errors=(404,), needs=Can.TRIGGER_GIT_SYNC)
def list_branches(call: Call, at: SyncAccess, query: PageQuery) -> Listing[wire.GitBranch]:
    """List the repository's branches and pull requests that are synced with change requests, by branch
    name."""
    with call.db.read() as tx:
        connecting.get_space_sync(tx, at.id)
        found = store.list_branches_page(tx, at.id, query.limit, query.page)
        numbers = list_numbers(tx, [row.change_id for row in found.rows if row.change_id])
        return present_slice(found, lambda row: wire.present_branch(row, numbers))


@operation(
    "pushChangeRequestToGit",
    "POST",
    "/spaces/{spaceId}/change-requests/{changeRequestId}/git/push",
    status=202,
    errors=(400, 404, 409),
    needs=Can.TRIGGER_GIT_SYNC,
    yields=SYNCS,
)
def push_change_request(call: Call, change: ChangeAccess, body: wire.PushChangeRequest) -> wire.GitBranch:
    """Push a change request to a branch of the repository, and keep both in sync, so that developers can review the
    changes in the repository. Edits become commits on the branch, which is created if needed, and commits pushed to
    the branch become edits. Octavo never force-pushes. A job performs the push."""
    with call.db.write() as tx:
        link = connecting.push_change(tx, change, or_none(body.branch))
        return wire.present_branch(link, list_numbers(tx, [change.change_id]))


@operation("receiveGitHook", "POST", f"{_SPACE}/hook", **_HOOK, in_maintenance=True)
def receive_hook(call: Call, space_id: str, body: RawBody) -> None:
    """Receive a webhook from GitHub, GitLab, Gitea, Forgejo, or Bitbucket about a push or a pull request.
    Sign it with the secret of the space's sync; for GitLab, use the secret as the secret token. Returns 400
    if the signature is missing, and 404 if it is wrong."""
    webhooks.receive(call.context, SyncRow, space_id, call.headers, body.data)


@operation("receiveCollectionGitHook", "POST", f"{_COLLECTION}/hook", **_HOOK, in_maintenance=True)
def receive_collection_hook(call: Call, collection_id: str, body: RawBody) -> None:
    """Receive a push webhook for a collection. Sign it like a space's webhook."""
    webhooks.receive(call.context, ProjectRow, collection_id, call.headers, body.data)


@operation("receiveSiteGitHook", "POST", "/sites/{siteId}/git/hook", **_HOOK, in_maintenance=True)
def receive_site_hook(call: Call, site_id: str, body: RawBody) -> None:
    """Receive a push webhook for a site. Sign it like a space's webhook."""
    webhooks.receive(call.context, ProjectRow, site_id, call.headers, body.data)


@operation("receiveGitHubAppHook", "POST", "/git/github/hook", **_HOOK, in_maintenance=True)
def receive_app_hook(call: Call, body: RawBody) -> None:
    """Receive a webhook from the server's GitHub App about a push, a pull request, or a changed installation.
    Returns 400 if the signature is missing, and 404 if it is wrong."""
    webhooks.receive_from_app(call.context, call.headers, body.data)
