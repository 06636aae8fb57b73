"""Storage format of sources."""

from __future__ import annotations

import random
import zlib

from hypothesis import given
from hypothesis import strategies as st

from octavo.content.revisions import packing


@given(st.text(), st.integers(0, 4_000))
def test_packing_round_trips(words, count):
    text = f"{words}\n\n" * count
    assert packing.unpack(packing.pack(text)) == text


def test_an_edit_of_a_long_source_recompresses_only_nearby_parts(monkeypatch):
    chance = random.Random(1)  # noqa: S311
    blocks = ["".join(chance.choices("abcdefgh tuvw", k=200)) for _ in range(2_000)]
    packing.pack("\n\n".join(blocks))
    blocks[1_000] += " and more"
    pressed: list[int] = []
    press = zlib.compressobj

    def counted(*options):
        pressed.append(1)
        return press(*options)

    monkeypatch.setattr(packing.zlib, "compressobj", counted)
    text = "\n\n".join(blocks)
    packed = packing.pack(text)
    assert len(pressed) <= 2
    # A single stream that any zlib can read.
    assert zlib.decompress(packed[1:]).decode() == text
