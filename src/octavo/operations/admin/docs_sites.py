"""Import a repository that has a ``docs.yaml`` as a site with all of its spaces, and export a site as a repository
of this kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from octavo.content.revisions.states import main_state
from octavo.core.docs_config import DOCS_PATH, DocsConfig, DocsEntry, read_docs, write_docs
from octavo.core.languages import LANGUAGES
from octavo.core.links import app_hosts
from octavo.core.problems import Problem
from octavo.core.sources import Source
from octavo.core.yaml_text import YamlError
from octavo.errors import BadRequest
from octavo.interchange.transfer.brand_images import store_brand
from octavo.interchange.transfer.space_links import guess_ids, with_names
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient
from octavo.organization.access.authorization import site_access
from octavo.organization.access.members import find_first_administrator
from octavo.organization.access.reach import actor_for_job
from octavo.organization.access.roles import Can
from octavo.organization.orgs.store import get_organization
from octavo.organization.spaces.store import insert_space, update_space
from octavo.sites.site.creating import create_site
from octavo.sites.site.published import published_url
from octavo.sites.site.redirects.importing import redirect_old_urls
from octavo.sites.site.store import find_site_by_docs_source, get_site, list_all_sites, set_published
from octavo.sites.site.structure.arranging import arrange_site, describe_site, provide_spaces, require_bounds
from octavo.sites.site.structure.store import MAX_DEPTH

from .import_export import (
    CompletedImport,
    Progress,
    brand_new_site,
    check_known,
    identity_of,
    import_into_space,
    is_space_of,
    make_space,
    name_of,
    opened,
    organization_of,
    write_state,
)
from .lookup import find_named


class ImportedSite(Struct, frozen=True):
    """Site created from a repository with ``docs.yaml``.

    ``site_url``: the URL of the site, if it is published. ``spaces``: the imports of the spaces that have a directory,
    by key. ``known``: the spaces that IDs in links refer to, by ID, if they could be determined. ``problems``: the
    problems with ``docs.yaml`` itself.
    """

    site: str
    site_url: str | None
    spaces: dict[str, CompletedImport]
    known: dict[str, str]
    problems: list[Problem]


def import_as_site_or_space(
    context: Context,
    where: str,
    *,
    organization_id: str,
    collection_id: str | None = None,
    title: str | None = None,
    site: str | None = None,
    new_site: bool = False,
    publish: bool = False,
    known: Mapping[str, str] = MappingProxyType({}),
    progress: Progress = lambda done, total: None,
    kind: str | None = None,
    whole: bool = False,
    several: bool = True,
    opening: Callable[[], AbstractContextManager[Source]] | None = None,
    private: bool = False,
) -> CompletedImport | ImportedSite:
    """Import a source as a site or as one new space.

    A source with a ``docs.yaml`` becomes the site that it describes. If ``several`` is set, a source with more than one
    version or language becomes a site that has these as its variants. The site is, in order of preference, the one that
    ``site`` specifies, the one previously created from this source, or a new site.

    ``known``: existing spaces into which to import, by their keys in ``docs.yaml``. ``whole``: whether to replace
    the content of each space with its directory. ``opening``: a function that opens the source if it isn't a file.
    In that case, ``where`` only identifies the source. ``private``: whether only administrators can see the new
    spaces until they share them.

    Raises BadRequest if the source or ``docs.yaml`` can't be read, if ``title`` is given even though ``docs.yaml``
    has its own titles, or if another site has this title and ``new_site`` isn't set. Raises NotFound if the
    organization, collection, or site doesn't exist.
    """
    organization_of(context, organization_id, None, collection_id)
    check_known(context, organization_id, known)
    with opening() if opening is not None else opened(context, where, kind, several) as source:
        if not source.parts and (DOCS_PATH not in source.paths() or source.kind != "octavo"):
            if site is not None or new_site:
                raise BadRequest(
                    f"{where}: there is no {DOCS_PATH}, so the source can't be imported as a site"
                )
            name = title or name_of(source)
            space_id = make_space(context, organization_id, collection_id, name, private=private)
            return import_into_space(
                context, source, where, space_id, known, title, publish, None, progress, whole
            )
        if title is not None and not source.parts:
            raise BadRequest(f"title: can't be used, because {DOCS_PATH} already sets the spaces' titles")
        config = DocsConfig(title=title, structure=list(source.structure)) if source.parts else _read(source)
        config.title = config.title or (name if len(name := name_of(source)[:128]) >= 2 else "Documentation")
        parts = source.parts or _parts(source, config)
        site_id = _find_site(context, organization_id, config.title, identity_of(where), site, new_site)
        brand = store_brand(context, source.brand)
        bringing = _SiteImport(context, organization_id, collection_id, known, config, private)
        guessed = bringing.guess(parts)
        with context.db.write() as tx:
            spaces = bringing.provide_spaces(tx, site_id, parts)
            is_new = site_id is None
            if site_id is None:
                site_id = create_site(tx, organization_id=organization_id, title=config.title)
            config.problems += arrange_site(tx, site_id, config, spaces, identity_of(where))
            if is_new:
                config.problems += brand_new_site(tx, context, site_id, brand)
        names = {**{id: spaces[key] for id, key in guessed.items()}, **spaces, **known}
        made: dict[str, CompletedImport] = {}
        for key, part in parts.items():
            done = next((one for one in made.values() if one.outcome.space == spaces[key]), None)
            made[key] = done or import_into_space(
                context, part, where, spaces[key], names, None, False, None, progress, whole, in_site=True
            )
        for entry in source.structure:
            if not entry.default:
                config.problems += _redirect_old_urls(context, site_id, spaces[entry.key], parts[entry.key])
    with context.db.write() as tx:
        if publish:
            set_published(tx, site_id, True)
        row = get_site(tx, site_id)
        address = published_url(context.settings.sites_url, get_organization(tx, organization_id), row)
    known_here = {id: spaces[key] for id, key in guessed.items()}
    return ImportedSite(site_id, address if row.published else None, made, known_here, config.problems)


def _redirect_old_urls(context: Context, site_id: str, space_id: str, source: Source) -> list[Problem]:
    """Redirect old URLs of a variant to its pages, on behalf of an organization administrator. Return problems for
    URLs that couldn't be redirected."""
    with context.db.write() as tx:
        row = get_site(tx, site_id)
        user = find_first_administrator(tx, row.organization_id)
        if user is None:
            return []
        access = site_access(
            tx, actor_for_job(user, row.organization_id), Can.ADMIN, row.organization_id, site_id
        )
        return redirect_old_urls(tx, Recipient(context=context), access, space_id, source.addresses)


