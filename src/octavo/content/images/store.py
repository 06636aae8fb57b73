"""Image variants, by space and file hash."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from msgspec import Struct

from octavo.kit.db.database import Transaction
from octavo.organization.spaces.garbage import release

_BATCH = 500
VARIANT_TYPE = "image/webp"
"""Content type of all variants."""


class ImageVariant(Struct, frozen=True):
    """Image in another width: its dimensions in pixels, and the hash and size in bytes of its file."""

    width: int
    height: int
    file: str
    size: int


class ScaledImage(Struct, frozen=True):
    """Image with its displayed dimensions, after rotation, and its variants from narrow to wide."""

    width: int
    height: int
    variants: tuple[ImageVariant, ...] = ()


def variant_name(name: str) -> str:
    """Return the file name of a variant."""
    stem, dot, _ = name.rpartition(".")
    return f"{stem if dot and stem else name}.webp"


def find_scaled_images(tx: Transaction, space_id: str, contents: Collection[str]) -> dict[str, ScaledImage]:
    """Return scaled images by file hash, for those of a space's files that have variants."""
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
            variants[content].append(ImageVariant(*variant))
        rows = tx.all(
            """SELECT content, width, height FROM images
               WHERE space_id = :space AND content IN :contents AND width IS NOT NULL""",
            **given,
        )
        for content, width, height in rows:
            found[content] = ScaledImage(width, height, tuple(variants[content]))
    return found


def add_waiting(tx: Transaction, space_id: str, contents: Collection[str]) -> None:
    """Record files whose variants are pending, unless they are already recorded."""
    tx.run_many(
        """INSERT INTO images (space_id, content, state) VALUES (:space, :content, 'waiting')
           ON CONFLICT (space_id, content) DO NOTHING""",
        [{"space": space_id, "content": content} for content in sorted({*contents})],
    )


def list_waiting(tx: Transaction, space_id: str, most: int) -> list[str]:
    """Return the hashes of files whose variants are pending."""
    rows = tx.all(
        "SELECT content FROM images WHERE space_id = :space AND state = 'waiting' ORDER BY content LIMIT :most",
        space=space_id,
        most=most,
    )
    return [row[0] for row in rows]


def find_space_with_variants(tx: Transaction, content: str) -> str | None:
    """Return a space in which variants of a file already exist."""
    found: str | None = tx.value(
        "SELECT min(space_id) FROM images WHERE content = :content AND state = 'made'", content=content
    )
    return found


def list_recorded(tx: Transaction, space_id: str) -> set[str]:
    return {row[0] for row in tx.all("SELECT content FROM images WHERE space_id = :space", space=space_id)}


def save_variants(tx: Transaction, space_id: str, content: str, picture: ScaledImage | None) -> bool:
    """Save the variants of a file, or None if it can't have any. Return False if the space, or the record of
    the file, no longer exists."""
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


def _insert(tx: Transaction, space_id: str, content: str, variants: Sequence[ImageVariant]) -> None:
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


def copy_variants(tx: Transaction, source_id: str, copy_id: str) -> None:
    """Copy a space's variants to its duplicate."""
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


def delete_variants(tx: Transaction, space_id: str, _: Sequence[str]) -> None:
    """Delete a space's variants. Their files are deleted unless other content refers to them."""
    release(tx, "file", "SELECT file AS hash FROM image_variants WHERE space_id = :space", space=space_id)
    tx.run("DELETE FROM image_variants WHERE space_id = :space", space=space_id)
    tx.run("DELETE FROM images WHERE space_id = :space", space=space_id)
