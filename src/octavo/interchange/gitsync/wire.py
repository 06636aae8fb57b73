"""Wire format of Git sync."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from octavo.errors import BadRequest
from octavo.kit.clock import iso
from octavo.kit.http.bodies import given, or_none
from octavo.kit.http.operation import Recipient
from octavo.kit.texts import pattern
from octavo.organization.spaces.wire import GitOperation, GitSyncState

from .app_access import APP
from .credentials import Credential
from .store import (
    HOLD,
    BranchRow,
    BranchStatus,
    Connected,
    Direction,
    First,
    ProjectRow,
    Provider,
    RunStatus,
    Status,
    SyncRow,
    SyncRunRow,
    describe,
)
from .types import (
    Differences,
    ProjectLook,
    RepositoryFolder,
    RequestedOneTimeSync,
    RequestedSync,
    SeenRepository,
)
from .urls import read_remote, split_credential, web_address

RemoteUrl = Annotated[str, Meta(min_length=1, max_length=2000)]
Branch = Annotated[str, Meta(min_length=1, max_length=211)]
Pattern = Annotated[str, Meta(max_length=200)]
Folder = Annotated[str, Meta(max_length=1000)]
Message = Annotated[str, Meta(min_length=1, max_length=500)]
Seconds = Annotated[int, Meta(ge=0, le=86_400)]
Secret = Annotated[str, Meta(min_length=1, max_length=10_000)]
_SHOWN = 100
"""Maximum number of paths, problems, and branches to show in a preview."""


class GitCredential(Struct, rename="camel"):
    """Credential for a repository. With the type ``ssh-key``, the server generates a key and shows only its public
    part. With ``app``, the repository is connected through the GitHub or GitLab app that the caller signed in to.
    ``secret``: for the other types, the token or the password."""

    type: Literal["token", "password", "ssh-key", "app"]
    username: Annotated[str, Meta(max_length=255)] | None = None
    secret: Secret | UnsetType = UNSET


class GitTarget(Struct, rename="camel"):
    """Repository to sync with. ``remote``: the HTTPS or SSH URL without credentials. ``folder``: the folder to
    sync; empty for the entire repository."""

    remote: RemoteUrl
    branch: Branch
    folder: Folder = ""
    credential: GitCredential | UnsetType = UNSET


class ConnectGit(GitTarget, rename="camel", kw_only=True):
    """Settings of a new sync. ``first``: the side that determines the initial content. ``pollSeconds``: the number
    of seconds between polls. If it is 0, only webhooks and requests start syncs. ``signCommits``: whether to sign
    commits with a generated key. ``commitStatuses``: whether to report the result of each commit to the Git
    provider; requires a token. ``pullRequests``: whether to turn open pull requests into the branch into change
    requests; requires a token. ``branchPattern``: a pattern for other branches to turn into change requests; ``*``
    matches any text."""

    first: First
    direction: Direction = "both"
    provider: Provider | UnsetType = UNSET
    commit_message: Message | UnsetType = UNSET
    poll_seconds: Seconds | UnsetType = UNSET
    sign_commits: bool = False
    commit_statuses: bool = False
    pull_requests: bool = False
    branch_pattern: Pattern | None | UnsetType = UNSET


class UpdateGitSync(Struct, rename="camel", kw_only=True):
    """Updated settings of a sync; omitted fields don't change. ``forgetHostKey``: whether the next SSH connection
    accepts any server key. If so, a sync that stopped because of the key continues. ``signCommits``: true to
    generate a key if there is none; false to delete it."""

    direction: Direction | UnsetType = UNSET
    provider: Provider | UnsetType = UNSET
    commit_message: Message | UnsetType = UNSET
    poll_seconds: Seconds | UnsetType = UNSET
    credential: GitCredential | None | UnsetType = UNSET
    sign_commits: bool | UnsetType = UNSET
    commit_statuses: bool | UnsetType = UNSET
    pull_requests: bool | UnsetType = UNSET
    branch_pattern: Pattern | None | UnsetType = UNSET
    forget_host_key: bool = False


class RunGitSync(Struct):
    """Sync request. ``first``: the side to continue from, if the sync is waiting for that decision."""

    first: First | UnsetType = UNSET


class GitProjectRef(Struct):
    type: Literal["collection", "site"]
    id: str


class _Connected(Struct, rename="camel", kw_only=True):
    """Common fields of a synced space, collection, or site."""

    remote: str
    branch: str
    folder: str
    provider: Provider
    direction: Direction
    status: Status
    credential: Literal["token", "password", "ssh-key", "app"] | None
    commit_message: str
    commit_statuses: bool
    pull_requests: bool
    poll_seconds: int
    hook_url: str
    connected_by: str
    created_at: str
    updated_at: str
    commit: str | UnsetType = UNSET
    commit_url: str | UnsetType = UNSET
    first: First | UnsetType = UNSET
    public_key: str | UnsetType = UNSET
    signing_key: str | UnsetType = UNSET
    host_key: str | UnsetType = UNSET
    branch_pattern: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    synced_at: str | UnsetType = UNSET
    next_at: str | UnsetType = UNSET
    hooked_at: str | UnsetType = UNSET
    failures: int = 0


class GitSync(_Connected, rename="camel", kw_only=True):
    """Sync of a space. ``commit``, ``revision``: the last synced commit and revision. ``ahead``: the number of
    pages and files that the repository doesn't have yet. ``reason``, ``message``: the cause of a failure, or the
    decision that a stopped sync is waiting for. ``signingKey``: the public part of the key that signs commits.
    ``branchesMessage``: the reason that some branches couldn't be followed. ``project``: the collection or site
    whose sync includes this space and has the settings."""

    object: Literal["git-sync"] = "git-sync"
    space: str
    ahead: int
    project: GitProjectRef | UnsetType = UNSET
    revision: str | UnsetType = UNSET
    branches_message: str | UnsetType = UNSET


class GitSyncWithSecret(GitSync, rename="camel", kw_only=True):
    """Sync of a space with ``hookSecret``, which is shown only once."""

    hook_secret: str


class GitProjectSpace(Struct, rename="camel", kw_only=True):
    """Space that is synced as part of a collection or site. ``folder``: its folder in the repository. ``message``:
    a description of any problem. For details, get the Git sync of the space."""

    space: str
    folder: str
    status: Status
    commit: str | UnsetType = UNSET
    synced_at: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    message: str | UnsetType = UNSET


class GitProject(_Connected, rename="camel", kw_only=True):
    """Sync of a collection or a site. ``id``: the ID of the collection or site. ``commit``: the branch's commit at
    the last sync. ``spaces``: the spaces that you can see, by folder. ``problems``: the files that the last sync
    skipped; empty unless you can see all spaces. ``reason``, ``message``: the cause of a failure, or the decision
    that a stopped sync is waiting for."""

    object: Literal["git-project"] = "git-project"
    type: Literal["collection", "site"]
    id: str
    spaces: list[GitProjectSpace]
    problems: Raw


class GitProjectWithSecret(GitProject, rename="camel", kw_only=True):
    """Sync of a collection or a site with ``hookSecret``, which is shown only once."""

    hook_secret: str


class GitPlace(Struct, rename="camel"):
    """Folder that would become a space. ``space``: the space, if it already exists. ``first``: the side that
    determines the content; omitted if nothing changes."""

    folder: str
    title: str
    space: str | UnsetType = UNSET
    first: First | UnsetType = UNSET


class GitProjectPreview(Struct, rename="camel", kw_only=True):
    """Folders in the repository that would become spaces. ``branches``: the repository's branches, at most
    100."""

    spaces: list[GitPlace]
    problems: Raw
    branches: list[str]
    default_branch: str | UnsetType = UNSET
    commit: str | UnsetType = UNSET
    host_key: str | UnsetType = UNSET
    object: Literal["git-project-preview"] = "git-project-preview"


class GitRun(Struct, rename="camel", kw_only=True):
    """Run of a sync. ``imported``: the number of changed pages and files in the space. ``exported``: the
    number of changed files in the repository. ``changeRequests``: the number of change requests synced with
    their branches. ``changeRequest``: the change request with conflicting changes. ``changeRequestNumber``:
    its number in the space."""

    object: Literal["git-sync-run"] = "git-sync-run"
    id: str
    cause: str
    status: RunStatus
    started_at: str
    imported: int
    exported: int
    conflicts: int
    change_requests: int
    problems: Raw
    ended_at: str | UnsetType = UNSET
    commit: str | UnsetType = UNSET
    pushed: str | UnsetType = UNSET
    revision: str | UnsetType = UNSET
    change_request: str | UnsetType = UNSET
    change_request_number: int | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    message: str | UnsetType = UNSET


class GitBranch(Struct, rename="camel", kw_only=True):
    """Branch that a change request is synced with. ``branch``: its name; omitted for a branch in another
    repository. ``pullRequest``: its pull request, if any. ``pushes``: whether edits in the change request are
    committed to the branch. ``message``: a description of any problem."""

    object: Literal["git-branch"] = "git-branch"
    change_request: str
    change_request_number: int | UnsetType = UNSET
    title: str
    status: BranchStatus
    pushes: bool
    created_at: str
    updated_at: str
    branch: str | UnsetType = UNSET
    pull_request: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    commit: str | UnsetType = UNSET
    message: str | UnsetType = UNSET


class PushChangeRequest(Struct):
    """Branch to push a change request to. ``branch``: the name of the branch; by default, it is derived from
    the change request."""

    branch: Branch | UnsetType = UNSET


class GitPreview(Struct, rename="camel", kw_only=True):
    """Changes that a first sync would make. Each list contains at most 100 paths, but the numbers count all paths.
    ``branches``: the repository's branches. With the direction `import`, files that exist only in the repository
    are added to the space, and files that exist only in the space are deleted from it; with `export`, the opposite
    happens. Files that exist on both sides are replaced with the files from the chosen side."""

    same: int
    only_in_space: list[str]
    only_in_repository: list[str]
    different: list[str]
    only_in_space_count: int
    only_in_repository_count: int
    different_count: int
    branches: list[str]
    default_branch: str | UnsetType = UNSET
    commit: str | UnsetType = UNSET
    host_key: str | UnsetType = UNSET
    object: Literal["git-sync-preview"] = "git-sync-preview"


WebUrl = Annotated[
    str,
    Meta(
        pattern=pattern(
            r"^(https?://[^\x00-\x1f\x7f-\x9f]*)?\Z",
            "be a URL that starts with http:// or https://, or empty",
        ),
        max_length=2048,
    ),
]
"""URL of a repository's web page, which revisions and files link to."""


