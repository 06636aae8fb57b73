"""Positions of pages in a draft: their order, slugs, and file paths."""

from __future__ import annotations

import posixpath
import re
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from octavo.content.revisions.drafting import Draft
from octavo.core.pages import Page, rank_between, ranks, slugify
from octavo.core.paths import made_path
from octavo.errors import BadRequest, Conflict

from .commands import EditedPageFields, UpdatePage

_BAD_SLUG = re.compile(r"[\s/\\?#%\x00-\x1f\x7f]|\A\.{1,2}\Z|\A~")
_OWN_NAMES = frozenset({"readme.md", "summary.md"})
_LONGEST_RANK = 60
"""Maximum length of a rank. Ranks get longer if pages are repeatedly inserted in front of each other. When a rank
reaches this length, all ranks are replaced."""


def _is_after_title(page: Page) -> bool:
    """Return whether a page's slug is derived from its title, possibly with a number at the end."""
    title, (front, _, number) = slugify(page.title), page.slug.rpartition("-")
    return page.slug == title or (front == title and number.isdecimal())


class PagePlacement:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft

    def moved(self, page: Page, change: UpdatePage) -> Page:
        """Return the page, moved to the position that a change specifies. Raises BadRequest or NotFound if the position
        is invalid."""
        if change.into is UNSET and change.at is UNSET:
            return page
        into = page.parent if change.into is UNSET else change.into
        if into != page.parent:
            self.parent(into)
            if into is not None and page.kind == "group":
                raise BadRequest("into: page groups must be at the top level")
            if into is not None and (into == page.id or page.id in self.ancestor_ids(into)):
                raise BadRequest("into: a page can't be moved into itself or one of its subpages")
        elif change.at is UNSET:
            return page
        if change.at is not UNSET and into == page.parent:
            siblings = self.draft.seen_children(into)
            if self.draft.place_of(page, siblings) == min(change.at, len(siblings) - 1):
                return page
        return replace(page, parent=into, rank=self.rank(page.id, into, change.at))

    def parent(self, parent_id: str | None) -> Page | None:
        """Return the new parent of a page; None for the top level. Raises NotFound if the parent doesn't
        exist, and BadRequest if it can't have children."""
        if parent_id is None:
            return None
        parent = self.draft.get_page(parent_id, "into")
        if parent.kind not in ("document", "group"):
            raise BadRequest(f"into: a {parent.kind} can't contain pages")
        return parent

    def ancestor_ids(self, page_id: str) -> set[str]:
        """Return the IDs of a page's ancestors."""
        found: set[str] = set()
        page = self.draft.find_page(page_id)
        while page is not None and page.parent is not None and page.parent not in found:
            found.add(page.parent)
            page = self.draft.find_page(page.parent)
        return found

    def rank(self, page_id: str, parent: str | None, at: Any) -> str:
        """Return a rank for the position ``at`` among the parent's other children that the reader of the draft can see.
        If ``at`` is UNSET, the position is after all other children."""
        siblings, page = self.draft.children(parent), self.draft.find_page(page_id)
        own = self.draft.place_of(page) if page is not None and page.parent == parent else len(siblings)
        count = len(siblings) - (own < len(siblings))
        place = count if at is UNSET else self._place_among(siblings, page_id, at)

        def rank_at(number: int) -> str | None:
            return siblings[number + (number >= own)].rank if 0 <= number < count else None

        low, high = rank_at(place - 1), rank_at(place)
        if low is None or high is None or low < high:
            rank = rank_between(low, high)
            if len(rank) <= _LONGEST_RANK:
                return rank
        # Equal ranks leave no room between them, and long ones are inefficient, so all are renewed.
        fresh = ranks(count + 1)
        others = [sibling for sibling in siblings if sibling.id != page_id]
        for sibling, rank in zip(others, fresh[:place] + fresh[place + 1 :], strict=True):
            self.draft.put_page(sibling.id, replace(sibling, rank=rank))
        return fresh[place]

    def _place_among(self, siblings: list[Page], page_id: str, at: int) -> int:
        """Return the index among all siblings of a page for the index ``at`` among the siblings that the reader of the
        draft can see."""
        hidden = self.draft.state.hidden
        others = [sibling for sibling in siblings if sibling.id != page_id]
        seen = [place for place, sibling in enumerate(others) if sibling.id not in hidden]
        return seen[at] if at < len(seen) else len(others)

    def put_with_slug(self, page: Page, change: EditedPageFields, old: Page) -> None:
        """Store the page with the requested slug, a slug derived from its title, or its previous slug."""
        slug = page.slug
        if change.slug is not UNSET:
            slug = self.new_slug(page, change)
        elif page.title != old.title and _is_after_title(old):
            slug = self.draft.free_slug(replace(page, slug=slugify(page.title)))
        elif page.parent != old.parent and self.draft.slug_taken(page, slug):
            raise Conflict(f"into: already contains a page with the slug {slug!r}. Choose another slug.")
        self.draft.put_page(page.id, replace(page, slug=slug))

    def new_slug(self, page: Page, change: EditedPageFields) -> str:
        """Return the requested slug, or a slug derived from the title. Raises BadRequest if the slug is
        invalid, and Conflict if it is in use."""
        if change.slug is UNSET or change.slug == "":
            return self.draft.free_slug(replace(page, slug=slugify(page.title)))
        if _BAD_SLUG.search(change.slug):
            raise BadRequest(
                "slug: must not contain spaces, slashes, `?`, `#`, or `%`, and must not start with `~`"
            )
        if self.draft.slug_taken(page, change.slug):
            raise Conflict(
                f"slug: {change.slug!r} is already used by another page with the same parent. Choose another"
                " slug."
            )
        return change.slug

    def folder(self, parent: Page | None) -> str:
        """Return the folder for the files of a page's children."""
        if parent is None:
            return self.draft.root
        if parent.file_path is None:
            return f"{self.draft.root}{parent.slug}/"
        folder, name = posixpath.split(parent.file_path)
        if name.lower() != "readme.md":
            return f"{posixpath.splitext(parent.file_path)[0]}/"
        return f"{folder}/" if folder else ""

    def free_path(self, folder: str, name: str, *, first: bool = False) -> str:
        """Return an unused path. ``first``: whether this is the first page of a space, which gets the reserved file
        name."""

        def is_taken(path: str) -> bool:
            return (posixpath.basename(path).lower() in _OWN_NAMES and not first) or self.draft.path_taken(
                path
            )

        return made_path(folder, name, is_taken, self.draft.root)
