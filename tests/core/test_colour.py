"""Every text color is readable on every surface, for all site colors."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octavo.core.color import (
    DEFAULT_PRIMARY,
    Oklch,
    contrast,
    in_gamut,
    linear_rgb,
    parse_hex,
    readable,
    theme,
)

HEX = st.integers(0, 0xFFFFFF).map(lambda n: f"#{n:06x}")
PAIR = st.tuples(HEX, HEX)
SURFACES = ("bg", "raised", "sunken", "hover")
TEXTS = ("text strong muted primary info success warning danger green blue red orange yellow purple").split()


@settings(max_examples=60, deadline=None)
@given(PAIR, st.none() | PAIR, PAIR, st.booleans())
def test_text_has_enough_contrast_in_both_themes(primary, tint, named, match):
    found = theme(primary, tint=tint, semantic=dict.fromkeys(("info", "danger"), named), match=match)
    for side in (found.light, found.dark):
        for text in TEXTS:
            for surface in SURFACES:
                assert contrast(side[text], side[surface]) >= 4.5, (text, surface)
            assert contrast(side[text], side["primary-soft"]) >= 4.5 or f"{text}-soft" in side, text
            if f"{text}-soft" in side:
                assert contrast(side[text], side[f"{text}-soft"]) >= 4.5, text
        assert contrast(side["on-fill"], side["fill"]) >= 4.5
        for name in side:
            if name.startswith("code-"):
                assert contrast(side[name], side["raised"]) >= 4.5, name


@settings(max_examples=60, deadline=None)
@given(HEX)
def test_colors_round_trip_through_oklch(text):
    colour = parse_hex(text)
    assert colour is not None

    def channel(v: float) -> int:
        v = min(max(v, 0.0), 1.0)
        return round((12.92 * v if v <= 0.0031308 else 1.055 * v ** (1 / 2.4) - 0.055) * 255)

    assert "#" + "".join(f"{channel(v):02x}" for v in linear_rgb(colour)) == text


def test_contrasts_match_known_values():
    white, black = parse_hex("#fff"), parse_hex("#000")
    assert white and black
    assert contrast(white, black) == pytest.approx(21, abs=0.01)
    grey = parse_hex("#767676")
    assert grey and contrast(white, grey) == pytest.approx(4.54, abs=0.01)


def test_readable_keeps_readable_colors_and_the_hue_of_others():
    white = Oklch(1.0, 0.0, 0.0)
    navy = parse_hex("#123a8c")
    assert navy and readable(navy, white) == navy
    yellow = parse_hex("#ffe14d")
    assert yellow
    moved = readable(yellow, white)
    assert moved.h == yellow.h and moved.l < yellow.l and contrast(moved, white) >= 4.5


def test_colors_outside_srgb_only_lose_chroma():
    wild = Oklch(0.7, 0.4, 140.0)
    tame = in_gamut(wild)
    assert (tame.l, tame.h) == (wild.l, wild.h) and 0 < tame.c < wild.c
    assert all(-0.001 <= v <= 1.001 for v in linear_rgb(tame))


@pytest.mark.parametrize("text", ["", "red", "#12", "#1234567", "url(x)", "#fff;}body{display:none", "#ggg"])
def test_invalid_colors_fall_back_to_the_default(text):
    assert parse_hex(text) is None
    assert theme((text, text)).css() == theme(DEFAULT_PRIMARY).css()


def test_css_defines_every_token_once_for_each_theme():
    css = theme(("#0a7", "#0a7")).css()
    assert css.startswith(":root{--bg:light-dark(oklch(") and css.endswith("}")
    names = [part.split(":")[0] for part in css[6:-1].split(";") if part]
    assert len(names) == len(set(names)) == len(theme(("#0a7", "#0a7")).dark)
    assert "<" not in css