class ImportRepository(Struct, kw_only=True):
    """Repository to import. The URL may contain credentials."""

    url: RemoteUrl
    ref: Branch
    project_directory: Folder = msgspec.field(name="repoProjectDirectory", default="")
    tree_url: WebUrl | None = msgspec.field(name="repoTreeURL", default=None)
    commit_url: WebUrl | None = msgspec.field(name="repoCommitURL", default=None)
    cache_id: str | None = msgspec.field(name="repoCacheID", default=None)
    timestamp: str | None = None
    force: bool = False
    standalone: bool = False
    git_info: Any = msgspec.field(name="gitInfo", default=None)


class ExportToRepository(Struct, kw_only=True):
    """Repository to export to. The URL may contain credentials."""

    url: RemoteUrl
    ref: Branch
    commit_message: Message = msgspec.field(name="commitMessage")
    project_directory: Folder = msgspec.field(name="repoProjectDirectory", default="")
    tree_url: WebUrl | None = msgspec.field(name="repoTreeURL", default=None)
    commit_url: WebUrl | None = msgspec.field(name="repoCommitURL", default=None)
    cache_id: str | None = msgspec.field(name="repoCacheID", default=None)
    timestamp: str | None = None
    force: bool = False
    git_info: Any = msgspec.field(name="gitInfo", default=None)


