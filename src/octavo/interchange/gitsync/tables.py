"""Declare the tables for Git sync."""

from __future__ import annotations

from typing import get_args

from octavo.content.revisions.item_versions import Item
from octavo.core.pages import Page
from octavo.core.problems import Problem
from octavo.kit.db.database import Transaction
from octavo.kit.db.tables import Table, declare, file, person, row, text
from octavo.organization.spaces.hooks import NewSpace, on_begin, on_purge, on_transfer

from .requesting import notice_project
from .store import (
    BranchStatus,
    Direction,
    First,
    Provider,
    RunStatus,
    Status,
    SyncRow,
    delete,
    delete_draft,
    list_projects_of,
)

_STAYS = "a copy of the sync in a duplicated space would write to the same repository"

declare(
    Table(
        name="git_syncs",
        of_space="space_id IN {spaces}",
        stays=_STAYS,
        columns=(person("user_id"), row("revision", "revisions"), row("pushing_revision", "revisions")),
        values={
            "direction": get_args(Direction),
            "first": get_args(First),
            "status": get_args(Status),
            "provider": get_args(Provider),
        },
        long=(
            "remote",
            "message",
            "error",
            "public_key",
            "signing_key",
            "host_key",
            "tree_url",
            "commit_url",
            "branches_error",
        ),
    ),
    Table(
        name="git_projects",
        of_organization="organization_id = :org",
        stays=_STAYS,
        columns=(person("user_id"),),
        values={
            "direction": get_args(Direction),
            "first": get_args(First),
            "status": get_args(Status),
            "provider": get_args(Provider),
        },
        json={"agreed": dict, "problems": list[Problem]},
        long=("remote", "message", "error", "public_key", "signing_key", "host_key", "agreed", "problems"),
    ),
    Table(
        name="git_installations",
        of_organization="organization_id = :org",
        stays=_STAYS,
        columns=(person("user_id"), person("authorized_by")),
        values={"provider": ("github", "gitlab")},
        long=("repository", "message"),
    ),
    Table(
        name="git_branches",
        of_space="space_id IN {spaces}",
        stays=_STAYS,
        columns=(row("change_id", "change_requests"),),
        values={"status": get_args(BranchStatus)},
        long=("ref", "title", "url", "error"),
    ),
    Table(
        name="git_ahead",
        of_space="space_id IN {spaces}",
        stays=_STAYS,
        columns=(
            text("content", kind=("page", "reusable-content", "source")),
            file("content", kind=("file",)),
        ),
        json={"value": Page | Item | None},
        long=("value",),
    ),
    Table(name="git_blobs", of_space="space_id IN {spaces}", stays=_STAYS, many=True),
    Table(
        name="git_runs",
        of_space="space_id IN {spaces}",
        stays=_STAYS,
        columns=(row("revision", "revisions"), row("change_id", "change_requests")),
        values={"status": get_args(RunStatus)},
        json={"problems": list[Problem]},
        long=("error", "problems"),
    ),
)


def _leave(tx: Transaction, space_id: str, organization_id: str) -> None:
    """Remove the sync of a space that moved to another organization, because the person who connected the space has
    no permissions there."""
    delete(tx, SyncRow, space_id)
    delete_draft(tx, space_id)


def _purge(tx: Transaction, space_id: str) -> None:
    delete(tx, SyncRow, space_id)


def _begin(tx: Transaction, beginning: NewSpace) -> None:
    """Request a sync of the collection in which a new space was created."""
    for project_id in list_projects_of(tx, beginning.space_id):
        notice_project(tx, project_id)


on_begin(_begin)
on_transfer(_leave)
on_purge(_purge)
