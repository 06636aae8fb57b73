"""Request and response models for page access."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.content.revisions.history import find_revision_at
from octavo.content.revisions.page_versions import find_rule_start, get_page, list_ancestors
from octavo.content.revisions.restrictions import main_seen_by, role_at_page
from octavo.content.revisions.states import Layer
from octavo.errors import require_found
from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient
from octavo.organization.access.accounts import list_users_by_id
from octavo.organization.access.authorization import SpaceAccess
from octavo.organization.access.members import find_members
from octavo.organization.access.page_rules import (
    ADMINISTRATORS,
    MAX_ENTRIES,
    SITES,
    PageLevel,
    Rule,
    RuleEntry,
    is_published,
    read_entry,
)
from octavo.organization.access.roles import Role
from octavo.organization.access.teams import find_team
from octavo.organization.access.wire import User, present_people

_Id = Annotated[str, Meta(min_length=1, max_length=50)]


class UserPageAccess(Struct, tag_field="kind", tag="user", forbid_unknown_fields=True):
    """Access to a page for a person."""

    user: _Id
    level: PageLevel


class TeamPageAccess(Struct, tag_field="kind", tag="team", forbid_unknown_fields=True):
    """Access to a page for a team."""

    team: _Id
    level: PageLevel


class RolePageAccess(Struct, tag_field="kind", tag="role", forbid_unknown_fields=True):
    """Access to a page for everyone whose role in the space is at least ``role``."""

    role: Role
    level: PageLevel


class AdministratorPageAccess(Struct, tag_field="kind", tag="administrators", forbid_unknown_fields=True):
    """Access for administrators of the space, who can see every page."""


class SitesPageAccess(Struct, tag_field="kind", tag="sites", forbid_unknown_fields=True):
    """Permission for sites to show the page. It gives no one access to the page in the space."""


PageAccess = UserPageAccess | TeamPageAccess | RolePageAccess | AdministratorPageAccess | SitesPageAccess
GivenPageAccess = Annotated[list[PageAccess], Meta(max_length=MAX_ENTRIES)]


def read_page_access(given: Iterable[PageAccess]) -> Rule:
    """Return a page's access rule, without duplicate entries."""
    return tuple(dict.fromkeys(map(_entry, given)))


def _entry(given: PageAccess) -> str:
    match given:
        case UserPageAccess():
            return f"user:{given.user}:{given.level}"
        case TeamPageAccess():
            return f"team:{given.team}:{given.level}"
        case RolePageAccess():
            return f"role:{given.role}:{given.level}"
        case AdministratorPageAccess():
            return ADMINISTRATORS
        case SitesPageAccess():
            return SITES


def present_page_access(rule: Iterable[str]) -> list[PageAccess]:
    return [_present(text) for text in rule]


def _present(text: str) -> PageAccess:
    entry = read_entry(text)
    if entry is None:
        return SitesPageAccess() if text == SITES else AdministratorPageAccess()
    match entry.subject:
        case "user":
            return UserPageAccess(entry.id, entry.level)
        case "team":
            return TeamPageAccess(entry.id, entry.level)
        case "role":
            return RolePageAccess(entry.id, entry.level)  # type: ignore[arg-type]


class PageAccessGrant(Struct, rename="camel", kw_only=True):
    """Access that a rule grants. ``id``: the ID of the person or team, or the role. ``name``: the name of the person or
    team; absent if they are no longer part of the organization."""

    kind: Literal["user", "team", "role", "administrators", "sites"]
    id: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    level: PageLevel | UnsetType = UNSET


class PageAccessRule(Struct, rename="camel", kw_only=True):
    """Access rule of a page, which also applies to all pages under it. ``since``: the time when the rule was last
    changed. ``set_by``: the person who last changed it."""

    page: str
    title: str
    grants: list[PageAccessGrant]
    since: str | UnsetType = UNSET
    set_by: User | UnsetType = UNSET


class PageAccessOverview(Struct, rename="camel", kw_only=True):
    """Overview of who can see a page. ``rules``: the rules that apply: the page's own rule, followed by the rules of
    its ancestors. A person must satisfy all of them. ``published``: whether sites of the space show it. ``level``: the
    caller's role on the page."""

    restricted: bool
    published: bool
    rules: list[PageAccessRule]
    level: str


def present_access_overview(
    to: Recipient, tx: Transaction, space: SpaceAccess, page_id: str
) -> PageAccessOverview:
    """Return an overview of who can see a page in main. Raises NotFound if there is no such page."""
    state = main_seen_by(tx, space)
    page = get_page(tx, state, page_id)
    pages = [page, *reversed(list_ancestors(tx, state, page))]
    restricted = [page for page in pages if page.visible_to]
    names = find_names(tx, space.organization_id, [text for page in restricted for text in page.visible_to])
    (layer,) = state.layers
    starts = {
        page.id: find_revision_at(tx, Layer(layer.branch_id, find_rule_start(tx, state, page)))
        for page in restricted
    }
    people = present_people(to, tx, [start.author for start in starts.values() if start and start.author])
    rules = []
    for page in restricted:
        start = starts[page.id]
        rules.append(
            PageAccessRule(
                page=page.id,
                title=page.title,
                grants=[_grant(text, names) for text in page.visible_to],
                since=iso(start.created_at) if start else UNSET,
                set_by=people[start.author] if start and start.author else UNSET,
            )
        )
    level = require_found(
        role_at_page(tx, space, page_id),
        f"There is no page with the ID {page_id!r} in this version of the space.",
    )
    return PageAccessOverview(
        restricted=bool(rules),
        published=is_published(page.visible_to for page in restricted),
        rules=rules,
        level=level,
    )


def _grant(text: str, names: Mapping[str, str]) -> PageAccessGrant:
    return PageAccessGrant(kind="sites") if text == SITES else present_grant(read_entry(text), names)


def find_names(tx: Transaction, organization_id: str, rule: Iterable[str]) -> dict[str, str]:
    """Return the names of the people and teams that a rule refers to, by ID."""
    entries = [entry for text in rule if (entry := read_entry(text))]
    members = find_members(tx, organization_id, [entry.id for entry in entries if entry.subject == "user"])
    names = {id: person.display_name for id, person in list_users_by_id(tx, list(members)).items()}
    for entry in entries:
        if entry.subject == "team" and (team := find_team(tx, organization_id, entry.id)) is not None:
            names[entry.id] = team.title
    return names


def present_grant(entry: RuleEntry | None, names: Mapping[str, str]) -> PageAccessGrant:
    """Return an entry of a rule in its API format. ``entry``: the entry; None for the access of space
    administrators."""
    if entry is None:
        return PageAccessGrant(kind="administrators")
    name = names.get(entry.id, UNSET) if entry.subject != "role" else UNSET
    return PageAccessGrant(kind=entry.subject, id=entry.id, name=name, level=entry.level)
