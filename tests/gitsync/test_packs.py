"""Packs are looked over before anything unpacks them."""

from __future__ import annotations

import io
import zlib

import pytest
from dulwich.object_format import DEFAULT_OBJECT_FORMAT
from dulwich.objects import Blob, ShaFile
from dulwich.pack import write_pack_objects

from octavo.kit import git_packs
from octavo.kit.git_http import GitRefused
from octavo.kit.git_packs import look_over


def number(value: int) -> bytes:
    found = b""
    while True:
        found += bytes([value & 0x7F | (0x80 if value > 0x7F else 0)])
        value >>= 7
        if not value:
            return found


def packed(kind: int, data: bytes, size: int | None = None) -> bytes:
    size = len(data) if size is None else size
    first = size & 15
    rest = size >> 4
    head = bytes([kind << 4 | first | (0x80 if rest else 0)]) + (number(rest) if rest else b"")
    base = {6: b"\x05", 7: b"\1" * 20}.get(kind, b"")
    return head + base + zlib.compress(data)


def pack(*objects: bytes) -> io.BytesIO:
    return io.BytesIO(b"PACK\0\0\0\2" + len(objects).to_bytes(4, "big") + b"".join(objects) + b"\0" * 20)


@pytest.mark.parametrize("piece", [1, 7, 16 * 1024])
def test_a_real_pack_is_let_through_wherever_its_pieces_end(
    piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_packs, "_PIECE", piece)
    text = b"".join(b"Line %d of a text.\n" % n for n in range(200))
    objects: list[ShaFile] = [Blob.from_string(text + b"%d" % n * (n * 50)) for n in range(1, 60)]
    made = io.BytesIO()
    write_pack_objects(
        made.write, [(one, None) for one in objects], deltify=True, object_format=DEFAULT_OBJECT_FORMAT
    )
    made.seek(0)
    look_over(made)


@pytest.mark.parametrize(
    "wrong",
    [
        pack(packed(3, b"x", 5 * 1024**3)),
        pack(packed(3, b"0" * 1_000_001)),
        pack(*[packed(3, b"0" * 600_000)] * 10),
        pack(packed(7, number(100) + number(4 * 1024**3) + b"\x01")),
        pack(packed(6, number(100) + number(4 * 1024**3) + b"\x01")),
        pack(packed(7, b"\xff" * 40)),
        pack(packed(7, b"")),
        pack(packed(3, b"short", 3)),
        pack(packed(3, b"short", 30)),
        io.BytesIO(b"PACK\0\0\0\2\0\0\0\1"),
        io.BytesIO(b"PACK\0\0\0\2\xff\xff\xff\xff\x31"),
        io.BytesIO(b"PACK\0\0\0\2\0\0\0\1" + b"\xff" * 100),
        io.BytesIO(b"<html>"),
        io.BytesIO(b""),
    ],
)
def test_one_that_would_unpack_to_too_much_or_is_none_is_refused(
    wrong: io.BytesIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_packs, "MOST_OBJECT", 1_000_000)
    monkeypatch.setattr(git_packs, "MOST_UNPACKED", 5_000_000)
    with pytest.raises(GitRefused):
        look_over(wrong)


def test_what_is_no_zlib_stream_is_damage() -> None:
    with pytest.raises(git_packs.DAMAGES):
        look_over(io.BytesIO(b"PACK\0\0\0\2\0\0\0\1\x35" + b"\x01" * 100))
