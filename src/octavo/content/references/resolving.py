"""Resolve references in the same way for the API, the link index, published sites, and PDFs.

The result depends on the files of the space that contains the reference, on the hosts of this server (``hosts``), and
on the reader (``Viewer``): a page of another space is a page for readers who can see that space, and an external URL
for everyone else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct

from octavo.content.revisions.restrictions import main_seen_by
from octavo.content.revisions.states import State, main_state
from octavo.core import links
from octavo.core.document.nodes import Document
from octavo.core.document.references import TYPES_OF_FILES, Reference, rewrite
from octavo.core.json_types import JsonObject
from octavo.core.links import Target
from octavo.core.pages import Page
from octavo.errors import NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.authorization import SpaceAccess, find_space_access
from octavo.organization.access.roles import Can
from octavo.organization.spaces.store import get_space

from .lookup import Owner, SpaceFiles, StateFiles, find_include

Kind = Literal["url", "page", "file", "space", "user", "collection", "reusable-content", "openapi", "tag"]
Status = Literal["ok", "broken", "in-app"]

_ID_FIELD = {"reusable-content": "reusableContent", "openapi": "spec"}


class ResolvedReference(Struct, frozen=True):
    """Resolved reference. ``target``: the ID of the target; None if only the original reference is known. ``anchor``:
    the ID of an anchor in the target."""

    kind: Kind
    status: Status
    space: str | None = None
    target: str | None = None
    anchor: str | None = None


_BROKEN = ResolvedReference("url", "broken")


class Viewer(Protocol):
    """Reader for whom references are resolved. ``members``: whether references to people and collections of the
    organization are resolved."""

    members: bool

    def sees(self, space_id: str) -> bool: ...

    def files(self, space_id: str) -> SpaceFiles | None:
        """Return the files of another space, or None if the reader can't see it."""


class EverythingViewer:
    """Viewer that sees all spaces. The index uses it to store all targets, regardless of who can see them."""

    members = True

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def sees(self, space_id: str) -> bool:
        return True

    def files(self, space_id: str) -> SpaceFiles | None:
        return _main_files(self._tx, space_id)


class MemberViewer:
    """Viewer with an actor's permissions in the organization of the space being read."""

    members = True

    def __init__(self, tx: Transaction, actor: Actor, space_id: str) -> None:
        self._tx = tx
        self._actor = actor
        self._space_id = space_id

    def sees(self, space_id: str) -> bool:
        return self._access(space_id) is not None

    def files(self, space_id: str) -> SpaceFiles | None:
        access = self._access(space_id)
        return StateFiles(self._tx, main_seen_by(self._tx, access)) if access is not None else None

    def _access(self, space_id: str) -> SpaceAccess | None:
        access = find_space_access(self._tx, self._actor, Can.VIEW, space_id)
        own = get_space(self._tx, self._space_id).organization_id
        return access if access is not None and access.organization_id == own else None


class NobodyViewer:
    """Viewer that sees only the space itself, as in a PDF."""

    members = False

    def sees(self, space_id: str) -> bool:
        return False

    def files(self, space_id: str) -> SpaceFiles | None:
        return None


def _main_files(tx: Transaction, space_id: str) -> SpaceFiles | None:
    try:
        return StateFiles(tx, main_state(tx, space_id))
    except NotFound:
        return None


