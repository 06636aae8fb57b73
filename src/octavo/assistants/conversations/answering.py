"""Find the pages that answer a cluster's questions, by searching with the caller's access."""

from __future__ import annotations

from msgspec import Struct

from octavo.content.revisions.page_versions import find_page, list_ancestors
from octavo.content.revisions.restrictions import hidden_from
from octavo.content.search.presenting import sees_as, visible_spaces
from octavo.content.search.querying import PageHit, search_pages, with_snippets
from octavo.core.sentences import stems
from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import OrgAccess

from .store import ClusterRow

_PAGES = 5
_TERMS = 12
_ENOUGH = 0.5


class Answering(Struct, frozen=True):
    """Page that may answer a cluster's questions. ``path``: the page's path in its space. ``covers``: the share of
    the search words that the page contains, from 0 to 1."""

    space_id: str
    page_id: str
    title: str
    path: str
    covers: float

    @property
    def answers(self) -> bool:
        return self.covers >= _ENOUGH


def find_answering(tx: Transaction, org: OrgAccess, cluster: ClusterRow) -> list[Answering]:
    """Return the pages that may answer a cluster's questions, best first. Only pages in spaces that the caller can
    see are included."""
    asked = list(dict.fromkeys(stems(cluster.label)))[:_TERMS]
    if not asked:
        return []
    words, sees, hidden = " ".join(asked) + " ", sees_as(tx, org), hidden_from(tx, org)
    hits = search_pages(tx, visible_spaces(tx, org), words, _PAGES, sees=sees, counts=False).hits
    found = []
    for hit in with_snippets(tx, hits[:_PAGES]):
        page = find_page(tx, hidden.main(hit.space_id), hit.page_id)
        if page is None:
            continue
        slugs = [each.slug for each in [*list_ancestors(tx, hidden.main(hit.space_id), page), page]]
        covers = _coverage(asked, page.title, hit)
        found.append(Answering(hit.space_id, page.id, page.title, "/".join(slugs), covers))
    return found


def _coverage(asked: list[str], title: str, hit: PageHit) -> float:
    texts = [title]
    for section in hit.sections:
        texts += [section.heading, "".join(part.text for part in section.snippet)]
    words = set(stems(" ".join(texts)))
    return sum(word in words for word in asked) / len(asked)
