"""Find references in main for checks of whole spaces: broken references, pages that any reference points to, and links
between pages."""

from __future__ import annotations

from octavo.content.revisions.restrictions import HiddenPages
from octavo.kit.db.database import Transaction

from .row import COLUMNS, IS_CURRENT, Row

_MOST = 20_000
"""Maximum number of broken references that are listed."""


def list_broken(tx: Transaction, space_id: str) -> list[Row]:
    """Return the broken references of a space, in order of their targets. References to people,
    collections, and other spaces are omitted, so the result is the same for all readers."""
    picked = ", ".join(f"r.{name}" for name in COLUMNS)
    rows = tx.all(
        f"""SELECT {picked} FROM content_references r
            WHERE r.space_id = :space AND r.status = 'broken' AND {IS_CURRENT}
              AND r.kind IN ('url', 'page', 'file', 'reusable-content')
              AND (r.target_space IS NULL OR r.target_space = :space)
            ORDER BY r.target_key, r.owner_id, r.place LIMIT :most""",
        space=space_id,
        most=_MOST,
    )
    return [Row(*row) for row in rows]


def list_targets(tx: Transaction, space_id: str, hidden: HiddenPages) -> set[str]:
    """Return the IDs of a space's pages that at least one reference in any space points to. References on hidden pages
    don't count."""
    rows = tx.all(
        f"""SELECT DISTINCT r.target FROM content_references r
            WHERE r.target_space = :space AND r.kind = 'page' AND r.status = 'ok' AND {IS_CURRENT}
              {hidden.condition("r.space_id", "r.owner_id")}""",
        space=space_id,
        **hidden.parameters,
    )
    return {row[0] for row in rows}


def list_links(tx: Transaction, space_id: str, page_id: str) -> list[Row]:
    """Return the references on a page that point to pages of the same space."""
    picked = ", ".join(f"r.{name}" for name in COLUMNS)
    rows = tx.all(
        f"""SELECT {picked} FROM content_references r
            WHERE r.space_id = :space AND r.owner_id = :page AND r.kind = 'page' AND r.status = 'ok'
              AND r.target_space = :space AND {IS_CURRENT} ORDER BY r.place""",
        space=space_id,
        page=page_id,
    )
    return [Row(*row) for row in rows]
