"""Git sync for a site: ``docs.yaml`` contains its structure, and each space has a folder.

The structure is synced as a whole in one direction. If both sides have changed the structure since the last sync, a
person decides which version to keep. Spaces are synced page by page, like all synced spaces.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from octavo.core.docs_config import DOCS_PATH, DocsConfig, DocsEntry, read_docs, write_docs
from octavo.core.docs_editing import edit_docs
from octavo.core.free_names import free_name
from octavo.core.languages import LANGUAGES
from octavo.core.problems import Problem
from octavo.core.yaml_text import YamlError
from octavo.errors import BadRequest, Forbidden
from octavo.interchange.gitsync.failures import Reason, Stopped
from octavo.interchange.gitsync.projects import CommittedFolder, MatchedProject, SpaceFolder, add_kind
from octavo.interchange.gitsync.store import First, ProjectRow, list_members
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.authorization import (
    SiteAccess,
    find_kept_space_access,
    find_space_access,
    organization_access,
    site_access,
)
from octavo.organization.access.roles import Can
from octavo.organization.spaces.creating import create_space

from .store import get_site
from .structure.arranging import arrange_site, describe_site, name_spaces, provide_spaces, require_bounds
from .structure.store import MAX_DEPTH, load_structure


class _LastSync(Struct):
    """State at the last sync. ``file``: the hash of docs.yaml; None if the file didn't exist. ``ours``: the hash of the
    structure."""

    file: str | None
    ours: str


class _Site:
    def require(self, tx: Transaction, actor: Actor, row: ProjectRow) -> None:
        _access(tx, actor, row)

    def spaces(self, tx: Transaction, row: ProjectRow) -> list[str]:
        return list(name_spaces(tx, row.id).values())

    def preview(
        self, tx: Transaction, actor: Actor, row: ProjectRow, ground: CommittedFolder
    ) -> tuple[list[SpaceFolder], list[Problem]]:
        if row.first == "export":
            described = describe_site(tx, get_site(tx, row.id))
            entries = {entry.directory or "": entry for entry in described.config.spaces}
            return [
                SpaceFolder(folder, entries[folder].title, space_id, "export")
                for folder, space_id in described.spaces.items()
            ], []
        try:
            config = _read(ground)
        except Stopped as stopped:
            raise BadRequest(f"folder: {stopped.message}") from None
        ours, there = name_spaces(tx, row.id), _existing_keys(config, ground, set())
        keys = {entry.key for entry in config.spaces}
        for key in ours.keys() - keys:
            message = f"{key} will be removed from the site; its content is kept"
            config.problems.append(Problem(DOCS_PATH, 0, "removed", message))
        places = {
            entry.directory or "": SpaceFolder(
                entry.directory or "", entry.title, ours.get(entry.key), "import"
            )
            for entry in config.spaces
            if entry.key in there
        }
        return list(places.values()), config.problems

    def apply_repository(
        self, tx: Transaction, actor: Actor, row: ProjectRow, ground: CommittedFolder
    ) -> MatchedProject:
        access = _access(tx, actor, row)
        data = ground.read(DOCS_PATH)
        agreed = msgspec.json.decode(row.agreed, type=_LastSync) if row.agreed else None
        problems: list[Problem] = []
        if agreed is not None and row.first == "export" and not ground.is_as_seen(DOCS_PATH):
            raise Stopped(
                Reason.STRUCTURE,
                f"{DOCS_PATH} changed after you chose which version to keep. Choose again.",
            )
        side = _side(row, agreed, data, describe_site(tx, get_site(tx, row.id)).config, problems)
        made: set[str] = set()
        files: dict[str, bytes] = {}
        if side == "import":
            problems += _arrange(tx, access, row, ground, made)
        elif side == "export":
            text = _write(tx, access, row, ground)
            if text != data:
                files = {DOCS_PATH: text}
        ours = _structure_hash(describe_site(tx, get_site(tx, row.id)).config)
        spaces = {folder: (space_id, space_id in made) for folder, space_id in _folders(tx, row, problems)}
        return MatchedProject(spaces, _LastSync(_hash(files.get(DOCS_PATH, data)), ours), files, problems)


def _access(tx: Transaction, actor: Actor, row: ProjectRow) -> SiteAccess:
    """Return the caller's access to the site. Raises NotFound if the site doesn't exist, and Forbidden if the caller
    can't see every space on the site, including spaces in the trash, because docs.yaml reveals their existence and
    titles."""
    access = site_access(tx, actor, Can.ADMIN, row.organization_id, row.id)
    shown = {one.space_id for one in load_structure(tx, row.id, trashed=True).site_spaces.values()}
    if any(find_kept_space_access(tx, actor, Can.VIEW, space_id) is None for space_id in shown):
        raise Forbidden(
            "This site contains spaces that you can't see. Ask someone who has access to all of them to"
            " connect the repository."
        )
    return access


def _hash(data: bytes | None) -> str | None:
    return hashlib.sha256(data).hexdigest() if data is not None else None


def _structure_hash(config: DocsConfig) -> str:
    """Return the hash of a structure without languages, because a language that was detected when a space was
    first imported isn't a change by a person."""
    plain = [(entry, entry.language) for entry in config.spaces]
    for entry, _ in plain:
        entry.language = None
    found = hashlib.sha256(write_docs(config).encode()).hexdigest()
    for entry, language in plain:
        entry.language = language
    return found


def _source(row: ProjectRow) -> str:
    """Return the source ID of the repository, in the format used by imports."""
    return hashlib.sha256(row.remote.encode()).hexdigest()


