"""Audiences of sites on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from octavo.kit.clock import iso
from octavo.kit.db.pagination import DEFAULT_LIMIT, Listing
from octavo.kit.http.operation import Recipient
from octavo.kit.urls import HttpUrl

from ..types import Backend
from .schema import Condition, VisitorSchema
from .share_links import ShareLinkRow, share_key

LinkName = Annotated[str, Meta(max_length=50)]


class LinkUrls(Struct):
    published: str | UnsetType = UNSET


class ShareLink(Struct, rename="camel", tag_field="object", tag="share-link"):
    id: str
    created_at: str
    name: str
    active: bool
    urls: LinkUrls


class CreateLink(Struct):
    name: LinkName


class UpdateLink(Struct):
    active: bool | UnsetType = UNSET
    name: LinkName | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.active is UNSET and self.name is UNSET:
            raise ValueError("active: expected `active` or `name`")


class PublishingAuth(Struct, rename="camel", tag_field="object", tag="publishing-auth"):
    """``privateKey``: what visitors' tokens are signed with (HS256). ``integration``: the name of the one on the site
    that signs visitors in."""

    private_key: str
    backend: Backend = "custom"
    fallback_url: str | UnsetType = field(name="fallbackURL", default=UNSET)
    integration: str | UnsetType = UNSET


class UpdatePublishingAuth(Struct, rename="camel"):
    """``fallbackURL``: where visitors without a token are sent; null removes it. ``backend`` `custom`: they are sent
    there before any integration is asked; `integration`: the other way round."""

    backend: Backend
    fallback_url: HttpUrl | None | UnsetType = field(name="fallbackURL", default=UNSET)


class PreviewQuery(Struct, rename="camel"):
    """``claims``: JSON of a visitor's claims, unsigned ones below `unsigned`. ``changeRequest``: the id of one that is
    shown as if it were merged."""

    site_space: str | None = None
    claims: Annotated[str, Meta(max_length=4096)] | None = None
    change_request: Annotated[str, Meta(max_length=100)] | None = None


class Preview(Struct):
    url: str


class AdaptiveSchema(Struct, rename="camel", tag_field="object", tag="site-adaptive-schema"):
    json_schema: VisitorSchema
    updated_at: str


class UpdateAdaptiveSchema(Struct, rename="camel"):
    json_schema: VisitorSchema


class TemplateConditions(Struct, rename="camel"):
    """``updatedAt`` is ours: when the schema was set, missing where the site has none."""

    items: list[Condition]
    updated_at: str | UnsetType = UNSET


# --- what a visitor sees -----------------------------------------------------------------------------------

MAX_ENTRIES = 200
"""So many texts are read at once."""

PretendedObject = Literal["site-section-group", "site-section", "site-space", "page"]


class PretendedQuery(Struct, rename="camel"):
    """``claims``: JSON of a visitor's claims, unsigned ones below `unsigned`. ``siteSpace``: the id of one whose pages
    are listed; without it the sections and variants of the site are."""

    claims: Annotated[str, Meta(max_length=4096)] | None = None
    site_space: Annotated[str, Meta(max_length=100)] | None = None
    page: str | None = None
    limit: Annotated[int, Meta(ge=0, le=MAX_ENTRIES)] = DEFAULT_LIMIT


class PretendedCondition(Struct):
    """A condition and its outcome. ``problem``: why it cannot be evaluated, and so does not hold."""

    expression: str
    holds: bool
    problem: str | UnsetType = UNSET


class Obstacle(Struct):
    """What hides something: the condition of this object, that the section is a draft, that there is nothing in it, or
    that the link leads to what the visitor does not see."""

    object: PretendedObject
    id: str
    title: str
    reason: Literal["condition", "draft", "empty", "target"]
    condition: PretendedCondition | UnsetType = UNSET


class PretendedPart(Struct):
    """A conditional part of a page. ``text``: how it begins."""

    text: str
    condition: PretendedCondition


class PretendedEntry(Struct, rename="camel"):
    """A section, variant or page. ``level``: how deep it lies in the list, from 0. ``path``: of a document, below the
    start of the site. ``listed``: of what is visible, whether navigation names it. ``condition``: its own; ``hiddenBy``:
    what decides that it is hidden. ``parts``: of a visible document, those under conditions that were asked."""

    object: PretendedObject
    id: str
    title: str
    level: int
    visible: bool
    listed: bool
    path: str | UnsetType = UNSET
    condition: PretendedCondition | UnsetType = UNSET
    hidden_by: Obstacle | UnsetType = UNSET
    parts: list[PretendedPart] | UnsetType = UNSET


class PretendedListing(Listing[PretendedEntry], rename="camel", kw_only=True):
    """``claims``: those that conditions are asked with, as far as the schema of the site knows them; ``ignored``: the
    names of the others. ``enabled``: whether the site asks for claims; while it does not, its visitors see what one
    without claims sees."""

    claims: dict[str, Any]
    ignored: list[str]
    enabled: bool


def present_link(to: Recipient, base: str | None, link: ShareLinkRow) -> ShareLink:
    """``base``: where the site is published, None while it is not."""
    url = f"{base}{share_key(to.context.signer, link.id)}/" if base is not None else UNSET
    return ShareLink(
        id=link.id,
        created_at=iso(link.created_at),
        name=link.name,
        active=bool(link.active),
        urls=LinkUrls(url),
    )
