"""Git sync on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from octavo.kit.clock import iso
from octavo.kit.http.bodies import given, or_none
from octavo.kit.http.operation import Recipient
from octavo.organization.spaces.wire import GitSyncState

from .credentials import Credential
from .store import (
    BranchRow,
    BranchStatus,
    Connected,
    Direction,
    First,
    ProjectRow,
    Provider,
    RunRow,
    RunStatus,
    Status,
    SyncRow,
    describe,
)
from .types import Differences, ProjectLook, RepositoryFolder, SeenRepository, WantedOnce, WantedSync
from .urls import read_remote, split_credential, web_address

RemoteUrl = Annotated[str, Meta(min_length=1, max_length=2000)]
Branch = Annotated[str, Meta(min_length=1, max_length=211)]
Pattern = Annotated[str, Meta(max_length=200)]
Folder = Annotated[str, Meta(max_length=1000)]
Message = Annotated[str, Meta(min_length=1, max_length=500)]
Seconds = Annotated[int, Meta(ge=0, le=86_400)]
Secret = Annotated[str, Meta(min_length=1, max_length=10_000)]
_SHOWN = 100
"""Of paths, problems and branches in a preview."""


class GitCredential(Struct, rename="camel"):
    """``ssh-key``: a key is made here, and only its public part ever shown. ``secret`` is of the other types: the token
    or the password."""

    type: Literal["token", "password", "ssh-key"]
    username: Annotated[str, Meta(max_length=255)] | None = None
    secret: Secret | UnsetType = UNSET


class GitTarget(Struct, rename="camel"):
    """``remote``: an https or ssh address without credentials. ``folder``: the one of the repository that the space is;
    empty for all of it."""

    remote: RemoteUrl
    branch: Branch
    folder: Folder = ""
    credential: GitCredential | UnsetType = UNSET


class ConnectGit(GitTarget, rename="camel", kw_only=True):
    """``first``: the side that the other one becomes equal to at the beginning. ``pollSeconds`` 0: only hooks and people
    say when to look. ``signCommits``: commits are signed with a key that is made here.
    ``commitStatuses``: the hoster is told what became of each commit; needs a token. ``pullRequests``: open pull requests
    to the branch become change requests; needs a token. ``branchPattern``: so do branches whose names fit it, where ``*``
    stands for anything."""

    first: First
    direction: Direction = "both"
    provider: Provider | UnsetType = UNSET
    commit_message: Message | UnsetType = UNSET
    poll_seconds: Seconds | UnsetType = UNSET
    sign_commits: bool = False
    commit_statuses: bool = False
    pull_requests: bool = False
    branch_pattern: Pattern | None | UnsetType = UNSET


class UpdateGitSync(Struct, rename="camel"):
    """What is left out stays. ``forgetHostKey``: the next connection over ssh takes whatever key the server shows;
    a sync that stopped over it goes on.
    ``signCommits``: a key is made for it where there is none, and thrown away with false."""

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
    """``first``: which side to go on from, where the sync waits for that decision."""

    first: First | UnsetType = UNSET


class GitProjectRef(Struct):
    type: Literal["collection", "site"]
    id: str


class _Connected(Struct, rename="camel", kw_only=True):
    """What is the same of a space, a collection and a site that is synced."""

    remote: str
    branch: str
    folder: str
    provider: Provider
    direction: Direction
    status: Status
    credential: Literal["token", "password", "ssh-key"] | None
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
    """``commit`` and ``revision`` are what was synced last. ``ahead``: pages and files that the repository has not yet as
    the space has them. ``reason`` and ``message`` say why the last sync failed, or what a stopped one waits for.
    ``signingKey``: the public part of the key that commits are signed with. ``branchesMessage``: why not all
    branches could be followed that should be. ``project``: the collection or site that the space is synced as a part of,
    which has its settings."""

    object: Literal["git-sync"] = "git-sync"
    space: str
    ahead: int
    project: GitProjectRef | UnsetType = UNSET
    revision: str | UnsetType = UNSET
    branches_message: str | UnsetType = UNSET


class GitSyncWithSecret(GitSync, rename="camel", kw_only=True):
    """``hookSecret`` is shown this once."""

    hook_secret: str


class GitProjectSpace(Struct, rename="camel"):
    """A space that is synced as a part of a collection or site. ``folder`` is in the repository. ``message``: what is in
    its way; more says its own Git sync."""

    space: str
    folder: str
    status: Status
    commit: str | UnsetType = UNSET
    synced_at: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    message: str | UnsetType = UNSET


class GitProject(_Connected, rename="camel", kw_only=True):
    """How a collection or a site is synced. ``id``: its own. ``commit``: where the branch was at the last look.
    ``spaces``: those that you see, by their folders. ``problems``: what the last look left out, if you see all spaces. ``reason`` and ``message`` say why it failed,
    or what a stopped one waits for."""

    object: Literal["git-project"] = "git-project"
    type: Literal["collection", "site"]
    id: str
    spaces: list[GitProjectSpace]
    problems: Raw


class GitProjectWithSecret(GitProject, rename="camel", kw_only=True):
    """``hookSecret`` is shown this once."""

    hook_secret: str


class GitPlace(Struct, rename="camel"):
    """A folder that is to be a space, ``space`` where it is there. ``first``: the side that the other becomes equal to;
    left out where there is nothing to do."""

    folder: str
    title: str
    space: str | UnsetType = UNSET
    first: First | UnsetType = UNSET


class GitProjectPreview(Struct, rename="camel"):
    """Which folders of the repository would be which spaces. ``branches``: those of the repository, a hundred at most."""

    spaces: list[GitPlace]
    problems: Raw
    branches: list[str]
    default_branch: str | UnsetType = UNSET
    commit: str | UnsetType = UNSET
    host_key: str | UnsetType = UNSET
    object: Literal["git-project-preview"] = "git-project-preview"


class GitRun(Struct, rename="camel", kw_only=True):
    """``imported``: pages and files of the space that it changed; ``exported``: files of the repository.
    ``changeRequests``: those brought into step with their branches. ``changeRequest`` holds what both sides had changed,
    and has the number ``changeRequestNumber`` in the space."""

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
    """A branch that a change request is kept in step with. ``branch`` is left out for one of another repository,
    ``pullRequest`` where there is none. ``pushes``: edits of the change request are committed to it. ``message``: what
    is in the way."""

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
    """``branch``: left out, it is named after the change request."""

    branch: Branch | UnsetType = UNSET


class GitPreview(Struct, rename="camel"):
    """What a first sync would change. The lists hold a hundred paths at most, the numbers count all. ``branches``: those
    of the repository. With the first direction `import` the space gets what only the repository has and loses what only
    the space has; with `export` the other way round; what differs becomes as the chosen side has it."""

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


WebUrl = Annotated[str, Meta(pattern=r"^(https?://[^\x00-\x1f\x7f-\x9f]*)?\Z", max_length=2048)]
"""Where people look at a repository; revisions and files link there."""


class ImportRepository(Struct, kw_only=True):
    """The url may hold credentials."""

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
    """The url may hold credentials."""

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
    return Credential(body.type, or_none(body.secret) or "", body.username or "")


def named_folder(body: GitTarget) -> RepositoryFolder:
    return RepositoryFolder(body.remote, body.branch, body.folder, _credential(body.credential))


def wanted_sync(body: ConnectGit) -> WantedSync:
    settings = given(body)
    for name in (*GitTarget.__struct_fields__, "first"):
        settings.pop(name, None)
    return WantedSync(named_folder(body), body.first, settings)


def changed_settings(body: UpdateGitSync) -> dict[str, Any]:
    settings = given(body)
    return settings | {"credential": _credential(body.credential)} if "credential" in settings else settings


def wanted_once(body: ImportRepository | ExportToRepository) -> WantedOnce:
    message = body.commit_message if isinstance(body, ExportToRepository) else None
    url, user, secret = split_credential(body.url)
    credential = Credential("password" if user else "token", secret, user) if secret else None
    return WantedOnce(
        RepositoryFolder(url, body.ref, body.project_directory, credential),
        "import" if message is None else "export",
        body.tree_url,
        body.commit_url,
        message,
        body.force,
    )


def present_info(row: SyncRow) -> GitSyncState:
    return msgspec.convert(describe(row), GitSyncState)


def path_of(row: Connected) -> str:
    """The address below the API of what is synced."""
    of = f"/orgs/{row.organization_id}" if isinstance(row, ProjectRow) and row.kind == "site" else ""
    return f"{of}/{row.kind}s/{row.owner_id}"


class Around(Struct, frozen=True):
    """What is shown of a sync besides its row. ``ahead``: how much a space has otherwise than the repository.
    ``project``: the one that a space is a part of. ``members``: the syncs of the spaces of a project that the caller sees; ``whole``:
    that they see all of its spaces."""

    ahead: int = 0
    project: ProjectRow | None = None
    members: list[SyncRow] = []
    whole: bool = True


def _fields(to: Recipient, row: Connected, around: Around) -> dict[str, Any]:
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


def _of_space(row: SyncRow, around: Around) -> dict[str, Any]:
    project = around.project
    return {
        "space": row.space_id,
        "ahead": around.ahead,
        "project": GitProjectRef(project.kind, project.id) if project is not None else UNSET,  # type: ignore[arg-type]
        "revision": row.revision or UNSET,
        "branches_message": row.branches_error or UNSET,
    }


def _of_project(row: Connected, around: Around) -> dict[str, Any]:
    assert isinstance(row, ProjectRow)
    return {
        "type": row.kind,
        "id": row.id,
        "spaces": [_present_member(member) for member in around.members],
        # They name spaces by their folders and titles.
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


def present_sync(to: Recipient, row: Connected, around: Around) -> GitSync | GitProject:
    made = GitSync if isinstance(row, SyncRow) else GitProject
    return made(**_fields(to, row, around))


def present_with_secret(
    to: Recipient, row: Connected, around: Around, secret: str
) -> GitSyncWithSecret | GitProjectWithSecret:
    made = GitSyncWithSecret if isinstance(row, SyncRow) else GitProjectWithSecret
    return made(**_fields(to, row, around), hook_secret=secret)


def present_run(run: RunRow, numbers: Mapping[str, int]) -> GitRun:
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
