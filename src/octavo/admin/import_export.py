"""Import and export as the command line and the first start do them: open, import, publish."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from ..access import Can, act_for, first_administrator, site_access
from ..content import State, main_state, revision_state
from ..core.addresses import read_address
from ..core.docs_config import read_map
from ..core.links import app_hosts
from ..core.problems import Problem
from ..core.yaml_text import YamlError
from ..errors import BadRequest, NotFound
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.fetch import Fetcher, FetchError
from ..kit.files import FileStore
from ..kit.temporary import TemporaryFolder
from ..orgs import get_organization
from ..sites import brand_site, create_site, find_site_of_space, get_site, published_url, set_published
from ..spaces import get_space, insert_space, require_collection
from ..transfer import (
    CONVERTED,
    Brand,
    Exported,
    Folder,
    ImportOutcome,
    ImportPlan,
    Source,
    SourceError,
    convert_file,
    export_files,
    import_source,
    open_source,
    plan_source,
    read_files,
    unpack_parts,
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
    kind: str | None = None,
    whole: bool = False,
) -> Brought:
    """Imports a folder, a .zip or a git URL into a space, a new one unless ``space_id`` names it. A new one needs
    ``organization_id``. ``known``: what links call spaces, and their ids here. ``kind``: what the source is, where
    that is not to be found out. ``whole``: the space becomes what the source is, and nothing else.

    Raises BadRequest for a source that cannot be read, NotFound for a space or collection that is not there.
    """
    organization_id = organization_of(context, organization_id, space_id, collection_id)
    check_known(context, organization_id, known)
    with opened(context, where, kind) as source:
        if space_id is None:
            space_id = make_space(context, organization_id, collection_id, title or name_of(source), author)
        return bring_into(context, source, where, space_id, known, title, publish, author, progress, whole)


class Previewed(Struct, rename="camel"):
    """What an import would bring."""

    kind: str
    plan: ImportPlan
    problems: list[Problem]


def preview(context: Context, where: str, kind: str | None = None, several: bool = True) -> Previewed:
    """What importing a source would bring; nothing of it is. ``several``: with all versions and languages. Raises
    BadRequest for one that cannot be read."""
    hosts, size = app_hosts(context.settings.url), context.settings.page_size
    with opened(context, where, kind, several) as source:
        plan, problems = plan_source(source, size, hosts, lambda: None)
        return Previewed(source.kind or "octavo", plan, problems)


def read_known(file: Path) -> dict[str, str]:
    """What a mapping file says. Raises BadRequest."""
    try:
        return read_map(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, YamlError) as error:
        raise BadRequest(f"{file}: {error}") from None


@contextmanager
def opened(context: Context, where: str, kind: str | None = None, several: bool = False) -> Iterator[Source]:
    """A source as people name it, read as what it is, or as ``kind``. ``several``: with the versions and languages that
    it has as its parts. Raises BadRequest for one that cannot be read."""
    fetcher = Fetcher(context.settings.allow_private_fetch)

    def allow(url: str) -> str:
        try:
            return fetcher.check_url(url).addresses[0]
        except FetchError as error:
            raise ValueError(error.message) from None

    try:
        with ExitStack() as stack:
            folder = Folder(Path(stack.enter_context(TemporaryFolder("import"))))
            if Path(where).suffix.lower() in CONVERTED and Path(where).is_file():
                source = convert_file(Path(where), folder)
            else:
                source = stack.enter_context(open_source(where, allow_url=allow, local=True))
                source = unpack_parts(source, folder, stack)
                source = read_files(source, folder, kind=kind, several=several)
            if not source.paths():
                left = f": {source.problems[0].path}: {source.problems[0].message}" if source.problems else ""
                raise BadRequest(f"{where}: there is nothing in it to import{left}")
            yield source
    except SourceError as error:
        raise BadRequest(f"{where}: {error}{_hint(where)}") from None


def _hint(where: str) -> str:
    """What somebody may have meant who named a website."""
    if not where.lower().startswith(("http://", "https://")):
        return ""
    return ". A URL names a Git repository; a website is imported over the API, with POST /v1/org/ORG/imports"


def organization_of(
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


def is_space_of(tx: Transaction, space_id: str, organization_id: str) -> bool:
    try:
        return get_space(tx, space_id).organization_id == organization_id
    except NotFound:
        return False


def check_known(context: Context, organization_id: str, known: Mapping[str, str]) -> None:
    with context.db.read() as tx:
        for name, space_id in known.items():
            if not is_space_of(tx, space_id, organization_id):
                raise BadRequest(
                    f"map: {name} is mapped to {space_id!r}, which is no space of the organization"
                )


def identity_of(where: str) -> str:
    """What a source is known by: a hash of where it is, whichever branch, and whoever's credentials fetch it. Raises
    BadRequest."""
    if "://" in where:
        address = read_address(where.partition("#")[0])
        if address is None:
            raise BadRequest("not a readable URL")
        where = f"{address.scheme}://{address.authority.rpartition('@')[2]}{address.path}".rstrip("/")
    else:
        where = os.path.realpath(where)
    return hashlib.sha256(where.encode("utf-8", "surrogateescape")).hexdigest()


def bring_into(
    context: Context,
    source: Source,
    where: str,
    space_id: str,
    known: Mapping[str, str],
    title: str | None,
    publish: bool,
    author: str | None,
    progress: Progress,
    whole: bool,
    *,
    in_site: bool = False,
) -> Brought:
    """Imports a source that is open into a space; ``where`` it is is what it is known by. ``in_site``: the caller has a
    site for it."""
    git = {"oid": source.commit, "message": "", "createdByService": False} if source.commit else None
    source = with_ids(source, known, app_hosts(context.settings.url))
    if not publish and source.brand and not in_site:
        source.problems.append(source.brand.left_out())
    outcome = import_source(
        context,
        source,
        space_id,
        identity=identity_of(where),
        whole=whole,
        author=author,
        git=git,
        progress=progress,
    )
    if not publish:
        return Brought(outcome, None)
    source.brand.store(context)
    with context.db.write() as tx:
        org = get_organization(tx, get_space(tx, space_id).organization_id)
        site_id = find_site_of_space(tx, space_id)
        if site_id is None:
            site_id = create_site(
                tx, organization_id=org.id, title=title or get_space(tx, space_id).title, spaces=[space_id]
            )
            outcome.problems.extend(brand_new_site(tx, context, site_id, source.brand))
        set_published(tx, site_id, True)
        return Brought(outcome, published_url(context.settings.sites_url, org, get_site(tx, site_id)))


def brand_new_site(tx: Transaction, context: Context, site_id: str, brand: Brand) -> list[Problem]:
    """Give a new site the look that its source states, in the name of whoever administers the organization; what cannot
    be used."""
    organization_id = get_site(tx, site_id).organization_id
    user = first_administrator(tx, organization_id)
    if user is None or not brand:
        return []
    actor = act_for(user, organization_id)
    return brand_site(tx, context, site_access(tx, actor, Can.ADMIN, organization_id, site_id), brand)


def name_of(source: Source) -> str:
    return source.name.replace("-", " ").replace("_", " ").strip() or "Imported"


def make_space(
    context: Context,
    organization_id: str,
    collection_id: str | None,
    title: str,
    author: str | None = None,
) -> str:
    """A new space, with as much of the title as one may have."""
    with context.db.write() as tx:
        return insert_space(
            tx,
            organization_id=organization_id,
            collection_id=collection_id,
            title=title[:_TITLE_MAX],
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


def write_state(
    tx: Transaction,
    store: FileStore,
    state: State,
    folder: Path,
    change: Callable[[Exported], Exported] = lambda exported: exported,
) -> Iterator[Written]:
    """Writes the files of a state below ``folder``, one at a time, each as ``change`` makes it. Raises BadRequest for one
    that leads out."""
    root = folder.resolve()
    for exported in map(change, export_files(tx, store, state)):
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
