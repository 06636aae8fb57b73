"""What was made of images, by space and hash of the file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from msgspec import Struct

from ..kit.db import Transaction
from ..spaces import release

_BATCH = 500
VARIANT_TYPE = "image/webp"
"""The content type of all variants."""


class Variant(Struct, frozen=True):
    """An image in another width: pixels, and its own bytes by their hash and number."""

    width: int
    height: int
    file: str
    size: int


class ScaledImage(Struct, frozen=True):
    """An image as browsers show it, turned as it says itself; its variants from narrow to wide."""

    width: int
    height: int
    variants: tuple[Variant, ...] = ()


def variant_name(name: str) -> str:
    """What the variant of a file is called."""
    stem, dot, _ = name.rpartition(".")
    return f"{stem if dot and stem else name}.webp"


def find_pictures(tx: Transaction, space_id: str, contents: Collection[str]) -> dict[str, ScaledImage]:
    """Those of these files of a space, by their hash, that variants were made of."""
    found: dict[str, ScaledImage] = {}
    wanted = sorted({*contents})
    for start in range(0, len(wanted), _BATCH):
        given = {"space": space_id, "contents": wanted[start : start + _BATCH]}
        variants = defaultdict(list)
        for content, *variant in tx.all(
            """SELECT content, width, height, file, size FROM image_variants
               WHERE space_id = :space AND content IN :contents ORDER BY content, width""",
            **given,
        ):
            variants[content].append(Variant(*variant))
        rows = tx.all(
            """SELECT content, width, height FROM images
               WHERE space_id = :space AND content IN :contents AND width IS NOT NULL""",
            **given,
        )
        for content, width, height in rows:
            found[content] = ScaledImage(width, height, tuple(variants[content]))
    return found


def add_waiting(tx: Transaction, space_id: str, contents: Collection[str]) -> None:
    """Notes files that variants are to be made of, unless they were noted before."""
    tx.run_many(
        """INSERT INTO images (space_id, content, state) VALUES (:space, :content, 'waiting')
           ON CONFLICT (space_id, content) DO NOTHING""",
        [{"space": space_id, "content": content} for content in sorted({*contents})],
    )


def find_waiting(tx: Transaction, space_id: str) -> str | None:
    """The hash of a file whose variants are still to be made."""
    found: str | None = tx.value(
        "SELECT content FROM images WHERE space_id = :space AND state = 'waiting' ORDER BY content LIMIT 1",
        space=space_id,
    )
    return found


def find_made(tx: Transaction, content: str) -> str | None:
    """A space in which variants of a file were made."""
    found: str | None = tx.value(
        "SELECT min(space_id) FROM images WHERE content = :content AND state = 'made'", content=content
    )
    return found


def list_noted(tx: Transaction, space_id: str) -> set[str]:
    return {row[0] for row in tx.all("SELECT content FROM images WHERE space_id = :space", space=space_id)}


def keep(tx: Transaction, space_id: str, content: str, picture: ScaledImage | None) -> bool:
    """Keeps what was made of a file, whose variants are stored; None where nothing can be. False when the space, or the
    note of the file, is gone."""
    kept = tx.run(
        """UPDATE images SET state = 'made', width = :width, height = :height
           WHERE space_id = :space AND content = :content AND state = 'waiting'""",
        space=space_id,
        content=content,
        width=picture.width if picture else None,
        height=picture.height if picture else None,
    )
    if kept and picture is not None:
        _insert(tx, space_id, content, picture.variants)
    return bool(kept)


def _insert(tx: Transaction, space_id: str, content: str, variants: Sequence[Variant]) -> None:
    tx.run_many(
        """INSERT INTO image_variants (space_id, content, width, height, file, size)
           VALUES (:space, :content, :width, :height, :file, :size)""",
        [
            {
                "space": space_id,
                "content": content,
                "width": variant.width,
                "height": variant.height,
                "file": variant.file,
                "size": variant.size,
            }
            for variant in variants
        ],
    )


def copy_made(tx: Transaction, source_id: str, copy_id: str) -> None:
    """Gives a copy of a space what was made for its source."""
    tx.run(
        """INSERT INTO images (space_id, content, state, width, height)
           SELECT :copy, content, state, width, height FROM images WHERE space_id = :source AND state = 'made'""",
        source=source_id,
        copy=copy_id,
    )
    tx.run(
        """INSERT INTO image_variants (space_id, content, width, height, file, size)
           SELECT :copy, content, width, height, file, size FROM image_variants WHERE space_id = :source""",
        source=source_id,
        copy=copy_id,
    )


def remove(tx: Transaction, space_id: str, _: Sequence[str]) -> None:
    """Forgets what was made for a space; its files go unless something else names them."""
    release(tx, "file", "SELECT file AS hash FROM image_variants WHERE space_id = :space", space=space_id)
    tx.run("DELETE FROM image_variants WHERE space_id = :space", space=space_id)
    tx.run("DELETE FROM images WHERE space_id = :space", space=space_id)
