"""Differences between two states, as shown to people: changed pages, files, reusable content, and variables."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from octavo.content.revisions.bodies import get_body
from octavo.content.revisions.history import get_revision, state_before
from octavo.content.revisions.item_versions import find_items
from octavo.content.revisions.page_versions import find_page, find_pages
from octavo.content.revisions.restrictions import seen_by
from octavo.content.revisions.states import (
    Layer,
    ReaderLimits,
    State,
    TouchedIds,
    list_branch_content,
    list_changed,
    revision_state,
)
from octavo.core.diff import Change, compare_tags, semantic_changes
from octavo.core.pages import Page
from octavo.core.space_config import TAGS_PATH
from octavo.core.tags import Tag, read_tags
from octavo.errors import BadRequest, NotFound
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import SpaceAccess

from .store import ChangeRow

_CHANGE_BYTES = 2_000
Entry = Change | list[Change]
"""Entry in a list of changes: a single change, or the changes to all variables."""

_differences: OwnCache[list[Entry]] = OwnCache("differences", 8)
"""Cache of differences between pairs of states; states are immutable."""


class States(Struct, frozen=True):
    """Two states to compare. ``find_touched``: a function that returns the pages and items that may differ between the
    two states."""

    before: State
    after: State
    find_touched: Callable[[], TouchedIds]


def states_of_change(
    tx: Transaction, space: SpaceAccess, change: ChangeRow, since: str | None = None
) -> States:
    """Return the states for comparing a change request with the state of main that it is based on, or with its earlier
    revision ``since``. Raises BadRequest if ``since`` isn't an earlier revision of the change request."""
    if since is not None:
        return _seen(tx, space, _states_since(tx, change.state, since))
    found = States(change.below, change.state, lambda: list_branch_content(tx, change.state.layers[0]))
    return _seen(tx, space, found)


def _seen(tx: Transaction, space: SpaceAccess, states: States) -> States:
    """Return the states without the pages that the caller can't see in at least one of them."""
    hidden = seen_by(tx, space, states.before).hidden | seen_by(tx, space, states.after).hidden
    if not hidden:
        return states
    limits = ReaderLimits.of(hidden)
    before, after = replace(states.before, limits=limits), replace(states.after, limits=limits)
    return States(before, after, states.find_touched)


def _states_since(tx: Transaction, after: State, since: str) -> States:
    try:
        before = revision_state(tx, after.space_id, since)
    except NotFound:
        raise BadRequest(f"since: there is no revision with the ID {since!r} in this space") from None
    top = after.layers[0]
    if before.layers[0].branch_id != top.branch_id:
        what = "this change request" if len(after.layers) > 1 else "main, like this revision"
        raise BadRequest(f"since: must be a revision of {what}")
    if before.layers[0].sequence > top.sequence:
        raise BadRequest("since: must be earlier than the revision that you compare it with")

    def find_touched() -> TouchedIds:
        found = [
            list_changed(tx, now, was.sequence) for now, was in zip(after.layers, before.layers, strict=True)
        ]
        pages, items = (one.pages for one in found), (one.items for one in found)
        return TouchedIds(frozenset().union(*pages), frozenset().union(*items))

    return States(before, after, find_touched)


def states_of_revision(
    tx: Transaction, space: SpaceAccess, revision_id: str, since: str | None = None
) -> States:
    """Return the states for comparing a revision, including any consecutive saves that were combined into it, with the
    previous revision of its branch. The first revision of a change request is compared with main. ``since``: an earlier
    revision of the same branch to compare with instead. Raises BadRequest if ``since`` isn't an earlier revision of
    that branch."""
    return _seen(tx, space, _states_of_revision(tx, space.space_id, revision_id, since))


def _states_of_revision(tx: Transaction, space_id: str, revision_id: str, since: str | None) -> States:
    after = revision_state(tx, space_id, revision_id)
    top, *below = after.layers
    if since is not None:
        return _states_since(tx, after, since)
    if top.sequence == 1:
        before = State(space_id, "", tuple(below) or (Layer(top.branch_id, 0),))
        return States(before, after, lambda: list_changed(tx, top, 0))
    revision = get_revision(tx, revision_id)
    before = state_before(tx, space_id, revision)

    def find_touched() -> TouchedIds:
        touched = list_changed(tx, top, revision.before)
        if below and below[0] != before.layers[1]:
            moved = list_changed(tx, below[0], before.layers[1].sequence)
            touched = TouchedIds(touched.pages | moved.pages, touched.items | moved.items)
        return touched

    return States(before, after, find_touched)


def entries_between(tx: Transaction, states: States) -> list[Entry]:
    """Return the differences in display order."""
    key = (states.before.layers, states.after.layers, states.after.hidden)
    found = _differences.of(tx).get(key)
    if found is None:
        touched = states.find_touched()
        changes = semantic_changes(
            find_pages(tx, states.before, touched.pages),
            find_pages(tx, states.after, touched.pages),
            find_items(tx, states.before, touched.items),
            find_items(tx, states.after, touched.items),
        )
        found = _entries(tx, changes)
        _differences.of(tx).put(key, found, _CHANGE_BYTES * (1 + len(changes)))
    return found


def _entries(tx: Transaction, found: list[Change]) -> list[Entry]:
    variables = [change for change in found if change.target == "variable"]
    others = [change for change in found if change.target not in ("variable", "source")]
    entries: list[Entry] = [*others, *_tag_changes(tx, found)]
    if variables:
        # All variables are one entry between files and reusable content.
        at = sum(change.target in ("page", "file") for change in others)
        entries.insert(at, variables)
    return entries


def _tag_changes(tx: Transaction, found: list[Change]) -> list[Change]:
    """Return the changes to the space's tags, which are stored in one file."""
    before, after = dict[str, Tag](), dict[str, Tag]()
    for change in found:
        for item, tags in ((change.before, before), (change.after, after)):
            is_tags = change.target == "source" and item is not None and item.path.endswith(TAGS_PATH)
            if is_tags and item.content:
                tags |= {tag.tag: tag for tag in read_tags(get_body(tx, item.content))[0]}
    return compare_tags(before, after)


class PageSides(Struct, frozen=True):
    """Page in the two states; None where it doesn't exist."""

    before: Page | None
    after: Page | None


def page_sides(tx: Transaction, states: States, page_id: str) -> PageSides:
    """Return a page in the two states. Raises NotFound if neither state has the page."""
    sides = PageSides(find_page(tx, states.before, page_id), find_page(tx, states.after, page_id))
    if sides.before is None and sides.after is None:
        raise NotFound(f"There is no page with the ID {page_id!r} in either revision.")
    return sides
