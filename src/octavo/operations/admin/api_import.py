"""Import content from GitBook or another Octavo server through its API.

Each space is imported completely or not at all, and its state is recorded. Therefore, an import that was
interrupted continues when it is started again: unchanged content is skipped, and changed content is merged with
local edits.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from octavo.content.changes.authorization import ChangeAccess, change_access
from octavo.content.changes.commands import ContentChange
from octavo.content.changes.saving import EditedChange, create, edit_change, set_change
from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.states import main_state
from octavo.core.docs_config import DocsConfig, DocsEntry, read_docs, write_docs
from octavo.core.document.json import DocumentError
from octavo.core.languages import LANGUAGES
from octavo.core.links import app_hosts
from octavo.core.page_tree import PageTree
from octavo.core.problems import Problem
from octavo.core.sources import Source, SourceError
from octavo.errors import BadRequest, Conflict, NotFound, OctavoError
from octavo.interchange.readers.scratch import TemporaryFiles
from octavo.interchange.transfer.api_client import ResourceMissing
from octavo.interchange.transfer.hosted import (
    HostedApi,
    escaped,
    list_of,
    object_of,
    open_space,
    pages_of,
    read_markdown,
    text_of,
)
from octavo.interchange.transfer.importing import ImportOutcome
from octavo.interchange.transfer.platforms import Service, platform_at
from octavo.interchange.transfer.readme import Project, ReadMe
from octavo.interchange.transfer.reimporting import (
    begin_source,
    end_noted,
    find_noted_change,
    import_source,
    known_space,
    note_change,
)
from octavo.interchange.transfer.space_links import with_ids
from octavo.kit.context import Context
from octavo.kit.http.operation import Recipient
from octavo.kit.net.fetch import Fetcher, FetchError
from octavo.kit.temporary import TemporaryFolder
from octavo.organization.access.authorization import SiteAccess, site_access, space_access
from octavo.organization.access.members import find_first_administrator
from octavo.organization.access.reach import actor_for_job
from octavo.organization.access.roles import Can
from octavo.organization.spaces.store import insert_space
from octavo.sites.site.creating import create_site
from octavo.sites.site.customization.editing import list_differences, override, put_customization
from octavo.sites.site.customization.model import Override, PutCustomization
from octavo.sites.site.redirects.editing import RedirectEditor
from octavo.sites.site.redirects.wire import CreateRedirect, fields_of
from octavo.sites.site.store import find_site_by_docs_source, set_published
from octavo.sites.site.structure.arranging import arrange_site, find_parts, require_bounds
from octavo.sites.site.structure.store import MAX_DEPTH

from .docs_sites import ImportedSite, import_as_site_or_space
from .import_export import CompletedImport, identity_of, import_into_space, make_space

_TITLE_MAX = 50
Progress = Callable[[int, int], None]


class ApiImportedSpace(Struct, rename="camel", omit_defaults=True):
    """Imported space. ``outcome``: the result of the import; None if the space hasn't changed since the last
    import."""

    id: str
    source: str
    title: str
    change_requests: int = 0
    outcome: ImportOutcome | None = None
    problems: list[Problem] = []


class ApiImportedSite(Struct, rename="camel", omit_defaults=True):
    id: str
    source: str
    title: str
    redirects: int = 0
    problems: list[Problem] = []


class ApiImportResult(Struct, rename="camel", omit_defaults=True):
    """Result of an import through an API. ``stopped``: the reason the import stopped early, if it did. Running the
    import again continues it."""

    spaces: list[ApiImportedSpace]
    sites: list[ApiImportedSite]
    stopped: str = ""


def import_from_api(
    context: Context,
    address: str,
    token: str,
    *,
    organization_id: str,
    collection_id: str | None = None,
    source: str | None = None,
    publish: bool = False,
    progress: Progress = lambda done, total: None,
    wait: Callable[[float], None] = time.sleep,
) -> ApiImportResult:
    """Import the spaces and sites of a remote organization that the token can access.

    ``source``: the ID or title of the remote organization, if the token can access more than one. Raises BadRequest
    if there is nothing to import.
    """
    fetcher = Fetcher(context.settings.allow_private_fetch)
    try:
        fetcher.check_url(address)
    except FetchError as error:
        raise BadRequest(f"--from: {error.message}") from None
    moving = _ApiImport(context, HostedApi(address, token, fetcher, wait), organization_id, collection_id)
    try:
        from_here = moving.choose(source)
        spaces = list(moving.remote.all(f"/orgs/{escaped(from_here)}/spaces"))
    except SourceError as error:
        raise BadRequest(f"--from: {error}") from None
    done = ApiImportResult([], [])
    try:
        moving.make_spaces(spaces)
        for number, space in enumerate(spaces):
            progress(number, len(spaces))
            done.spaces.append(moving.import_space(space))
        progress(len(spaces), len(spaces))
        for site in moving.remote.all(f"/orgs/{escaped(from_here)}/sites"):
            done.sites.append(moving.import_site(from_here, site, publish))
    except SourceError as error:
        done.stopped = str(error)
    return done


def import_spaces_from_api(
    context: Context,
    service: Service,
    address: str,
    user: str | None,
    token: str,
    *,
    organization_id: str,
    collection_id: str | None = None,
    wanted: Sequence[str] = (),
    publish: bool = False,
    progress: Progress = lambda done, total: None,
    wait: Callable[[float], None] = time.sleep,
) -> ApiImportResult | CompletedImport | ImportedSite:
    """Import spaces from another platform. The first import of each space creates a local space for it.

    ``wanted``: the keys or versions of the spaces; by default, all that the token can access. If a ReadMe project
    has several versions and all of them are imported, the project becomes a site with the versions as its variants.
    Raises BadRequest if there is nothing to import.
    """
    fetcher = Fetcher(context.settings.allow_private_fetch)
    try:
        fetcher.check_url(address)
    except FetchError as error:
        raise BadRequest(f"--from: {error.message}") from None
    platform = platform_at(service, address, user, token, fetcher, wait)
    where = address.rstrip("/")
    try:
        if isinstance(platform, ReadMe):
            project = platform.project()
            # All projects have the same URL.
            where = f"{where}/{escaped(project.id)}"
            if not wanted and len(platform.versions()) > 1:
                return import_as_site_or_space(
                    context,
                    where,
                    organization_id=organization_id,
                    collection_id=collection_id,
                    publish=publish,
                    progress=progress,
                    opening=lambda: _opened_whole(platform, project),
                )
        found = platform.find_spaces()[0]
    except SourceError as error:
        raise BadRequest(f"--from: {error}") from None
    if missing := [one for one in wanted if one not in {space.id for space in found}]:
        names = ", ".join(space.id for space in found[:20]) or "none"
        raise BadRequest(
            f"--from-space: there is no space with the ID {missing[0]!r}. The token can access: {names}"
        )
    chosen = [space for space in found if not wanted or space.id in wanted]
    places = {space.id: f"{where}/spaces/{escaped(space.id)}" for space in chosen}
    here: dict[str, str] = {}
    for space in chosen:
        identity = identity_of(places[space.id])
        with context.db.read() as tx:
            known = known_space(tx, organization_id, identity)
        if known is None:
            here[space.id] = make_space(context, organization_id, collection_id, space.title)
            with context.db.write() as tx:
                begin_source(tx, here[space.id], identity, space.title)
        else:
            here[space.id] = known[0]
    done = ApiImportResult([], [])
    for number, space in enumerate(chosen):
        progress(number, len(chosen))
        try:
            with ExitStack() as stack:
                folder = TemporaryFiles(Path(stack.enter_context(TemporaryFolder("import"))))
                source = platform.open(space.id, folder, stack)
                brought = import_into_space(
                    context,
                    source,
                    places[space.id],
                    here[space.id],
                    {},
                    None,
                    publish,
                    None,
                    lambda done, total: None,
                    False,
                )
        except SourceError as error:
            done.stopped = str(error)
            break
        done.spaces.append(ApiImportedSpace(here[space.id], space.id, space.title, outcome=brought.outcome))
    progress(len(done.spaces), len(chosen))
    return done


@contextmanager
def _opened_whole(platform: ReadMe, project: Project) -> Iterator[Source]:
    with TemporaryFolder("import") as place:
        yield platform.open_all(project, TemporaryFiles(Path(place)))


class _ApiImport:
    def __init__(
        self, context: Context, remote: HostedApi, organization_id: str, collection_id: str | None
    ) -> None:
        self.context, self.remote = context, remote
        self.organization_id, self.collection_id = organization_id, collection_id
        self.spaces: dict[str, str] = {}
        self.states: dict[str, str] = {}
        self.shown: dict[str, str] = {}
        """Remote space that each remote site space shows."""
        self._paired: dict[str, dict[str, str]] = {}
        with context.db.read() as tx:
            administrator = find_first_administrator(tx, organization_id)
        if administrator is None:
            raise BadRequest(
                "Sites and change requests are created on behalf of an administrator, but the organization "
                "has none. Add an administrator first."
            )
        self.actor = actor_for_job(administrator, organization_id)

    def choose(self, wanted: str | None) -> str:
        there = list(self.remote.all("/orgs"))
        found = [one for one in there if wanted in (None, one.get("id"), one.get("title"))]
        if len(found) == 1:
            return text_of(found[0], "id")
        names = ", ".join(f"{text_of(one, 'title')} ({text_of(one, 'id')})" for one in there[:20]) or "none"
        raise SourceError(
            f"--from-org: is required. Choose an organization that the token can access: {names}"
        )

    def identity(self, kind: str, id: str) -> str:
        return hashlib.sha256(f"{self.remote.base} {kind} {id}".encode("utf-8", "replace")).hexdigest()

    def make_spaces(self, spaces: list[dict[str, object]]) -> None:
        """Create a local space for each remote space, so that links between them can be resolved from the start."""
        for space in spaces:
            id, title = text_of(space, "id"), text_of(space, "title") or "Imported"
            identity = self.identity("space", id)
            with self.context.db.write() as tx:
                known = known_space(tx, self.organization_id, identity)
                if known is None:
                    language = text_of(space, "language")
                    made = insert_space(
                        tx,
                        organization_id=self.organization_id,
                        collection_id=self.collection_id,
                        title=title[:_TITLE_MAX],
                        created_by=None,
                        emoji=text_of(space, "emoji") or None,
                        language=language if language in LANGUAGES else None,
                    )
                    begin_source(tx, made.id, identity, title)
                    known = made.id, ""
            self.spaces[id], self.states[id] = known

    # --- a space --------------------------------------------------------------------------------------

    def import_space(self, space: dict[str, object]) -> ApiImportedSpace:
        id = text_of(space, "id")
        # Its current state is requested again, because the list may be outdated.
        current = self.remote.get(f"/spaces/{escaped(id)}")
        state = text_of(current, "revision")
        moved = ApiImportedSpace(self.spaces[id], id, text_of(space, "title"))
        if not state or state != self.states[id]:
            hosts = app_hosts(self.context.settings.url)
            with ExitStack() as stack:
                folder = TemporaryFiles(Path(stack.enter_context(TemporaryFolder("import"))))
                source = with_ids(open_space(self.remote, current, folder, stack), self.spaces, hosts)
                moved.outcome = import_source(
                    self.context,
                    source,
                    self.spaces[id],
                    identity=self.identity("space", id),
                    state_of=state,
                )
            moved.problems += self._find_missing(id)
        for status in ("open", "draft"):
            for change in list(self.remote.all(f"/spaces/{escaped(id)}/change-requests", status=status)):
                moved.change_requests += self._import_change_request(id, change, moved.problems)
        return moved

    def _list_local_pages(self, space: str) -> dict[str, str]:
        with self.context.db.read() as tx:
            tree = PageTree(list_pages(tx, main_state(tx, self.spaces[space])))
        return {tree.path(page): page.id for page in tree if page.kind != "link"}

    def _pair_pages(self, space: str) -> dict[str, str]:
        """Return the pages of a local space, by remote ID."""
        here = self._list_local_pages(space)
        pages = pages_of(self.remote.get(f"/spaces/{escaped(space)}/content/pages"))
        found = {text_of(page, "id"): here.get(text_of(page, "path").strip("/")) for page in pages}
        return {id: page for id, page in found.items() if page is not None}

    def _find_missing(self, space: str) -> Iterator[Problem]:
        """Yield a problem for each remote page that wasn't imported."""
        here = self._list_local_pages(space)
        for page in pages_of(self.remote.get(f"/spaces/{escaped(space)}/content/pages")):
            path = text_of(page, "path").strip("/")
            if page.get("type", "document") in ("document", "group") and path not in here:
                yield Problem(path, 0, "missing_page", "this page wasn't imported")

    # --- change requests ------------------------------------------------------------------------------

    def _import_change_request(self, space: str, change: dict[str, object], problems: list[Problem]) -> bool:
        """Import a change request with its page edits. Return False if it was already imported."""
        id, subject = text_of(change, "id"), text_of(change, "subject")
        identity, name = self.identity("change", id), f"#{change.get('number')} {subject}".strip()
        with self.context.db.read() as tx:
            known = find_noted_change(tx, self.organization_id, identity)
        if known is not None and known.is_whole:
            return False
        at = f"/spaces/{escaped(space)}/change-requests/{escaped(id)}"
        edits = _Edits(self.remote, at, self._pair_pages(space))
        edits.read()
        if change.get("outdated") is True:
            said = "the change request is outdated; compare it with its space before you merge it"
            edits.problems.append(Problem("", 0, "outdated", said))
        with self.context.db.write() as tx:
            access = space_access(tx, self.actor, Can.EDIT, self.spaces[space])
            if known is not None and known.change_id is not None:
                # The previous import was interrupted, so its content is unusable.
                set_change(tx, change_access(tx, access, known.change_id), status="archived")
            made = change_access(tx, access, create(tx, access, subject[:100]).id)
            run = note_change(tx, self.spaces[space], made.change_id, identity, name)
        edits.make(self.context, made)
        with self.context.db.write() as tx:
            if change.get("status") == "open":
                set_change(tx, made, status="open")
            end_noted(tx, run, edits.problems)
        problems += [
            Problem(f"{name} {one.path}".strip(), 0, one.code, one.message) for one in edits.problems
        ]
        return True

    # --- a site ---------------------------------------------------------------------------------------

    def import_site(self, organization: str, site: dict[str, object], publish: bool) -> ApiImportedSite:
        id, title = text_of(site, "id"), text_of(site, "title")
        at = f"/orgs/{escaped(organization)}/sites/{escaped(id)}"
        structure = self.remote.get(f"{at}/structure")
        config = DocsConfig(
            title=title[:128] if len(title) >= 2 else "Documentation",
            structure=[
                entry for node in list_of(structure, "structure") if (entry := self._entry(node)) is not None
            ],
        )
        # The API's response must follow the same rules as a file.
        config = read_docs(write_docs(config), max_depth=MAX_DEPTH, languages=LANGUAGES)
        require_bounds(config)
        try:
            look = self.remote.get(f"{at}/customization")
            redirects = list(self.remote.all(f"{at}/redirects"))
        except ResourceMissing:
            look, redirects = None, []
        own_looks = {}
        for entry in config.spaces if look is not None else ():
            with suppress(ResourceMissing):
                own_looks[entry.key] = self.remote.get(f"{at}/site-spaces/{escaped(entry.key)}/customization")
        identity = self.identity("site", id)
        spaces = {entry.key: self.spaces[self.shown[entry.key]] for entry in config.spaces}
        with self.context.db.write() as tx:
            known = find_site_by_docs_source(tx, self.organization_id, identity)
            here = known or create_site(tx, organization_id=self.organization_id, title=config.title or title)
            moved = ApiImportedSite(here, id, title)
            moved.problems += config.problems + arrange_site(tx, here, config, spaces, identity)
            access = site_access(tx, self.actor, Can.ADMIN, self.organization_id, here)
            places = find_parts(tx, here)
        if known is None and look is not None:
            # Settings that people have changed locally since are kept.
            self._apply_customization(access, look, own_looks, places, moved)
        for redirect in redirects:
            moved.redirects += self._redirect(access, redirect, places, moved)
        if publish and site.get("published") is True:
            with self.context.db.write() as tx:
                set_published(tx, here, True)
        return moved

    def _entry(self, node: dict[str, object]) -> DocsEntry | None:
        """Convert a part of a site; return None for a space that the token can't access."""
        kind, id = text_of(node, "object"), text_of(node, "id")
        common: dict[str, Any] = {
            "key": id,
            "path": text_of(node, "path") or None,
            "icon": text_of(node, "icon") or None,
            "condition": text_of(node, "condition") or None,
            "default": node.get("default") is True,
        }
        if kind == "site-space":
            space = object_of(node.get("space"))
            if text_of(space, "id") not in self.spaces:
                return None
            self.shown[id] = text_of(space, "id")
            title = text_of(node, "title") or text_of(space, "title")
            return DocsEntry(type="space", title=title[:50], **common | {"icon": None})
        children = [
            entry
            for child in list_of(node, "siteSpaces" if kind == "site-section" else "children")
            if (entry := self._entry(child)) is not None
        ]
        if not children:
            return None
        if kind == "site-section-group":
            common |= {"path": None, "condition": None, "default": False}
            return DocsEntry(type="section-group", title=text_of(node, "title"), children=children, **common)
        return DocsEntry(
            type="section",
            title=text_of(node, "title"),
            description=text_of(node, "description") or None,
            draft=node.get("draft") is True,
            children=children,
            **common,
        )

    def _apply_customization(
        self,
        access: SiteAccess,
        look: dict[str, Any],
        own_looks: dict[str, Any],
        places: dict[str, str],
        moved: ApiImportedSite,
    ) -> None:
        """Apply the customization of the remote site, and of its site spaces that have their own customization.
        ``own_looks``: the customization of these site spaces, by remote ID."""
        ids = {**self.spaces, **places}
        try:
            body = msgspec.convert(_renamed(look, ids), PutCustomization)
            own = {
                places[key]: msgspec.convert(_renamed(list_differences(look, other), ids), Override)
                for key, other in own_looks.items()
                if other != look and key in places
            }
            with self.context.db.write() as tx:
                put_customization(tx, access, body)
                for site_space, differences in own.items():
                    override(tx, access, site_space, differences)
        except (msgspec.ValidationError, OctavoError) as error:
            moved.problems.append(
                Problem("customization", 0, "left_out", f"the customization couldn't be imported: {error}")
            )

    def _redirect(
        self, access: SiteAccess, redirect: dict[str, object], places: dict[str, str], moved: ApiImportedSite
    ) -> bool:
        source = text_of(redirect, "source")
        destination = object_of(redirect.get("destination"))
        try:
            page = text_of(destination, "pageId")
            known = {**places}
            if page:
                known[page] = self._page(text_of(destination, "siteSpaceId"), page, places)
            names = ("captureWildcard", "permanent")
            kept: dict[str, Any] = {name: redirect[name] for name in names if name in redirect}
            made = {"source": source, "destination": _renamed(destination, known), **kept}
            body = msgspec.convert(made, CreateRedirect)
            with self.context.db.write() as tx:
                RedirectEditor(tx, Recipient(context=self.context), access).create(fields_of(body))
        except Conflict:
            return False  # It has already been imported.
        except (msgspec.ValidationError, OctavoError) as error:
            moved.problems.append(Problem(source, 0, "left_out", f"the redirect was skipped: {error}"))
            return False
        return True

    def _page(self, site_space: str, page: str, places: dict[str, str]) -> str:
        """Return the local page that a redirect leads to. Raises NotFound if there is none."""
        space = self.shown.get(site_space)
        if space is not None:
            if space not in self._paired:
                self._paired[space] = self._pair_pages(space)
            if found := self._paired[space].get(page):
                return found
        raise NotFound("the redirect's target page wasn't imported")


