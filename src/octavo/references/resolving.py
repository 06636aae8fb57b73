"""What a reference means in a state, and what that was found by.

``State`` is what a space's files say of each other, with changes that are not yet made laid over it. Whatever it
is asked it notes as a question; a reference keeps its meaning as long as the answers to its questions do.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from ..content import (
    Changes,
    Item,
    ItemKind,
    State,
    by_kind,
    find_item,
    find_item_by_path,
    find_page,
    find_page_by_file,
    list_by_slug,
    main_state,
    read_source,
)
from ..core import links
from ..core.document import Block, heading_ids, plain_text, references, slug, walk
from ..core.pages import Page, slugify
from ..errors import NotFound
from ..kit.db import Transaction

Kind = Literal["url", "page", "file", "space", "user", "collection", "reusable-content", "openapi"]
Status = Literal["ok", "broken", "in-app"]
Question = tuple[str, str]
"""The space that is asked, and what."""

_hosts: list[str] = [links.APP_HOST]


def answer_at(url: str) -> None:
    """Registers where the application is, so that addresses of content there mean that content."""
    host = urlsplit(url).hostname
    # On the machine of who reads, `localhost` in a text mostly means something else.
    if host and host != "localhost" and host not in _hosts:
        _hosts.append(host)


_MAX_QUESTION = 200
_OF_FILES = frozenset({"image", "inline-image", "drawing", "file"})
_PERSON = re.compile(r"/(?:o/[^/]+/)?(u|c)/([A-Za-z0-9_-]{1,64})/?\Z")


def question(kind: str, what: str) -> str:
    """Cut where it is very long: then it stands for more than one, which costs a look and changes nothing."""
    return f"{kind}:{what}"[:_MAX_QUESTION]


class Meaning(Struct, frozen=True):
    """``target`` is the id of the thing; None where the reference as written is all there is."""

    kind: Kind
    status: Status
    space: str | None = None
    target: str | None = None
    anchor: str | None = None


_BROKEN = Meaning("url", "broken")


class Owner(Struct, frozen=True):
    """The page or reusable content in which a reference stands."""

    id: str
    kind: Literal["page", "reusable-content"]
    file_path: str | None


class _Outline(Struct):
    """The anchors of a document, and the reusable contents that bring more."""

    anchors: set[str]
    includes: list[str]
    asked: set[Question]


class SpaceFiles:
    """A state of a space, ``changes`` laid over ``base``; what ``core.links`` looks references up in."""

    def __init__(self, tx: Transaction, state: State, changes: Changes | None = None) -> None:
        self._tx = tx
        self._state = state
        self._changes = changes or Changes()
        self.space_id = state.space_id
        self.asked: set[Question] = set()
        self._known: dict[str, str | None] = {}
        self._kept: dict[str, Page | None] = {}
        self._outlines: dict[str, _Outline] = {}
        self._by_file: dict[str, list[Page]] = {}
        self._by_slug: dict[tuple[str | None, str], list[Page]] = {}
        self._by_path: dict[str, Item] = {}
        for page in self._changes.pages.values():
            if page is not None:
                self._by_slug.setdefault((page.parent, page.slug), []).append(page)
                if page.file_path:
                    self._by_file.setdefault(page.file_path, []).append(page)
        for item in self._changes.items.values():
            if item is not None and item.path:
                self._by_path[item.path] = item

    # --- what there is --------------------------------------------------------------------------------

    def page(self, page_id: str) -> Page | None:
        if page_id in self._changes.pages:
            return self._changes.pages[page_id]
        if page_id not in self._kept:
            self._kept[page_id] = find_page(self._tx, self._state, page_id)
        return self._kept[page_id]

    def item(self, item_id: str, kind: ItemKind) -> Item | None:
        if item_id in self._changes.items:
            item = self._changes.items[item_id]
            return item if item is not None and item.kind == kind else None
        return find_item(self._tx, self._state, item_id, kind)

    def path(self, page: Page) -> str:
        """The path of slugs."""
        slugs, seen = [page.slug], {page.id}
        above = page.parent
        while above is not None and above not in seen:
            seen.add(above)
            parent = self.page(above)
            if parent is None:
                break
            slugs.append(parent.slug)
            above = parent.parent
        return "/".join(reversed(slugs))

    # --- core.links.Lookup, noting what is asked -------------------------------------------------------

    def _ask(self, kind: str, what: str, find: Any) -> str | None:
        asked = question(kind, what)
        self.asked.add((self.space_id, asked))
        key = f"{kind}:{what}"
        if key not in self._known:
            self._known[key] = find()
        return self._known[key]

    def find_page(self, file_path: str) -> str | None:
        return self._ask("file", file_path, lambda: self._page_by_file(file_path))

    def _page_by_file(self, file_path: str) -> str | None:
        found = [page.id for page in self._by_file.get(file_path, [])]
        below = find_page_by_file(self._tx, self._state, file_path)
        if below is not None and below.id not in self._changes.pages:
            found.append(below.id)
        return min(found, default=None)

    def find_page_by_path(self, path: str) -> str | None:
        return self._ask("path", path, lambda: self._page_by_path(path))

    def _page_by_path(self, path: str) -> str | None:
        parent: str | None = None
        for part in [part for part in path.split("/") if part]:
            found = [
                page
                for page in list_by_slug(self._tx, self._state, parent, part)
                if page.id not in self._changes.pages
            ] + self._by_slug.get((parent, part), [])
            if not found:
                return None
            parent = min(found, key=lambda page: (page.rank, page.id)).id
        return parent

    def find_page_by_id(self, page: str) -> str | None:
        return self._ask("page", page, lambda: page if self.page(page) is not None else None)

    def find_file(self, path: str) -> str | None:
        return self._ask("item", path, lambda: self._item_by_path(path, "file"))

    def find_reusable(self, path: str) -> str | None:
        return self._ask("include", path, lambda: self._item_by_path(path, "reusable-content"))

    def _item_by_path(self, path: str, kind: ItemKind) -> str | None:
        item = self._by_path.get(path)
        if item is None:
            item = find_item_by_path(self._tx, self._state, path)
            if item is not None and item.id in self._changes.items:
                return None
        return item.id if item is not None and item.kind == kind else None

    def find_file_by_id(self, file: str) -> str | None:
        return self._ask("id", file, lambda: file if self.item(file, "file") is not None else None)

    def find_reusable_by_id(self, item: str) -> str | None:
        return self._ask(
            "id", item, lambda: item if self.item(item, "reusable-content") is not None else None
        )

    # --- anchors ----------------------------------------------------------------------------------------

    def has_anchor(self, owner: Owner, anchor: str) -> bool:
        """Whether a page or reusable content, or what it includes, has this anchor."""
        outline = self._outline(owner)
        self.asked |= outline.asked
        for owner_id in (owner.id, *outline.includes):
            self.asked.add((self.space_id, question("anchor", f"{owner_id}#{anchor}")))
        # Writers of anchors differ in what they make of punctuation.
        wanted = {anchor.lower(), slug(anchor)}
        if wanted & outline.anchors:
            return True
        included = (self.owner(item_id, "reusable-content") for item_id in outline.includes)
        return any(wanted & self._outline(part).anchors for part in included if part is not None)

    def owner(self, owner_id: str, kind: str) -> Owner | None:
        if kind == "page":
            page = self.page(owner_id)
            return Owner(page.id, "page", page.file_path) if page is not None else None
        item = self.item(owner_id, "reusable-content")
        return Owner(item.id, "reusable-content", item.path) if item is not None else None

    def body(self, owner: Owner) -> str | None:
        if owner.kind == "page":
            page = self.page(owner.id)
            return page.body if page is not None else None
        item = self.item(owner.id, "reusable-content")
        return item.content if item is not None else None

    def _outline(self, owner: Owner) -> _Outline:
        if owner.id not in self._outlines:
            document = read_source(self._tx, self.body(owner))
            before, self.asked = self.asked, set()
            includes = [
                found
                for reference in references(document)
                if reference.type == "reusable-content"
                and (found := _include(self, owner, reference.ref)) is not None
            ]
            asked, self.asked = self.asked, before
            names = {name.lower() for name in heading_ids(document).values()}
            for node in walk(document):
                if not isinstance(node, Block):
                    continue
                if node.type.startswith("heading-"):
                    names.add(slugify(plain_text(node)))
                elif node.type == "expandable":
                    names |= {slug(words) for f in node.fragments[:1] if (words := plain_text(f))}
                    names |= {slugify(words) for f in node.fragments[:1] if (words := plain_text(f))}
                elif node.type == "update" and isinstance(node.data.get("date"), str):
                    names.add(slugify(node.data["date"]))
            self._outlines[owner.id] = _Outline(names, includes, asked)
        return self._outlines[owner.id]


def _include(files: SpaceFiles, owner: Owner, ref: dict[str, Any]) -> str | None:
    """The reusable content that a reference of an include means."""
    if ref.get("kind") == "reusable-content":
        return files.find_reusable_by_id(str(ref.get("reusableContent")))
    folder = posixpath.dirname(owner.file_path or "")
    path = posixpath.normpath(posixpath.join(folder, unquote(str(ref.get("url"))))).lstrip("/")
    return files.find_reusable(path)


class Resolver:
    """Finds meanings in one state, and in main of the other spaces that it refers to."""

    def __init__(self, tx: Transaction, own: SpaceFiles) -> None:
        self._tx = tx
        self._files: dict[str, SpaceFiles | None] = {own.space_id: own}
        self.seen: dict[str, str] = {}
        """Which revisions of other spaces were looked into."""

    def files(self, space_id: str) -> SpaceFiles | None:
        """That of a space; None when there is no such space."""
        if space_id not in self._files:
            try:
                state = main_state(self._tx, space_id)
            except NotFound:
                self._files[space_id] = None
            else:
                self._files[space_id] = SpaceFiles(self._tx, state)
                self.seen[space_id] = state.revision_id
        return self._files[space_id]

    def resolve(
        self, space_id: str, owner: Owner, ref: dict[str, Any], type: str
    ) -> tuple[Meaning, list[Question]]:
        """What a reference, written in ``owner`` by a node of ``type``, means; and what was asked to know."""
        for files in self._files.values():
            if files is not None:
                files.asked = set()
        meaning = self._meaning(space_id, owner, ref, type)
        return meaning, sorted(asked for s in self._files.values() if s is not None for asked in s.asked)

    def _meaning(self, space_id: str, owner: Owner, ref: dict[str, Any], type: str) -> Meaning:
        own = self.files(space_id)
        assert own is not None
        written = ref.get("url")
        if ref.get("kind") != "url" or not isinstance(written, str):
            return self._by_id(space_id, own, owner, ref)
        if (named := by_kind(written)) is not None:
            return self._by_id(space_id, own, owner, named)
        if type == "reusable-content":
            found = _include(own, owner, ref)
            return Meaning("reusable-content", "ok", space_id, found) if found else _BROKEN
        target = links.resolve(written, own, owner.file_path or "", app_hosts=tuple(_hosts))
        if type in _OF_FILES and target.kind not in ("file", "url"):
            return _BROKEN
        match target.kind:
            case "page" | "anchor" if target.space is None or target.page is not None:
                page = target.page or (owner.id if owner.kind == "page" else None)
                return self._page(own, owner, page, target.anchor)
            case "page" | "anchor":
                return self._elsewhere(target.space or space_id, target.path or "", target.anchor)
            case "file":
                return Meaning("file", "ok", space_id, target.file)
            case "space":
                return self._space(target.space or space_id)
            case "in-app":
                person = _PERSON.match(urlsplit(target.url or "").path)
                if person is None:
                    return Meaning("url", "in-app")
                return Meaning("user" if person[1] == "u" else "collection", "ok", None, person[2])
            case "url":
                return Meaning("url", "ok")
        return _BROKEN

    def _by_id(self, space_id: str, own: SpaceFiles, owner: Owner, ref: dict[str, Any]) -> Meaning:
        match ref.get("kind"):
            case "page" | "anchor":
                files = self.files(str(ref.get("space") or space_id))
                if files is None:
                    return _BROKEN
                page = ref.get("page") or (owner.id if owner.kind == "page" else None)
                if page is not None and files.find_page_by_id(str(page)) is None:
                    return Meaning("page", "broken", files.space_id, str(page), ref.get("anchor"))
                return self._page(files, owner, page, ref.get("anchor"))
            case "file":
                file = str(ref.get("file"))
                found = own.find_file_by_id(file)
                return Meaning("file", "ok" if found else "broken", space_id, file)
            case "reusable-content":
                files = self.files(str(ref.get("space") or space_id))
                item = str(ref.get("reusableContent"))
                if files is None or files.find_reusable_by_id(item) is None:
                    return Meaning("reusable-content", "broken", str(ref.get("space") or space_id), item)
                return Meaning("reusable-content", "ok", files.space_id, item)
            case "space":
                return self._space(str(ref.get("space")))
            case "user":
                return Meaning("user", "ok", None, str(ref.get("user")))
            case "collection":
                return Meaning("collection", "ok", None, str(ref.get("collection")))
            case "openapi":
                return Meaning("openapi", "ok", None, str(ref.get("spec")))
            case "url":
                return Meaning("url", "ok" if ref.get("url") else "broken")
        return _BROKEN

    def _page(self, files: SpaceFiles, owner: Owner, page: str | None, anchor: str | None) -> Meaning:
        if page is None:
            # In a reusable content: a place in it, or in whichever page includes it.
            return Meaning("reusable-content", "ok", files.space_id, owner.id, anchor)
        there = files.owner(page, "page")
        if there is None:
            return Meaning("page", "broken", files.space_id, page, anchor)
        ok = anchor is None or files.has_anchor(there, anchor)
        return Meaning("page", "ok" if ok else "broken", files.space_id, page, anchor)

    def _elsewhere(self, space_id: str, path: str, anchor: str | None) -> Meaning:
        files = self.files(space_id)
        if files is None:
            return _BROKEN
        if not path:
            return self._space(space_id)
        page = files.find_page_by_path(path)
        if page is None:
            # The space is kept, for what is in one that is not seen is never told.
            return Meaning("url", "broken", space_id)
        there = files.owner(page, "page")
        ok = anchor is None or (there is not None and files.has_anchor(there, anchor))
        return Meaning("page", "ok" if ok else "broken", space_id, page, anchor)

    def _space(self, space_id: str) -> Meaning:
        return Meaning("space", "ok", space_id, space_id)


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
