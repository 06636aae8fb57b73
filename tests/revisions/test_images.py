"""Dimensions of images in every raster format, and of data that pretends to be an image."""

from __future__ import annotations

import struct
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.content.revisions.images import dimensions


def _png(width: int, height: int) -> bytes:
    return (
        b"\x89PNG\r\n\x1a\n"
        + struct.pack(">I4sII", 13, b"IHDR", width, height)
        + b"\x08\x06\0\0\0"
        + bytes(4)
    )


def _gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes(10)


def _jpeg(width: int, height: int) -> bytes:
    jfif = b"\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0"
    return (
        b"\xff\xd8" + jfif + b"\xff\xc0\0\x11\x08" + struct.pack(">HH", height, width) + b"\x03" + bytes(20)
    )


def _riff(kind: bytes, body: bytes) -> bytes:
    chunk = kind + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(chunk) + 4) + b"WEBP" + chunk


def _webp(width: int, height: int) -> bytes:
    return _riff(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height) + bytes(9))


def _webp_lossless(width: int, height: int) -> bytes:
    return _riff(b"VP8L", b"\x2f" + ((width - 1) | ((height - 1) << 14)).to_bytes(4, "little") + bytes(9))


def _webp_extended(width: int, height: int) -> bytes:
    sizes = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return _riff(b"VP8X", bytes(4) + sizes)


def _box(kind: bytes, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return struct.pack(">I", 8 + len(body)) + kind + body


def _avif(width: int, height: int, *more: bytes) -> bytes:
    size = _box(b"ispe", bytes(4), struct.pack(">II", width, height))
    properties = _box(b"iprp", _box(b"ipco", size), _box(b"ipma", b"\0\0\0\0\0\0\0\1\0\1\1\1"))
    primary = _box(b"pitm", b"\0\0\0\0\0\1")
    return _box(b"ftyp", b"avif\0\0\0\0avifmif1") + _box(b"meta", bytes(4), primary, *more, properties)


FORMATS = [_png, _gif, _jpeg, _webp, _webp_lossless, _webp_extended, _avif]


@pytest.mark.parametrize("made", FORMATS)
def test_dimensions_of_each_format_are_read(made) -> None:
    assert dimensions(made(300, 200)) == (300, 200)


@pytest.mark.parametrize(
    "data", [b"", b"<svg width='3' height='4'/>", b"P1 3 4", b"%PDF-1.7", b"\x89PNG\r\n\x1a\n"]
)
def test_dimensions_of_non_raster_images_are_unknown(data: bytes) -> None:
    assert dimensions(data) is None


@given(st.sampled_from(FORMATS), st.integers(0, 200), st.binary(max_size=40), st.integers(0, 300))
def test_broken_images_have_some_dimensions_or_none(made, at: int, junk: bytes, end: int) -> None:
    data = made(300, 200)
    data = (data[:at] + junk + data[at + len(junk) :])[:end]
    found = dimensions(data)
    assert found is None or min(found) > 0


def _calls(data: bytes) -> int:
    """Count the function calls for finding the dimensions."""
    count = 0

    def note(frame, event, arg):
        nonlocal count
        count += 1

    sys.setprofile(note)
    try:
        dimensions(data)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "hostile",
    [
        lambda size: b"\xff\xd8" + b"\xff\xe1\0\x02" * (size // 4),
        lambda size: _box(b"ftyp", b"avif\0\0\0\0avifmif1") + _box(b"free") * (size // 8),
        # Items without bytes that claim to be 65,535, repeatedly.
        lambda size: _avif(3, 4, _box(b"iloc", b"\0\0\0\0\0\0\xff\xff" + b"\0\1\0\0\xff\xff" * (size // 6))),
    ],
    ids=["segments", "boxes", "items"],
)
def test_work_is_limited_for_any_size(hostile) -> None:
    dimensions(_png(3, 4))  # loads the modules it needs
    once, twice = _calls(hostile(500_000)), _calls(hostile(1_000_000))
    assert twice <= once * 1.01
