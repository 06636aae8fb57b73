"""Git sync of collections and sites on the wire."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Raw, Struct, UnsetType

from ..kit.clock import iso
from ..kit.operation import Recipient
from .addresses import read_remote, web_address
from .projects import Place
from .store import Direction, First, ProjectRow, Provider, Status, SyncRow


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


class GitProject(Struct, rename="camel", kw_only=True):
    """How a collection or a site is synced. ``id``: its own. ``commit``: where the branch was at the last look.
    ``spaces``: by their folders. ``problems``: what the last look left out. ``reason`` and ``message`` say why it failed,
    or what a stopped one waits for."""

    object: Literal["git-project"] = "git-project"
    type: Literal["collection", "site"]
    id: str
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
    spaces: list[GitProjectSpace]
    problems: Raw
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


def path_of(row: ProjectRow) -> str:
    """Below the API, of a collection or a site."""
    if row.collection_id is not None:
        return f"/collections/{row.id}"
    return f"/orgs/{row.organization_id}/sites/{row.id}"


def _fields(to: Recipient, row: ProjectRow, members: list[SyncRow]) -> dict[str, Any]:
    remote = read_remote(row.remote, local=True)
    commit_url = web_address(remote, row.provider, "commit", row.commit_id) if row.commit_id else None
    return {
        "type": "collection" if row.collection_id is not None else "site",
        "id": row.id,
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
        "hook_url": to.url(
            f"{'/collections' if row.collection_id is not None else '/sites'}/{row.id}/git/hook"
        ),
        "connected_by": row.user_id,
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "spaces": [_present_member(member) for member in members],
        "problems": Raw(row.problems.encode()),
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


def present_project(to: Recipient, row: ProjectRow, members: list[SyncRow]) -> GitProject:
    return GitProject(**_fields(to, row, members))


def present_project_with_secret(
    to: Recipient, row: ProjectRow, members: list[SyncRow], secret: str
) -> GitProjectWithSecret:
    return GitProjectWithSecret(**_fields(to, row, members), hook_secret=secret)


def present_place(place: Place) -> GitPlace:
    return GitPlace(
        folder=place.folder or "/",
        title=place.title,
        space=place.space_id or UNSET,
        first=place.first or UNSET,
    )
