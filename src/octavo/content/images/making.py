"""Create image variants. When a revision adds image files, a job creates their variants in a separate process, a few
images of the space at a time.

Readers never wait for variants. If one can't be created, the page shows the original image.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import Struct

from octavo.content.revisions.files import store_file
from octavo.content.revisions.item_versions import Item, list_items, list_rasters
from octavo.content.revisions.states import main_state
from octavo.content.revisions.store import Changes
from octavo.errors import NotFound
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.processes.subprocesses import ProcessLimits, run_apart
from octavo.kit.scheduling import deadlines
from octavo.kit.temporary import TemporaryFolder
from octavo.kit.texts import counted
from octavo.kit.work import jobs
from octavo.organization.spaces.hooks import Copy

from . import store
from .store import ImageVariant, ScaledImage
from .widths import MAX_BYTES, MAX_PIXELS, NARROWEST

_TYPES = ("image/png", "image/jpeg", "image/webp")
_BOUNDS = ProcessLimits(memory=1024**3, file=32 * 1024**2, seconds=30)
"""Resource limits of the process. If the first image exceeds these limits, no variants are created for it."""
_NOTED_AT_ONCE = 1000
"""Number of images to record in one transaction."""
_BATCH = 12
"""Number of images per run of the job. Other jobs can run in between, and a shutdown waits for only one
batch."""
_SOURCE, _RESULT = "source", "result.json"

_on_made: list[Callable[[Transaction, str], None]] = []


class _Result(Struct):
    """Result of the scaling process: the display size of the image, and the sizes of its variants."""

    size: tuple[int, int]
    variants: list[tuple[int, int]]


def on_variants_created(hook: Callable[[Transaction, str], None]) -> None:
    """Register ``hook(tx, organization_id)``, which is called when images of an organization have new
    variants."""
    _on_made.append(hook)


# --- selecting images -----------------------------------------------------------------------------------


def is_scaled(item: Item) -> bool:
    """Return whether variants are created for a file with this metadata."""
    return (
        item.kind == "file"
        and bool(item.content)
        and item.content_type in _TYPES
        and item.width is not None
        and item.height is not None
        # The image may be displayed rotated by 90 degrees.
        and max(item.width, item.height) > NARROWEST
        and item.width * item.height <= MAX_PIXELS
        and item.size <= MAX_BYTES
    )


def enqueue_files(tx: Transaction, space_id: str, changes: Changes) -> None:
    """Enqueue the creation of variants of the images in a revision."""
    _enqueue_items(tx, space_id, [item for item in changes.items.values() if item is not None])


def enqueue_all_files(tx: Transaction, space_id: str) -> None:
    _enqueue_items(tx, space_id, list_rasters(tx, space_id))


def _enqueue_items(tx: Transaction, space_id: str, items: Collection[Item]) -> None:
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


def check(tx: Transaction, space_id: str, hosts: tuple[str, ...]) -> str | None:
    """Return an error message if images in main haven't been recorded."""
    wanted = {item.content for item in list_items(tx, main_state(tx, space_id), "file") if is_scaled(item)}
    missing = len(wanted - store.list_recorded(tx, space_id))
    return f"images: variants of {counted(missing, 'image')} missing" if missing else None


def copy_or_enqueue(tx: Transaction, copy: Copy) -> None:
    """Copy a space's variants to its duplicate. For a large space, a job does this along with all other derived
    data."""
    if copy.written:
        return
    store.copy_variants(tx, copy.source_id, copy.copy_id)
    enqueue_all_files(tx, copy.copy_id)


# --- creating variants --------------------------------------------------------------------------------


@jobs.job("noteImages", bound=None, seconds=600)
def note_images(context: Context, space_id: str) -> None:
    """Enqueue the creation of variants of all images in a space that was created by an older version of Octavo and has
    no variants."""
    with context.db.read() as tx:
        items = list_rasters(tx, space_id)
    for start in range(0, len(items), _NOTED_AT_ONCE):
        with context.db.write() as tx:
            if _organization(tx, space_id) is None:
                return
            _enqueue_items(tx, space_id, items[start : start + _NOTED_AT_ONCE])
            jobs.advance(tx)


@jobs.job("makeVariants", bound=None, seconds=1800)
def make_variants(context: Context, space_id: str, most: int = _BATCH) -> None:
    """Create the variants of up to ``most`` pending images of a space."""
    made = 0
    while most > 0:
        with context.db.read() as tx:
            waiting = store.list_waiting(tx, space_id, min(most, _BATCH))
            known = {content: _find_made(tx, content) for content in waiting}
        if not waiting:
            break
        fresh = [content for content, found in known.items() if found is None]
        others = ((content, found[0]) for content, found in known.items() if found is not None)
        for content, picture in chain(others, _create_variants(context, fresh)):
            with context.db.write() as tx:
                made += store.save_variants(tx, space_id, content, picture) and picture is not None
                jobs.advance(tx)
        most -= len(waiting)
    with context.db.write() as tx:
        organization_id = _organization(tx, space_id)
        if made and organization_id is not None:
            for hook in _on_made:
                hook(tx, organization_id)
        jobs.finish(tx)
        if organization_id is not None and store.list_waiting(tx, space_id, 1):
            _enqueue(tx, space_id)


def _find_made(tx: Transaction, content: str) -> tuple[ScaledImage | None] | None:
    """Return a one-element tuple with the variants that another space already has for a file; the element is None if
    the file can't have variants. Return None if no other space has the file."""
    space_id = store.find_space_with_variants(tx, content)
    return (store.find_scaled_images(tx, space_id, [content]).get(content),) if space_id is not None else None


def _create_variants(context: Context, contents: Sequence[str]) -> Iterator[tuple[str, ScaledImage | None]]:
    """Create and store the variants of files. Yield each file with its scaled image, or with None if it can't have
    variants."""
    with TemporaryFolder("images") as name:
        left: list[tuple[str, Path]] = []
        for number, content in enumerate(contents):
            folder = Path(name, str(number))
            folder.mkdir()
            try:
                with (folder / _SOURCE).open("wb") as out:
                    for piece in context.files.open(content):
                        out.write(piece)
            except NotFound:
                yield content, None
            else:
                left.append((content, folder))
        while left:
            deadlines.check()
            run_apart(
                "octavo.content.images.scaling",
                Path(name),
                [folder.name for _, folder in left],
                bounds=_BOUNDS,
            )
            done = [one for one in left if (one[1] / _RESULT).exists()]
            # The first image had the process to itself, so it alone exceeded the limits.
            finished = done or left[:1]
            for content, folder in finished:
                yield content, _read_result(context, folder) if done else None
            left = [one for one in left if one not in finished]


def _read_result(context: Context, folder: Path) -> ScaledImage | None:
    """Store the variants that the process wrote to a folder; return None if it wrote none."""
    found = msgspec.json.decode((folder / _RESULT).read_bytes(), type=_Result | None)
    if found is None:
        return None
    variants = []
    for width, height in found.variants:
        blob = store_file(context, (folder / f"{width}.webp").read_bytes())
        variants.append(ImageVariant(width, height, blob.hash, blob.size))
    width, height = found.size
    return ScaledImage(width, height, tuple(variants))
