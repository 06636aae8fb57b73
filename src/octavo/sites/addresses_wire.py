"""What addresses mean, on the wire."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ..changes import ChangeRequest
from ..pages import RevisionPage
from ..spaces import Collection, Space

Address = Annotated[str, Meta(max_length=2048, pattern=r"^https?://.*\Z")]


class AddressQuery(Struct):
    url: Address


class CollectionAt(Struct):
    collection: Collection


class SpaceAt(Struct, rename="camel", omit_defaults=True):
    space: Space
    change_request: ChangeRequest | UnsetType = UNSET
    page: RevisionPage | UnsetType = UNSET
