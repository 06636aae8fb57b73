"""Suggest redirects for deleted pages. The URLs of renamed or moved pages redirect automatically."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from urllib.parse import quote

from msgspec import Struct

from octavo.content.pages.reading import ContentReader
from octavo.content.revisions.page_versions import find_page, list_ancestors
from octavo.content.revisions.restrictions import main_seen_by, shown_state
from octavo.content.revisions.states import FOREVER, Layer, State
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient
from octavo.organization.access.authorization import SiteAccess, SpaceAccess, find_space_access
from octavo.organization.access.page_rules import is_published
from octavo.organization.access.roles import Can

from ..structure.store import SiteSpaceRow, load_structure
from . import store

_SUGGESTED = 50
_VERSIONS = 2_000
_EXAMINED = 200
"""Maximum number of deleted pages of a space to examine, latest first. ``_VERSIONS``: the maximum number of
former page versions in which to look for deleted pages."""


class SuggestedRedirect(Struct, rename="camel"):
    """Redirect that may be missing on a site. ``source``: the URL of a deleted page, relative to the site."""

    source: str
    title: str
    site_space_id: str
    page_id: str


def suggest_redirects(tx: Transaction, to: Recipient, site: SiteAccess) -> list[SuggestedRedirect]:
    """Return the latest deleted pages without a redirect, in those of the site's spaces that the caller can see."""
    structure = load_structure(tx, site.site_id)
    found: dict[str, SuggestedRedirect] = {}
    for shown in structure.ordered_site_spaces():
        if structure.is_draft(shown):
            continue
        space = find_space_access(tx, site.actor, Can.VIEW, shown.space_id)
        if space is None:
            continue
        for one in islice(_of_space(tx, to, site.site_id, space, shown, structure.base(shown)), _SUGGESTED):
            found.setdefault(one.source.lower(), one)
    return list(found.values())[:_SUGGESTED]


def _of_space(
    tx: Transaction, to: Recipient, site_id: str, space: SpaceAccess, shown: SiteSpaceRow, base: str
) -> Iterator[SuggestedRedirect]:
    state = shown_state(tx, None, shown.space_id)
    hidden = state.hidden | main_seen_by(tx, space).hidden
    reader = ContentReader(to, tx, state)
    branch = state.layers[0].branch_id
    rows = tx.all(
        f"""SELECT v.page_id, max(v.to_seq) FROM (
              SELECT page_id, to_seq FROM page_versions
              WHERE branch_id = :branch AND to_seq < {FOREVER} AND deleted = 0
              ORDER BY to_seq DESC LIMIT {_VERSIONS}) v
            WHERE NOT EXISTS (
              SELECT 1 FROM page_versions p
              WHERE p.branch_id = :branch AND p.page_id = v.page_id AND p.to_seq = {FOREVER} AND p.deleted = 0)
            GROUP BY v.page_id ORDER BY max(v.to_seq) DESC, v.page_id LIMIT {_EXAMINED}""",
        branch=branch,
    )
    for page_id, deleted_in in rows:
        before = State(shown.space_id, "", (Layer(branch, deleted_in - 1),))
        page = find_page(tx, before, page_id)
        if page is None or page.kind != "document":
            continue
        pages = [*list_ancestors(tx, before, page), page]
        if not is_published(one.visible_to for one in pages) or any(one.id in hidden for one in pages):
            continue
        path = "/".join(one.slug for one in pages)
        source = f"/{quote(f'{base}{path}')}"
        leads = store.match(tx, site_id, source, drafts=True) is not None
        if not leads and reader.found_at(path) is None:
            yield SuggestedRedirect(source, page.title, shown.id, page_id)
