"""Storage format of sources: compressed with zlib if that saves space."""

from __future__ import annotations

import re
import zlib
from itertools import pairwise

from octavo.kit.db.cache import ByteCache, share

_SMALL = 512
_LARGE = 32 * 1024
"""Size in bytes from which a source is compressed at the fastest level. The best level would take nine times as long
and reduce the size by only another sixth."""
_PLAIN, _ZLIB = b"\x00", b"\x01"

_CUT = re.compile(b"\n\n(?=.{4}[%b])" % re.escape(bytes(range(4, 256, 16))), re.S)
"""Candidate positions for splitting a large source. They depend on the text at the position, so edits to other parts of
the text don't move the boundaries."""
_CUT_AT = 2
"""Average number of candidates per boundary. This produces parts of about 8 KB."""
_LEAST = 4 * 1024
_HEAD, _END = b"\x78\x01", b"\x03\x00"
_parts: ByteCache[bytes] = ByteCache(share("compressed parts of texts", 8))
"""Compressed parts of large sources. The next save of a long page reuses all parts but one."""


def pack(text: str) -> bytes:
    raw = text.encode()
    if len(raw) < _SMALL:
        return _PLAIN + raw
    if len(raw) < _LARGE:
        return _ZLIB + zlib.compress(raw, 6)
    # Parts that end in a full flush form a single stream, so readers don't need to detect them.
    parts = [_part(raw[start:end]) for start, end in pairwise(_cuts(raw))]
    return b"".join([_ZLIB, _HEAD, *parts, _END, zlib.adler32(raw).to_bytes(4, "big")])


def unpack(data: bytes) -> str:
    view = bytes(data)
    return (zlib.decompress(view[1:]) if view[:1] == _ZLIB else view[1:]).decode()


def _cuts(raw: bytes) -> list[int]:
    found = [0]
    for match in _CUT.finditer(raw):
        at = match.end()
        if at - found[-1] >= _LEAST and zlib.crc32(raw[at : at + 24]) % _CUT_AT == 0:
            found.append(at)
    return [*found, len(raw)]


def _part(raw: bytes) -> bytes:
    found = _parts.get(raw)
    if found is None:
        press = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS)
        found = press.compress(raw) + press.flush(zlib.Z_FULL_FLUSH)
        _parts.put(raw, found, len(raw) + len(found))
    return found
