import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

from dulwich.repo import Repo
from msgspec.structs import replace

from gitsync.provider_server import TOKEN, ProviderServer
from octavo.organization.access.roles import SPACE, Can

from . import Sample

_TARGET = {"remote": "https://93.184.216.34/docs.git", "branch": "main"}
_OLD = {"url": "https://93.184.216.34/docs.git", "ref": "refs/heads/main"}


def _connect(world, place):
    path = place.path("/spaces/{spaceId}/git/sync")
    if world.call(place.admin, "GET", path).status_code == 200:
        return
    world.post(place.admin, path, {**_TARGET, "first": "import"})


_RUN = os.getpid()
_REPOSITORY = Path(tempfile.mkdtemp(prefix="git-sample-")) / "docs.git"
"""Of this process: others that run at once have their own."""


@atexit.register
def _remove():
    if os.getpid() == _RUN:
        shutil.rmtree(_REPOSITORY.parent, ignore_errors=True)


def _local(world, place):
    if not _REPOSITORY.exists():
        Repo.init_bare(str(_REPOSITORY), mkdir=True).close()
    world.context.settings = replace(world.context.settings, allow_file_remotes=True)


_COLLECTION, _SITE = "/collections/{collectionId}/git", "/orgs/{organizationId}/sites/{siteId}/git"
_PREVIEWED = {"remote": f"file://{_REPOSITORY}", "branch": "main", "first": "export"}


# Not the branch of a single space: no two are synced with the same folder.
_TOGETHER = {**_TARGET, "branch": "together"}


def _connect_all(at):
    def connect(world, place):
        path = place.path(f"{at}/sync")
        if world.call(place.admin, "GET", path).status_code != 200:
            world.post(
                place.admin, path, {**_TOGETHER, "folder": f"{place.name}{len(at)}/", "first": "import"}
            )

    return connect


def _all(name, at):
    """Return the content synced together with its spaces."""
    body = {**_TOGETHER, "first": "import", "folder": name}
    return {
        f"preview{name}GitSync": Sample(before=_local, body=_PREVIEWED),
        f"connect{name}GitSync": Sample(body=body),
        f"get{name}GitSync": Sample(before=_connect_all(at)),
        f"update{name}GitSync": Sample(before=_connect_all(at), body={"pollSeconds": 60}),
        f"disconnect{name}GitSync": Sample(before=_connect_all(at)),
        f"run{name}GitSync": Sample(before=_connect_all(at), body={}),
        f"rotate{name}GitSyncSecret": Sample(before=_connect_all(at)),
        f"receive{name}GitHook": Sample(),
    }


@cache
def _provider() -> ProviderServer:
    """Return the only provider for all tests of this process."""
    return ProviderServer()


def _installed(world, place, provider="gitlab"):
    """Connect the space to this provider, instead of another one."""
    path = place.path("/git/installations/{spaceId}")
    answer = world.call(place.admin, "GET", path)
    if answer.status_code == 200 and answer.json()["provider"] != provider:
        world.call(place.admin, "DELETE", path)
    elif answer.status_code == 200:
        return
    if provider == "gitlab":
        body = {"provider": "gitlab", "target": {"type": "space", "spaceId": place["spaceId"]}}
        world.call(place.admin, "POST", "/git/installations", json=body)


def _at_gitlab(world, place):
    world.context.settings = replace(world.context.settings, allow_private_fetch=_provider().address)
    _installed(world, place)
    config = {"customInstanceURL": _provider().url, "accessToken": TOKEN}
    path = place.path("/git/installations/{spaceId}")
    answer = world.call(place.admin, "PATCH", path, json={"providerConfiguration": config})
    assert answer.status_code == 200, answer.text
    place.ids["projectId"] = "7"


def _at_github(world, place):
    world.context.settings = replace(world.context.settings, allow_private_fetch=_provider().address)
    _installed(world, place, "github")
    path = place.path("/spaces/{spaceId}/git/sync")
    if world.call(place.admin, "GET", path).status_code != 200:
        body = {
            "remote": f"{_provider().url}/acme/docs.git",
            "branch": "main",
            "first": "import",
            "provider": "github",
            "credential": {"type": "token", "secret": TOKEN},
        }
        world.post(place.admin, path, body)
    place.ids |= {"accountName": "acme", "repositoryName": "docs"}


def _with_app(world, place):
    world.context.settings = replace(
        world.context.settings, gitlab_app_id="an-application", gitlab_app_secret="a-secret"
    )
    _installed(world, place)


_FILE = {"path": "docs/README.md", "ref": "refs/heads/main"}
_AT = {"installationId": "spaceId"}
_INSTALLATIONS = {
    "installGitSyncProviderOnTarget": Sample(
        body=lambda place: {
            "provider": "gitlab",
            "target": {"type": "space", "spaceId": place["spaceId"], "siteId": place["siteId"]},
        },
        like=(SPACE, Can.ADMIN),
    ),
    "getGitSyncInstallationById": Sample(path=_AT, before=_installed),
    "updateGitSyncInstallationById": Sample(
        path=_AT, before=_installed, body={"commitMessageTemplate": "Update the documentation"}
    ),
    "uninstallGitSyncInstallation": Sample(path=_AT, before=_installed),
    "listGitProviderApps": Sample(),
    "beginGitAuthorization": Sample(path=_AT, before=_with_app, body={}),
    "finishGitAuthorization": Sample(body={"state": "unknown"}),
    "receiveGitHubAppHook": Sample(),
    "listSiteGitSyncInstallations": Sample(before=_installed),
    "listGitHubRepositoriesForGitSyncInstallation": Sample(path=_AT, before=_at_github),
    "listGitHubRepoBranchesForGitSyncInstallation": Sample(path=_AT, before=_at_github),
    "getGitHubRepoFileForGitSyncInstallation": Sample(path=_AT, before=_at_github, query=_FILE),
    "listGitLabProjectsForGitSyncInstallation": Sample(path=_AT, before=_at_gitlab),
    "listGitLabProjectBranchesForGitSyncInstallation": Sample(path=_AT, before=_at_gitlab),
    "getGitLabProjectFileForGitSyncInstallation": Sample(path=_AT, before=_at_gitlab, query=_FILE),
}

SAMPLES = {
    **_INSTALLATIONS,
    # No worker runs, so the URL isn't requested.
    "importGitRepository": Sample(body=_OLD),
    "exportToGitRepository": Sample(body={**_OLD, "commitMessage": "From the space"}),
    "getSpaceGitInfo": Sample(before=_connect),
    "deleteLegacyGitInstallation": Sample(before=_connect),
    "previewGitSync": Sample(before=_local, body={"remote": f"file://{_REPOSITORY}", "branch": "main"}),
    "connectGitSync": Sample(
        body={**_TARGET, "first": "import", "credential": {"type": "token", "secret": "t0k"}}
    ),
    "getGitSync": Sample(before=_connect),
    "updateGitSync": Sample(before=_connect, body={"pollSeconds": 60}),
    "disconnectGitSync": Sample(before=_connect),
    "runGitSync": Sample(before=_connect, body={}),
    "listGitSyncRuns": Sample(before=_connect),
    "listGitBranches": Sample(before=_connect),
    "pushChangeRequestToGit": Sample(before=_connect, body={"branch": "octavo/words"}),
    "rotateGitSyncSecret": Sample(before=_connect),
    "receiveGitHook": Sample(),
    **_all("Collection", _COLLECTION),
    **_all("Site", _SITE),
}
