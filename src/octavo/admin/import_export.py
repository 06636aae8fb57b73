"""Import and export as the command line and the first start do them: open, import, publish."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from ..content import State, main_state, revision_state
from ..core.docs_config import DOCS_PATH, read_docs, read_map
from ..core.links import app_hosts
from ..core.problems import Problem
from ..core.yaml_text import YamlError
from ..errors import BadRequest, NotFound
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.fetch import Fetcher, FetchError
from ..kit.files import FileStore
from ..orgs import get_organization
from ..sites import create_site, find_site_of_space, get_site, published_url, set_published
from ..spaces import LANGUAGES, get_space, insert_space, require_collection
from ..transfer import (
    ImportOutcome,
    Source,
    SourceError,
    export_files,
    guess_ids,
    import_files,
    open_source,
    with_ids,
)

_TITLE_MAX = 50

Progress = Callable[[int, int], None]


class Written(Struct, frozen=True):
    """A file that was written: the SHA-256 of its bytes, and how many."""

    hash: str
    size: int


class Brought(Struct, frozen=True):
    """An import that is done; ``site_url`` when it was published."""

    outcome: ImportOutcome
    site_url: str | None


class BroughtSpaces(Struct, frozen=True):
    """What a repository with ``docs.yaml`` became: each of its spaces by its key. ``problems`` are those of the file
    itself; ``known`` says which ids in links were found to mean which spaces."""

    spaces: dict[str, Brought]
    known: dict[str, str]
    problems: list[Problem]


def bring(
    context: Context,
    where: str,
    *,
    organization_id: str | None = None,
    space_id: str | None = None,
    collection_id: str | None = None,
    title: str | None = None,
    publish: bool = False,
    author: str | None = None,
    known: Mapping[str, str] = MappingProxyType({}),
    progress: Progress = lambda done, total: None,
) -> Brought:
    """Imports a folder, a .zip or a git URL into a space, a new one unless ``space_id`` names it. A new one needs
    ``organization_id``. ``known``: what links call spaces, and their ids here.

    Raises BadRequest for a source that cannot be read, NotFound for a space or collection that is not there.
    """
    organization_id = _organization_of(context, organization_id, space_id, collection_id)
    _check_known(context, organization_id, known)
    with _opened(context, where) as source:
        if space_id is None:
            space_id = _new_space(context, organization_id, collection_id, title or _name_of(source), author)
        return _bring(context, source, space_id, known, title, publish, author, progress)


def bring_source(
    context: Context,
    where: str,
    *,
    organization_id: str,
    collection_id: str | None = None,
    title: str | None = None,
    publish: bool = False,
    known: Mapping[str, str] = MappingProxyType({}),
    progress: Progress = lambda done, total: None,
) -> Brought | BroughtSpaces:
    """Imports a source as new spaces: where it has a ``docs.yaml`` each directory that this names, else as one.
    ``known`` may name an existing space for a key of ``docs.yaml``, which then gets the files.

    Raises BadRequest for a source or a ``docs.yaml`` that cannot be read, and for a ``title`` where ``docs.yaml`` has
    its own; NotFound for an organization or collection that is not there.
    """
    _organization_of(context, organization_id, None, collection_id)
    _check_known(context, organization_id, known)
    with _opened(context, where) as source:
        if DOCS_PATH not in source.paths():
            space_id = _new_space(context, organization_id, collection_id, title or _name_of(source))
            return _bring(context, source, space_id, known, title, publish, None, progress)
        if title is not None:
            raise BadRequest(f"title: {DOCS_PATH} says the titles of its spaces")
        try:
            config = read_docs(source.read(DOCS_PATH).decode("utf-8"))
        except (YamlError, UnicodeDecodeError) as error:
            raise BadRequest(f"{DOCS_PATH}: {error}") from None
        parts = {told.key: source.within(told.directory) for told in config.spaces}
        for told in config.spaces:
            if not parts[told.key].paths():
                message = f"there is no folder {told.directory or './'}; {told.key} is left out"
                config.problems.append(Problem(DOCS_PATH, 0, "missing_directory", message))
                del parts[told.key]
        if not parts:
            raise BadRequest(f"{DOCS_PATH}: names no folder that is there")
        spaces = {
            told.key: known.get(told.key)
            or _new_space(context, organization_id, collection_id, told.title, None, told.language)
            for told in config.spaces
            if told.key in parts
        }
        guessed = _guess(context, organization_id, parts, {**spaces, **known})
        names = {**{id: spaces[key] for id, key in guessed.items()}, **spaces, **known}
        brought = {
            key: _bring(context, part, spaces[key], names, None, publish, None, progress)
            for key, part in parts.items()
        }
    return BroughtSpaces(brought, {id: spaces[key] for id, key in guessed.items()}, config.problems)


def _guess(
    context: Context, organization_id: str, parts: Mapping[str, Source], named: Mapping[str, str]
) -> dict[str, str]:
    with context.db.read() as tx:
        return guess_ids(
            parts,
            lambda id: id in named or _is_space_of(tx, id, organization_id),
            app_hosts(context.settings.url),
        )


def read_known(file: Path) -> dict[str, str]:
    """What a mapping file says. Raises BadRequest."""
    try:
        return read_map(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, YamlError) as error:
        raise BadRequest(f"{file}: {error}") from None


@contextmanager
def _opened(context: Context, where: str) -> Iterator[Source]:
    fetcher = Fetcher(context.settings.allow_private_fetch)

    def allow(url: str) -> str:
        try:
            return fetcher.check_url(url).addresses[0]
        except FetchError as error:
            raise ValueError(error.message) from None

    try:
        with open_source(where, allow_url=allow, local=True) as source:
            yield source
    except SourceError as error:
        raise BadRequest(f"{where}: {error}") from None


def _organization_of(
    context: Context, organization_id: str | None, space_id: str | None, collection_id: str | None
) -> str:
    with context.db.read() as tx:
        if space_id is not None:
            owner = get_space(tx, space_id).organization_id
            if organization_id not in (None, owner):
                raise NotFound(f"There is no space {space_id!r} in this organization.")
            organization_id = owner
        assert organization_id is not None, "a new space belongs to an organization"
        get_organization(tx, organization_id)
        if collection_id is not None:
            require_collection(tx, organization_id, collection_id)
    return organization_id


def _is_space_of(tx: Transaction, space_id: str, organization_id: str) -> bool:
    try:
        return get_space(tx, space_id).organization_id == organization_id
    except NotFound:
        return False


def _check_known(context: Context, organization_id: str, known: Mapping[str, str]) -> None:
    with context.db.read() as tx:
        for name, space_id in known.items():
            if not _is_space_of(tx, space_id, organization_id):
                raise BadRequest(
                    f"map: {name} is mapped to {space_id!r}, which is no space of the organization"
                )


def _bring(
    context: Context,
    source: Source,
    space_id: str,
    known: Mapping[str, str],
    title: str | None,
    publish: bool,
    author: str | None,
    progress: Progress,
) -> Brought:
    git = {"oid": source.commit, "message": "", "createdByService": False} if source.commit else None
    source = with_ids(source, known, app_hosts(context.settings.url))
    outcome = import_files(context, source, space_id, author=author, git=git, progress=progress)
    if not publish:
        return Brought(outcome, None)
    with context.db.write() as tx:
        org = get_organization(tx, get_space(tx, space_id).organization_id)
        site_id = find_site_of_space(tx, space_id) or create_site(
            tx, organization_id=org.id, title=title or get_space(tx, space_id).title, spaces=[space_id]
        )
        set_published(tx, site_id, True)
        return Brought(outcome, published_url(context.settings.sites_url, org, get_site(tx, site_id)))


def _name_of(source: Source) -> str:
    return source.name.replace("-", " ").replace("_", " ").strip() or "Imported"


def _new_space(
    context: Context,
    organization_id: str,
    collection_id: str | None,
    title: str,
    author: str | None = None,
    language: str | None = None,
) -> str:
    with context.db.write() as tx:
        return insert_space(
            tx,
            organization_id=organization_id,
            collection_id=collection_id,
            title=title[:_TITLE_MAX],
            language=language if language in LANGUAGES else None,
            created_by=author,
        ).id


def export_space(
    context: Context, space_id: str, folder: Path, *, revision_id: str | None = None
) -> dict[str, Any]:
    """Writes a space as files below ``folder``; what is there already is overwritten, nothing is deleted."""
    with context.db.read() as tx:
        get_space(tx, space_id)
        state = main_state(tx, space_id) if revision_id is None else revision_state(tx, space_id, revision_id)
        written = list(write_state(tx, context.files, state, folder))
    return {
        "space": space_id,
        "revision": state.revision_id,
        "files": len(written),
        "bytes": sum(entry.size for entry in written),
    }


def write_state(tx: Transaction, store: FileStore, state: State, folder: Path) -> Iterator[Written]:
    """Writes the files of a state below ``folder``, one at a time. Raises BadRequest for one that leads out."""
    root = folder.resolve()
    for exported in export_files(tx, store, state):
        path = (root / exported.path).resolve()
        if not path.is_relative_to(root):
            raise BadRequest(f"{exported.path}: leads out of {folder}")
        path.parent.mkdir(parents=True, exist_ok=True)
        digest, size = hashlib.sha256(), 0
        with path.open("wb") as out:
            for piece in exported.pieces:
                digest.update(piece)
                size += out.write(piece)
        yield Written(digest.hexdigest(), size)
