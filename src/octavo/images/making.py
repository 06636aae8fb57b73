"""Variants of images: made by a job when a revision brings a file, each image by a process of its own.

So nobody who reads waits for one, and what cannot be made leaves the page with the image as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import msgspec
from msgspec import Struct

from ..content import Changes, Item, State, list_items, list_rasters, main_state, store_file
from ..errors import NotFound
from ..kit import deadlines, jobs
from ..kit.apart import ProcessLimits, run_apart
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.temporary import TemporaryFolder
from ..spaces import Copy
from . import store
from .store import ScaledImage, Variant
from .widths import MAX_BYTES, MAX_PIXELS, NARROWEST

_TYPES = ("image/png", "image/jpeg", "image/webp")
_BOUNDS = ProcessLimits(memory=1024**3, file=32 * 1024**2, seconds=30)
"""What one image may take."""
_BATCH = 5
"""Images of one run of the job: others come in between, and a process that stops waits for no more than these."""

_on_made: list[Callable[[Transaction, str], None]] = []


class _Result(Struct):
    """What the process leaves: the image's size as it is shown, and those of its variants."""

    size: tuple[int, int]
    variants: list[tuple[int, int]]


def on_made(hook: Callable[[Transaction, str], None]) -> None:
    """Registers ``hook(tx, organization_id)``: called when images of an organization have variants that they had not."""
    _on_made.append(hook)


# --- what is to be made -----------------------------------------------------------------------------------


def is_scaled(item: Item) -> bool:
    """Whether a file is an image that variants are made of, by what is known of it."""
    return (
        item.kind == "file"
        and bool(item.content)
        and item.content_type in _TYPES
        and item.width is not None
        and item.height is not None
        # As shown it may lie on its side.
        and max(item.width, item.height) > NARROWEST
        and item.width * item.height <= MAX_PIXELS
        and item.size <= MAX_BYTES
    )


def note_files(tx: Transaction, space_id: str, changes: Changes) -> None:
    """Has variants made of the images that a revision brings."""
    _order(tx, space_id, [item for item in changes.items.values() if item is not None])


def note_all_files(tx: Transaction, space_id: str, anew: bool) -> None:
    if anew:
        _order(tx, space_id, list_rasters(tx, space_id))


def _order(tx: Transaction, space_id: str, items: Collection[Item]) -> None:
    wanted = [item.content or "" for item in items if is_scaled(item)]
    if wanted:
        store.add_waiting(tx, space_id, wanted)
        _enqueue(tx, space_id)


def _enqueue(tx: Transaction, space_id: str) -> None:
    jobs.enqueue(
        tx,
        "makeVariants",
        organization=_organization(tx, space_id),
        key=f"makeVariants {space_id}",
        space_id=space_id,
    )


def _organization(tx: Transaction, space_id: str) -> str | None:
    found: str | None = tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=space_id)
    return found


def prepare_anew(
    tx: Transaction,
    state: State,
    changes: Changes,
    hosts: tuple[str, ...],
    *,
    anew: bool = False,
    whole: bool = False,
) -> bool:
    """Revisions note what they bring themselves, those of change requests too."""
    return anew


def check(tx: Transaction, space_id: str, hosts: tuple[str, ...]) -> str | None:
    """Whether each image of main was noted."""
    wanted = {item.content for item in list_items(tx, main_state(tx, space_id), "file") if is_scaled(item)}
    missing = len(wanted - store.list_noted(tx, space_id))
    return f"images: {missing} have no variants" if missing else None


def copy_made(tx: Transaction, copy: Copy) -> None:
    """Gives a copy what was made for its source; of a large one a job makes it anew with all that is derived."""
    if copy.written:
        return
    store.copy_made(tx, copy.source_id, copy.copy_id)
    note_all_files(tx, copy.copy_id, True)


# --- making -----------------------------------------------------------------------------------------------


@jobs.job("noteImages", seconds=600)
def note_images(context: Context, space_id: str) -> None:
    """Has variants made of all images of a space that has none yet, as it came from an older version."""
    with context.db.write() as tx:
        if _organization(tx, space_id) is not None:
            note_all_files(tx, space_id, True)
        jobs.finish(tx)


@jobs.job("makeVariants", seconds=1800)
def make_variants(context: Context, space_id: str, most: int = _BATCH) -> None:
    """Makes the variants of at most so many images of a space that wait for it, one after the other."""
    made = 0
    content: str | None = None
    for _ in range(most):
        with context.db.read() as tx:
            content = store.find_waiting(tx, space_id)
            elsewhere = store.find_made(tx, content) if content is not None else None
            known = store.find_pictures(tx, elsewhere, [content]) if content and elsewhere else {}
        if content is None:
            break
        deadlines.check()
        picture = known.get(content) if elsewhere else _make(context, content)
        with context.db.write() as tx:
            made += store.keep(tx, space_id, content, picture) and picture is not None
    with context.db.write() as tx:
        organization_id = _organization(tx, space_id)
        if made and organization_id is not None:
            for hook in _on_made:
                hook(tx, organization_id)
        jobs.finish(tx)
        if content is not None and organization_id is not None:
            _enqueue(tx, space_id)


def _make(context: Context, content: str) -> ScaledImage | None:
    """What is made of a file, its variants stored; None where it is left alone."""
    with TemporaryFolder("images") as name:
        folder = Path(name)
        try:
            with (folder / "source").open("wb") as out:
                for piece in context.files.open(content):
                    out.write(piece)
        except NotFound:
            return None
        result = folder / "result.json"
        if not run_apart("octavo.images.scaling", folder, bounds=_BOUNDS) or not result.exists():
            return None
        found = msgspec.json.decode(result.read_bytes(), type=_Result)
        variants = []
        for width, height in found.variants:
            blob = store_file(context, (folder / f"{width}.webp").read_bytes())
            variants.append(Variant(width, height, blob.hash, blob.size))
    return ScaledImage(*found.size, tuple(variants))
