"""List everyone who can see a page, and why they can see it."""

from __future__ import annotations

from msgspec import Struct

from octavo.content.revisions.page_versions import get_page
from octavo.content.revisions.restrictions import find_rules, main_seen_by
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, PageQuery, present_slice, slice_items
from octavo.kit.http.operation import Recipient
from octavo.organization.access.accounts import list_users_by_id
from octavo.organization.access.authorization import SpaceAccess
from octavo.organization.access.page_rules import PageViewer, Rule, find_entry, level_at
from octavo.organization.access.page_viewers import list_viewers
from octavo.organization.access.wire import User, present_people

from .access_wire import PageAccessGrant, find_names, present_grant


class PersonPageAccess(Struct):
    """A person's access to a page. ``level``: the person's role on the page. ``reasons``: for each rule, from the page
    upward, the grant that lets the person see the page; empty if the page isn't restricted."""

    user: User
    level: str
    reasons: list[PageAccessGrant]


def present_people_at_page(
    to: Recipient, tx: Transaction, space: SpaceAccess, page_id: str, query: PageQuery
) -> Listing[PersonPageAccess]:
    """List everyone who can see a page in main, and why they can see it, sorted by name. Raises NotFound if there is no
    such page."""
    state = main_seen_by(tx, space)
    get_page(tx, state, page_id)
    rules = find_rules(tx, state).get(page_id, ())
    viewers = list_viewers(tx, space.organization_id, space.space_id, rules)
    users = list_users_by_id(tx, list(viewers))
    able = [id for id, viewer in viewers.items() if id in users and level_at(rules, viewer) is not None]
    found = slice_items(
        able, query.limit, query.page, lambda id: f"{users[id].display_name.casefold()}\x1f{id}"
    )
    people = present_people(to, tx, list(found.rows))
    names = find_names(tx, space.organization_id, [text for rule in rules for text in rule])

    def reasons(viewer: PageViewer) -> list[PageAccessGrant]:
        return [_reason(rule, viewer, names) for rule in rules]

    return present_slice(
        found,
        lambda id: PersonPageAccess(people[id], level_at(rules, viewers[id]) or "", reasons(viewers[id])),
    )


def _reason(rule: Rule, viewer: PageViewer, names: dict[str, str]) -> PageAccessGrant:
    entry = None if viewer.is_unrestricted else find_entry(rule, viewer)
    return present_grant(entry, names)
