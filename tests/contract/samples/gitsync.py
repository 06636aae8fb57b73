import atexit
import os
import shutil
import tempfile
from pathlib import Path

from dulwich.repo import Repo
from msgspec.structs import replace

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


# Another branch than that of a space by itself: no two are synced with the same folder.
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


SAMPLES = {
    # No worker runs: nobody asks the address.
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
