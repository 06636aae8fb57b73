"""Open, import, publish, and export content for the command line and the first start."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from octavo.content.revisions.states import State, main_state, revision_state
from octavo.core.docs_config import read_map
from octavo.core.links import app_hosts
from octavo.core.problems import Problem
from octavo.core.sources import Source, SourceError
from octavo.core.url_parts import read_address
from octavo.core.yaml_text import YamlError
from octavo.errors import BadRequest, NotFound
from octavo.interchange.transfer.brand_images import StoredBrand, store_brand
from octavo.interchange.transfer.exporting import Exported, export_files
from octavo.interchange.transfer.importing import ImportOutcome
from octavo.interchange.transfer.opening import open_source
from octavo.interchange.transfer.previewing import ImportPreview, plan_source
from octavo.interchange.transfer.reimporting import import_source
from octavo.interchange.transfer.space_links import with_ids
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.files import FileStore
from octavo.kit.net.fetch import Fetcher, FetchError
from octavo.kit.temporary import TemporaryFolder
from octavo.organization.access.authorization import site_access
from octavo.organization.access.members import find_first_administrator
from octavo.organization.access.reach import actor_for_job
from octavo.organization.access.roles import Can
from octavo.organization.orgs.store import get_organization
from octavo.organization.spaces.store import get_space, insert_space, require_collection, update_space
from octavo.sites.site.branding import brand_site
from octavo.sites.site.creating import create_site
from octavo.sites.site.published import published_url
from octavo.sites.site.store import find_site_of_space, get_site, set_published

_TITLE_MAX = 50

Progress = Callable[[int, int], None]


class WrittenFile(Struct, frozen=True):
    """Written file: its SHA-256 hash, and its size in bytes."""

    hash: str
    size: int


class CompletedImport(Struct, frozen=True):
    """Completed import. ``site_url``: the URL of the published site, if it was published."""

    outcome: ImportOutcome
    site_url: str | None


def import_space(
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
    private: bool = False,
) -> CompletedImport:
    """Import a folder, a .zip file, or a Git URL into a space.

    ``space_id``: an existing space; by default, a new space is created, which requires ``organization_id``.
    ``private``: whether only administrators can see the new space until they share it.
    ``known``: the IDs of spaces on this server, by the names that links use for these spaces. ``kind``: the format
    of the source; detected by default. ``whole``: whether to replace the space's content with the source.

    Raises BadRequest if the source can't be read, and NotFound if the space or collection doesn't exist.
    """
    organization_id = organization_of(context, organization_id, space_id, collection_id)
    check_known(context, organization_id, known)
    with opened(context, where, kind) as source:
        if space_id is None:
            name = title or name_of(source)
            space_id = make_space(context, organization_id, collection_id, name, author, private)
        return import_into_space(
            context, source, where, space_id, known, title, publish, author, progress, whole
        )


class Previewed(Struct, rename="camel"):
    """Preview of an import."""

    kind: str
    plan: ImportPreview
    problems: list[Problem]


def preview(context: Context, where: str, kind: str | None = None, several: bool = True) -> Previewed:
    """Return the content that importing a source would create, without importing it.

    ``several``: whether to include all versions and languages. Raises BadRequest if the source can't be read.
    """
    hosts, size = app_hosts(context.settings.url), context.settings.page_size
    with opened(context, where, kind, several) as source:
        plan, problems = plan_source(source, size, hosts, lambda: None)
        return Previewed(source.kind or "octavo", plan, problems)


def read_known(file: Path) -> dict[str, str]:
    """Read a file that maps space names or IDs, as used in links, to spaces on this server. Raises BadRequest if the
    file can't be read."""
    try:
        return read_map(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, YamlError) as error:
        raise BadRequest(f"{file}: {error}") from None


@contextmanager
def opened(context: Context, where: str, kind: str | None = None, several: bool = False) -> Iterator[Source]:
    """Open a source in the detected format or, if ``kind`` is given, in that format.

    ``several``: whether to open the source's versions and languages as parts. Raises BadRequest if the source can't
    be read.
    """
    # Imported here so that only imports load the readers.
    from octavo.interchange.readers.converting import CONVERTED, convert_file, read_files
    from octavo.interchange.readers.scratch import TemporaryFiles
    from octavo.interchange.transfer.uploads import unpack_parts

    fetcher = Fetcher(context.settings.allow_private_fetch)

    def allow(url: str) -> str:
        try:
            return fetcher.check_url(url).addresses[0]
        except FetchError as error:
            raise ValueError(error.message) from None

    try:
        with ExitStack() as stack:
            folder = TemporaryFiles(Path(stack.enter_context(TemporaryFolder("import"))))
            if Path(where).suffix.lower() in CONVERTED and Path(where).is_file():
                source = convert_file(Path(where), folder)
            else:
                source = stack.enter_context(open_source(where, allow_url=allow, local=True))
                source = unpack_parts(source, folder, stack)
                source = read_files(source, folder, kind=kind, several=several)
            if not source.paths():
                left = f": {source.problems[0].path}: {source.problems[0].message}" if source.problems else ""
                raise BadRequest(f"{where}: there is nothing to import{left}")
            yield source
    except SourceError as error:
        raise BadRequest(f"{where}: {error}{_hint(where)}") from None


