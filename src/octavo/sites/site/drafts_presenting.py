"""Drafts of a site: parts of its structure and redirects that only members see. Drafts can be listed with the
content that they make visible, and published together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import UNSET

from octavo.content.revisions.restrictions import HiddenPages, hidden_from, hidden_on_sites_or_from
from octavo.content.revisions.states import FOREVER
from octavo.errors import NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import MAX_LIMIT
from octavo.kit.http.operation import Recipient
from octavo.organization.access.authorization import SiteAccess

from .drafts_wire import DraftObject, SiteDraft
from .redirects.editing import RedirectEditor, RedirectFields
from .redirects.store import lead_elsewhere, list_redirects
from .structure.changing import change_structure, note
from .structure.presenting import ShownStructure
from .structure.store import (
    ExternalLinkRow,
    Row,
    SectionGroupRow,
    SectionRow,
    SiteSpaceRow,
    Structure,
    update_row,
)

_NOUNS: dict[type[Row], str] = {
    SectionRow: "siteSection",
    SectionGroupRow: "siteSectionGroup",
    ExternalLinkRow: "siteExternalLink",
    SiteSpaceRow: "siteSpace",
}
_OBJECTS: dict[type[Row], DraftObject] = {
    SectionRow: "site-section",
    SectionGroupRow: "site-section-group",
    ExternalLinkRow: "site-external-link",
    SiteSpaceRow: "site-space",
}


def list_drafts(tx: Transaction, to: Recipient, site: SiteAccess) -> list[SiteDraft]:
    """Return all drafts that the caller can see, in reading order, with redirects last. The numbers of pages and
    links don't include pages that the caller can't see."""
    shown, hidden = ShownStructure(tx, to, site), hidden_on_sites_or_from(tx, site.organization)
    unseen = hidden_from(tx, site.organization)
    found = [_present(tx, shown, row, hidden, unseen) for row in _rows(shown) if row.draft]
    token = None
    while True:
        redirects = list_redirects(
            tx, site.site_id, MAX_LIMIT, token, None, hidden=unseen, draft=True, order_by="source"
        )
        found += [SiteDraft(object="site-redirect", id=row.id, title=row.source) for row in redirects.rows]
        token = redirects.next_token
        if token is None:
            return found


def _rows(shown: ShownStructure) -> Iterator[Row]:
    """Yield all rows that the caller can see, in reading order."""
    structure = shown.structure
    yield from shown.seen(structure.variants(None))
    for node in shown.seen_nodes(structure.ordered()):
        yield node
        if isinstance(node, SectionRow):
            yield from shown.seen(structure.variants(node.id))


def _present(
    tx: Transaction, shown: ShownStructure, row: Row, hidden: HiddenPages, unseen: HiddenPages
) -> SiteDraft:
    """Present a draft. ``hidden``: pages that sites don't show or that are hidden from the caller. ``unseen``: pages
    that are hidden from the caller."""
    structure = shown.structure
    inside = [one for one in _site_spaces_in(structure, row) if _becomes_visible(structure, one, row)]
    spaces = sorted({one.space_id for one in shown.seen(inside)})
    above = _draft_above(structure, row)
    made = SiteDraft(
        object=_OBJECTS[type(row)],
        id=row.id,
        title=shown.title_of(row),
        pages=_count_pages(tx, spaces, hidden),
        redirects=_count_redirects(tx, shown.site.id, row, [one.id for one in inside], unseen),
        links_elsewhere=_count_links(tx, structure, spaces, hidden),
        within=above.id if above is not None else UNSET,
    )
    if isinstance(row, ExternalLinkRow):
        made.url = row.url
    elif isinstance(row, SectionRow):
        made.path = structure.section_base(row)
    elif isinstance(row, SiteSpaceRow):
        made.path = structure.base(row)
    if not isinstance(row, SectionGroupRow) and row.condition:
        made.condition = row.condition
    if not isinstance(row, SiteSpaceRow) and row.icon:
        made.icon = row.icon
    return made


def _draft_above(structure: Structure, row: Row) -> Row | None:
    if isinstance(row, SiteSpaceRow):
        section = structure.sections.get(row.section_id or "")
        return structure.draft_of(section) if section is not None else None
    group = structure.groups.get(structure.parent(row) or "")
    return structure.draft_of(group) if group is not None else None


def _site_spaces_in(structure: Structure, row: Row) -> list[SiteSpaceRow]:
    if isinstance(row, SiteSpaceRow):
        return [row]
    if isinstance(row, SectionRow):
        return structure.variants(row.id)
    if isinstance(row, ExternalLinkRow):
        return []
    return [one for child in structure.children(row.id) for one in _site_spaces_in(structure, child)]


def _becomes_visible(structure: Structure, shown: SiteSpaceRow, published: Row) -> bool:
    """Return whether publishing this row would make the site space visible, because the row is the draft that hides the
    site space."""
    draft = structure.draft_of(shown)
    return draft is not None and draft.id == published.id


def _count_pages(tx: Transaction, spaces: Sequence[str], hidden: HiddenPages) -> int:
    return int(
        tx.value(
            f"""SELECT count(*) FROM spaces s JOIN branches b ON b.id = s.main_branch
                  JOIN page_versions p ON p.branch_id = b.id AND p.to_seq = {FOREVER}
                WHERE s.id IN :spaces AND p.from_seq <= b.sequence AND p.deleted = 0 AND p.kind = 'document'
                  {hidden.condition("s.id", "p.page_id")}""",
            spaces=list(spaces),
            **hidden.parameters,
        )
    )


def _count_redirects(
    tx: Transaction, site_id: str, row: Row, inside: Sequence[str], unseen: HiddenPages
) -> int:
    """Return the number of live redirects to a row or to the site spaces inside it."""
    return int(
        tx.value(
            f"""SELECT count(*) FROM site_redirects
                WHERE site_id = :site AND draft = 0 AND (section_id = :row OR site_space_id IN :inside)
                  {lead_elsewhere(unseen)}""",
            site=site_id,
            row=row.id,
            inside=list(inside),
            **unseen.parameters,
        )
    )


def _count_links(tx: Transaction, structure: Structure, spaces: Sequence[str], hidden: HiddenPages) -> int:
    """Return the number of links in these spaces to spaces that aren't on the site."""
    return int(
        tx.value(
            f"""SELECT count(*) FROM content_references
               WHERE space_id IN :spaces AND kind IN ('page', 'space', 'file') AND target_space IS NOT NULL
                 AND target_space NOT IN :shown AND status = 'ok'
                 {hidden.condition("space_id", "owner_id")} {hidden.condition("target_space", "target")}""",
            spaces=list(spaces),
            shown=list({one.space_id for one in structure.site_spaces.values()}),
            **hidden.parameters,
        )
    )


def publish_drafts(
    tx: Transaction, to: Recipient, site: SiteAccess, items: Sequence[str], *, draft: bool
) -> None:
    """Publish drafts, or convert live parts back to drafts. Raises NotFound if an ID isn't on the site, Forbidden if
    the caller can't publish a space, and the errors of publishing redirects."""
    with change_structure(tx, site.site_id, site) as structure:
        found = {id: structure.find(id) for id in dict.fromkeys(items)}
        for id, row in found.items():
            if row is not None and row.draft != draft:
                update_row(tx, row, draft=int(draft))
                target = (_NOUNS[type(row)], id)
                note(tx, site, f"{target[0]}.updated", target, {"draft": row.draft}, {"draft": int(draft)})
    editor = RedirectEditor(tx, to, site)
    for number, id in enumerate(items):
        if found[id] is None:
            redirect = editor.find_by_id(id)
            if redirect is None:
                raise NotFound(f"items[{number}]: there is no draft with the ID {id!r} on this site")
            editor.update(redirect, RedirectFields(draft=draft))