class Resolver:
    """Resolver of references in the files of one space, for one request. It also finds targets in other spaces that its
    viewer can see."""

    def __init__(self, own: SpaceFiles, hosts: tuple[str, ...], viewer: Viewer) -> None:
        self._own = own
        self._hosts = hosts
        self._viewer = viewer
        self._files: dict[str, SpaceFiles | None] = {own.space_id: own}
        self._seen: set[str] = set()

    @property
    def known(self) -> list[SpaceFiles]:
        """Return the files consulted so far, starting with the files of the resolver's space."""
        return [files for files in self._files.values() if files is not None]

    @property
    def asked(self) -> tuple[str, ...]:
        """Return the IDs of the other spaces consulted so far. Results stay valid as long as ``revisions`` returns the
        same revisions for these spaces."""
        return tuple(sorted((self._files.keys() | self._seen) - {self._own.space_id}))

    def revisions(self, space_ids: Iterable[str]) -> tuple[str | None, ...]:
        """Return the revision of each of these spaces, or None if the viewer can't see it."""
        found = (self.files(space_id) for space_id in space_ids)
        return tuple(files.revision_id if files is not None else None for files in found)

    def files(self, space_id: str) -> SpaceFiles | None:
        """Return the files of a space, or None if the viewer can't see it."""
        if space_id not in self._files:
            self._files[space_id] = self._viewer.files(space_id)
        return self._files[space_id]

    # --- single references ----------------------------------------------------------------------------

    def resolve(
        self, owner: Owner, ref: JsonObject, type: str, space_id: str | None = None
    ) -> ResolvedReference:
        """Resolve a reference in ``owner``, which is in the resolver's space or in ``space_id``. ``type``:
        the type of the node that contains the reference."""
        own = self.files(space_id) if space_id is not None else self._own
        assert own is not None
        written = ref.get("url")
        if ref.get("kind") != "url" or not isinstance(written, str):
            return self._by_id(own, owner, ref)
        if (named := links.by_kind(written)) is not None:
            return self._by_id(own, owner, named)
        if type == "reusable-content":
            found = find_include(own, owner, written)
            return ResolvedReference("reusable-content", "ok", own.space_id, found) if found else _BROKEN
        target = links.resolve(written, own, owner.file_path or "", app_hosts=self._hosts)
        if type in TYPES_OF_FILES and target.kind not in ("file", "url"):
            return _BROKEN
        return self._of_target(own, owner, target)

    def _of_target(self, own: SpaceFiles, owner: Owner, target: Target) -> ResolvedReference:
        match target.kind:
            case "page" | "anchor" if target.space is None:
                page = target.page or (owner.id if owner.kind == "page" else None)
                return self._page(own, owner, page, target.anchor)
            case "page" | "anchor":
                return self._elsewhere(target.space or own.space_id, target.path or "", target.anchor)
            case "file":
                return ResolvedReference("file", "ok", own.space_id, target.file)
            case "space":
                return self._space(target.space or own.space_id)
            case "in-app":
                ref = links.in_app(target.url or "") if self._viewer.members else None
                return self._person(ref) if ref is not None else ResolvedReference("url", "in-app")
            case "url":
                return ResolvedReference("url", "ok")
        return _BROKEN

    def _by_id(self, own: SpaceFiles, owner: Owner, ref: JsonObject) -> ResolvedReference:
        kind = ref.get("kind")
        match kind:
            case "page" | "anchor":
                files = self.files(str(ref.get("space") or own.space_id))
                if files is None:
                    return _BROKEN
                page = ref.get("page") or (owner.id if owner.kind == "page" else None)
                if page is not None and files.find_page_by_id(str(page)) is None:
                    return ResolvedReference("page", "broken", files.space_id, str(page), ref.get("anchor"))
                return self._page(files, owner, page, ref.get("anchor"))
            case "file":
                file = str(ref.get("file"))
                found = own.find_file_by_id(file)
                return ResolvedReference("file", "ok" if found else "broken", own.space_id, file)
            case "reusable-content":
                files = self.files(str(ref.get("space") or own.space_id))
                item = str(ref.get("reusableContent"))
                if files is None or files.find_reusable_by_id(item) is None:
                    return ResolvedReference(
                        "reusable-content", "broken", str(ref.get("space") or own.space_id), item
                    )
                return ResolvedReference("reusable-content", "ok", files.space_id, item)
            case "space":
                return self._space(str(ref.get("space")))
            case "user" | "collection":
                return self._person(ref)
            case "openapi":
                return ResolvedReference("openapi", "ok", None, str(ref.get("spec")))
            case "tag":
                return ResolvedReference("tag", "ok", own.space_id, str(ref.get("tag")))
            case "url":
                return ResolvedReference("url", "ok" if ref.get("url") else "broken")
        return _BROKEN

    def _page(
        self, files: SpaceFiles, owner: Owner, page: str | None, anchor: str | None
    ) -> ResolvedReference:
        if page is None:
            # In reusable content: an anchor in it, or in the page that includes it.
            found = files.find_anchor(owner, anchor) if anchor is not None else None
            return ResolvedReference("reusable-content", "ok", files.space_id, owner.id, found or anchor)
        there = files.owner(page, "page")
        if there is None:
            return ResolvedReference("page", "broken", files.space_id, page, anchor)
        if anchor is None:
            return ResolvedReference("page", "ok", files.space_id, page)
        found = files.find_anchor(there, anchor)
        if found == "":
            return ResolvedReference("page", "ok", files.space_id, page)
        return ResolvedReference("page", "ok" if found else "broken", files.space_id, page, found or anchor)

    def _elsewhere(self, space_id: str, path: str, anchor: str | None) -> ResolvedReference:
        files = self.files(space_id)
        if files is None:
            return _BROKEN
        if not path:
            return self._space(space_id)
        page = files.find_page_by_path(path)
        there = files.owner(page, "page") if page is not None else None
        if there is None:
            # Keep the space, because the contents of invisible spaces must not be revealed.
            return ResolvedReference("url", "broken", space_id)
        return self._page(files, there, page, anchor)

    def _space(self, space_id: str) -> ResolvedReference:
        if space_id != self._own.space_id:
            self._seen.add(space_id)
            if not self._viewer.sees(space_id):
                return _BROKEN
        return ResolvedReference("space", "ok", space_id, space_id)

    @staticmethod
    def _person(ref: Mapping[str, object]) -> ResolvedReference:
        kind: Any = ref["kind"]
        return ResolvedReference(kind, "ok", None, str(ref.get(kind)))

    def leads_nowhere(self, owner: Owner, ref: JsonObject, type: str) -> bool:
        """Return whether a reference in ``owner`` leads to a page that doesn't exist for the reader, in a space with
        pages that restrictions hide from the reader. ``type``: the type of its node."""
        url = ref.get("url") if ref.get("kind") == "url" else None
        is_whole = isinstance(url, str) and "://" in url
        may_be = any(host in str(url) for host in self._hosts) if is_whole else self._own.hides
        if not may_be or type in TYPES_OF_FILES:
            return False
        found = self.resolve(owner, ref, type)
        if found.status != "broken" or found.kind not in ("page", "url"):
            return False
        # URLs of spaces that the reader can't see don't tell which pages these have.
        space_id = found.space if is_whole else found.space or self._own.space_id
        files = self.files(space_id) if space_id is not None else None
        # An anchor can be missing on a page that the reader sees.
        is_seen = files is not None and found.target and files.find_page_by_id(found.target) is not None
        return files is not None and files.hides and not is_seen

    # --- references in documents ----------------------------------------------------------------------

    def content_ref(self, owner: Owner, ref: JsonObject, type: str) -> JsonObject:
        """Return a reference as a ContentRef. An unresolved reference stays unchanged."""
        meaning = self.resolve(owner, ref, type)
        if meaning.kind == "url" or meaning.target is None:
            return ref
        if ref.get("kind") != "url":
            return {**ref, "anchor": meaning.anchor} if meaning.anchor is not None else ref
        if meaning.status == "broken" and meaning.anchor is None:
            return ref
        space = {"space": meaning.space} if meaning.space != self._own.space_id else {}
        if meaning.kind == "page":
            return _page_ref(owner, meaning, str(ref.get("url")), space)
        if meaning.kind == "reusable-content":
            if type != "reusable-content":
                return {"kind": "anchor", "anchor": meaning.anchor}
            return {"kind": "reusable-content", "reusableContent": meaning.target, **space}
        return {"kind": meaning.kind, _ID_FIELD.get(meaning.kind, meaning.kind): meaning.target}

    def resolve_all(self, document: Document, owner: Owner) -> Document:
        """Resolve all references of a document in place."""

        def change(reference: Reference) -> JsonObject | None:
            return self.content_ref(owner, reference.ref, reference.type)

        return rewrite(document, change)

    def write_url(self, ref: JsonObject) -> str | None:
        """Return the URL for a link from a file in the resolver's space to a page in another space, or None if the
        viewer can't see the page."""
        files = self.files(str(ref.get("space")))
        path = files.find_path(str(ref.get("page"))) if files is not None else None
        return links.space_href(str(ref["space"]), path, ref.get("anchor")) if path is not None else None


