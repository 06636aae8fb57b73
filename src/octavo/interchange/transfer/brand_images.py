"""Store the images of a source's branding."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from msgspec import Struct

from octavo.content.revisions.files import store_file
from octavo.core.sources import Brand, SourceError
from octavo.kit.context import Context
from octavo.kit.files import Blob


class StoredBrand(Struct, frozen=True):
    """Branding, with its images in the file store, by path. Images that can't be read are omitted."""

    brand: Brand
    images: Mapping[str, Blob]


def store_brand(context: Context, brand: Brand) -> StoredBrand:
    """Store the images of a source's branding. Call this outside any transaction."""
    images: dict[str, Blob] = {}
    for path, read in brand.pictures.items():
        with suppress(SourceError):
            images[path] = store_file(context, read())
    return StoredBrand(brand, images)
