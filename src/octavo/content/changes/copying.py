"""Copy pages, files, and variables into a state, for example from a template.

Copies get new IDs but keep their content, so identical sources and files are stored only once. Files keep their
relative paths, so relative links between them still work.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from octavo.content.revisions.drafting import Draft
from octavo.content.revisions.item_versions import Item
from octavo.content.revisions.states import State
from octavo.content.revisions.store import Changes
from octavo.core.document.nodes import Document
from octavo.core.document.page import split_page
from octavo.core.document.reader import read
from octavo.core.document.references import Reference, references
from octavo.core.document.writing import rewritten
from octavo.core.free_names import free_name
from octavo.core.json_types import JsonObject
from octavo.core.links import relative_href
from octavo.core.pages import Page, ranks_between, slugify
from octavo.errors import BadRequest, NotFound
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction

from .applying import EditedContent

_SLOT = re.compile(r"ref:([A-Za-z][A-Za-z0-9_-]{0,99})")
_BY_ID = re.compile(r"/(pages|files)/([A-Za-z0-9_-]{1,100})(#.*)?", re.DOTALL)
_RELATIVE = ("ref:", "/pages/", "/files/")


class CopiedMaterial(Struct, frozen=True):
    """Content to copy: pages (parents first, in order), files, reusable content, and variables. ``text``: a function
    that returns a source by its hash. ``stored``: whether all sources are already in the database. ``folder``: the
    folder to copy files to if their paths are in use. ``verbatim``: whether to copy sources unchanged, because they
    contain no slots and no references by ID. ``into``: the parent page."""

    pages: list[Page]
    items: list[Item]
    text: Callable[[Transaction, str], str]
    stored: bool
    folder: str
    verbatim: bool = False
    into: str | None = None


def slots(tx: Transaction, material: CopiedMaterial) -> list[str]:
    """Return the names of the material's slots, sorted. A slot is an open reference of the form ``ref:name``."""
    found: set[str] = set()
    for digest in _bodies(material):
        text = material.text(tx, digest)
        if "ref:" in text:
            found.update(_names(read(split_page(text)[2])))
    return sorted(found)


def _bodies(material: CopiedMaterial) -> Iterable[str]:
    yield from (page.body for page in material.pages if page.body)
    yield from (item.content for item in material.items if item.kind == "reusable-content" and item.content)


def _names(document: Document) -> Iterable[str]:
    return (name for reference in references(document) if (name := _slot(reference)))


def _slot(reference: Reference) -> str | None:
    match = _SLOT.fullmatch(str(reference.ref.get("url", "")))
    return match[1] if match else None


def copy_material(
    tx: Transaction, state: State, material: CopiedMaterial, refs: dict[str, JsonObject]
) -> EditedContent:
    """Return the edit that adds the content after the pages of ``state``. ``refs``: the files, pages, or
    URLs to fill slots with; top-level blocks with unfilled slots are omitted. Raises BadRequest or NotFound
    if a reference is invalid."""
    return _Copier(tx, state, material, refs).copy_material()


