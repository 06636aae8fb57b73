"""Database access for checks of spaces against style guides."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from octavo.content.revisions.restrictions import find_rules
from octavo.content.revisions.states import main_state
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Row, Transaction, json_list
from octavo.kit.db.pagination import Slice, list_page
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.spaces.store import get_space

from .store import list_titles


class RunRow(Struct, frozen=True):
    """Check of spaces against a style guide."""

    id: str
    site_id: str
    styleguide_id: str
    spaces: list[str]
    created_by: str
    created_at: int


_RUN = ", ".join(f"r.{name}" for name in RunRow.__struct_fields__)
_decode_spaces = msgspec.json.Decoder(list[str]).decode


def _run(row: Row) -> RunRow:
    values = dict(zip(RunRow.__struct_fields__, row, strict=True))
    values["spaces"] = _decode_spaces(values["spaces"])
    return RunRow(**values)


def insert_run(tx: Transaction, site: SiteAccess, styleguide_id: str, spaces: Sequence[str]) -> RunRow:
    run = RunRow(ids.new_id(), site.site_id, styleguide_id, list(spaces), site.user_id, now())
    tx.run(
        """INSERT INTO styleguide_runs (id, site_id, styleguide_id, spaces, created_by, created_at)
           VALUES (:id, :site_id, :styleguide_id, :spaces, :created_by, :created_at)""",
        **{**msgspec.structs.asdict(run), "spaces": msgspec.json.encode(run.spaces).decode()},
    )
    return run


def list_runs(tx: Transaction, site_id: str, limit: int, page: str | None) -> Slice[RunRow]:
    """Return a site's checks, newest first."""
    return list_page(
        tx,
        limit,
        page,
        _RUN,
        "FROM styleguide_runs r WHERE r.site_id = :site",
        _run,
        by="r.id",
        descending=True,
        site=site_id,
    )


def link_change(
    tx: Transaction, run_id: str, space_id: str, change_id: str, changed_pages: int | None = None
) -> None:
    """Record the change request that a check created for a space, or kept from an earlier check. ``changed_pages``:
    the number of pages that it changed."""
    tx.run(
        """INSERT INTO styleguide_run_changes (run_id, space_id, change_id, changed_pages)
           VALUES (:run, :space, :change, :pages) ON CONFLICT DO NOTHING""",
        run=run_id,
        space=space_id,
        change=change_id,
        pages=changed_pages,
    )


class RunOfChange(Struct, frozen=True):
    """Check that created a change request. ``checked_at``: the time of the latest check that kept the change
    request."""

    site_id: str
    run_id: str
    changed_pages: int | None
    checked_at: int


def list_runs_of_changes(tx: Transaction, change_ids: Sequence[str]) -> dict[str, RunOfChange]:
    """Return the checks that created change requests, by change request."""
    rows = tx.all(
        f"""SELECT l.change_id, r.site_id, r.id, l.changed_pages, r.created_at FROM {tx.given("changes", "id")} AS g
              JOIN styleguide_run_changes l ON l.change_id = g.id JOIN styleguide_runs r ON r.id = l.run_id
            ORDER BY r.id""",
        changes=json_list(change_ids),
    )
    found: dict[str, RunOfChange] = {}
    for change_id, site_id, run_id, pages, created_at in rows:
        first = found.get(change_id, RunOfChange(site_id, run_id, pages, created_at))
        found[change_id] = RunOfChange(first.site_id, first.run_id, first.changed_pages, created_at)
    return found


def find_open_change(tx: Transaction, site_id: str, space_id: str) -> str | None:
    """Return the change request that an earlier check created for a space, if it is still a draft or open."""
    found: str | None = tx.value(
        """SELECT c.id FROM styleguide_run_changes l JOIN styleguide_runs r ON r.id = l.run_id
             JOIN change_requests c ON c.id = l.change_id
           WHERE r.site_id = :site AND l.space_id = :space AND c.status IN ('draft', 'open')
           ORDER BY c.id DESC LIMIT 1""",
        site=site_id,
        space=space_id,
    )
    return found


def list_styleguides_of_space(tx: Transaction, space_id: str) -> list[str]:
    """Return the IDs of the style guides of the sites that contain a space. The space itself is never included."""
    return [
        row[0]
        for row in tx.all(
            """SELECT DISTINCT t.styleguide_id FROM site_spaces p JOIN sites t ON t.id = p.site_id
                 JOIN spaces g ON g.id = t.styleguide_id AND g.deleted_at IS NULL
               WHERE p.space_id = :space AND g.id != :space ORDER BY t.styleguide_id""",
            space=space_id,
        )
    ]


def list_styleguides(tx: Transaction, organization_id: str) -> list[tuple[str, list[str]]]:
    """Return the style guides of an organization, each with the IDs of the sites that use it."""
    rows = tx.all(
        """SELECT s.id, t.id FROM spaces s LEFT JOIN sites t ON t.styleguide_id = s.id
           WHERE s.organization_id = :organization AND s.type = 'styleguide' AND s.deleted_at IS NULL
           ORDER BY s.id, t.id""",
        organization=organization_id,
    )
    found: dict[str, list[str]] = {}
    for space_id, site_id in rows:
        found.setdefault(space_id, [])
        if site_id is not None:
            found[space_id].append(site_id)
    return list(found.items())


def delete_of_restricted_rules(tx: Transaction, space_id: str) -> None:
    """Before a style guide is permanently deleted, delete the findings of its restricted rules, because their titles
    could no longer be recognized."""
    space = get_space(tx, space_id)
    if space.type != "styleguide":
        return
    rules = find_rules(tx, main_state(tx, space_id))
    titles = list_titles(tx, [(space_id, page_id) for page_id in sorted(rules)])
    for title in titles:
        tx.run(
            """DELETE FROM site_findings WHERE kind = 'style' AND title = :title
               AND site_id IN (SELECT id FROM sites WHERE organization_id = :org)""",
            title=title,
            org=space.organization_id,
        )
