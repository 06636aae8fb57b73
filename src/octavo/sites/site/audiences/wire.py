"""Wire format of audiences."""

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
            raise ValueError("active: provide `active`, `name`, or both")


class PublishingAuth(Struct, rename="camel", tag_field="object", tag="publishing-auth"):
    """Visitor authentication. ``privateKey``: the key that signs visitor tokens (HS256). ``integration``: the
    name of the integration on the site that handles visitor sign-in."""

    private_key: str
    backend: Backend = "custom"
    fallback_url: str | UnsetType = field(name="fallbackURL", default=UNSET)
    logout_url: str | UnsetType = field(name="logoutURL", default=UNSET)
    integration: str | UnsetType = UNSET


class UpdatePublishingAuth(Struct, rename="camel"):
    """Update of visitor authentication. ``fallbackURL``: the URL that visitors without a token are redirected
    to; null removes it. ``logoutURL``: the URL that visitors are redirected to after signing out; null
    removes it. ``backend``: with `custom`, the URL takes precedence over integrations; with `integration`,
    integrations take precedence."""

    backend: Backend
    fallback_url: HttpUrl | None | UnsetType = field(name="fallbackURL", default=UNSET)
    logout_url: HttpUrl | None | UnsetType = field(name="logoutURL", default=UNSET)


class PreviewQuery(Struct, rename="camel"):
    """Query parameters of a preview. ``claims``: a visitor's claims as JSON, with unsigned claims under
    `unsigned`. ``changeRequest``: the ID of a change request to show as if it were merged. ``draft``:
    whether to show drafts of the structure and of redirects. ``target``: the URL or path on the site where
    the preview starts."""

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
    """Condition templates for a site. ``updatedAt`` (an Octavo extension): the time when the schema was set; omitted if
    there is no schema."""

    items: list[Condition]
    updated_at: str | UnsetType = UNSET


# --- content visible to a visitor ----------------------------------------------------------------------

MAX_ENTRIES = 200
"""Maximum number of entries per request. It is limited because the text of each entry is read."""

PretendedObject = Literal["site-section-group", "site-section", "site-external-link", "site-space", "page"]


class PretendedQuery(Struct, rename="camel"):
    """Query parameters for the content visible to a visitor. ``claims``: the visitor's claims as JSON, with
    unsigned claims under `unsigned`. ``siteSpace``: the ID of the site space whose pages to list; by
    default, the site's sections and variants are listed."""

    claims: Annotated[str, Meta(max_length=4096)] | None = None
    site_space: Annotated[str, Meta(max_length=100)] | None = None
    page: str | None = None
    limit: Annotated[int, Meta(ge=0, le=MAX_ENTRIES)] = DEFAULT_LIMIT


class PretendedCondition(Struct):
    """Condition and its result. ``problem``: the reason that it can't be evaluated and therefore isn't met."""

    expression: str
    holds: bool
    problem: str | UnsetType = UNSET


class Obstacle(Struct):
    """Reason that an entry is hidden. ``object``: the object that hides the entry: an object whose condition isn't
    met, a draft section, an empty section or group, or a link to a hidden entry."""

    object: PretendedObject
    id: str
    title: str
    reason: Literal["condition", "draft", "empty", "target"]
    condition: PretendedCondition | UnsetType = UNSET


class PretendedPart(Struct):
    """Conditional part of a page. ``text``: the beginning of its text."""

    text: str
    condition: PretendedCondition


class PretendedEntry(Struct, rename="camel", kw_only=True):
    """Section, variant, or page. ``level``: its depth in the list, from 0. ``path``: the path of a document,
    relative to the site's URL. ``listed``: whether navigation includes the entry, if it is visible.
    ``condition``: its own condition. ``hiddenBy``: the reason that it is hidden. ``parts``: the evaluated
    conditional parts of a visible document."""

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
    """Content visible to a visitor. ``claims``: the claims that conditions use, limited to claims in the site's schema.
    ``ignored``: the names of the other claims. ``enabled``: whether the site uses claims. If it doesn't, all visitors
    see the same content as a visitor without claims."""

    claims: dict[str, Any]
    ignored: list[str]
    enabled: bool


def present_link(to: Recipient, base: str | None, link: ShareLinkRow) -> ShareLink:
    """Present a share link. ``base``: the URL of the published site; None if it isn't published."""
    url = f"{base}{share_key(to.context.signer, link.id)}/" if base is not None else UNSET
    return ShareLink(
        id=link.id,
        created_at=iso(link.created_at),
        name=link.name,
        active=bool(link.active),
        urls=LinkUrls(url),
    )
