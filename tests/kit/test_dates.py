"""Days as people write them."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from babel.dates import format_date

from octavo.delivery.reader.locales import read_catalog
from octavo.kit.locales import date_words
from octavo.sites.openapi.words import catalogue
from octavo.sites.printing.words import _read_catalog as read_print_catalog

LANGUAGES = sorted(read_catalog().keys() | read_print_catalog().keys() | catalogue().keys())


@pytest.mark.parametrize("language", LANGUAGES)
def test_dates_match_the_cldr(language: str) -> None:
    # English days as most of the world writes them.
    locale = "en_GB" if language == "en" else language
    for number in range(0, 800):
        day = date(2023, 12, 30) + timedelta(days=number)
        assert date_words(day, language) == format_date(day, "long", locale=locale)