def _hint(where: str) -> str:
    """Return a hint for people who specified the URL of a website."""
    if not where.lower().startswith(("http://", "https://")):
        return ""
    return (
        ". A URL must point to a Git repository. To import a website, use the API: POST /v1/org/ORG/imports"
    )


def organization_of(
    context: Context, organization_id: str | None, space_id: str | None, collection_id: str | None
) -> str:
    with context.db.read() as tx:
        if space_id is not None:
            owner = get_space(tx, space_id).organization_id
            if organization_id not in (None, owner):
                raise NotFound(f"There is no space with the ID {space_id!r} in this organization.")
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
                    f"map: {name} is mapped to {space_id!r}, which isn't a space in the organization"
                )


def identity_of(where: str) -> str:
    """Return the identity of a source: a hash of its location without the branch and without credentials. Raises
    BadRequest if the location is invalid."""
    if "://" in where:
        address = read_address(where.partition("#")[0])
        if address is None:
            raise BadRequest("must be a valid URL")
        where = f"{address.scheme}://{address.authority.rpartition('@')[2]}{address.path}".rstrip("/")
    else:
        where = os.path.realpath(where)
    return hashlib.sha256(where.encode("utf-8", "surrogateescape")).hexdigest()


def import_into_space(
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
) -> CompletedImport:
    """Import an opened source into a space. ``where``: the source's location, which identifies it. ``in_site``: whether
    this is part of a site import, which applies the customization itself."""
    git = {"oid": source.commit, "message": "", "createdByService": False} if source.commit else None
    source = with_ids(source, known, app_hosts(context.settings.url))
    if not publish and source.brand and not in_site:
        source = replace(source, problems=(*source.problems, source.brand.left_out()))
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
        return CompletedImport(outcome, None)
    brand = store_brand(context, source.brand)
    with context.db.write() as tx:
        org = get_organization(tx, get_space(tx, space_id).organization_id)
        site_id = find_site_of_space(tx, space_id)
        if site_id is None:
            site_id = create_site(
                tx, organization_id=org.id, title=title or get_space(tx, space_id).title, spaces=[space_id]
            )
            outcome.problems.extend(brand_new_site(tx, context, site_id, brand))
        set_published(tx, site_id, True)
        return CompletedImport(outcome, published_url(context.settings.sites_url, org, get_site(tx, site_id)))


def brand_new_site(tx: Transaction, context: Context, site_id: str, given: StoredBrand) -> list[Problem]:
    """Customize a new site as its source specifies, on behalf of an administrator of the organization. Return
    problems for values that can't be used."""
    organization_id = get_site(tx, site_id).organization_id
    user = find_first_administrator(tx, organization_id)
    if user is None or not given.brand:
        return []
    actor = actor_for_job(user, organization_id)
    return brand_site(tx, context, site_access(tx, actor, Can.ADMIN, organization_id, site_id), given)


def name_of(source: Source) -> str:
    return source.name.replace("-", " ").replace("_", " ").strip() or "Imported"


def make_space(
    context: Context,
    organization_id: str,
    collection_id: str | None,
    title: str,
    author: str | None = None,
    private: bool = False,
) -> str:
    """Create a space. The title is shortened to the maximum length. ``private``: see ``import_space``."""
    with context.db.write() as tx:
        space = insert_space(
            tx,
            organization_id=organization_id,
            collection_id=collection_id,
            title=title[:_TITLE_MAX],
            created_by=author,
        )
        if private:
            update_space(tx, space.id, default_level=None)
        return space.id


def export_space(
    context: Context, space_id: str, folder: Path, *, revision_id: str | None = None
) -> dict[str, Any]:
    """Export a space as files to ``folder``. Existing files are overwritten, and none are deleted."""
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
) -> Iterator[WrittenFile]:
    """Write the files of a state to ``folder``, one at a time. ``change``: a function that modifies each file.
    Raises BadRequest if a file would be outside the folder."""
    root = folder.resolve()
    for exported in map(change, export_files(tx, store, state)):
        path = (root / exported.path).resolve()
        if not path.is_relative_to(root):
            raise BadRequest(f"{exported.path}: must not point outside of {folder}")
        path.parent.mkdir(parents=True, exist_ok=True)
        digest, size = hashlib.sha256(), 0
        with path.open("wb") as out:
            for piece in exported.pieces:
                digest.update(piece)
                size += out.write(piece)
        yield WrittenFile(digest.hexdigest(), size)
