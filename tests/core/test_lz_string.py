"""Decompression of output of the JavaScript library."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.core.lz_string import decompress

MADE = [
    ["", "Q", "Q==="],
    ["a", "IZA", "IZA="],
    ["aaaaaaaaaaaa", "IY1lA", "IY1lA==="],
    ["ünï 🎉", "D8Ow9wBIPBuJH7Q", "D8Ow9wBIPBuJH7Q="],
]
"""Text, and what lz-string 1.5 makes of it for URLs and as base64."""


@pytest.mark.parametrize("made", MADE, ids=lambda made: made[0][:10])
def test_both_encodings_are_decoded(made):
    text, for_urls, base64 = made
    assert decompress(for_urls, 1000) == decompress(base64, 1000) == text
    assert decompress(for_urls.replace("+", " "), 1000) == text


def test_the_output_is_never_longer_than_allowed():
    with pytest.raises(ValueError, match="longer"):
        decompress(MADE[2][1], 5)


@given(st.text(alphabet="ABCDabcd0189+-$/= ü"))
def test_any_other_input_is_refused_or_limited(text):
    try:
        assert len(decompress(text, 50)) <= 50
    except ValueError:
        pass
