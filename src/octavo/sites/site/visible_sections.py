"""Search results that a site visitor is allowed to see."""

from __future__ import annotations

from collections.abc import Mapping

from octavo.content.references.viewing import SpaceView, load_view
from octavo.content.revisions.restrictions import shown_state
from octavo.content.search.drafts import SearchedDraft, draft_of
from octavo.content.search.store import SectionMatch
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Drafted, Visitor


class Sight:
    """Filter for sections that a visitor is allowed to find. ``views``: the spaces that the visitor can see, by ID.
    ``draft``: the state to show for one of these spaces instead of the main version."""

    def __init__(
        self, tx: Transaction, views: Mapping[str, SpaceView], drafted: Drafted | None = None
    ) -> None:
        """Create a filter. ``drafted``: the change request that a preview shows."""
        self.views = views
        self.draft: SearchedDraft | None = None
        if drafted is not None and drafted.space_id in views:
            self.draft = draft_of(tx, views[drafted.space_id].state)
        self._known: dict[tuple[str, str, tuple[str, ...]], bool] = {}

    def __call__(self, found: SectionMatch) -> bool:
        key = (found.space_id, found.page_id, found.conditions)
        if key not in self._known:
            self._known[key] = self._sees(*key)
        return self._known[key]

    def _sees(self, space_id: str, page_id: str, conditions: tuple[str, ...]) -> bool:
        view = self.views[space_id]
        page = view.tree.page(page_id)
        if page is None or view.tree.is_hidden(page) or view.tree.first_document(page) is None:
            return False
        if any(p.no_index for p in [*view.tree.ancestors(page), page]):
            return False
        return all(map(view.shown(page).holds, conditions))


def sight_of(tx: Transaction, visitor: Visitor) -> Sight:
    return Sight(
        tx,
        {
            space_id: load_view(tx, shown_state(tx, visitor.drafted, space_id), visitor.claims)
            for space_id in sorted(visitor.spaces)
        },
        visitor.drafted,
    )