class _Edits:
    """Edits to pages in a remote change request, converted to edits in a local change request. ``pairs``: the local
    pages, by remote ID."""

    def __init__(self, remote: HostedApi, at: str, pairs: dict[str, str]) -> None:
        self._remote, self._at, self._pairs = remote, at, pairs
        self._created: list[tuple[str, str | None, dict[str, Any]]] = []
        self._others: list[dict[str, Any]] = []
        self.problems: list[Problem] = []

    def read(self) -> None:
        changed: dict[str, set[str]] = {}
        for change in self._changes():
            page = change.get("page")
            kind = text_of(change, "type")
            if kind.startswith("page_") and isinstance(page, dict):
                changed.setdefault(text_of(page, "id"), set()).add(kind)
            else:
                self.problems.append(
                    Problem(
                        "",
                        0,
                        "left_out",
                        f"{kind}: changes to files, variables, and reusable content weren't imported",
                    )
                )
        if not changed:
            return
        tree = self._remote.get(f"{self._at}/content/pages")
        above = {
            text_of(below, "id"): text_of(page, "id")
            for page in pages_of(tree)
            for below in list_of(page, "pages")
        }
        for page in pages_of(tree):
            id = text_of(page, "id")
            if id in changed:
                self._read_page(page, changed.pop(id), above.get(id))
        for id in changed:
            if id in self._pairs:
                self._others.append({"operation": "delete_page", "page": self._pairs[id]})

    def _changes(self) -> Iterator[dict[str, object]]:
        place = None
        while True:
            answer = self._remote.get(f"{self._at}/changes", limit=1000, page=place)
            yield from list_of(answer, "changes")
            place = text_of(object_of(answer.get("next")), "page")
            if not place:
                return

    def _read_page(self, page: dict[str, object], kinds: set[str], above: str | None) -> None:
        id, path = text_of(page, "id"), text_of(page, "path")
        if page.get("type", "document") != "document":
            self.problems.append(
                Problem(path, 0, "left_out", "groups and links in change requests weren't imported")
            )
            return
        try:
            text = read_markdown(self._remote, f"{self._at}/content", page)
        except (DocumentError, ResourceMissing) as error:
            self.problems.append(Problem(path, 0, "not_converted", f"the content can't be read: {error}"))
            return
        edit: dict[str, Any] = {"document": {"markdown": text}}
        if id not in self._pairs:
            edit |= {"title": text_of(page, "title"), "slug": text_of(page, "slug")}
            self._created.append((id, above, edit))
            return
        edit |= {"operation": "update_page", "page": self._pairs[id]}
        if "page_moved" in kinds:
            edit["into"] = above and self._pairs.get(above)
        self._others.append(edit)

    def make(self, context: Context, change: ChangeAccess) -> None:
        """Apply the edits. Failed edits are reported as problems."""
        for id, above, edit in self._created:
            made = {**edit, "operation": "insert_page", "into": above and self._pairs.get(above)}
            if (outcome := self._edit(context, change, made)) is not None:
                self._pairs[id] = outcome.edited.outcomes[0].page_id
        for edit in self._others:
            self._edit(context, change, edit)

    def _edit(self, context: Context, change: ChangeAccess, edit: dict[str, Any]) -> EditedChange | None:
        try:
            return edit_change(context, change, [msgspec.convert(edit, ContentChange)])
        except (msgspec.ValidationError, OctavoError) as error:
            said = f"this edit couldn't be applied: {error}"
            self.problems.append(Problem(edit.get("title", ""), 0, "left_out", said))
            return None


def _renamed(value: object, ids: dict[str, str]) -> object:
    if isinstance(value, dict):
        return {name: _renamed(one, ids) for name, one in value.items()}
    if isinstance(value, list):
        return [_renamed(one, ids) for one in value]
    return ids.get(value, value) if isinstance(value, str) else value
