"""Wire types of resolved URLs."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from ..changes import ChangeRequest
from ..kit.urls import HttpUrl
from ..pages import RevisionPage
from ..spaces import Collection, Space


class AddressQuery(Struct):
    url: HttpUrl


class CollectionAt(Struct):
    collection: Collection


class SpaceAt(Struct, rename="camel", omit_defaults=True):
    space: Space
    change_request: ChangeRequest | UnsetType = UNSET
    page: RevisionPage | UnsetType = UNSET
