"""Determine who can read a change request's pages before and after the merge, and which changed pages reviewers can't
see.

Merge rules count a review only for the pages that its reviewer can see. Reviewers learn how many changed pages they
can't see, and who can review those pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from msgspec import Struct

from octavo.content.revisions.drafting import same_version
from octavo.content.revisions.page_versions import find_page, find_pages
from octavo.content.revisions.restrictions import find_rules, seen_by
from octavo.content.revisions.states import list_branch_content
from octavo.core.pages import Page
from octavo.kit.db.database import Transaction
from octavo.organization.access.page_rules import PageViewer, Rule, level_at
from octavo.organization.access.page_viewers import list_viewers
from octavo.organization.access.roles import SPACE, Can, at_least
from octavo.organization.spaces.store import get_space

from .authorization import ChangeAccess
from .comparing import Sides, merge_into_main, sides_of
from .reviewing import can_review
from .store import ChangeRow

_MOST_PAGES = 100
_MOST_REVIEWERS = 10

PageRules = Mapping[str, tuple[Rule, ...]]


class AccessChange(Struct, frozen=True):
    """Page whose readers change when a change request is merged. ``gained``: the IDs of the people who can see the page
    only after the merge. ``lost``: the IDs of the people who can see the page only before the merge. ``is_open``:
    whether the page is unrestricted after the merge."""

    page: Page
    gained: list[str]
    lost: list[str]
    is_open: bool


class HiddenChanges(Struct, frozen=True):
    """Changed pages that a reviewer can't see. ``reviewers``: the IDs of at most 10 people who can review all of these
    pages."""

    count: int
    reviewers: list[str]


# --- reviews ----------------------------------------------------------------------------------------------


def find_changed_rules(tx: Transaction, change: ChangeRow) -> PageRules:
    """Return the page access rules that a change request changes, both as they are in the change request and as they
    are in main."""
    rules = [find_rules(tx, state) for state in (change.state, change.below, change.main)]
    restricted = rules[0].keys() | rules[1].keys() | rules[2].keys()
    if not restricted:
        return {}
    touched = list_branch_content(tx, change.state.layers[0]).pages & restricted
    before, after = find_pages(tx, change.below, touched), find_pages(tx, change.state, touched)
    return {
        id: tuple(dict.fromkeys(rule for known in rules for rule in known.get(id, ())))
        for id in sorted(touched)
        if not same_version(before.get(id), after.get(id))
    }


def find_unseen(tx: Transaction, change: ChangeRow, user_ids: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the changed pages that each of these people can't see. People who can't see the space can't see any
    restricted pages."""
    changed = find_changed_rules(tx, change)
    viewers = _viewers(tx, change, changed) if changed else {}
    return {
        user_id: frozenset(id for id, rules in changed.items() if not _sees(viewers.get(user_id), rules))
        for user_id in user_ids
    }


def find_hidden_changes(tx: Transaction, access: ChangeAccess, change: ChangeRow) -> HiddenChanges:
    """Return the number of changed pages that the caller can't see, and the people who can review those pages."""
    changed = find_changed_rules(tx, change)
    hidden = seen_by(tx, access.space, change.state).hidden | seen_by(tx, access.space, change.main).hidden
    rules = [changed[id] for id in changed if id in hidden]
    if not rules:
        return HiddenChanges(0, [])
    able = (
        user_id
        for user_id, viewer in _viewers(tx, change, changed).items()
        if at_least(viewer.role, SPACE[Can.REVIEW])
        and all(_sees(viewer, each) for each in rules)
        and can_review(tx, access, change, user_id)
    )
    return HiddenChanges(len(rules), list(islice(able, _MOST_REVIEWERS)))


def _viewers(tx: Transaction, change: ChangeRow, rules: PageRules) -> dict[str, PageViewer]:
    organization_id = get_space(tx, change.space_id).organization_id
    named = {rule for each in rules.values() for rule in each}
    return list_viewers(tx, organization_id, change.space_id, named)


def _sees(viewer: PageViewer | None, rules: Iterable[Rule]) -> bool:
    return viewer is not None and level_at(rules, viewer) is not None


# --- merges -----------------------------------------------------------------------------------------------


def list_access_changes(tx: Transaction, access: ChangeAccess, change: ChangeRow) -> list[AccessChange]:
    """Return at most 100 pages whose readers change when the change request is merged: the pages that the change
    request moves or restricts, but not their subpages. Pages that the caller can't see before or after the merge are
    left out."""
    before = find_rules(tx, change.main)
    if not before and not find_rules(tx, change.state):
        return []
    pages = _merged_pages(tx, sides_of(tx, change), change)
    old = find_pages(tx, change.main, pages)
    hidden = seen_by(tx, access.space, change.state).hidden | seen_by(tx, access.space, change.main).hidden
    known: dict[str, tuple[Rule, ...]] = {}
    found: list[tuple[Page, tuple[Rule, ...], tuple[Rule, ...]]] = []
    for id, page in sorted(pages.items()):
        was = old.get(id)
        if page is None or was is None or id in hidden:
            continue
        if (was.parent, was.visible_to) == (page.parent, page.visible_to):
            continue
        rules = _rules_at(tx, change, pages, known, page)
        if set(rules) != set(before.get(id, ())):
            found.append((page, before.get(id, ()), rules))
    named = {rule for _, *both in found for rules in both for rule in rules}
    viewers = list_viewers(tx, access.organization_id, access.space_id, named) if found else {}
    changes = (_change(page, old, new, viewers.values()) for page, old, new in found)
    return [one for one in changes if one.gained or one.lost][:_MOST_PAGES]


def _change(
    page: Page, old: tuple[Rule, ...], new: tuple[Rule, ...], viewers: Iterable[PageViewer]
) -> AccessChange:
    gained, lost = list[str](), list[str]()
    for viewer in viewers:
        saw, sees = level_at(old, viewer) is not None, level_at(new, viewer) is not None
        if saw != sees:
            (gained if sees else lost).append(viewer.user_id)
    return AccessChange(page, gained, lost, not new)


def _merged_pages(tx: Transaction, sides: Sides, change: ChangeRow) -> Mapping[str, Page | None]:
    """Return the pages that merging the change request writes to main."""
    if change.outdated:
        return merge_into_main(tx, sides, change.main).changes.pages
    return sides.change.pages


def _rules_at(
    tx: Transaction,
    change: ChangeRow,
    merged: Mapping[str, Page | None],
    known: dict[str, tuple[Rule, ...]],
    page: Page,
) -> tuple[Rule, ...]:
    """Return the rules that apply to a page after the merge. ``known``: the rules looked up so far, by page ID; the
    function adds to this mapping."""
    path: list[Page] = []
    here: Page | None = page
    while here is not None and here.id not in known and all(here.id != one.id for one in path):
        path.append(here)
        parent = here.parent
        here = None
        if parent is not None:
            here = merged[parent] if parent in merged else find_page(tx, change.main, parent)
    above = known[here.id] if here is not None and here.id in known else ()
    for one in reversed(path):
        own = (one.visible_to,) if one.visible_to else ()
        above = known[one.id] = tuple(dict.fromkeys((*own, *above)))
    return above
