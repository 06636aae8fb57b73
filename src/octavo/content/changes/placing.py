"""Where the pages of a draft are: their places among each other, their slugs, and where their files go."""

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

from .commands import PageFields, UpdatePage

_BAD_SLUG = re.compile(r"[\s/\\?#%\x00-\x1f\x7f]|\A\.{1,2}\Z|\A~")
_OWN_NAMES = frozenset({"readme.md", "summary.md"})
_LONGEST_RANK = 60
"""Putting pages in front of each other again and again makes ranks long; at this length they are given anew."""


def _is_after_title(page: Page) -> bool:
    """Whether its slug is that of its title, perhaps with a number behind it."""
    title, (front, _, number) = slugify(page.title), page.slug.rpartition("-")
    return page.slug == title or (front == title and number.isdecimal())


class Placing:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft

    def moved(self, page: Page, change: UpdatePage) -> Page:
        """The page at the place that a change gives it. Raises BadRequest, NotFound."""
        if change.into is UNSET and change.at is UNSET:
            return page
        into = page.parent if change.into is UNSET else change.into
        if into != page.parent:
            self.parent(into)
            if into is not None and page.kind == "group":
                raise BadRequest("into: groups of pages are at the top level only.")
            if into is not None and (into == page.id or page.id in self.line_up(into)):
                raise BadRequest("into: a page cannot go into itself or below itself.")
        elif change.at is UNSET:
            return page
        siblings = self.draft.children(into)
        if change.at is not UNSET and into == page.parent:
            if self.draft.place_of(page) == min(change.at, len(siblings) - 1):
                return page
        return replace(page, parent=into, rank=self.rank(page.id, into, change.at))

    def parent(self, parent_id: str | None) -> Page | None:
        """The page that is to hold another one; None: the top. Raises BadRequest, NotFound."""
        if parent_id is None:
            return None
        parent = self.draft.get_page(parent_id, "into")
        if parent.kind not in ("document", "group"):
            raise BadRequest(f"into: a {parent.kind} cannot hold pages.")
        return parent

    def line_up(self, page_id: str) -> set[str]:
        """The pages above a page."""
        found: set[str] = set()
        page = self.draft.find_page(page_id)
        while page is not None and page.parent is not None and page.parent not in found:
            found.add(page.parent)
            page = self.draft.find_page(page.parent)
        return found

    def rank(self, page_id: str, parent: str | None, at: Any) -> str:
        """A rank for the place ``at`` among the other children (UNSET: behind them)."""
        siblings, page = self.draft.children(parent), self.draft.find_page(page_id)
        own = self.draft.place_of(page) if page is not None and page.parent == parent else len(siblings)
        count = len(siblings) - (own < len(siblings))
        place = count if at is UNSET else min(at, count)

        def rank_at(number: int) -> str | None:
            return siblings[number + (number >= own)].rank if 0 <= number < count else None

        low, high = rank_at(place - 1), rank_at(place)
        if low is None or high is None or low < high:
            rank = rank_between(low, high)
            if len(rank) <= _LONGEST_RANK:
                return rank
        # Equal ranks leave no room between them, and long ones cost too much: all get new ones.
        fresh = ranks(count + 1)
        others = [sibling for sibling in siblings if sibling.id != page_id]
        for sibling, rank in zip(others, fresh[:place] + fresh[place + 1 :], strict=True):
            self.draft.put_page(sibling.id, replace(sibling, rank=rank))
        return fresh[place]

    def put_with_slug(self, page: Page, change: PageFields, old: Page) -> None:
        """Keeps the page, its slug as asked, following the title, or as it was."""
        slug = page.slug
        if change.slug is not UNSET:
            slug = self.new_slug(page, change)
        elif page.title != old.title and _is_after_title(old):
            slug = self.draft.free_slug(replace(page, slug=slugify(page.title)))
        elif page.parent != old.parent and self.draft.slug_taken(page, slug):
            raise Conflict(f"into: a page with the slug {slug!r} is there already; give another slug.")
        self.draft.put_page(page.id, replace(page, slug=slug))

    def new_slug(self, page: Page, change: PageFields) -> str:
        """As asked, else after the title. Raises BadRequest, Conflict."""
        if change.slug is UNSET or change.slug == "":
            return self.draft.free_slug(replace(page, slug=slugify(page.title)))
        if _BAD_SLUG.search(change.slug):
            raise BadRequest("slug: no blanks, slashes, `?`, `#` or `%`, and no `~` in front.")
        if self.draft.slug_taken(page, change.slug):
            raise Conflict(f"slug: {change.slug!r} is taken by another page at the same place.")
        return change.slug

    def folder(self, parent: Page | None) -> str:
        """Where the files of a page's children go."""
        if parent is None:
            return self.draft.root
        if parent.file_path is None:
            return f"{self.draft.root}{parent.slug}/"
        folder, name = posixpath.split(parent.file_path)
        if name.lower() != "readme.md":
            return f"{posixpath.splitext(parent.file_path)[0]}/"
        return f"{folder}/" if folder else ""

    def free_path(self, folder: str, name: str, *, first: bool = False) -> str:
        """Where nothing is yet. ``first``: the first page of a space has the name that others must not have."""

        def is_taken(path: str) -> bool:
            return (posixpath.basename(path).lower() in _OWN_NAMES and not first) or self.draft.path_taken(
                path
            )

        return made_path(folder, name, is_taken, self.draft.root)