class _Copier:
    def __init__(
        self, tx: Transaction, state: State, material: CopiedMaterial, refs: dict[str, JsonObject]
    ) -> None:
        self.material = material
        self.draft = Draft(tx, state)
        self.new_ids = {page.id: ids.new_id() for page in material.pages}
        self.new_ids |= {item.id: ids.new_id() for item in material.items}
        self.prefix = self._prefix()
        self.paths = {page.id: page.file_path for page in material.pages}
        self.paths |= {item.id: item.path for item in material.items if item.kind == "file"}
        self.filled = {name: self._target(name, ref) for name, ref in refs.items()}

    def copy_material(self) -> EditedContent:
        draft, moment = self.draft, now()
        if self.filled and (unknown := sorted(set(self.filled) - set(slots(draft.tx, self.material)))):
            raise BadRequest(f"params.contentRefs.{unknown[0]}: the template has no reference with this name")
        into = self.material.into
        if into is not None and draft.get_page(into).kind not in ("document", "group"):
            raise BadRequest(f"page: must be a page or group that can contain pages, not {into!r}")
        roots = draft.children(into)
        tops = sum(page.parent is None for page in self.material.pages)
        places = iter(ranks_between(roots[-1].rank if roots else None, None, tops))
        taken = {page.slug for page in roots}
        pages: dict[str, Page | None] = {}
        for page in self.material.pages:
            new = replace(
                page,
                id=self.new_ids[page.id],
                parent=self.new_ids[page.parent] if page.parent else into,
                target=self._map_target(page.target),
                body=self._text(page.body, page.file_path),
                file_path=self._new_path(page.file_path),
                visible_to=(),
                created_at=moment,
                updated_at=moment,
            )
            if page.parent is None:
                # The home page of the source becomes an ordinary page here.
                slug = slugify(page.title) if page.slug == "readme" and taken else page.slug
                new = replace(new, rank=next(places), slug=free_name(slug, taken.__contains__))
                taken.add(new.slug)
            pages[new.id] = new
        changes = Changes(pages, {item.id: item for item in self._items(moment)})
        return EditedContent(changes, draft.texts_of(changes), [], [], [])

    def _items(self, moment: int) -> Iterable[Item]:
        known = {item.name for item in self.draft.list_items("variable")}
        for item in self.material.items:
            if item.kind == "variable" and item.name in known:
                continue
            new = replace(item, id=self.new_ids[item.id], path=self._new_path(item.path), created_at=moment)
            if item.kind == "reusable-content":
                new = replace(new, content=self._text(item.content, item.path))
            yield new

    def _prefix(self) -> str:
        """Return the folder for copied files: the root of the space, or the first folder in which all of their paths
        are free."""
        paths = [page.file_path for page in self.material.pages]
        paths += [item.path for item in self.material.items]
        root, number = self.draft.root, 0
        prefix = root
        while any(path and self.draft.path_taken(prefix + path) for path in paths):
            number += 1
            prefix = f"{root}{self.material.folder}{f'-{number}' if number > 1 else ''}/"
        return prefix

    def _new_path(self, path: str | None) -> str | None:
        return None if path is None else self.prefix + path

    def _map_target(self, target: JsonObject | None) -> JsonObject | None:
        if target is None:
            return None
        named = {name: target[name] for name in ("page", "file") if name in target}
        if not target.get("space") and named.keys() and not self.new_ids.keys() >= set(named.values()):
            # The target isn't copied, for example because it is restricted.
            return {"kind": "url", "url": ""}
        return {**target, **{name: self.new_ids.get(id, id) for name, id in named.items()}}

    def _target(self, name: str, ref: JsonObject) -> tuple[str, str | None]:
        """Return the target that fills a slot (the path of a file in the space, or a URL), and its anchor."""
        where = f"params.contentRefs.{name}"
        kind = ref.get("kind")
        if kind == "url" and isinstance(ref.get("url"), str):
            return "url", ref["url"]
        if kind == "file" and isinstance(ref.get("file"), str):
            path = self._found(where, lambda: self.draft.get_item(ref["file"], "file").path)
            return ("path", path) if path else ("url", f"/files/{ref['file']}")
        if kind in ("page", "anchor") and isinstance(ref.get("page"), str):
            if ref.get("space") not in (None, self.draft.state.space_id):
                raise BadRequest(f"{where}: must be a URL if the linked page is in another space")
            anchor = f"#{ref['anchor']}" if ref.get("anchor") else ""
            path = self._found(where, lambda: self.draft.get_page(ref["page"]).file_path)
            return ("path", path + anchor) if path else ("url", f"/pages/{ref['page']}{anchor}")
        raise BadRequest(f"{where}: must be a reference to a file, page, anchor, or URL")

    def _found(self, where: str, find: Callable[[], str | None]) -> str | None:
        try:
            return find()
        except NotFound as error:
            raise error.inside(where) from None

    def _text(self, digest: str | None, path: str | None) -> str | None:
        """Return the hash of the copied source. In the copy, slots are filled, references by ID point to the copies,
        and blocks with unfilled slots are omitted."""
        if digest is None or self.material.verbatim:
            return digest
        text = self.material.text(self.draft.tx, digest)
        if not any(sign in text for sign in _RELATIVE):
            return digest if self.material.stored else self.draft.put_text(text)
        front, heading, body = split_page(text)
        document = read(body)
        for at in reversed(range(len(document.nodes))):
            alone = Document(nodes=[document.nodes[at]], gaps=["", ""])
            if any(name not in self.filled for name in _names(alone)):
                del document.nodes[at], document.gaps[at]
        written = rewritten(document, lambda reference: self._settled(reference, path or ""))
        return self.draft.put_text(front + heading + written)

    def _settled(self, reference: Reference, path: str) -> JsonObject | None:
        name = _slot(reference)
        if name is not None:
            kind, value = self.filled[name]
            href = value if kind == "url" else _relative(value or "", self.prefix + path)
            return {"kind": "url", "url": href}
        match = _BY_ID.fullmatch(str(reference.ref.get("url", "")))
        if match and match[2] in self.new_ids:
            target = self.paths.get(match[2])
            anchor = match[3] or ""
            href = (
                relative_href(target, path) + anchor
                if target
                else f"/{match[1]}/{self.new_ids[match[2]]}{anchor}"
            )
            return {"kind": "url", "url": href}
        return None


def _relative(target: str, path: str) -> str:
    file, sign, anchor = target.partition("#")
    return relative_href(file, path) + sign + anchor