def _page_ref(
    owner: Owner, meaning: ResolvedReference, written: str, space: Mapping[str, object]
) -> JsonObject:
    if meaning.anchor is None:
        return {"kind": "page", "page": meaning.target, **space}
    # An anchor in the same text belongs to the page that contains the text.
    page = {} if written.startswith("#") and meaning.target == owner.id else {"page": meaning.target}
    return {"kind": "anchor", "anchor": meaning.anchor, **page, **space}


def state_resolver(tx: Transaction, state: State, hosts: tuple[str, ...], viewer: Viewer) -> Resolver:
    """Return a resolver that queries the database, for reading or writing a few pages of a state."""
    return Resolver(StateFiles(tx, state), hosts, viewer)


def page_owner(page: Page) -> Owner:
    return Owner(page.id, "page", page.file_path)


def cover_ref(tx: Transaction, state: State, page: Page, written: str) -> JsonObject:
    """Return a cover's reference: a file of the state, or the original URL."""
    resolver = state_resolver(tx, state, (), NobodyViewer())
    return resolver.content_ref(page_owner(page), {"kind": "url", "url": written}, "image")


def meta_link_refs(page: Page) -> tuple[JsonObject | None, list[JsonObject]]:
    """Return the references to the canonical page and to alternates."""
    alternates = page.meta_links.get("alternates")
    found = (meta_link_ref(given) for given in (alternates if isinstance(alternates, list) else ()))
    return meta_link_ref(page.meta_links.get("canonical")), [one for one in found if one is not None]


def meta_link_ref(given: object) -> JsonObject | None:
    """Return a meta link as a reference. In front matter, a meta link is a path or a URL."""
    if isinstance(given, str):
        return {"kind": "url", "url": given}
    return given if isinstance(given, dict) else None


def refs_of(page: Page) -> Iterator[tuple[JsonObject, str]]:
    """Yield the references of a page outside its text, each with its node type."""
    if page.cover is not None:
        for written in (page.cover.light, page.cover.dark):
            if written:
                yield {"kind": "url", "url": written}, "image"
    if page.target is not None:
        yield page.target, "link"
    canonical, alternates = meta_link_refs(page)
    for ref in (canonical, *alternates):
        if ref is not None:
            yield ref, "link"
    dependencies = (page.computed or {}).get("dependencies")
    for dependency in dependencies.values() if isinstance(dependencies, dict) else ():
        if isinstance(dependency, dict) and isinstance(dependency.get("ref"), dict):
            yield dependency["ref"], "computed"
