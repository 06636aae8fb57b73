"""Import and export as the command line and the first start do them: open, import, publish."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from ..content import State, main_state, revision_state
from ..errors import BadRequest, NotFound
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.fetch import Fetcher, FetchError
from ..kit.files import FileStore
from ..orgs import get_organization
from ..sites import create_site, find_site_of_space, get_site, published_url, set_published
from ..spaces import get_space, insert_space, require_collection
from ..transfer import ImportOutcome, Source, SourceError, export_files, import_files, open_source

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
    progress: Progress = lambda done, total: None,
) -> Brought:
    """Imports a folder, a .zip or a git URL into a space, a new one unless ``space_id`` names it. A new one needs
    ``organization_id``.

    Raises BadRequest for a source that cannot be read, NotFound for a space or collection that is not there.
    """
    fetcher = Fetcher(context.settings.allow_private_fetch)

    def allow(url: str) -> str:
        try:
            return fetcher.check_url(url).addresses[0]
        except FetchError as error:
            raise ValueError(error.message) from None

    with context.db.read() as tx:
        if space_id is not None:
            owner = get_space(tx, space_id).organization_id
            if organization_id not in (None, owner):
                raise NotFound(f"There is no space {space_id!r} in this organization.")
            organization_id = owner
        assert organization_id is not None, "a new space belongs to an organization"
        org = get_organization(tx, organization_id)
        if collection_id is not None:
            require_collection(tx, organization_id, collection_id)
    try:
        with open_source(where, allow_url=allow, local=True) as source:
            if space_id is None:
                space_id = _new_space(context, source, organization_id, collection_id, title, author)
            git = {"oid": source.commit, "message": "", "createdByService": False} if source.commit else None
            outcome = import_files(context, source, space_id, author=author, git=git, progress=progress)
    except SourceError as error:
        raise BadRequest(f"{where}: {error}") from None
    site_url = None
    if publish:
        with context.db.write() as tx:
            site_id = find_site_of_space(tx, space_id) or create_site(
                tx, organization_id=organization_id, title=title, spaces=[space_id]
            )
            set_published(tx, site_id, True)
            site_url = published_url(context.settings.sites_url, org, get_site(tx, site_id))
    return Brought(outcome, site_url)


def _new_space(
    context: Context,
    source: Source,
    organization_id: str,
    collection_id: str | None,
    title: str | None,
    author: str | None,
) -> str:
    name = title or source.name.replace("-", " ").replace("_", " ").strip() or "Imported"
    with context.db.write() as tx:
        return insert_space(
            tx,
            organization_id=organization_id,
            collection_id=collection_id,
            title=name[:_TITLE_MAX],
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
