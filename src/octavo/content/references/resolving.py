"""What a reference means: the one answer, for the API, the index of links, the reader and prints.

It depends on three things: the files of the space that the reference is in, the addresses of this installation
(``hosts``), and who reads (``Viewer``): a page of another space is a page for whom that space is there, and an
address on the web for everybody else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, Protocol

from msgspec import Struct

from octavo.content.revisions.store import State, main_state
from octavo.core import links
from octavo.core.document.nodes import Document
from octavo.core.document.references import TYPES_OF_FILES, Reference, rewrite
from octavo.core.links import Target
from octavo.core.pages import Page
from octavo.errors import NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.authorization import find_space_access
from octavo.organization.access.roles import Can
from octavo.organization.spaces.store import get_space

from .lookup import Files, Owner, StateFiles, find_include

Kind = Literal["url", "page", "file", "space", "user", "collection", "reusable-content", "openapi"]
Status = Literal["ok", "broken", "in-app"]

_ID_FIELD = {"reusable-content": "reusableContent", "openapi": "spec"}


class Meaning(Struct, frozen=True):
    """``target`` is the id of the thing, ``anchor`` a place in it by its id; ``target`` None where the reference as
    written is all there is."""

    kind: Kind
    status: Status
    space: str | None = None
    target: str | None = None
    anchor: str | None = None


_BROKEN = Meaning("url", "broken")


class Viewer(Protocol):
    """Who reads. ``members``: people and collections of the organization mean something to them."""

    members: bool

    def sees(self, space_id: str) -> bool: ...

    def files(self, space_id: str) -> Files | None:
        """The files of another space; None when it is not there for them."""


class Everybody:
    """All spaces there are: for the index, which keeps what is so and not who may know it."""

    members = True

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def sees(self, space_id: str) -> bool:
        return True

    def files(self, space_id: str) -> Files | None:
        return _main_files(self._tx, space_id)


class Member:
    """Somebody with their rights in the organization of the space that they read."""

    members = True

    def __init__(self, tx: Transaction, actor: Actor, space_id: str) -> None:
        self._tx = tx
        self._actor = actor
        self._space_id = space_id

    def sees(self, space_id: str) -> bool:
        access = find_space_access(self._tx, self._actor, Can.VIEW, space_id)
        own = get_space(self._tx, self._space_id).organization_id
        return access is not None and access.organization_id == own

    def files(self, space_id: str) -> Files | None:
        return _main_files(self._tx, space_id) if self.sees(space_id) else None


class Nobody:
    """Who reads a print: for them there is nothing but the space itself."""

    members = False

    def sees(self, space_id: str) -> bool:
        return False

    def files(self, space_id: str) -> Files | None:
        return None


def _main_files(tx: Transaction, space_id: str) -> Files | None:
    try:
        return StateFiles(tx, main_state(tx, space_id))
    except NotFound:
        return None


class Resolver:
    """Finds meanings in the files of one space, and in those of others that its viewer sees. Lives as long as one
    request."""

    def __init__(self, own: Files, hosts: tuple[str, ...], viewer: Viewer) -> None:
        self._own = own
        self._hosts = hosts
        self._viewer = viewer
        self._files: dict[str, Files | None] = {own.space_id: own}
        self._seen: set[str] = set()

    @property
    def known(self) -> list[Files]:
        """The spaces that were looked into so far, the own one first."""
        return [files for files in self._files.values() if files is not None]

    @property
    def asked(self) -> tuple[str, ...]:
        """The other spaces that were asked for so far. What was resolved stays so as long as their ``revisions``."""
        return tuple(sorted((self._files.keys() | self._seen) - {self._own.space_id}))

    def revisions(self, space_ids: Iterable[str]) -> tuple[str | None, ...]:
        """Of each of these spaces its revision, None where the space is not there for the viewer."""
        found = (self.files(space_id) for space_id in space_ids)
        return tuple(files.revision_id if files is not None else None for files in found)

    def files(self, space_id: str) -> Files | None:
        """Those of a space; None when it is not there for the viewer."""
        if space_id not in self._files:
            self._files[space_id] = self._viewer.files(space_id)
        return self._files[space_id]

    # --- one reference ----------------------------------------------------------------------------------

    def meaning(self, owner: Owner, ref: dict[str, Any], type: str, space_id: str | None = None) -> Meaning:
        """What a reference means that is in ``owner`` (of the own space, or of ``space_id``), by a node of
        ``type``."""
        own = self.files(space_id) if space_id is not None else self._own
        assert own is not None
        written = ref.get("url")
        if ref.get("kind") != "url" or not isinstance(written, str):
            return self._by_id(own, owner, ref)
        if (named := links.by_kind(written)) is not None:
            return self._by_id(own, owner, named)
        if type == "reusable-content":
            found = find_include(own, owner, written)
            return Meaning("reusable-content", "ok", own.space_id, found) if found else _BROKEN
        target = links.resolve(written, own, owner.file_path or "", app_hosts=self._hosts)
        if type in TYPES_OF_FILES and target.kind not in ("file", "url"):
            return _BROKEN
        return self._of_target(own, owner, target)

    def _of_target(self, own: Files, owner: Owner, target: Target) -> Meaning:
        match target.kind:
            case "page" | "anchor" if target.space is None:
                page = target.page or (owner.id if owner.kind == "page" else None)
                return self._page(own, owner, page, target.anchor)
            case "page" | "anchor":
                return self._elsewhere(target.space or own.space_id, target.path or "", target.anchor)
            case "file":
                return Meaning("file", "ok", own.space_id, target.file)
            case "space":
                return self._space(target.space or own.space_id)
            case "in-app":
                ref = links.in_app(target.url or "") if self._viewer.members else None
                return self._person(ref) if ref is not None else Meaning("url", "in-app")
            case "url":
                return Meaning("url", "ok")
        return _BROKEN

    def _by_id(self, own: Files, owner: Owner, ref: dict[str, Any]) -> Meaning:
        kind = ref.get("kind")
        match kind:
            case "page" | "anchor":
                files = self.files(str(ref.get("space") or own.space_id))
                if files is None:
                    return _BROKEN
                page = ref.get("page") or (owner.id if owner.kind == "page" else None)
                if page is not None and files.find_page_by_id(str(page)) is None:
                    return Meaning("page", "broken", files.space_id, str(page), ref.get("anchor"))
                return self._page(files, owner, page, ref.get("anchor"))
            case "file":
                file = str(ref.get("file"))
                found = own.find_file_by_id(file)
                return Meaning("file", "ok" if found else "broken", own.space_id, file)
            case "reusable-content":
                files = self.files(str(ref.get("space") or own.space_id))
                item = str(ref.get("reusableContent"))
                if files is None or files.find_reusable_by_id(item) is None:
                    return Meaning("reusable-content", "broken", str(ref.get("space") or own.space_id), item)
                return Meaning("reusable-content", "ok", files.space_id, item)
            case "space":
                return self._space(str(ref.get("space")))
            case "user" | "collection":
                return self._person(ref)
            case "openapi":
                return Meaning("openapi", "ok", None, str(ref.get("spec")))
            case "url":
                return Meaning("url", "ok" if ref.get("url") else "broken")
        return _BROKEN

    def _page(self, files: Files, owner: Owner, page: str | None, anchor: str | None) -> Meaning:
        if page is None:
            # In a reusable content: a place in it, or in whichever page includes it.
            found = files.find_anchor(owner, anchor) if anchor is not None else None
            return Meaning("reusable-content", "ok", files.space_id, owner.id, found or anchor)
        there = files.owner(page, "page")
        if there is None:
            return Meaning("page", "broken", files.space_id, page, anchor)
        if anchor is None:
            return Meaning("page", "ok", files.space_id, page)
        found = files.find_anchor(there, anchor)
        if found == "":
            return Meaning("page", "ok", files.space_id, page)
        return Meaning("page", "ok" if found else "broken", files.space_id, page, found or anchor)

    def _elsewhere(self, space_id: str, path: str, anchor: str | None) -> Meaning:
        files = self.files(space_id)
        if files is None:
            return _BROKEN
        if not path:
            return self._space(space_id)
        page = files.find_page_by_path(path)
        there = files.owner(page, "page") if page is not None else None
        if there is None:
            # The space is kept, for what is in one that is not seen is never told.
            return Meaning("url", "broken", space_id)
        return self._page(files, there, page, anchor)

    def _space(self, space_id: str) -> Meaning:
        if space_id != self._own.space_id:
            self._seen.add(space_id)
            if not self._viewer.sees(space_id):
                return _BROKEN
        return Meaning("space", "ok", space_id, space_id)

    @staticmethod
    def _person(ref: dict[str, Any]) -> Meaning:
        kind: Any = ref["kind"]
        return Meaning(kind, "ok", None, str(ref.get(kind)))

    # --- as documents have it -----------------------------------------------------------------------------

    def content_ref(self, owner: Owner, ref: dict[str, Any], type: str) -> dict[str, Any]:
        """What a reference means as a ContentRef; one that means nothing here stays as it was written."""
        meaning = self.meaning(owner, ref, type)
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
        """Puts, in place, what every reference of a document means."""

        def change(reference: Reference) -> dict[str, Any] | None:
            return self.content_ref(owner, reference.ref, reference.type)

        return rewrite(document, change)

    def write_url(self, ref: dict[str, Any]) -> str | None:
        """How a file of the own space names a page of another space; None when it is not there for the viewer."""
        files = self.files(str(ref.get("space")))
        path = files.find_path(str(ref.get("page"))) if files is not None else None
        return links.space_href(str(ref["space"]), path, ref.get("anchor")) if path is not None else None


def _page_ref(owner: Owner, meaning: Meaning, written: str, space: dict[str, Any]) -> dict[str, Any]:
    if meaning.anchor is None:
        return {"kind": "page", "page": meaning.target, **space}
    # A place in the same text is that of whichever page the text is in.
    page = {} if written.startswith("#") and meaning.target == owner.id else {"page": meaning.target}
    return {"kind": "anchor", "anchor": meaning.anchor, **page, **space}


def state_resolver(tx: Transaction, state: State, hosts: tuple[str, ...], viewer: Viewer) -> Resolver:
    """A resolver that asks the database, for what reads or writes a few pages of a state."""
    return Resolver(StateFiles(tx, state), hosts, viewer)


def page_owner(page: Page) -> Owner:
    return Owner(page.id, "page", page.file_path)


def cover_ref(tx: Transaction, state: State, page: Page, written: str) -> dict[str, Any]:
    """A cover's reference: a file of the state, or the URL as written."""
    resolver = state_resolver(tx, state, (), Nobody())
    return resolver.content_ref(page_owner(page), {"kind": "url", "url": written}, "image")


def refs_of(page: Page) -> Iterator[tuple[dict[str, Any], str]]:
    """What a page refers to beside its text, and as a node of which type."""
    if page.cover is not None:
        for written in (page.cover.light, page.cover.dark):
            if written:
                yield {"kind": "url", "url": written}, "image"
    if page.target is not None:
        yield page.target, "link"
    links_of = page.meta_links or {}
    for ref in (links_of.get("canonical"), *(links_of.get("alternates") or ())):
        if isinstance(ref, dict):
            yield ref, "link"
    dependencies = (page.computed or {}).get("dependencies")
    for dependency in dependencies.values() if isinstance(dependencies, dict) else ():
        if isinstance(dependency, dict) and isinstance(dependency.get("ref"), dict):
            yield dependency["ref"], "computed"
