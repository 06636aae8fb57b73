"""Restricted pages of a state, and the state as one person sees it.

A page's rule is part of its version, so it is merged like any field. Restoring content keeps the current rule. The
rules of main apply to every state of the space, including revisions and change requests that are older than the rule.
In the same way, the rules of a change request apply to its older revisions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Literal

import msgspec
from msgspec.structs import replace

from octavo.core.pages import Page
from octavo.errors import Forbidden
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor, Drafted, Person, Recipient, Script
from octavo.organization.access.authorization import OrgAccess, SpaceAccess, find_space_access
from octavo.organization.access.page_rules import PageViewer, Rule, is_published, level_at
from octavo.organization.access.roles import SPACE, Can, at_least
from octavo.organization.access.teams import list_team_ids

from .expanding import expand
from .page_versions import (
    find_last_rules,
    find_pages,
    find_rules_at_deletion,
    keeps_rules,
    list_child_ids,
    list_children,
    list_computed,
    list_deleted_below,
    list_ever_below,
    list_ever_restricted,
    list_restricted_spaces,
)
from .states import ReaderLimits, State, branch_state, is_head, main_state, revision_state

Rules = Mapping[str, tuple[Rule, ...]]
"""Rules that apply to each restricted page and to all pages under it."""


class _ReadRules(msgspec.Struct, frozen=True):
    """Rules of a state. ``parents``: the parents of the pages that exist, empty at the top level. ``key``: a key shared
    by all states with these rules. ``revision_id``: for main, the last revision that is known to have these rules."""

    key: str
    rules: Rules
    parents: Mapping[str, str]
    revision_id: str = ""


_PAGE_BYTES = 150
_MOVED_WIDER = "Only space administrators can move a page to a location where more people can see it."
_RESTORED_WIDER = "Only space administrators can restore a page to a location where more people can see it."
_rules: OwnCache[_ReadRules] = OwnCache("restricted pages", 4)
_limits: OwnCache[ReaderLimits] = OwnCache("people's access to restricted pages", 4)


def find_rules(tx: Transaction, state: State) -> Rules:
    """Return the rules that apply in a state: the rules of its pages, the rules of main, and, for an older revision of
    a change request, the rules of the change request. This includes rules of deleted pages."""
    return _find_rules(tx, state).rules


def _find_rules(tx: Transaction, state: State) -> _ReadRules:
    main = main_state(tx, state.space_id)
    found = _rules_of_main(tx, main)
    if state.revision_id == main.revision_id:
        return found
    if len(state.layers) > 1 and not is_head(tx, state):
        found = _find_rules(tx, branch_state(tx, state.space_id, state.layers[0].branch_id))
    key = f"{state.revision_id} {found.key if found.rules else ''}" if state.revision_id else ""
    own = _rules.of(tx).get(key) if key else None
    if own is None:
        rules, parents = _read_with_deleted(tx, state.whole, found.rules)
        own = _ReadRules(key, _joined(found.rules, rules), parents)
        if key:
            _rules.of(tx).put(key, own, _PAGE_BYTES * (1 + len(rules)))
    return own


def _joined(others: Rules, own: Rules) -> Rules:
    ids = others.keys() | own.keys()
    return {id: (*others.get(id, ()), *own.get(id, ())) for id in ids} if own else others


def _rules_of_main(tx: Transaction, main: State) -> _ReadRules:
    """Return the rules of main. The rules of the last known revision are reused if nothing that they depend on has
    changed since."""
    cache, (layer,) = _rules.of(tx), main.layers
    found = cache.get(main.revision_id)
    if found is None:
        last = cache.get(layer.branch_id)
        if last is not None and last.rules and keeps_rules(tx, layer, last.revision_id, last.rules):
            found = replace(last, revision_id=main.revision_id)
        else:
            found = _ReadRules(main.revision_id, *_read_with_deleted(tx, main, {}), main.revision_id)
        for key in (main.revision_id, layer.branch_id):
            cache.put(key, found, _PAGE_BYTES * (1 + len(found.rules)))
    return found


def _read_with_deleted(tx: Transaction, state: State, of_main: Rules) -> tuple[Rules, Mapping[str, str]]:
    """Read the rules of a state, including rules of pages that were deleted while a rule applied to them. Return the
    rules with the parents of the existing pages. ``of_main``: the rules of main, or of a later revision of the change
    request, which also apply to pages that only this state has or had under the same pages."""
    ever = list_ever_restricted(tx, state)
    if not ever and not of_main:
        return {}, {}
    pages = find_pages(tx, state, ever)
    restricted = {page.id: page.visible_to for page in pages.values() if page.visible_to}
    pages |= find_pages(tx, state, of_main)
    found, parents = _read(tx, state, restricted, of_main, pages)
    last = find_last_rules(tx, state, ever - pages.keys())
    deleted: dict[str, tuple[Rule, ...]] = {id: (rule,) for id, rule in last.items() if rule}
    gone = _list_below(tx, state, {*ever, *of_main}) - found.keys()
    level = {**of_main, **found, **deleted}
    while level:
        new: dict[str, tuple[Rule, ...]] = {}
        for id, parent in list_deleted_below(tx, state, level):
            rules = tuple(dict.fromkeys((*new.get(id, deleted.get(id, ())), *level[parent])))
            if id not in found and rules != deleted.get(id):
                new[id] = rules
        deleted |= new
        level = new
    # The rules that applied when a page was deleted still apply to its history after they are removed.
    gone -= find_pages(tx, state, gone).keys()
    for id, rules in find_rules_at_deletion(tx, state, gone).items():
        deleted[id] = tuple(dict.fromkeys((*deleted.get(id, ()), *rules)))
    return {**deleted, **found}, parents


def _list_below(tx: Transaction, state: State, page_ids: set[str]) -> set[str]:
    """Return these pages and all pages that were ever under one of them."""
    seen: set[str] = set()
    level = page_ids
    while level:
        seen |= level
        level = list_ever_below(tx, state, level) - seen
    return seen


def _read(
    tx: Transaction,
    state: State,
    restricted: Mapping[str, Rule],
    of_main: Rules,
    pages: Mapping[str, Page],
) -> tuple[Rules, dict[str, str]]:
    """Read the rules that apply to the pages of a state: the pages' own rules (``restricted``), and the rules of main.
    Return the rules with the parents of these pages. ``pages``: the pages with rules in the state or in main."""
    rules = {id: (rule,) for id, rule in restricted.items()}
    for id in of_main.keys() & pages.keys():
        rules[id] = (*rules.get(id, ()), *of_main[id])
    parents: dict[str, str] = {}
    level = list(rules)
    while level:
        below = [(id, parent) for id, parent in list_child_ids(tx, state, level) if id not in parents]
        parents |= dict(below)
        level = [id for id, _ in below if id not in rules]
    found = {id: _chain(id, rules, parents) for id in rules.keys() | parents.keys()}
    return found, {id: pages[id].parent or "" for id in rules} | parents


def _chain(
    page_id: str, rules: Mapping[str, tuple[Rule, ...]], parents: Mapping[str, str]
) -> tuple[Rule, ...]:
    found: list[Rule] = []
    here, seen = page_id, set[str]()
    while here and here not in seen:
        seen.add(here)
        found += rules.get(here, ())
        here = parents.get(here, "")
    return tuple(dict.fromkeys(found))


def find_viewer(tx: Transaction, space: SpaceAccess) -> PageViewer:
    # A space that was transferred can have rules that name teams of its former organization.
    teams = list_team_ids(tx, space.organization_id, space.user_id)
    return PageViewer(space.user_id, frozenset(teams), space.role, isinstance(space.actor, Script))


def seen_by(tx: Transaction, space: SpaceAccess, state: State) -> State:
    """Return the state without the pages that the caller can't see."""
    state = replace(state.whole, reader=space)
    found = find_rules(tx, state)
    if not found:
        return state
    viewer = find_viewer(tx, space)
    if viewer.is_unrestricted:
        return state
    return replace(state, limits=_limits_in(tx, state, viewer, lambda: _limits_of(found, viewer)))


