"""Pictures of an organization on the wire."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from msgspec import Meta, Struct

from octavo.kit.clock import iso
from octavo.kit.http.operation import Recipient

from .site_images import PictureRow

PICTURES = "/~pictures/"
"""What the addresses of pictures begin with, below that of all sites."""


class CreatePicture(Struct, rename="camel"):
    storage_key: Annotated[str, Meta(min_length=1, max_length=64)]


class OrganizationPicture(Struct, rename="camel"):
    """``url``: where everybody has it, for as long as it is there."""

    id: str
    name: str
    url: str
    size: int
    created_at: str


def present_picture(to: Recipient, row: PictureRow) -> OrganizationPicture:
    base = to.settings.sites_url.rstrip("/")
    url = f"{base}{PICTURES}{row.id}/{quote(row.name, safe='')}"
    return OrganizationPicture(row.id, row.name, url, row.size, iso(row.created_at))
