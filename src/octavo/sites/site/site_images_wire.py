"""Wire format of an organization's images."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from octavo.kit.clock import iso
from octavo.kit.http.operation import Recipient

from .site_images import PictureRow, picture_url


class CreatePicture(Struct, rename="camel"):
    storage_key: Annotated[str, Meta(min_length=1, max_length=64)]


class OrganizationPicture(Struct, rename="camel"):
    """Image of an organization. ``url``: the URL, which is public until the image is deleted."""

    id: str
    name: str
    url: str
    size: int
    created_at: str


def present_picture(to: Recipient, row: PictureRow) -> OrganizationPicture:
    url = picture_url(to.settings.sites_url, row)
    return OrganizationPicture(row.id, row.name, url, row.size, iso(row.created_at))
