"""Present a space's files in the API, with links to their content and, for images, to their variants; also
present pages that link to other pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
from octavo.content.revisions.states import State
from octavo.core.pages import Page
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.files import FileGrant

from .wire import File, FileVariant, present_file


def without_hidden_target(page: Page, state: State) -> Page:
    """Return the page. If it is a link to a page that the reader of the state can't see, its target is
    empty."""
    target = page.target or {}
    if target.get("page") not in state.hidden or target.get("space") not in (None, state.space_id):
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
    """Return the variants of a file. ``picture``: the scaled image, if the file is an image."""
    return [_present_variant(context, item, each) for each in picture.variants] if picture else []


def _present_variant(context: Context, item: Item, variant: ImageVariant) -> FileVariant:
    grant = FileGrant(variant.file, variant_name(item.name), VARIANT_TYPE)
    return FileVariant(variant.width, variant.height, variant.size, signed_url(context, grant))