def _limits_in(
    tx: Transaction,
    state: State,
    viewer: PageViewer | Literal["sites", "everyone"],
    compute: Callable[[], ReaderLimits],
) -> ReaderLimits:
    """Return the limits of a viewer in a state. The limits for a state without a revision aren't cached."""
    if not state.revision_id:
        return compute()
    key = (_find_rules(tx, state).key, viewer)
    limits = _limits.of(tx).get(key)
    if limits is None:
        limits = compute().within(_find_rules(tx, state).parents)
        _limits.of(tx).put(key, limits, _PAGE_BYTES * (1 + len(limits.hidden | limits.rules.keys())))
    return limits


def seen_by_recipient(tx: Transaction, to: Recipient, state: State) -> State:
    """Return the state without the pages that the recipient of a response can't see."""
    caller = to.authenticated
    space = None
    if isinstance(caller, Person | Script):
        space = find_space_access(tx, caller, Can.VIEW, state.space_id)
    return unrestricted(tx, state) if space is None else seen_by(tx, space, state)


def as_seen(tx: Transaction, state: State, like: State) -> State:
    """Limit a state to the pages that the reader of ``like`` can see. Pages hidden in ``like`` are also hidden in the
    result."""
    if like.reader is None:
        # Pages can have other parents in this state.
        limits = replace(like.limits, below=None) if like.limits is not None else None
        return replace(state, limits=limits)
    seen = seen_by(tx, like.reader, state)
    if like.hidden <= seen.hidden:
        return seen
    limits = seen.limits or like.limits
    assert limits is not None
    hidden = like.hidden | seen.hidden
    return replace(seen, limits=ReaderLimits.of(hidden, limits.read_only, limits.silent, limits.rules))