def _side(
    row: ProjectRow, agreed: _LastSync | None, data: bytes | None, config: DocsConfig, problems: list[Problem]
) -> First | None:
    """Return the side whose structure replaces the structure of the other side; None if they are equal."""
    if agreed is None:
        return row.first  # type: ignore[return-value]
    theirs, ours = _hash(data) != agreed.file, _structure_hash(config) != agreed.ours
    if not (theirs or ours) or data is not None and _edited(data, config) == data:
        return None
    if row.first is not None:
        return row.first  # type: ignore[return-value]
    if theirs and ours and row.direction == "both":
        raise Stopped(
            Reason.STRUCTURE,
            "Both the site structure and docs.yaml have changed since the last sync. Choose which side to"
            " keep.",
        )
    if theirs and row.direction != "export":
        return "import"
    if ours and row.direction != "import":
        return "export"
    if theirs:
        message = (
            "docs.yaml was changed in the repository; the change was ignored, because this sync only exports"
        )
        problems.append(Problem(DOCS_PATH, 0, "not_imported", message))
    return None


def _edited(data: bytes | None, config: DocsConfig) -> bytes:
    """Update docs.yaml to match the structure, keeping all other content, and return the result. The file stays
    unchanged if it already matches the structure."""
    try:
        text = data.decode("utf-8") if data is not None else None
    except UnicodeDecodeError:
        text = None
    if text is None:
        return write_docs(config).encode()
    return edit_docs(text, config, max_depth=MAX_DEPTH, languages=LANGUAGES).encode()


def _read(ground: CommittedFolder) -> DocsConfig:
    """Read docs.yaml. Raises Stopped if the file can't be read, and BadRequest if it exceeds a site's limits."""
    data = ground.read(DOCS_PATH)
    if data is None:
        raise Stopped(
            Reason.EMPTIED,
            f"There is no {DOCS_PATH} in this folder of the repository. Add it, or choose another folder.",
        )
    try:
        config = read_docs(data.decode("utf-8"), max_depth=MAX_DEPTH, languages=LANGUAGES)
    except (YamlError, UnicodeDecodeError) as error:
        raise Stopped(Reason.CONTENT, f"{DOCS_PATH}: {error}") from None
    require_bounds(config)
    return config


def _existing_keys(config: DocsConfig, ground: CommittedFolder, synced: set[str]) -> set[str]:
    """Return the keys of spaces whose folders exist, or existed at the last sync. Report the other spaces as
    problems."""
    found: set[str] = set()
    for entry in config.spaces:
        if entry.directory is None:
            continue
        if ground.holds(entry.directory) or entry.directory in synced:
            found.add(entry.key)
        else:
            message = f"there is no folder {entry.directory or './'}; {entry.key} was skipped"
            config.problems.append(Problem(DOCS_PATH, entry.line, "missing_directory", message))
    return found


def _arrange(
    tx: Transaction, access: SiteAccess, row: ProjectRow, ground: CommittedFolder, made: set[str]
) -> Sequence[Problem]:
    """Apply the structure in docs.yaml to the site. ``made``: a set that receives the IDs of created
    spaces."""
    config = _read(ground)
    there = _existing_keys(
        config, ground, {member.folder[len(row.folder) :] for member in list_members(tx, row.id)}
    )
    if not there:
        raise Stopped(
            Reason.CONTENT,
            f"None of the folders in {DOCS_PATH} exist. Add a folder with content, or correct the names.",
        )
    ours = name_spaces(tx, row.id)
    for key in there & ours.keys():
        if find_space_access(tx, access.actor, Can.ADMIN, ours[key]) is None:
            raise Forbidden(
                f"You don't have permission to publish the space {key}. Ask one of its administrators."
            )

    def make(entry: DocsEntry) -> str:
        org = organization_access(tx, access.actor, Can.CREATE_CONTENT, access.organization_id)
        space = create_space(tx, org, entry.title, language=entry.language)
        made.add(space.id)
        return space.id

    spaces = provide_spaces(tx, row.id, config, there, {}, make, by=access.actor)
    removed = arrange_site(tx, row.id, config, spaces, _source(row), access)
    return [*config.problems, *removed]


def _write(tx: Transaction, access: SiteAccess, row: ProjectRow, ground: CommittedFolder) -> bytes:
    """Update docs.yaml to match the structure, with a permanent folder for each space, and return the result."""
    described = describe_site(tx, get_site(tx, row.id))
    synced = {member.space_id for member in list_members(tx, row.id)}
    taken = set(described.spaces)
    spaces: dict[str, str] = {}
    for entry in described.config.spaces:
        folder = entry.directory or ""
        space_id = spaces[entry.key] = described.spaces[folder]
        if row.agreed is not None and folder and space_id not in synced and ground.holds(folder):
            # Other content in that folder doesn't belong to the space.
            name = free_name(folder[:-1], lambda name: f"{name}/" in taken or ground.holds(f"{name}/"))
            entry.directory = f"{name}/"
            taken.add(entry.directory)
    arrange_site(tx, row.id, described.config, spaces, _source(row), access)
    return _edited(ground.read(DOCS_PATH), described.config)


def _folders(tx: Transaction, row: ProjectRow, problems: list[Problem]) -> list[tuple[str, str]]:
    """Return the folder of each space that has a folder. Folders are never nested, because spaces would otherwise write
    to each other's folders."""
    shown = load_structure(tx, row.id).site_spaces.values()
    wanted = {one.docs_directory: one.space_id for one in shown if one.docs_directory is not None}
    found: list[tuple[str, str]] = []
    taken: set[str] = set()
    for folder in sorted(wanted):
        if any(folder.startswith(other) for other, _ in found):
            message = "this folder is inside another space's folder; only the outer space is synced"
            problems.append(Problem(folder, 0, "overlapping", message))
        elif wanted[folder] not in taken:
            taken.add(wanted[folder])
            found.append((folder, wanted[folder]))
    return found


add_kind("site", _Site())
