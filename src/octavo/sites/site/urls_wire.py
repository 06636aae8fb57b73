"""Wire format of resolved URLs."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from octavo.content.changes.wire import ChangeRequest
from octavo.content.pages.wire import RevisionPage
from octavo.kit.urls import HttpUrl
from octavo.organization.spaces.wire import Collection, Space


class AddressQuery(Struct):
    url: HttpUrl


class CollectionAt(Struct):
    collection: Collection


class SpaceAt(Struct, rename="camel", omit_defaults=True):
    space: Space
    change_request: ChangeRequest | UnsetType = UNSET
    page: RevisionPage | UnsetType = UNSET