def _limits_of(found: Rules, viewer: PageViewer) -> ReaderLimits:
    levels = {id: level_at(rules, viewer) for id, rules in found.items()}
    hidden = frozenset(id for id, level in levels.items() if level is None)

    def lacking(ability: Can) -> frozenset[str]:
        return frozenset(id for id, level in levels.items() if not at_least(level, SPACE[ability])) - hidden

    return ReaderLimits.of(hidden, lacking(Can.EDIT), lacking(Can.COMMENT), found)


def main_seen_by(tx: Transaction, space: SpaceAccess) -> State:
    """Return main without the pages that the caller can't see."""
    return seen_by(tx, space, main_state(tx, space.space_id))


def see_main(tx: Transaction, actor: Actor, space_id: str) -> State:
    """Return main of a space without the pages that the caller can't see. If the caller can't see the space, all
    restricted pages are left out."""
    space = find_space_access(tx, actor, Can.VIEW, space_id)
    return main_seen_by(tx, space) if space is not None else unrestricted(tx, main_state(tx, space_id))


def shown_state(tx: Transaction, drafted: Drafted | None, space_id: str) -> State:
    """Return the state of a space that a site shows: main, or the revision of the preview that the visitor is viewing.
    A preview shows unpublished text, so it leaves out the pages that its creator can't see."""
    if drafted is not None and drafted.space_id == space_id:
        state = revision_state(tx, space_id, drafted.revision_id)
        space = find_space_access(tx, drafted.by, Can.VIEW, space_id)
        seen = seen_by(tx, space, state) if space is not None else unrestricted(tx, state)
        return _hiding(published(tx, state), seen.hidden)
    return published(tx, main_state(tx, space_id))


