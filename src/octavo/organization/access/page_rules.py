"""Rules that restrict a page to certain people, and the level of access that the rules give to a person. This module
does no I/O.

A rule is a tuple of entries: ``user:ID:LEVEL``, ``team:ID:LEVEL``, ``role:ROLE:LEVEL`` (everyone whose role in the
space is at least this role), ``administrators``, or ``sites``. An empty tuple means no restriction. A rule also applies
to all pages under its page, where other rules can narrow access but not widen it. Space administrators are never
restricted. Sites show a restricted page if all of its rules have the ``sites`` entry, which doesn't give anyone access
to the page itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, get_args

from .roles import SPACE, Can, Role, at_least, role_height

PageLevel = Literal["read", "comment", "edit"]
Subject = Literal["user", "team", "role"]
Rule = tuple[str, ...]
ADMINISTRATORS = "administrators"
"""Entry that grants access only to the administrators of the space, who can always see the page."""
SITES = "sites"
"""Entry that lets sites show the page."""
MAX_ENTRIES = 100


class RuleEntry(NamedTuple):
    subject: Subject
    id: str
    level: PageLevel


class PageViewer(NamedTuple):
    """Person or integration whose access is evaluated. ``role``: the role in the space. ``teams``: the IDs of the
    person's teams. ``is_integration``: whether this is an integration, which can't see any restricted page."""

    user_id: str
    teams: frozenset[str]
    role: str | None
    is_integration: bool = False

    @property
    def is_unrestricted(self) -> bool:
        return not self.is_integration and at_least(self.role, SPACE[Can.ADMIN])


def read_entry(text: str) -> RuleEntry | None:
    """Parse an entry. Return None for ``administrators`` and ``sites``. Raises ValueError if the entry is invalid.

    >>> read_entry("team:T1:edit")
    RuleEntry(subject='team', id='T1', level='edit')
    """
    if text in (ADMINISTRATORS, SITES):
        return None
    subject, _, rest = text.partition(":")
    id, _, level = rest.rpartition(":")
    if subject not in get_args(Subject) or level not in get_args(PageLevel) or not id:
        raise ValueError("must be user:ID:LEVEL, team:ID:LEVEL, role:ROLE:LEVEL, administrators, or sites")
    if subject == "role" and id not in get_args(Role):
        raise ValueError(f"{id!r} isn't a valid role")
    return RuleEntry(subject, id, level)  # type: ignore[arg-type]


def is_published(rules: Iterable[Rule]) -> bool:
    """Return whether sites show a page that these rules apply to."""
    return all(not rule or SITES in rule for rule in rules)


def level_at(rules: Iterable[Rule], viewer: PageViewer) -> str | None:
    """Return a person's role on a page with these rules, which is at most the person's role in the space; None if the
    person can't see the page."""
    if viewer.is_unrestricted:
        return viewer.role
    level = viewer.role
    for rule in rules:
        given = _level_of(rule, viewer)
        if given is None:
            return None
        level = level if at_least(given, level) else given
    return level


def _level_of(rule: Sequence[str], viewer: PageViewer) -> str | None:
    entry = find_entry(rule, viewer)
    return entry.level if entry is not None else None


def find_entry(rule: Sequence[str], viewer: PageViewer) -> RuleEntry | None:
    """Return a rule's entry that gives a person the highest level; None if no entry applies to the person."""
    entries = (entry for text in rule if (entry := read_entry(text)) is not None)
    return max(
        (entry for entry in entries if _matches(entry, viewer)),
        key=lambda entry: role_height(entry.level),
        default=None,
    )


def _matches(entry: RuleEntry, viewer: PageViewer) -> bool:
    if viewer.is_integration:
        return False
    match entry.subject:
        case "user":
            return entry.id == viewer.user_id
        case "team":
            return entry.id in viewer.teams
        case "role":
            return at_least(viewer.role, entry.id)
