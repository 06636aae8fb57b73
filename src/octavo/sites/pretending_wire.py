"""What a visitor with certain claims sees of a site, on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ..kit.pagination import DEFAULT_LIMIT, Listing

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


class PretendedListing(Listing[PretendedEntry], rename="camel"):
    """``claims``: those that conditions are asked with, as far as the schema of the site knows them; ``ignored``: the
    names of the others. ``enabled``: whether the site asks for claims; while it does not, its visitors see what one
    without claims sees."""

    claims: dict[str, Any] = {}
    ignored: list[str] = []
    enabled: bool = False
