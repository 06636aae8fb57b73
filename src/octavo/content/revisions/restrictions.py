"""Restricted pages of a state, and the state as one person sees it.

The rule of a page is data of its version, so it is merged and restored like any field. The rules of main apply
to every state of the space, also to revisions and change requests from before the rule.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Drafted, Script
from octavo.organization.access.authorization import SpaceAccess
from octavo.organization.access.page_rules import PageViewer, Rule, level_at
from octavo.organization.access.teams import list_team_ids

from .page_versions import list_child_ids, list_restricted
from .states import State, main_state, revision_state

Restrictions = Mapping[str, tuple[Rule, ...]]
"""The rules that apply to each restricted page and to everything below it."""
_PAGE_BYTES = 150
_restrictions: OwnCache[Restrictions] = OwnCache("restricted pages", 4)


def find_restrictions(tx: Transaction, state: State) -> Restrictions:
    """Return the restrictions that apply in a state: those of its own pages, and those of main."""
    main = main_state(tx, state.space_id)
    found = _of_revision(tx, main)
    if state.revision_id == main.revision_id:
        return found
    own = _of_revision(tx, state)
    return {id: (*found.get(id, ()), *own.get(id, ())) for id in found.keys() | own.keys()} if own else found


def _of_revision(tx: Transaction, state: State) -> Restrictions:
    cache = _restrictions.of(tx)
    found = cache.get(state.revision_id) if state.revision_id else None
    if found is None:
        found = _read(tx, State(state.space_id, state.revision_id, state.layers))
        if state.revision_id:
            cache.put(state.revision_id, found, _PAGE_BYTES * (1 + len(found)))
    return found


def _read(tx: Transaction, state: State) -> Restrictions:
    rules = list_restricted(tx, state)
    parents: dict[str, str] = {}
    level = list(rules)
    while level:
        below = [(id, parent) for id, parent in list_child_ids(tx, state, level) if id not in parents]
        parents |= dict(below)
        level = [id for id, _ in below if id not in rules]
    return {id: _chain(id, rules, parents) for id in rules.keys() | parents.keys()}


def _chain(page_id: str, rules: Mapping[str, Rule], parents: Mapping[str, str]) -> tuple[Rule, ...]:
    found, here, seen = [], page_id, set()
    while here and here not in seen:
        seen.add(here)
        if rule := rules.get(here):
            found.append(rule)
        here = parents.get(here, "")
    return tuple(found)


def find_viewer(tx: Transaction, space: SpaceAccess) -> PageViewer:
    return PageViewer(space.user_id, frozenset(list_team_ids(tx, space.user_id)), space.role)


def seen_by(tx: Transaction, space: SpaceAccess, state: State) -> State:
    """Return the state without the pages that the caller can't see. Integrations see no restricted page."""
    found = find_restrictions(tx, state)
    if not found:
        return state
    if isinstance(space.actor, Script):
        return replace(state, hidden=frozenset(found))
    viewer = find_viewer(tx, space)
    if viewer.is_unrestricted:
        return state
    return replace(
        state, hidden=frozenset(id for id, rules in found.items() if level_at(rules, viewer) is None)
    )


def shown_state(tx: Transaction, drafted: Drafted | None, space_id: str) -> State:
    """Return the state of a space that a site shows: main, or the revision of the preview that the visitor is
    viewing. Sites show no restricted page."""
    if drafted is not None and drafted.space_id == space_id:
        return published(tx, revision_state(tx, space_id, drafted.revision_id))
    return published(tx, main_state(tx, space_id))


def published(tx: Transaction, state: State) -> State:
    """Return the state without restricted pages, as sites show it."""
    found = find_restrictions(tx, state)
    return replace(state, hidden=frozenset(found)) if found else state
