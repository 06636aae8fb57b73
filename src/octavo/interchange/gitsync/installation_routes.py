"""Git installations: connect spaces, sites, and collections to GitHub and GitLab."""

from __future__ import annotations

from typing import Any

from octavo.errors import NotFound
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import SignedIn
from octavo.organization.access.roles import Can

from . import app_access, installations, repository_listing
from . import installation_wire as wire
from .apps import github_app, gitlab_app
from .authorization import SyncAccess, sync_access
from .repository_listing import ProviderAccount
from .requesting import SYNCS_SITE

operation = Area("gitsync").operation

_ALL = "/git/installations"
_ONE = _ALL + "/{installationId}"
_GITHUB = _ONE + "/github/repos"
_GITHUB_ONE = _GITHUB + "/{accountName}/{repositoryName}"
_GITLAB = _ONE + "/gitlab/projects"
_GITLAB_ONE = _GITLAB + "/{projectId}"


@operation(
    "installGitSyncProviderOnTarget",
    "POST",
    _ALL,
    needs=Can.SIGN_IN,
    status=201,
    errors=(404, 409),
)
def install(call: Call, caller: SignedIn, body: wire.InstallGitSync) -> wire.GitInstallation:
    """Start connecting a space, a site, or a collection to GitHub or GitLab. Requires the `create` role or higher for
    the space, site, or collection. Afterward, sign in with the provider, or update the installation with an access
    token, and choose a repository and a branch."""
    with call.db.write() as tx:
        target = body.target
        if isinstance(target, wire.SpaceInstallationTarget):
            at = sync_access(tx, caller.actor, Can.ADMIN, "space", target.space_id)
            if isinstance(target.site_id, str):
                site = sync_access(tx, caller.actor, Can.VIEW, "site", target.site_id)
                if site.organization_id != at.organization_id:
                    raise NotFound(
                        f"siteId: there is no site with the ID {target.site_id!r} in this organization"
                    )
        elif isinstance(target, wire.CollectionInstallationTarget):
            at = sync_access(tx, caller.actor, Can.ADMIN, "collection", target.collection_id)
        else:
            at = sync_access(tx, caller.actor, Can.ADMIN, "site", target.site_id)
        found = installations.install(tx, at, body.provider)
    shown = wire.present_installation(call, found)
    call.response_headers["location"] = shown.urls.location
    return shown


@operation("getGitSyncInstallationById", "GET", _ONE, needs=Can.ADMIN, errors=(404,))
def get_installation(call: Call, at: SyncAccess) -> wire.GitInstallation:
    """Get a Git installation with the connected object, the repository, and the settings."""
    with call.db.read() as tx:
        found = installations.get_installation(tx, at)
    return wire.present_installation(call, found)


@operation(
    "updateGitSyncInstallationById",
    "PATCH",
    _ONE,
    needs=Can.ADMIN,
    errors=(400, 404, 409, 503),
    yields=SYNCS_SITE,
)
def update_installation(call: Call, at: SyncAccess, body: wire.UpdateGitInstallation) -> wire.GitInstallation:
    """Update a Git installation, and request a sync. The installation is connected when it has an access token, a
    repository, a branch, and a `priority`. To use a different repository, create another installation."""
    with call.db.read() as tx:
        found = installations.get_installation(tx, at)
    wanted = wire.read_installation_request(found, body)
    wanted = installations.prepare_update(call.context, found, wanted)
    with call.db.write() as tx:
        installations.update_installation(tx, call.context, at, wanted)
        found = installations.get_installation(tx, at)
    return wire.present_installation(call, found)


@operation("uninstallGitSyncInstallation", "DELETE", _ONE, needs=Can.ADMIN, errors=(409,))
def uninstall(call: Call, at: SyncAccess) -> bool:
    """Delete a Git installation. The content and the repository stay unchanged."""
    with call.db.write() as tx:
        return installations.uninstall(tx, at)


@operation("listGitProviderApps", "GET", "/git/providers", needs=Can.SIGN_IN)
def list_apps(call: Call, caller: SignedIn) -> wire.GitProviderApps:
    """List the Git providers, and whether this server has an app for each of them."""
    settings = call.context.settings
    return wire.GitProviderApps(
        [
            wire.GitProviderApp("github", settings.github_url, github_app(call.context) is not None),
            wire.GitProviderApp("gitlab", settings.gitlab_url, gitlab_app(call.context) is not None),
        ]
    )


