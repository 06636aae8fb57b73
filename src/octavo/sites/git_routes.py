"""Syncing a site with a repository that has its ``docs.yaml``."""

from __future__ import annotations

from ..access import Can, SiteAccess
from ..gitsync import (
    HOOK_LIMIT,
    ConnectGit,
    GitProject,
    GitProjectPreview,
    GitProjectWithSecret,
    RunGitSync,
    UpdateGitSync,
    connect_project,
    disconnect_project,
    preview_project,
    receive_for_project,
    rotate_project,
    run_project,
    show_project,
    update_project,
)
from ..kit.operation import PUBLIC, Area, Call, Deletion, RawBody

operation = Area("gitsync").operation

_GIT = "/orgs/{organizationId}/sites/{siteId}/git"
_SYNC = f"{_GIT}/sync"


@operation(
    "previewSiteGitSync",
    "POST",
    f"{_GIT}/preview",
    needs=Can.ADMIN,
    returns=GitProjectPreview,
    errors=(400, 404, 409, 503),
    extension=True,
)
def preview_site(call: Call, site: SiteAccess, body: ConnectGit) -> GitProjectPreview:
    """Which folders of a repository would be which spaces of a site. Nothing is written."""
    return preview_project(call, site, body)


@operation(
    "connectSiteGitSync",
    "POST",
    _SYNC,
    needs=Can.ADMIN,
    returns=GitProjectWithSecret,
    status=201,
    errors=(400, 404, 409),
    extension=True,
)
def connect_site(call: Call, site: SiteAccess, body: ConnectGit) -> GitProjectWithSecret:
    """Keeps a site in step with a repository from now on: its structure with `docs.yaml` in the folder, and each of its
    spaces with the directory that this names. Credentials are sealed and never shown again; the secret that hooks are
    signed with is in this answer alone."""
    return connect_project(call, site, body)


@operation("getSiteGitSync", "GET", _SYNC, needs=Can.ADMIN, returns=GitProject, errors=(404,), extension=True)
def get_site_sync(call: Call, site: SiteAccess) -> GitProject:
    """How a site is synced, and each of its spaces."""
    return show_project(call, site)


@operation(
    "updateSiteGitSync",
    "PATCH",
    _SYNC,
    needs=Can.ADMIN,
    returns=GitProject,
    errors=(400, 404),
    extension=True,
)
def update_site_sync(call: Call, site: SiteAccess, body: UpdateGitSync) -> GitProject:
    """Changes how a site is synced, for all of its spaces; the fields that are left out stay."""
    return update_project(call, site, body)


@operation("disconnectSiteGitSync", "DELETE", _SYNC, needs=Can.ADMIN, returns=Deletion, extension=True)
def disconnect_site(call: Call, site: SiteAccess) -> bool:
    """Ends the sync of a site and of its spaces. All of them and the repository stay as they are."""
    return disconnect_project(call, site)


@operation(
    "runSiteGitSync",
    "POST",
    f"{_SYNC}/run",
    needs=Can.ADMIN,
    returns=GitProject,
    status=202,
    errors=(404, 409),
    extension=True,
)
def run_site_sync(call: Call, site: SiteAccess, body: RunGitSync) -> GitProject:
    """Syncs the structure and all spaces of a site now, in a job. Where the sync waits for a decision, `first` is that
    decision, for each of the spaces that waits. 409 without one."""
    return run_project(call, site, body)


@operation(
    "rotateSiteGitSyncSecret",
    "POST",
    f"{_SYNC}/hook-secret",
    needs=Can.ADMIN,
    returns=GitProjectWithSecret,
    status=201,
    errors=(404,),
    extension=True,
)
def rotate_site_secret(call: Call, site: SiteAccess) -> GitProjectWithSecret:
    """Another secret for hooks; the one before counts no more."""
    return rotate_project(call, site)


@operation(
    "receiveSiteGitHook",
    "POST",
    "/sites/{siteId}/git/hook",
    needs=PUBLIC,
    returns=None,
    errors=(400, 404),
    body_limit=HOOK_LIMIT,
    extension=True,
)
def receive_site_hook(call: Call, site_id: str, body: RawBody) -> None:
    """What hosters send when somebody pushed, for a site; signed as the hook of a space is."""
    receive_for_project(call.context, site_id, call.headers, body.data)
