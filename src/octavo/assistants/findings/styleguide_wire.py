"""Wire format of style guides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.content.changes.wire import ChangeRequest
from octavo.kit.clock import iso
from octavo.organization.access.wire import User
from octavo.organization.spaces.wire import Space
from octavo.sites.site.wire import Site

from .kinds import KINDS, Severity
from .styleguide_store import RunRow
from .styleguides import StylePackage
from .text_checks import TextFault
from .types import MOST_FILES, ImportedStyleRule, StyleRuleFile

MAX_TEXTS = 2_000
MAX_TEXT = 50_000
MAX_CHARACTERS = 100_000
"""Maximum total number of characters of the text in a check."""


class StyleguideTemplate(Struct, rename="camel", kw_only=True):
    id: str
    title: str
    markdown: str
    subtitle: str | UnsetType = UNSET
    emoji: str | UnsetType = UNSET


class StyleguideTemplates(Struct):
    templates: list[StyleguideTemplate]


class OrganizationStyleguide(Struct):
    """Style guide. ``sites``: the sites that use it and that the caller can see."""

    space: Space
    sites: list[Site]


class OrganizationStyleguides(Struct):
    styleguides: list[OrganizationStyleguide]


class CreateStyleguide(Struct):
    template: Annotated[str, Meta(max_length=100)] | None = None


class WrittenText(Struct):
    """Text of a paragraph or heading. Each character of inline code must be replaced with a backtick, so that no
    rule matches code."""

    text: Annotated[str, Meta(max_length=MAX_TEXT)]
    heading: bool = False


class TextCheckQuery(Struct):
    """Query parameters for checks of text. ``page``: the ID of the page that contains the text."""

    page: Annotated[str, Meta(max_length=100)] | None = None


class CheckSiteTexts(Struct, rename="camel"):
    """Text to check, in parts. ``wholePage``: whether these are all parts of a page. If so, only rules that compare
    different parts of a page apply."""

    texts: Annotated[list[WrittenText], Meta(min_length=1, max_length=MAX_TEXTS)]
    whole_page: bool = False


class TextReplacement(Struct):
    """Replacement for a range of text, in UTF-16 code units."""

    start: int
    end: int
    text: str


class TextFinding(Struct, kw_only=True):
    """Finding in unsaved text. ``start`` and ``end``: its range in UTF-16 code units."""

    text: int
    start: int
    end: int
    kind: Literal["style", "placeholder"]
    severity: Severity
    title: str
    message: str
    why: str | UnsetType = UNSET
    replacement: TextReplacement | UnsetType = UNSET


class TextFindings(Struct, rename="camel"):
    """Findings in unsaved text. ``comparesPage``: whether the style guide has rules that compare different parts of
    a page."""

    findings: list[TextFinding]
    compares_page: bool


class CreateStyleguideRun(Struct):
    spaces: Annotated[list[str], Meta(min_length=1, max_length=3)]


class ImportStyleRules(Struct):
    """Import of rules: either ``files``, or an ``archive``, which is a base64-encoded .zip file."""

    files: Annotated[list[StyleRuleFile], Meta(min_length=1, max_length=MOST_FILES)] | UnsetType = UNSET
    archive: Annotated[str, Meta(min_length=1, max_length=4_000_000)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.files is UNSET) == (self.archive is UNSET):
            raise ValueError("files: provide exactly one of `files` and `archive`")


class ImportedStyleRules(Struct):
    """Result of importing rules. ``files``: the result for each file."""

    files: list[ImportedStyleRule]


class SiteStyleguideRun(Struct, rename="camel", kw_only=True):
    id: str
    site: str
    styleguide: str
    spaces: list[str]
    created_at: str
    created_by: User
    object: Literal["styleguide-run"] = "styleguide-run"


class StartedStyleguideRun(Struct, rename="camel"):
    """Check that was started. ``changeRequests``: a change request for each space with findings that can be fixed."""

    run: SiteStyleguideRun
    change_requests: list[ChangeRequest]


def present_template(package: StylePackage) -> StyleguideTemplate:
    return StyleguideTemplate(
        id=package.id,
        title=package.title,
        subtitle=package.subtitle,
        emoji=package.emoji,
        markdown=package.markdown,
    )


def present_text_finding(fault: TextFault, text: str) -> TextFinding:
    fix = fault.fix
    return TextFinding(
        text=fault.text,
        start=_count_units(text, fault.start),
        end=_count_units(text, fault.end),
        kind="placeholder" if fault.rule is None else "style",
        severity=fault.severity,
        title=KINDS["placeholder"].title if fault.rule is None else fault.rule.name,
        message=fault.message,
        why=(fault.rule.why if fault.rule is not None else "") or UNSET,
        replacement=TextReplacement(_count_units(text, fix.start), _count_units(text, fix.end), fix.new)
        if fix is not None
        else UNSET,
    )


def _count_units(text: str, end: int) -> int:
    """Return the number of UTF-16 code units before a position in the text. Browsers count in these units."""
    return end + sum(letter > "\uffff" for letter in text[:end])


def present_run(row: RunRow, people: Mapping[str, User]) -> SiteStyleguideRun:
    return SiteStyleguideRun(
        id=row.id,
        site=row.site_id,
        styleguide=row.styleguide_id,
        spaces=row.spaces,
        created_at=iso(row.created_at),
        created_by=people[row.created_by],
    )
