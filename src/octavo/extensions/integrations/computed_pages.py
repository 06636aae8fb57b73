"""Pages and documents that integrations compute, converted to Octavo's format.

Integrations use their own page IDs. Octavo's IDs, and the references in documents, are derived from these IDs and
from the source's seed."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, to_builtins

from octavo.content.revisions.computing import ComputedSource, ComputeInput, seeded_id
from octavo.core.document.nodes import Block, Document, Inline, walk
from octavo.core.emoji import find_emoji
from octavo.core.free_names import free_name
from octavo.core.json_types import JsonObject
from octavo.core.pages import Page, slugify
from octavo.errors import BadRequest
from octavo.kit.texts import NOT_BLANK, pattern

_Title = Annotated[str, Meta(min_length=1, max_length=512, pattern=NOT_BLANK)]
_Key = Annotated[str, Meta(pattern=pattern(r"^[a-zA-Z0-9]{1,40}\Z", "be 1 to 40 letters and digits"))]
_Slug = Annotated[str, Meta(max_length=200)]
_DEEPEST = 32
"""Maximum depth of nested pages."""
_TARGETS = {"url": "url", "page": "page", "anchor": "page", "file": "file", "space": "space"}
"""Kinds of link targets, each with the field that specifies it."""


class _InputPage(Struct, tag_field="type", kw_only=True):
    title: _Title
    id: _Key | UnsetType = UNSET
    emoji: Annotated[str, Meta(max_length=100)] | UnsetType = UNSET
    icon: Annotated[str, Meta(max_length=100)] | UnsetType = UNSET


class InputDocument(_InputPage, tag="document"):
    description: Annotated[str, Meta(max_length=300)] = ""
    slug: _Slug = ""
    pages: list[InputDocument | InputLink | InputComputed] = []
    computed: ComputedSource | UnsetType = UNSET


class InputLink(_InputPage, tag="link"):
    target: JsonObject


class InputComputed(_InputPage, tag="computed"):
    computed: ComputedSource


class InputGroup(_InputPage, tag="group"):
    pages: Annotated[list[InputDocument | InputLink | InputComputed], Meta(min_length=1)]
    slug: _Slug = ""


class InputRevision(Struct):
    """Revision in the format that integrations use. ``files``: ignored, because pages refer to images and files by
    URL."""

    pages: list[InputDocument | InputLink | InputComputed | InputGroup] = []
    files: Annotated[list[Any], Meta(max_length=0)] = []


class _Pages:
    """Collected pages, with parents before children."""

    def __init__(self, asked: ComputeInput) -> None:
        self._asked = asked
        self._slugs: dict[str | None, set[str]] = {}
        self.found: list[Page] = []

    def add(self, given: list[Any], parent: str | None, place: str, depth: int = 1) -> None:
        if depth > _DEEPEST:
            raise BadRequest(
                f"source.type: the integration returned pages nested more than {_DEEPEST} levels deep"
            )
        for n, page in enumerate(given):
            where = f"{place}[{n}]"
            own = self._asked.id(f"page {page.id}" if page.id is not UNSET else f"page at {where}")
            self.found.append(self._page(page, own, parent, where))
            if isinstance(page, InputDocument | InputGroup):
                self.add(page.pages, own, f"{where}.pages", depth + 1)

    def _page(self, page: Any, own: str, parent: str | None, where: str) -> Page:
        emoji = find_emoji(page.emoji) if page.emoji else None
        if page.emoji and emoji is None:
            raise BadRequest(
                f"source.type: the integration returned an invalid value for {where}.emoji, which must be an"
                " emoji"
            )
        return Page(
            id=own,
            parent=parent,
            kind=page.__struct_config__.tag,
            title=page.title,
            slug=self._slug(getattr(page, "slug", "") or page.title, parent),
            emoji="-".join(f"{ord(sign):x}" for sign in emoji) if emoji else None,
            icon=page.icon or None,
            description=getattr(page, "description", "") or None,
            target=self._target(page.target, where) if isinstance(page, InputLink) else None,
            computed=self._computed(getattr(page, "computed", UNSET)),
        )

    def _target(self, target: JsonObject, where: str) -> JsonObject:
        named = _TARGETS.get(str(target.get("kind")))
        if named is None or not isinstance(target.get(named), str):
            raise BadRequest(
                f"source.type: the integration returned an invalid value for {where}.target, which must be a"
                " URL, page, anchor, file, or space"
            )
        return _own(target, self._asked.seed)

    def _slug(self, wanted: str, parent: str | None) -> str:
        taken = self._slugs.setdefault(parent, set())
        slug = free_name(slugify(wanted), taken.__contains__)
        taken.add(slug)
        return slug

    def _computed(self, source: ComputedSource | UnsetType) -> JsonObject | None:
        if source is UNSET:
            return None
        source.seed = self._asked.seed
        found: JsonObject = to_builtins(source)
        return found


def read_pages(asked: ComputeInput, given: InputRevision) -> list[Page]:
    """Return the pages in a response. Raises BadRequest, which names the invalid field, if the response is invalid."""
    pages = _Pages(asked)
    pages.add(given.pages, None, "pages")
    return pages.found


def with_own_pages(document: Document, source: ComputedSource) -> Document:
    """Return a document whose references to pages of the same source use Octavo's IDs. References with a ``space``
    lead to a page in that space."""
    if source.seed is not UNSET:
        for node in walk(document):
            if isinstance(node, Block | Inline):
                for name, value in node.data.items():
                    if isinstance(value, dict):
                        node.data[name] = _own(value, source.seed)
    return document


def _own(ref: JsonObject, seed: str) -> JsonObject:
    named = ref.get("page")
    if ref.get("kind") not in ("page", "anchor") or not isinstance(named, str) or "space" in ref:
        return ref
    return {**ref, "page": seeded_id(seed, f"page {named}")}
