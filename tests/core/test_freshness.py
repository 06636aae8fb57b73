"""When pages are due for a review."""

from __future__ import annotations

from datetime import date

import pytest

from octavo.core.freshness import Freshness, freshness_of, read_date
from octavo.core.pages import Page


def page(**fields: object) -> Page:
    values = {"id": "p", "parent": None, "rank": "", "slug": "p", "kind": "document", "title": "P"}
    return Page(**values, created_at=0, updated_at=1_700_000_000_000, **fields)  # type: ignore[arg-type]


def test_a_page_has_the_owner_and_the_interval_of_the_nearest_page_above() -> None:
    top = page(owner="Docs", review_every="1 year")
    middle = page(review_every="2 weeks")
    found = freshness_of(page(verified_on="2026-01-31"), [top, middle])
    assert found == Freshness("Docs", "2 weeks", date(2026, 1, 31), date(2026, 2, 14))
    own = freshness_of(page(owner="Mei", review_every="1 day", verified_on="2026-01-31"), [top, middle])
    assert own == Freshness("Mei", "1 day", date(2026, 1, 31), date(2026, 2, 1))


def test_a_page_that_was_never_verified_is_due_after_its_last_change() -> None:
    assert freshness_of(page(review_every="1 month"), []).due == date(2023, 12, 14)
    assert freshness_of(page(), []) == Freshness(None, None, None, None)


@pytest.mark.parametrize("text", ["2026-02-30", "0000-00-00", None])
def test_a_date_outside_the_calendar_counts_as_not_verified(text: str | None) -> None:
    assert read_date(text) is None
    assert freshness_of(page(review_every="1 day", verified_on=text), []).verified is None


def test_an_interval_beyond_the_calendar_is_never_due() -> None:
    assert freshness_of(page(review_every="9999 years", verified_on="2026-01-31"), []).due == date.max
