"""Sync each space of a collection with its own folder of a repository.

A folder is a space if it has a README.md, a SUMMARY.md, or a .gitbook.yaml. The first sync pairs spaces and folders
by name. From then on, each pair stays together, even if either is renamed. ``agreed``: the folders that are or were
synced with a space. If a space is moved out of the collection or deleted, its folder doesn't become a space again."""

from __future__ import annotations

import re

import msgspec
from msgspec import Struct

from octavo.core.free_names import free_name
from octavo.core.pages import slugify
from octavo.core.paths import unsafe_path
from octavo.core.problems import Problem
from octavo.errors import Forbidden
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.authorization import collection_access, find_space_access, organization_access
from octavo.organization.access.roles import Can
from octavo.organization.spaces.creating import create_space
from octavo.organization.spaces.store import SpaceRow, list_in_collection

from . import store
from .projects import CommittedFolder, MatchedProject, SpaceFolder, add_kind
from .store import ProjectRow, SyncRow

_MARKS = ("README.md", "SUMMARY.md", ".gitbook.yaml")
_FOLDER = 60
_TITLE = 50


class _Agreed(Struct):
    folders: list[str] = []


class _Collection:
    def require(self, tx: Transaction, actor: Actor, row: ProjectRow) -> None:
        collection_access(tx, actor, Can.ADMIN, row.id)

    def spaces(self, tx: Transaction, row: ProjectRow) -> list[str]:
        return [space.id for space in list_in_collection(tx, row.id)]

    def preview(
        self, tx: Transaction, actor: Actor, row: ProjectRow, ground: CommittedFolder
    ) -> tuple[list[SpaceFolder], list[Problem]]:
        problems: list[Problem] = []
        places, _ = _places(tx, actor, row, ground, problems)
        return places, problems

    def apply_repository(
        self, tx: Transaction, actor: Actor, row: ProjectRow, ground: CommittedFolder
    ) -> MatchedProject:
        problems: list[Problem] = []
        places, known = _places(tx, actor, row, ground, problems)
        spaces: dict[str, tuple[str, bool]] = {}
        for place in places:
            space_id = place.space_id
            if space_id is None:
                try:
                    org = organization_access(tx, actor, Can.CREATE_CONTENT, row.organization_id)
                except Forbidden:
                    said = (
                        "the person who connected the repository can no longer create spaces; ask someone who"
                        " can to update the sync settings"
                    )
                    problems.append(Problem(place.folder, 0, "rights_lost", said))
                    continue
                space_id = create_space(tx, org, place.title, parent=row.id).id
            spaces[place.folder] = (space_id, place.space_id is None)
        return MatchedProject(spaces, _Agreed(sorted(known | spaces.keys())), problems=problems)


def _places(
    tx: Transaction, actor: Actor, row: ProjectRow, ground: CommittedFolder, problems: list[Problem]
) -> tuple[list[SpaceFolder], set[str]]:
    """Match spaces and folders. Return each matched folder with its space, and all folders that are or were synced with
    a space.

    Consider all folders in the repository, and all spaces that the person who connected the repository can sync."""
    agreed = msgspec.json.decode(row.agreed, type=_Agreed) if row.agreed else _Agreed()
    known = set(agreed.folders)
    rows = store.list_members(tx, row.id)
    members = {member.space_id: member.folder[len(row.folder) :] for member in rows}
    synced = {member.space_id: member.commit_id for member in rows}
    spaces = [
        space
        for space in list_in_collection(tx, row.id)
        if find_space_access(tx, actor, Can.ADMIN, space.id) is not None
    ]
    there = [f"{name}/" for name in ground.folders() if _is_space(ground, name)]
    kept = {space.id: members[space.id] for space in spaces if space.id in members}
    taken = {*known, *kept.values()}
    new = [folder for folder in there if folder not in taken]
    kept = _moved(kept, new, ground, synced)
    new = [folder for folder in new if folder not in kept.values()]
    places = [
        SpaceFolder(kept[space.id], space.title, space.id, None) for space in spaces if space.id in kept
    ]
    left = [space for space in spaces if space.id not in kept and not _is_elsewhere(tx, space, problems)]
    first = row.commit_id is None
    if first:
        pairs = _pairs(left, new)
        places += [
            SpaceFolder(folder, space.title, space.id, row.first)  # type: ignore[arg-type]
            for folder, space in pairs
        ]
        paired = {space.id for _, space in pairs}
        left = [space for space in left if space.id not in paired]
        new = [folder for folder in new if folder not in {folder for folder, _ in pairs}]
    if row.direction != "export":
        places += [SpaceFolder(folder, _title_of(folder), None, "import") for folder in new]
    for space in left:
        if row.direction == "import":
            problems.append(
                Problem(
                    space.id, 0, "missing_directory", "there is no folder for this space in the repository"
                )
            )
            continue
        folder = _free_folder(space.title, {*taken, *(place.folder for place in places)}, ground)
        places.append(SpaceFolder(folder, space.title, space.id, "export"))
    return sorted(places, key=lambda place: place.folder), known


def _moved(
    kept: dict[str, str], new: list[str], ground: CommittedFolder, synced: dict[str, str | None]
) -> dict[str, str]:
    """Return the folder of each space, taking into account folders that were renamed since the last synced commit."""
    found = dict(kept)
    for space_id, folder in kept.items():
        if not ground.holds(folder):
            there = [
                one
                for one in new
                if one not in found.values() and ground.is_moved(folder, one, synced[space_id])
            ]
            if len(there) == 1:
                found[space_id] = there[0]
    return found


def _pairs(spaces: list[SpaceRow], folders: list[str]) -> list[tuple[str, SpaceRow]]:
    found: list[tuple[str, SpaceRow]] = []
    free = {slugify(folder.rstrip("/")): folder for folder in reversed(folders)}
    for space in spaces:
        folder = free.pop(slugify(space.title), None)
        if folder is not None:
            found.append((folder, space))
    return found


def _is_elsewhere(tx: Transaction, space: SpaceRow, problems: list[Problem]) -> bool:
    if store.find(tx, SyncRow, space.id) is None:
        return False
    said = "this space was skipped, because it has its own sync or belongs to another repository"
    problems.append(Problem(space.id, 0, "synced", said))
    return True


def _is_space(ground: CommittedFolder, name: str) -> bool:
    if name.startswith(".") or unsafe_path(name) is not None:
        return False
    return any(ground.holds(f"{name}/{mark}") for mark in _MARKS)


def _free_folder(title: str, taken: set[str], ground: CommittedFolder) -> str:
    wanted = slugify(title)[:_FOLDER].strip("-") or "space"
    if unsafe_path(wanted) is not None:
        wanted = "space"
    name = free_name(wanted, lambda name: f"{name}/" in taken or ground.holds(f"{name}/"))
    return f"{name}/"


def _title_of(folder: str) -> str:
    words = re.sub(r"[-_\s]+", " ", folder.rstrip("/")).strip() or folder.rstrip("/")
    return (words[:1].upper() + words[1:])[:_TITLE]


add_kind("collection", _Collection())
