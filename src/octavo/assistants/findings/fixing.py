"""Fix findings in change requests, which people review like any other change request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from octavo.content.changes.commands import DocumentInput, UpdatePage
from octavo.content.changes.comparing import MergedContent
from octavo.content.changes.editing import edit
from octavo.content.changes.saving import create_with, resolver_maker, retry_on_conflict
from octavo.content.changes.store import ChangeRow, find_change, set_fields
from octavo.content.references.viewing import load_view, source_document
from octavo.content.revisions.restrictions import main_seen_by, restricted_pages, unrestricted
from octavo.content.revisions.states import main_state
from octavo.core.checks.fixes import replace_link, replace_text
from octavo.core.document.json import to_json
from octavo.core.document.nodes import Block, Document, Leaf, Text
from octavo.core.json_types import JsonObject
from octavo.errors import Conflict
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import SiteAccess, SpaceAccess, space_access
from octavo.organization.access.roles import Can

from . import store
from .store import FindingRow

_SHOWN = 60
"""Maximum number of characters of a finding's title to include in a change request's subject."""
_MOST_CHANGES = 100


def fix_findings(context: Context, site: SiteAccess, findings: Sequence[FindingRow]) -> list[ChangeRow]:
    """Create a change request with fixes for these findings in each affected space. Raises Conflict if all of them
    require a decision or concern restricted pages, or if a change request already fixes one of them."""
    with context.db.read() as tx:
        for finding in findings:
            _require_unfixed(tx, finding)
        by_space: dict[str, list[FindingRow]] = {}
        for finding in list_fixable(tx, site.organization_id, findings):
            by_space.setdefault(finding.space_id or "", []).append(finding)
        spaces = {id: space_access(tx, site.actor, Can.EDIT, id) for id in by_space}
    if not by_space:
        raise Conflict("This finding can't be fixed automatically. Edit the page instead.")
    return [_fix_in_space(context, spaces[id], found) for id, found in by_space.items()]


def list_fixable(tx: Transaction, organization_id: str, findings: Iterable[FindingRow]) -> list[FindingRow]:
    """Return the findings that can be fixed automatically. Findings that concern, quote, or name restricted pages are
    omitted, as are those of restricted style rules, because everyone who can see the space can read a change request's
    description and its fixes."""
    found = [finding for finding in findings if finding.is_fixable and finding.space_id is not None]
    ids = [finding.id for finding in found]
    pages, sources = store.map_pages(tx, ids), store.map_sources(tx, ids)
    restricted = {
        space_id: unrestricted(tx, main_state(tx, space_id)).hidden
        for space_id in {finding.space_id for finding in found if finding.space_id is not None}
    }
    hidden = restricted_pages(tx, organization_id)
    rules = store.list_hidden_rules(tx, hidden)
    return [
        finding
        for finding in found
        if restricted[finding.space_id or ""].isdisjoint([*pages[finding.id], *sources[finding.id]])
        and not (finding.kind == "style" and finding.title in rules)
    ]


def _require_unfixed(tx: Transaction, finding: FindingRow) -> None:
    if finding.status not in ("open", "candidate"):
        raise Conflict("This finding is no longer open. Reopen it first.")
    for change_id in store.list_change_ids(tx, finding.id, _MOST_CHANGES, None).rows:
        change = find_change(tx, finding.space_id or "", change_id)
        if change is not None and change.status in ("draft", "open"):
            raise Conflict(
                f"Change request #{change.number} already fixes this finding. Edit that change request,"
                " or archive it first."
            )


def _fix_in_space(context: Context, space: SpaceAccess, findings: list[FindingRow]) -> ChangeRow:
    meaning = resolver_maker(context, space.actor)
    subject = f"Fix: {findings[0].title[:_SHOWN]}" if len(findings) == 1 else f"Fix {len(findings)} findings"

    def link(tx: Transaction, change: ChangeRow) -> None:
        for finding in findings:
            store.link_change(tx, finding.id, change.id)
        set_fields(tx, change, description=msgspec.json.encode(to_json(_describe(findings))).decode())

    def attempt() -> ChangeRow:
        with context.db.read() as tx:
            main = main_seen_by(tx, space)
            changes = _list_edits(tx, space.space_id, findings)
            if not changes:
                raise Conflict("The page was edited after it was checked. Check the site again.")
            edited = edit(meaning(tx, main), tx, main, changes)
        merged = MergedContent(edited.changes, edited.bodies, edited.keys, edited.conflicts)
        return create_with(context, space, main, merged, subject=subject, also=link)

    return retry_on_conflict(attempt)


def _describe(findings: Sequence[FindingRow]) -> Document:
    """Return the description of a change request: a list of the findings with their evidence."""
    lines: list[str] = []
    for finding in findings:
        for found in finding.evidence[:1]:
            rest = " ".join(part for part in (found.quote, found.message) if part not in finding.title)
            lines.append(f"{finding.title}: {rest}" if rest else finding.title)
    items = [Block("list-item", {}, [Block("paragraph", {}, [Text([Leaf(line)])])]) for line in lines]
    return Document([Block("list-unordered", {}, [*items])])


def _list_edits(tx: Transaction, space_id: str, findings: Sequence[FindingRow]) -> list[UpdatePage]:
    """Return the edits that apply all fixes to the current pages. Pages that were deleted are skipped."""
    view = load_view(tx, unrestricted(tx, main_state(tx, space_id)))
    documents: dict[str, Document] = {}
    changed: dict[str, None] = {}
    ignored = store.map_ignored(tx, [finding.id for finding in findings])
    for finding in findings:
        for evidence in finding.evidence:
            if (finding.id, evidence.page) in ignored:
                continue
            page = view.every.any_page(evidence.page)
            if page is None or page.kind != "document" or page.computed:
                continue
            if page.id not in documents:
                documents[page.id] = source_document(tx, space_id, page)
            document = documents[page.id]
            fixing = finding.fixing
            fixed = (
                replace_link(document, fixing.url, _target_of(fixing.url, fixing.page, fixing.anchor))
                if fixing is not None
                else evidence.fix is not None and replace_text(document, evidence.fix)
            )
            if fixed:
                changed[page.id] = None
    return [
        UpdatePage(page=page_id, document=DocumentInput(document=to_json(documents[page_id])))
        for page_id in changed
    ]


def _target_of(url: str, page: str, anchor: str) -> JsonObject:
    if anchor:
        # The rest of the link is correct, so keep it as written.
        return {"kind": "url", "url": f"{url.partition('#')[0]}#{anchor}"}
    return {"kind": "page", "page": page}