def _credential(body: GitCredential | None | UnsetType) -> Credential | None:
    if body is UNSET or body is None:
        return None
    if body.type == "app":
        if body.username or or_none(body.secret):
            raise BadRequest("credential: must not have a username or secret if the type is `app`")
        return APP
    return Credential(body.type, or_none(body.secret) or "", body.username or "")


def named_folder(body: GitTarget) -> RepositoryFolder:
    return RepositoryFolder(body.remote, body.branch, body.folder, _credential(body.credential))


def read_sync_request(body: ConnectGit) -> RequestedSync:
    settings = given(body)
    for name in (*GitTarget.__struct_fields__, "first"):
        settings.pop(name, None)
    return RequestedSync(named_folder(body), body.first, settings)


def changed_settings(body: UpdateGitSync) -> dict[str, object]:
    settings = given(body)
    if "credential" not in settings:
        return settings
    credential = _credential(body.credential)
    if credential == APP:
        raise BadRequest(
            "credential: can be set to `app` only when you connect a repository. Disconnect the"
            " repository, then connect it again."
        )
    return settings | {"credential": credential}


def read_one_time_sync(body: ImportRepository | ExportToRepository) -> RequestedOneTimeSync:
    message = body.commit_message if isinstance(body, ExportToRepository) else None
    url, user, secret = split_credential(body.url)
    credential = Credential("password" if user else "token", secret, user) if secret else None
    return RequestedOneTimeSync(
        RepositoryFolder(url, body.ref, body.project_directory, credential),
        "import" if message is None else "export",
        body.tree_url,
        body.commit_url,
        message,
        body.force,
    )