def published(tx: Transaction, state: State) -> State:
    """Return the state as sites show it: without restricted pages, except pages whose rules let sites show them."""
    found = find_rules(tx, state)
    if not found:
        return state

    def limits() -> ReaderLimits:
        return ReaderLimits.of(frozenset(id for id, rules in found.items() if not is_published(rules)))

    return replace(state, limits=_limits_in(tx, state, "sites", limits))


def published_seen_by(tx: Transaction, space: SpaceAccess) -> State:
    """Return main as sites show it, without the pages that the caller can't see."""
    return _hiding(shown_state(tx, None, space.space_id), main_seen_by(tx, space).hidden)


def _hiding(state: State, hidden: frozenset[str]) -> State:
    """Return the state with these pages hidden, in addition to those that are already hidden."""
    if hidden <= state.hidden:
        return state
    return replace(state, limits=ReaderLimits.of(state.hidden | hidden))


def unrestricted(tx: Transaction, state: State) -> State:
    """Return the state without restricted pages, as everyone who can see the space sees it."""
    found = find_rules(tx, state)
    if not found:
        return state
    limits = _limits_in(tx, state, "everyone", lambda: ReaderLimits.of(frozenset(found)))
    return replace(state, limits=limits)


def require_editable_page(state: State, page_id: str, new: Page | None, old: Page | None = None) -> None:
    """Raise Forbidden unless the reader of the state can replace a page with another version. ``old``: the
    previous version, if known."""
    if state.limits is None or (old is not None and new is not None and replace(old, rank=new.rank) == new):
        return
    if page_id in state.limits.hidden:
        raise Forbidden(
            "This page has subpages that you can't see. Ask a space administrator to make this change."
        )
    if page_id in state.limits.read_only or (new is not None and new.parent in state.limits.read_only):
        raise Forbidden("You can't edit this page. Ask a space administrator for permission to edit it.")
    if new is not None and new.parent in state.limits.hidden:
        raise Forbidden("You can't move or add a page to this location. Choose another location.")
    rules = state.limits.rules
    if old is None and new is not None:
        # A page that was deleted is still restricted by the rules of its last location.
        if not set(rules.get(page_id, ())) <= {new.visible_to, *rules.get(new.parent or "", ())}:
            raise Forbidden(_RESTORED_WIDER)
    elif old is not None and new is not None and old.parent != new.parent:
        if not set(rules.get(old.parent or "", ())) <= set(rules.get(new.parent or "", ())):
            raise Forbidden(_MOVED_WIDER)


def require_editable_pages(tx: Transaction, state: State, pages: Mapping[str, Page | None]) -> None:
    """Raise Forbidden unless the reader of the state can replace these pages with other versions."""
    if state.limits is not None:
        before = find_pages(tx, state.whole, pages)
        for id, page in pages.items():
            old = before.get(id)
            if old is None or page is None or replace(old, updated_at=page.updated_at) != page:
                require_editable_page(state, id, page, old)
        gone = [id for id, page in pages.items() if page is None]
        for child in list_children(tx, state.whole, gone) if gone else ():
            if pages.get(child.id, child) is not None and child.id in state.hidden:
                raise Forbidden(
                    "This page has subpages that you can't see. Ask a space administrator to make this change."
                )


def role_at_page(tx: Transaction, space: SpaceAccess, page_id: str) -> str | None:
    """Return the caller's role on a page in main; None if they can't see the page."""
    rules = find_rules(tx, main_state(tx, space.space_id)).get(page_id, ())
    return level_at(rules, find_viewer(tx, space))


def require_same_readers(
    tx: Transaction, main: State, after: Rules, pages: Mapping[str, Page | None]
) -> None:
    """Raise Forbidden if a merge moves or restores a page to a location where more people can see it, and the reader of
    main isn't an administrator. ``after``: the rules that apply after the merge."""
    if main.limits is None:
        return
    before = find_pages(tx, main.whole, pages)
    rules = main.limits.rules
    for id, page in pages.items():
        old = before.get(id)
        if page is None or (old is not None and old.parent == page.parent):
            continue
        there = after.get(page.parent or "", ())
        if old is None and not set(rules.get(id, ())) <= {page.visible_to, *there}:
            raise Forbidden(_RESTORED_WIDER)
        if old is not None and not set(rules.get(old.parent or "", ())) <= set(there):
            raise Forbidden(_MOVED_WIDER)


