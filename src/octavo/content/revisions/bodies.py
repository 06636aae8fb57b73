"""Markdown sources, which are stored compressed and only once per hash. Parsed documents are cached by the
same hash."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec

from octavo.core.document.nodes import Document
from octavo.core.document.page import split_page
from octavo.core.document.reader import read
from octavo.kit.db.cache import ByteCache, share
from octavo.kit.db.database import Database, Transaction
from octavo.organization.spaces.garbage import retain

from .packing import pack, unpack

_BATCH = 500
_parsed: ByteCache[bytes] = ByteCache(share("parsed texts", 32))
"""Parsed documents by the hash of the text after a file's front matter, so that an edit to a title or description
requires no parsing."""
_parts: ByteCache[str] = ByteCache(share("page bodies", 2))
"""Hash of the text after the front matter, by the hash of the file."""
_failed: ByteCache[list[int]] = ByteCache(share("unreadable blocks", 1))
"""Line numbers of unreadable blocks, for sources with such blocks."""
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Document).decode


@lru_cache(16)
def body_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def put_bodies(tx: Transaction, texts: Iterable[str]) -> list[str]:
    """Store the sources that aren't stored yet, and return the hashes of all given sources, in order."""
    sources = [(body_hash(text), text) for text in texts]
    _put(tx, dict(sources), {})
    return [digest for digest, _ in sources]


def store_bodies(db: Database, texts: Sequence[str]) -> None:
    """Store many sources in short transactions. Call this outside any transaction."""
    for start in range(0, len(texts), _BATCH):
        sources = {body_hash(text): text for text in texts[start : start + _BATCH]}
        with db.read() as tx:
            missing = sources.keys() - _list_known(tx, sources)
        packed = {digest: pack(sources[digest]) for digest in missing}
        with db.write() as tx:
            _put(tx, sources, packed)


def _put(tx: Transaction, sources: Mapping[str, str], packed: Mapping[str, bytes]) -> None:
    retain(tx, "text", list(sources))
    tx.run_many(
        """INSERT INTO bodies (hash, size, data) VALUES (:hash, :size, :data)
           ON CONFLICT (hash) DO NOTHING""",
        (
            {
                "hash": digest,
                "size": len(sources[digest].encode()),
                "data": packed[digest] if digest in packed else pack(sources[digest]),
            }
            for digest in sorted(sources.keys() - _list_known(tx, sources))
        ),
    )


def _list_known(tx: Transaction, digests: Iterable[str]) -> set[str]:
    wanted = list(digests)
    return {
        row[0]
        for start in range(0, len(wanted), _BATCH)
        for row in tx.all(
            "SELECT hash FROM bodies WHERE hash IN :digests", digests=wanted[start : start + _BATCH]
        )
    }


def read_source(tx: Transaction, body: str | None) -> Document:
    """Return the unevaluated document of a page file. The caller owns the result."""
    return parse_source(body, lambda: get_body(tx, body)) if body else Document(nodes=[], gaps=[""])


def parse_source(digest: str, get_text: Callable[[], str]) -> Document:
    """Return the document of the page file with this hash.

    The caller owns the result and can modify it. The cache contains an encoded form. Decoding it takes a fifth as long
    as parsing the source.
    """
    part = _parts.get(digest)
    packed = _parsed.get(part) if part is not None else None
    if packed is not None:
        return _decode(zlib.decompress(packed))
    front, heading, body = split_page(get_text())
    part = body_hash(body)
    packed = _parsed.get(part)
    if packed is None:
        document = read(body)
        packed = zlib.compress(_encode(document), 1)
        _parsed.put(part, packed, len(packed))
    else:
        document = _decode(zlib.decompress(packed))
    _parts.put(digest, part, 200)
    if document.failed:
        above = (front + heading).count("\n")
        _failed.put(digest, [above + line + 1 for line in document.failed], 100 + 40 * len(document.failed))
    return document


def failed_lines(digest: str) -> list[int]:
    """Return the line numbers, from 1, of unreadable blocks that are shown as text in the source with this hash. The
    result is empty if this process hasn't read the source recently."""
    return _failed.get(digest) or []


def list_oversized(tx: Transaction, digests: Iterable[str], most: int) -> list[tuple[str, int]]:
    """Return the sources with more than ``most`` bytes, as hash and size."""
    wanted = list(digests)
    found: list[tuple[str, int]] = []
    for start in range(0, len(wanted), _BATCH):
        rows = tx.all(
            "SELECT hash, size FROM bodies WHERE hash IN :digests AND size > :most",
            digests=wanted[start : start + _BATCH],
            most=most,
        )
        found += [(row[0], row[1]) for row in rows]
    return found


def get_body(tx: Transaction, digest: str) -> str:
    """Return the source with this hash. A source exists as long as content refers to it."""
    row = tx.one("SELECT data FROM bodies WHERE hash = :hash", hash=digest)
    if row is None:
        raise LookupError(f"the Markdown source {digest} is missing from the database")
    return unpack(row[0])


def delete_bodies(tx: Transaction, hashes: Sequence[str]) -> None:
    """Delete sources that are no longer referenced."""
    tx.run("DELETE FROM bodies WHERE hash IN :hashes", hashes=hashes)