def present_info(row: SyncRow, run: SyncRunRow | None) -> GitSyncState:
    """Return a space's repository in the API format. ``run``: the last sync."""
    state = msgspec.convert(describe(row), GitSyncState)
    state.installation_id = row.space_id
    if run is not None:
        state.operation = present_operation(run)
        state.operation_timeout = HOLD
    return state


def present_site_state(row: ProjectRow) -> GitSyncState:
    """Return a site's repository in the API format."""
    remote = read_remote(row.remote, local=True)
    return GitSyncState(
        repo_name=remote.name,
        installation_id=row.id,
        installation_provider=row.provider if row.provider in ("github", "gitlab") else UNSET,  # type: ignore[arg-type]
        url=web_address(remote, row.provider, "tree", row.branch, row.folder) or UNSET,
        updated_at=iso(row.updated_at),
    )


def present_operation(run: SyncRunRow) -> GitOperation:
    """Present a sync as an operation. The direction of the operation is the direction in which most of the changes
    were made."""
    done = {"running": "running", "failed": "failure", "stopped": "failure"}.get(run.status, "success")
    return GitOperation(
        state=done,  # type: ignore[arg-type]
        direction="export" if run.exported > run.imported else "import",
        started_at=iso(run.started_at),
        ended_at=iso(run.ended_at) if run.ended_at is not None else UNSET,
        error=run.error or UNSET,
    )


def path_of(row: Connected) -> str:
    """Return the API path of the synced space, collection, or site."""
    of = f"/orgs/{row.organization_id}" if isinstance(row, ProjectRow) and row.kind == "site" else ""
    return f"{of}/{row.kind}s/{row.owner_id}"


class SyncContext(Struct, frozen=True):
    """Additional data to show with a sync. ``ahead``: the number of pages and files in a space that differ from
    those in the repository. ``project``: the project that a space is part of. ``members``: the syncs of a project's
    spaces that the caller can see. ``whole``: whether the caller can see all of the project's spaces."""

    ahead: int = 0
    project: ProjectRow | None = None
    members: list[SyncRow] = []
    whole: bool = True


def _fields(to: Recipient, row: Connected, around: SyncContext) -> dict[str, Any]:
    remote = read_remote(row.remote, local=True)
    commit_url = web_address(remote, row.provider, "commit", row.commit_id) if row.commit_id else None
    return {
        "remote": row.remote,
        "branch": row.branch,
        "folder": row.folder,
        "provider": row.provider,
        "direction": row.direction,
        "status": row.status,
        "credential": row.credential,
        "commit_message": row.message,
        "commit_statuses": bool(row.statuses),
        "pull_requests": bool(row.pulls),
        "branch_pattern": row.pattern or UNSET,
        "poll_seconds": row.poll,
        "hook_url": to.url(f"/{row.kind}s/{row.owner_id}/git/hook"),
        "connected_by": row.user_id,
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "commit": row.commit_id or UNSET,
        "commit_url": commit_url or UNSET,
        "first": row.first or UNSET,
        "public_key": row.public_key or UNSET,
        "signing_key": row.signing_key or UNSET,
        "host_key": row.host_key or UNSET,
        "reason": row.reason or UNSET,
        "message": row.error or UNSET,
        "synced_at": iso(row.synced_at) if row.synced_at else UNSET,
        "next_at": iso(row.next_at) if row.next_at else UNSET,
        "hooked_at": iso(row.hooked_at) if row.hooked_at else UNSET,
        "failures": row.failures,
        **(_of_space(row, around) if isinstance(row, SyncRow) else _of_project(row, around)),
    }


