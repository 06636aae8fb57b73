"""Wire types of audiences."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from octavo.kit.clock import iso
from octavo.kit.db.pagination import DEFAULT_LIMIT, Listing, PageQuery
from octavo.kit.http.operation import Recipient
from octavo.kit.urls import HttpUrl

from ..types import Backend
from .schema import Condition, VisitorSchema
from .share_links import ShareLinkRow, share_key

LinkName = Annotated[str, Meta(max_length=50)]


class LinkUrls(Struct):
    published: str | UnsetType = UNSET


class ShareLinksQuery(PageQuery):
    search: str | None = None


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
            raise ValueError("active: provide `active` or `name`")


class PublishingAuth(Struct, rename="camel", tag_field="object", tag="publishing-auth"):
    """Visitor authentication. ``privateKey``: signs visitor tokens (HS256). ``integration``: name of the
    integration on the site that signs visitors in."""

    private_key: str
    backend: Backend = "custom"
    fallback_url: str | UnsetType = field(name="fallbackURL", default=UNSET)
    integration: str | UnsetType = UNSET


class UpdatePublishingAuth(Struct, rename="camel"):
    """``fallbackURL``: where visitors without a token are sent; null removes it. ``backend`` `custom`: the
    URL takes precedence over integrations; `integration`: the other way around."""

    backend: Backend
    fallback_url: HttpUrl | None | UnsetType = field(name="fallbackURL", default=UNSET)


class PreviewQuery(Struct, rename="camel"):
    """``claims``: claims of a visitor as JSON, unsigned ones under `unsigned`. ``changeRequest``: id of a
    change request to show as if it were merged. ``draft``: show drafts of the structure and of redirects, too.
    ``target``: URL or path of the site to start at."""

    site_space: str | None = None
    claims: Annotated[str, Meta(max_length=4096)] | None = None
    change_request: Annotated[str, Meta(max_length=100)] | None = None
    draft: bool = True
    target: Annotated[str, Meta(max_length=2048)] | None = None


class Preview(Struct):
    url: str


class AdaptiveSchema(Struct, rename="camel", tag_field="object", tag="site-adaptive-schema"):
    json_schema: VisitorSchema
    updated_at: str


class UpdateAdaptiveSchema(Struct, rename="camel"):
    json_schema: VisitorSchema


class TemplateConditions(Struct, rename="camel"):
    """``updatedAt``: when the schema was set, omitted if there is none; an Octavo extension."""

    items: list[Condition]
    updated_at: str | UnsetType = UNSET


# --- what a visitor sees -----------------------------------------------------------------------------------

MAX_ENTRIES = 200
"""Maximum entries per request, because the text of each is read."""

PretendedObject = Literal["site-section-group", "site-section", "site-external-link", "site-space", "page"]


class PretendedQuery(Struct, rename="camel"):
    """``claims``: claims of a visitor as JSON, unsigned ones under `unsigned`. ``siteSpace``: id of the site
    space whose pages are listed; without it, the sections and variants of the site are listed."""

    claims: Annotated[str, Meta(max_length=4096)] | None = None
    site_space: Annotated[str, Meta(max_length=100)] | None = None
    page: str | None = None
    limit: Annotated[int, Meta(ge=0, le=MAX_ENTRIES)] = DEFAULT_LIMIT


class PretendedCondition(Struct):
    """Condition and its outcome. ``problem``: why it cannot be evaluated and therefore is not met."""

    expression: str
    holds: bool
    problem: str | UnsetType = UNSET


class Obstacle(Struct):
    """Reason why something is hidden: the condition of this object, a draft section, an empty section or
    group, or a link to something hidden."""

    object: PretendedObject
    id: str
    title: str
    reason: Literal["condition", "draft", "empty", "target"]
    condition: PretendedCondition | UnsetType = UNSET


class PretendedPart(Struct):
    """Conditional part of a page. ``text``: its beginning."""

    text: str
    condition: PretendedCondition


class PretendedEntry(Struct, rename="camel", kw_only=True):
    """Section, variant, or page. ``level``: depth in the list, starting at 0. ``path``: of a document,
    relative to the start of the site. ``listed``: whether navigation includes it, if it is visible.
    ``condition``: its own; ``hiddenBy``: why it is hidden. ``parts``: evaluated conditional parts of a
    visible document."""

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
    """``claims``: claims used to evaluate conditions, as far as the site's schema defines them; ``ignored``:
    names of the others. ``enabled``: whether the site uses claims; if not, its visitors see what a
    visitor without claims sees."""

    claims: dict[str, Any]
    ignored: list[str]
    enabled: bool


def present_link(to: Recipient, base: str | None, link: ShareLinkRow) -> ShareLink:
    """Present a share link. ``base``: URL of the published site, None while it is not published."""
    url = f"{base}{share_key(to.context.signer, link.id)}/" if base is not None else UNSET
    return ShareLink(
        id=link.id,
        created_at=iso(link.created_at),
        name=link.name,
        active=bool(link.active),
        urls=LinkUrls(url),
    )
