"""Determine when a page should be reviewed, and who is responsible for it.

A page without an owner or an interval inherits the value from the nearest ancestor that has a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from msgspec import Struct

from .pages import Page

_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}


class Freshness(Struct, frozen=True):
    """Review schedule of a page. ``every``: the interval in its original form. ``due``: the date when the next review
    is due; None if there is no interval."""

    owner: str | None
    every: str | None
    verified: date | None
    due: date | None


def read_interval(text: str) -> timedelta:
    """Parse a page's review interval. Months count as 30 days, and years as 365.

    >>> read_interval("6 months").days
    180
    """
    number, unit = text.split(" ")
    return timedelta(days=int(number) * _DAYS[unit.removesuffix("s")])


def read_date(text: str | None) -> date | None:
    """Parse a page's date; return None for a date that isn't in the calendar, such as February 30."""
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None


def freshness_of(page: Page, above: Sequence[Page]) -> Freshness:
    """Return a page's review schedule. ``above``: the page's ancestors, from the top down.

    A page that was never verified is due one interval after its last change.
    """
    nearest = (page, *reversed(above))
    owner = next((each.owner for each in nearest if each.owner), None)
    every = next((each.review_every for each in nearest if each.review_every), None)
    verified = read_date(page.verified_on)
    if every is None:
        return Freshness(owner, None, verified, None)
    since = verified or datetime.fromtimestamp(page.updated_at / 1000, UTC).date()
    try:
        due = since + read_interval(every)
    except OverflowError:
        due = date.max
    return Freshness(owner, every, verified, due)
