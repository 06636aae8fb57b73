"""Moments of all years that can be written."""

from datetime import UTC, datetime

import pytest

from octavo.kit.clock import iso, milliseconds, parse_iso


@pytest.mark.parametrize(
    "text", ["0001-01-01T00:00:00.000Z", "1969-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"]
)
def test_times_round_trip(text):
    assert iso(parse_iso(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59.9999Z",
        "9999-12-31T23:59:59-00:01",
        "10000-01-01",
        "",
    ],
)
def test_unrepresentable_times_are_refused(text):
    with pytest.raises(ValueError):
        parse_iso(text)


def test_a_time_without_a_time_zone_is_utc():
    assert milliseconds(datetime(2026, 1, 1)) == milliseconds(datetime(2026, 1, 1, tzinfo=UTC))