def _read(source: Source) -> DocsConfig:
    try:
        text = source.read(DOCS_PATH).decode("utf-8")
        config = read_docs(text, max_depth=MAX_DEPTH, languages=LANGUAGES)
    except (YamlError, UnicodeDecodeError) as error:
        raise BadRequest(f"{DOCS_PATH}: {error}") from None
    require_bounds(config)
    return config


def _parts(source: Source, config: DocsConfig) -> dict[str, Source]:
    """Return the files of each space that has a directory, by the key of the space. Raises BadRequest if no space
    has a directory."""
    parts = {}
    for entry in config.spaces:
        if entry.directory is None:
            continue
        part = source.within(entry.directory, without="" if entry.directory else DOCS_PATH)
        if part.paths():
            parts[entry.key] = part
        else:
            message = f"there is no folder {entry.directory or './'}; {entry.key} was skipped"
            config.problems.append(Problem(DOCS_PATH, entry.line, "missing_directory", message))
    if not parts:
        raise BadRequest(f"{DOCS_PATH}: none of the folders exist")
    return parts


def _find_site(
    context: Context, organization_id: str, title: str, source: str, site: str | None, new_site: bool
) -> str | None:
    """Return the site into which to import; None for a new site."""
    if site is not None:
        return find_named(context, site, ["site"], organization_id).id
    if new_site:
        return None
    with context.db.read() as tx:
        found = find_site_by_docs_source(tx, organization_id, source)
        same = [one for one in list_all_sites(tx) if one.title == title]
    same = [one for one in same if one.organization_id == organization_id]
    if found is None and same:
        ids = ", ".join(one.id for one in same)
        raise BadRequest(
            f"The organization already has a site named {title!r} ({ids}) that wasn't created from this"
            " source. Nothing was changed. Use --site with its ID to import into it, or --new-site to create"
            " another site."
        )
    return found


class _SiteImport:
    """Import of a site. It determines the space into which each entry of ``docs.yaml`` is imported, and the spaces
    to which links refer."""

    def __init__(
        self,
        context: Context,
        organization_id: str,
        collection_id: str | None,
        known: Mapping[str, str],
        config: DocsConfig,
        private: bool,
    ) -> None:
        self._context = context
        self._organization_id = organization_id
        self._collection_id = collection_id
        self._known = known
        self._config = config
        self._private = private

    def guess(self, parts: Mapping[str, Source]) -> dict[str, str]:
        """Guess which spaces unknown IDs in links refer to. Return the keys of these spaces' entries, by ID."""
        keys = {entry.key for entry in self._config.spaces}
        with self._context.db.read() as tx:
            return guess_ids(
                parts,
                lambda id: id in keys or id in self._known or is_space_of(tx, id, self._organization_id),
                app_hosts(self._context.settings.url),
            )

    def provide_spaces(
        self, tx: Transaction, site_id: str | None, parts: Mapping[str, Source]
    ) -> dict[str, str]:
        """Return the space for each entry: in order of preference, a space in the mapping ``known``, a space that the
        site already has, or a new space."""
        return provide_spaces(tx, site_id, self._config, parts, self._known, partial(self._make, tx), by=None)

    def _make(self, tx: Transaction, entry: DocsEntry) -> str:
        made = insert_space(
            tx,
            organization_id=self._organization_id,
            collection_id=self._collection_id,
            title=entry.title,
            language=entry.language,
            created_by=None,
        )
        if self._private:
            update_space(tx, made.id, default_level=None)
        return made.id


def export_site_files(context: Context, site_id: str, folder: Path) -> dict[str, object]:
    """Export a site as a repository: ``docs.yaml``, and the files of each space in a separate folder.

    Links between the site's spaces use the keys of the spaces. Existing files are overwritten, and none are
    deleted.
    """
    hosts = app_hosts(context.settings.url)
    with context.db.read() as tx:
        described = describe_site(tx, get_site(tx, site_id))
        names: dict[str, str] = {}
        for entry in described.config.spaces:
            names.setdefault(described.spaces[entry.directory or ""], entry.key)
        change: Callable[[Any], Any] = partial(with_names, names=names, hosts=hosts)
        written = [
            one
            for directory, space_id in described.spaces.items()
            for one in write_state(tx, context.files, main_state(tx, space_id), folder / directory, change)
        ]
    folder.mkdir(parents=True, exist_ok=True)
    text = write_docs(described.config).encode()
    (folder / DOCS_PATH).write_bytes(text)
    return {
        "site": site_id,
        "spaces": len(described.spaces),
        "files": len(written) + 1,
        "bytes": sum(one.size for one in written) + len(text),
    }