class HiddenPages:
    """Restricted pages that a person can't see in the spaces of an organization, read space by space. ``see``: a
    function that returns a space's main version as that person sees it."""

    def __init__(
        self, tx: Transaction, organization_id: str, see: Callable[[Transaction, str], State]
    ) -> None:
        self._tx, self._see = tx, see
        self.spaces = frozenset(list_restricted_spaces(tx, organization_id))
        self._states: dict[str, State] = {}
        self._hidden: dict[str, frozenset[str]] = {}

    def __bool__(self) -> bool:
        """Return whether any space has restricted pages."""
        return bool(self.spaces)

    def of(self, space_id: str) -> frozenset[str]:
        """Return the hidden pages of a space, including pages computed from hidden sources."""
        if space_id not in self.spaces:
            return frozenset()
        if space_id not in self._hidden:
            state = self.main(space_id)
            hidden = set(state.hidden)
            if hidden and not hidden.isdisjoint(page.id for page in list_computed(self._tx, state.whole)):
                expansion = expand(self._tx, state.whole, None)
                hidden |= {page.id for source in state.hidden for page in expansion.list_of_source(source)}
            self._hidden[space_id] = frozenset(hidden)
        return self._hidden[space_id]

    def condition(self, space: str, page: str) -> str:
        """Return SQL that leaves out rows about hidden pages, given the names of their columns. The result is an empty
        string, or ``AND`` with a condition that uses the parameter ``hidden_pages``."""
        if not self._pages:
            return ""
        listed = self._tx.given("hidden_pages", "space_id", "page_id")
        return f" AND ({space}, {page}) NOT IN (SELECT g.space_id, g.page_id FROM {listed} AS g)"

    @property
    def parameters(self) -> dict[str, object]:
        """Return the parameters of ``condition``."""
        return {"hidden_pages": msgspec.json.encode(self._pages).decode()} if self._pages else {}

    @cached_property
    def _pages(self) -> list[tuple[str, str]]:
        return [(space, page) for space in sorted(self.spaces) for page in sorted(self.of(space))]

    def main(self, space_id: str) -> State:
        """Return a space's main version without its hidden pages."""
        if space_id not in self._states:
            see = self._see if space_id in self.spaces else main_state
            self._states[space_id] = see(self._tx, space_id)
        return self._states[space_id]


def hidden_from(tx: Transaction, org: OrgAccess) -> HiddenPages:
    """Return the pages that are hidden from the caller, in spaces that the caller can see."""
    return HiddenPages(tx, org.organization_id, lambda tx, space_id: see_main(tx, org.actor, space_id))


def hidden_on_sites(tx: Transaction, organization_id: str) -> HiddenPages:
    """Return the pages that sites don't show."""
    return HiddenPages(tx, organization_id, lambda tx, space_id: published(tx, main_state(tx, space_id)))


def hidden_on_sites_or_from(tx: Transaction, org: OrgAccess) -> HiddenPages:
    """Return the pages that sites don't show, and those that are hidden from the caller."""

    def see(tx: Transaction, space_id: str) -> State:
        space = find_space_access(tx, org.actor, Can.VIEW, space_id)
        if space is None:
            return unrestricted(tx, main_state(tx, space_id))
        return published_seen_by(tx, space)

    return HiddenPages(tx, org.organization_id, see)


def restricted_pages(tx: Transaction, organization_id: str) -> HiddenPages:
    """Return all restricted pages, which integrations never see."""
    return HiddenPages(tx, organization_id, lambda tx, space_id: unrestricted(tx, main_state(tx, space_id)))
