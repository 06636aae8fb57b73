"""Convert a space's files to their API format, with links to their content and, for images, to their variants. Hide the
targets of link pages that the reader can't see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from octavo.content.images.making import is_scaled
from octavo.content.images.store import (
    VARIANT_TYPE,
    ImageVariant,
    ScaledImage,
    find_scaled_images,
    variant_name,
)
from octavo.content.revisions.files import download_url, signed_url
from octavo.content.revisions.item_versions import Item
from octavo.content.revisions.page_versions import filter_restricted_spaces
from octavo.content.revisions.states import State
from octavo.core.pages import Page
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.files import FileGrant

from .wire import File, FileVariant, present_file


def find_hidden_targets(
    tx: Transaction, pages: Iterable[Page], state: State, see: Callable[[Transaction, str], State]
) -> frozenset[str]:
    """Return the pages that these link pages point to and that the reader of the state can't see. ``see``: a function
    that returns main of another space as the reader sees it."""
    targets = [page.target for page in pages if page.target is not None and "page" in page.target]
    spaces = {target["space"] for target in targets if target.get("space")} - {state.space_id}
    restricted = filter_restricted_spaces(tx, sorted(spaces)) if spaces else []
    hidden = {space_id: see(tx, space_id).hidden for space_id in restricted} | {state.space_id: state.hidden}
    return frozenset(
        target["page"]
        for target in targets
        if target["page"] in hidden.get(target.get("space") or state.space_id, ())
    )


def without_hidden_target(page: Page, hidden: frozenset[str]) -> Page:
    """Return the page, with an empty URL as its target if the target is a hidden page."""
    if page.target is None or page.target.get("page") not in hidden:
        return page
    return replace(page, target={"kind": "url", "url": ""})


def present_files(
    context: Context, tx: Transaction, space_id: str, items: Sequence[Item], oids: Mapping[str, str] = {}
) -> list[File]:
    pictures = find_scaled_images(tx, space_id, [item.content or "" for item in items if is_scaled(item)])
    files = []
    for item in items:
        picture = pictures.get(item.content or "")
        variants = present_variants(context, item, picture)
        files.append(present_file(item, download_url(context, item), picture, variants or UNSET, oids))
    return files


def present_variants(context: Context, item: Item, picture: ScaledImage | None) -> list[FileVariant]:
    """Return the variants of a file in their API format. ``picture``: the scaled image, if the file is an image."""
    return [_present_variant(context, item, each) for each in picture.variants] if picture else []


def _present_variant(context: Context, item: Item, variant: ImageVariant) -> FileVariant:
    grant = FileGrant(variant.file, variant_name(item.name), VARIANT_TYPE)
    return FileVariant(variant.width, variant.height, variant.size, signed_url(context, grant))