@operation(
    "beginGitAuthorization",
    "POST",
    _ONE + "/authorization",
    needs=Can.ADMIN,
    status=201,
    errors=(404, 409, 503),
)
def begin_authorization(call: Call, at: SyncAccess) -> wire.GitAuthorizationLinks:
    """Create the URLs where the caller signs in with GitHub or GitLab, so that a repository can be connected
    through the server's app. The provider redirects the browser back with a `state` and a `code`."""
    with call.db.read() as tx:
        found = installations.get_installation(tx, at)
    return wire.present_links(app_access.begin(call.context, at, found.provider))


@operation(
    "finishGitAuthorization",
    "POST",
    "/git/authorizations",
    needs=Can.SIGN_IN,
    errors=(400, 404, 409, 503),
)
def finish_authorization(
    call: Call, caller: SignedIn, body: wire.FinishGitAuthorization
) -> wire.GitAuthorization:
    """Complete signing in with GitHub or GitLab. Only the person who started signing in can complete it, and only
    once."""
    at = app_access.finish(call.context, caller.actor, body.state, body.code)
    with call.db.read() as tx:
        found = installations.get_installation(tx, at)
    return wire.GitAuthorization(wire.present_installation(call, found), at.organization_id)


def _account(call: Call, at: SyncAccess, provider: str) -> ProviderAccount:
    with call.db.read() as tx:
        found = installations.get_installation(tx, at)
    return installations.account_of(call.context, found, provider)


_LIST: dict[str, Any] = {"needs": Can.ADMIN, "errors": (404, 409, 503)}


@operation("listGitHubRepositoriesForGitSyncInstallation", "GET", _GITHUB, **_LIST)
def list_github(call: Call, at: SyncAccess) -> wire.GitRepositories:
    """List the GitHub repositories that the installation's access token can access, at most 1,000."""
    found = repository_listing.list_repositories(_account(call, at, "github"))
    return wire.GitRepositories([wire.present_repository(one) for one in found])


@operation("listGitHubRepoBranchesForGitSyncInstallation", "GET", f"{_GITHUB_ONE}/branches", **_LIST)
def list_github_branches(call: Call, at: SyncAccess, account_name: str, repository_name: str) -> wire.GitRefs:
    """List the branches of a GitHub repository, at most 1,000."""
    account, repository = _account(call, at, "github"), f"{account_name}/{repository_name}"
    names = repository_listing.list_branch_names(account, repository)
    return wire.GitRefs([wire.present_ref(name) for name in names])


@operation("getGitHubRepoFileForGitSyncInstallation", "GET", f"{_GITHUB_ONE}/file", **_LIST)
def get_github_file(
    call: Call, at: SyncAccess, account_name: str, repository_name: str, query: wire.GitFileQuery
) -> wire.GitFile:
    """Get the size and the hash of a file in a GitHub repository."""
    account, repository = _account(call, at, "github"), f"{account_name}/{repository_name}"
    return wire.present_file(repository_listing.find_file(account, repository, query.path, query.ref))


@operation("listGitLabProjectsForGitSyncInstallation", "GET", _GITLAB, **_LIST)
def list_gitlab(call: Call, at: SyncAccess) -> wire.GitRepositories:
    """List the GitLab projects that the owner of the installation's access token is a member of, at most 1,000."""
    found = repository_listing.list_repositories(_account(call, at, "gitlab"))
    return wire.GitRepositories([wire.present_repository(one) for one in found])


@operation("listGitLabProjectBranchesForGitSyncInstallation", "GET", f"{_GITLAB_ONE}/branches", **_LIST)
def list_gitlab_branches(call: Call, at: SyncAccess, project_id: str) -> wire.GitRefs:
    """List the branches of a GitLab project, at most 1,000."""
    account = _account(call, at, "gitlab")
    names = repository_listing.list_branch_names(account, project_id)
    return wire.GitRefs([wire.present_ref(name) for name in names])


@operation("getGitLabProjectFileForGitSyncInstallation", "GET", f"{_GITLAB_ONE}/file", **_LIST)
def get_gitlab_file(call: Call, at: SyncAccess, project_id: str, query: wire.GitFileQuery) -> wire.GitFile:
    """Get the size and the hash of a file in a GitLab project."""
    account = _account(call, at, "gitlab")
    return wire.present_file(repository_listing.find_file(account, project_id, query.path, query.ref))
