"""Limits on the content of a space, checked with every revision: edits, merges, imports, and templates."""

from __future__ import annotations

from collections.abc import Iterable

from octavo.core.pages import Page
from octavo.core.paths import unsafe_path
from octavo.errors import BadRequest, TooLarge, format_size
from octavo.kit.db.database import Transaction
from octavo.organization.access.limits import counts

from .bodies import list_oversized
from .item_versions import Item, ItemKind, count_items, find_items
from .page_versions import count_pages, find_page, find_pages, list_children
from .states import State
from .store import Changes

MAX_PAGES = 100_000
"""Maximum number of pages in a space."""
MAX_DEPTH = 64
"""Maximum depth of the page tree."""
MAX_ITEMS: dict[ItemKind, int] = {"file": 100_000, "reusable-content": 10_000, "variable": 1_000}
"""Maximum number of files, reusable content, and variables in a space."""
_NAMES = {"file": "files", "reusable-content": "reusable contents", "variable": "variables"}


def require_limits(tx: Transaction, state: State, changes: Changes, page_size: int) -> None:
    """Raise BadRequest or TooLarge if the state would exceed a limit after these changes. ``page_size``: the
    maximum size of the Markdown of a page or reusable content, in bytes."""
    before = find_pages(tx, state, changes.pages)
    known = find_items(tx, state, changes.items)
    _require_number(tx, state, changes, len(before), known)
    bodies: dict[str, str] = {}
    for id, page in changes.pages.items():
        old = before.get(id)
        if page is None:
            continue
        if page.body is not None and (old is None or old.body != page.body):
            bodies[page.body] = f"page {page.title!r}"
        if page.file_path is not None and (old is None or old.file_path != page.file_path):
            _require_path(page.file_path)
    for id, item in changes.items.items():
        was = known.get(id)
        if item is None:
            continue
        if item.kind == "reusable-content" and item.content and (was is None or was.content != item.content):
            bodies[item.content] = f"reusable content {item.name!r}"
        if item.path is not None and (was is None or was.path != item.path):
            _require_path(item.path)
    for digest, size in list_oversized(tx, bodies, page_size):
        raise TooLarge(
            f"{bodies[digest]}: must have at most {format_size(page_size)} of Markdown, not {size:,} bytes."
            " Split it into several pages."
        )
    moved = [
        page
        for id, page in changes.pages.items()
        if page is not None
        and page.parent is not None
        and (id not in before or before[id].parent != page.parent)
    ]
    _require_depth(tx, state, changes, moved, before)


def _require_path(path: str) -> None:
    if wrong := unsafe_path(path):
        raise BadRequest(f"{path[:200]}: {wrong}")


def _require_number(
    tx: Transaction, state: State, changes: Changes, pages_before: int, known: dict[str, Item]
) -> None:
    """Check the number of entries of each kind, but only for kinds with additions, because counting reads the index of
    all existing entries."""
    more = sum(page is not None for page in changes.pages.values()) - pages_before
    if more > 0 and (count := count_pages(tx, state) + more) > MAX_PAGES:
        raise BadRequest(
            f"pages: a space can have at most {MAX_PAGES:,} pages, not {count:,}. Split it into several"
            " spaces."
        )
    for kind, most in MAX_ITEMS.items():
        added = sum(item is not None and item.kind == kind for item in changes.items.values())
        added -= sum(item.kind == kind for item in known.values())
        if added > 0 and (count := count_items(tx, state, kind) + added) > most:
            raise BadRequest(
                f"{_NAMES[kind]}: a space can have at most {most:,} {_NAMES[kind]}, not {count:,}"
            )


def _require_depth(
    tx: Transaction, state: State, changes: Changes, moved: Iterable[Page], before: dict[str, Page]
) -> None:
    depths: dict[str, int] = {}

    def depth_of(page: Page) -> int:
        way: list[str] = []
        here: Page | None = page
        while here is not None and here.id not in depths and len(way) <= MAX_DEPTH:
            way.append(here.id)
            above = here.parent
            if above is None:
                here = None
            elif above in changes.pages:
                here = changes.pages[above]
            else:
                here = find_page(tx, state, above)
        depth = depths[here.id] if here is not None and here.id in depths else 0
        for id in reversed(way):
            depth += 1
            depths[id] = depth
        return depth

    for page in moved:
        depth = depth_of(page)
        level: list[str | None] = [page.id] if page.id in before else []
        while level and depth <= MAX_DEPTH:
            # Subpages of a moved page move with it, unless they are moved separately.
            now = [changes.pages.get(child.id, child) for child in list_children(tx, state, level)]
            level = [child.id for child in now if child is not None and child.parent in level]
            depth += bool(level)
        if depth > MAX_DEPTH:
            raise BadRequest(f"page {page.title!r}: must be nested at most {MAX_DEPTH} levels deep")


# --- limits of organizations ------------------------------------------------------------


@counts("pages")
def count_all_pages(tx: Transaction, organization_id: str) -> int:
    """Return the number of pages in all spaces, excluding drafts and spaces in the trash."""
    return int(
        tx.value(
            """SELECT count(*) FROM spaces s JOIN branches b ON b.id = s.main_branch
               JOIN page_versions v ON v.branch_id = b.id AND v.from_seq <= b.sequence AND v.to_seq > b.sequence
               WHERE s.organization_id = :org AND s.deleted_at IS NULL AND v.deleted = 0 AND v.kind = 'document'""",
            org=organization_id,
        )
    )


@counts("storage")
def count_all_bytes(tx: Transaction, organization_id: str) -> int:
    """Return the total size of all files in spaces and drafts. Files that are in both a draft and main
    count only once."""
    return int(
        tx.value(
            """SELECT coalesce(sum(v.size), 0) FROM spaces s JOIN branches b ON b.space_id = s.id
               JOIN item_versions v ON v.branch_id = b.id AND v.from_seq <= b.sequence AND v.to_seq > b.sequence
               WHERE s.organization_id = :org AND v.deleted = 0 AND v.kind = 'file'""",
            org=organization_id,
        )
    )