def _of_space(row: SyncRow, around: SyncContext) -> dict[str, Any]:
    project = around.project
    return {
        "space": row.space_id,
        "ahead": around.ahead,
        "project": GitProjectRef(project.kind, project.id) if project is not None else UNSET,  # type: ignore[arg-type]
        "revision": row.revision or UNSET,
        "branches_message": row.branches_error or UNSET,
    }


def _of_project(row: Connected, around: SyncContext) -> dict[str, object]:
    assert isinstance(row, ProjectRow)
    return {
        "type": row.kind,
        "id": row.id,
        "spaces": [_present_member(member) for member in around.members],
        # Problems refer to spaces by folder and title.
        "problems": Raw(row.problems.encode() if around.whole else b"[]"),
    }


def _present_member(row: SyncRow) -> GitProjectSpace:
    return GitProjectSpace(
        space=row.space_id,
        folder=row.folder,
        status=row.status,  # type: ignore[arg-type]
        commit=row.commit_id or UNSET,
        synced_at=iso(row.synced_at) if row.synced_at else UNSET,
        reason=row.reason or UNSET,
        message=row.error or UNSET,
    )


def present_sync(to: Recipient, row: Connected, around: SyncContext) -> GitSync | GitProject:
    made = GitSync if isinstance(row, SyncRow) else GitProject
    return made(**_fields(to, row, around))


def present_with_secret(
    to: Recipient, row: Connected, around: SyncContext, secret: str
) -> GitSyncWithSecret | GitProjectWithSecret:
    made = GitSyncWithSecret if isinstance(row, SyncRow) else GitProjectWithSecret
    return made(**_fields(to, row, around), hook_secret=secret)


def present_run(run: SyncRunRow, numbers: Mapping[str, int]) -> GitRun:
    return GitRun(
        id=run.id,
        cause=run.cause,
        status=run.status,  # type: ignore[arg-type]
        started_at=iso(run.started_at),
        imported=run.imported,
        exported=run.exported,
        conflicts=run.conflicts,
        change_requests=run.followed,
        problems=Raw(run.problems.encode()),
        ended_at=iso(run.ended_at) if run.ended_at else UNSET,
        commit=run.commit_id or UNSET,
        pushed=run.pushed or UNSET,
        revision=run.revision or UNSET,
        change_request=run.change_id or UNSET,
        change_request_number=numbers.get(run.change_id or "", UNSET),
        reason=run.reason or UNSET,
        message=run.error or UNSET,
    )


def present_branch(row: BranchRow, numbers: Mapping[str, int]) -> GitBranch:
    return GitBranch(
        change_request=row.change_id or "",
        change_request_number=numbers.get(row.change_id or "", UNSET),
        title=row.title,
        status=row.status,  # type: ignore[arg-type]
        pushes=bool(row.pushes),
        created_at=iso(row.created_at),
        updated_at=iso(row.updated_at),
        branch=row.branch or UNSET,
        pull_request=row.pull or UNSET,
        url=row.url or UNSET,
        commit=row.commit_id or UNSET,
        message=row.error or UNSET,
    )


def _seen(repository: SeenRepository) -> dict[str, Any]:
    return {
        "branches": repository.branches[:_SHOWN],
        "default_branch": repository.default_branch or UNSET,
        "commit": repository.commit or UNSET,
        "host_key": repository.host_key or UNSET,
    }


def present_differences(found: Differences) -> GitPreview:
    return GitPreview(
        same=found.same,
        only_in_space=found.only_in_space[:_SHOWN],
        only_in_repository=found.only_in_repository[:_SHOWN],
        different=found.different[:_SHOWN],
        only_in_space_count=len(found.only_in_space),
        only_in_repository_count=len(found.only_in_repository),
        different_count=len(found.different),
        **_seen(found.repository),
    )


def present_look(look: ProjectLook) -> GitProjectPreview:
    return GitProjectPreview(
        spaces=[
            GitPlace(place.folder or "/", place.title, place.space_id or UNSET, place.first or UNSET)
            for place in look.places
        ],
        problems=Raw(msgspec.json.encode(look.problems[:_SHOWN])),
        **_seen(look.repository),
    )
