"""Insert site events into the database, and count events by columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, structs

from octavo.kit.db.database import Row, Transaction


class EventRow(Struct, kw_only=True):
    """Visitor event. ``bot``: the kind of bot; None for a person. Two values are only for hooks and are never
    stored: ``consent``, the visitor's cookie consent (`yes` or `no`), and ``response_id``, the rated
    answer."""

    id: str
    site_id: str
    at: int
    month: int
    type: str
    visitor: str
    session: str
    url: str
    display_context: str
    device: str
    browser: str
    os: str
    section_id: str | None = None
    site_space_id: str | None = None
    space_id: str | None = None
    page_id: str | None = None
    share_link_id: str | None = None
    language: str | None = None
    referrer: str | None = None
    referrer_domain: str | None = None
    utm_source: str | None = None
    utm_medium: str | None = None
    utm_campaign: str | None = None
    utm_term: str | None = None
    utm_variant: str | None = None
    claims: str | None = None
    query: str | None = None
    rating: int | None = None
    page_rating: str | None = None
    comment: str | None = None
    link_target: str | None = None
    link_kind: str | None = None
    link_domain: str | None = None
    link_position: str | None = None
    api_path: str | None = None
    api_method: str | None = None
    ad_domain: str | None = None
    placement: str | None = None
    bot: str | None = None
    llms_variant: str | None = None
    markdown_source: str | None = None
    consent: str | None = None
    response_id: str | None = None


def insert_events(tx: Transaction, rows: Iterable[EventRow]) -> None:
    # Most columns are used by few event types, so each row is inserted with only the columns that it has.
    by_columns: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        columns = structs.asdict(row)
        del columns["consent"], columns["response_id"]
        given = {name: value for name, value in columns.items() if value is not None}
        by_columns.setdefault(tuple(given), []).append(given)
    for names, found in by_columns.items():
        values = ", ".join(f":{name}" for name in names)
        tx.run_many(f"INSERT INTO site_events ({', '.join(names)}) VALUES ({values})", found)


def delete_events_before(tx: Transaction, moment: int, limit: int) -> int:
    """Delete at most ``limit`` events from before ``moment``, and return their number."""
    return tx.run(
        "DELETE FROM site_events WHERE id IN (SELECT id FROM site_events WHERE at < :moment LIMIT :limit)",
        moment=moment,
        limit=limit,
    )


def claim_expression(tx: Transaction, parameter: str) -> str:
    """Return SQL for the value of the claim whose name is in an SQL parameter."""
    if tx.engine == "sqlite":
        return f"json_extract(e.claims, '$.\"' || :{parameter} || '\"')"
    return f"(e.claims::jsonb ->> CAST(:{parameter} AS TEXT))"


def link_expression(tx: Transaction, name: str) -> str:
    """Return SQL for a field of an event's link target."""
    if tx.engine == "sqlite":
        return f"json_extract(e.link_target, '$.{name}')"
    return f"(e.link_target::jsonb ->> '{name}')"


def path_expression(tx: Transaction) -> str:
    """Return SQL for the path of an event's URL, from the first slash after the host."""
    slash = f"{'instr' if tx.engine == 'sqlite' else 'strpos'}(substr(e.url, 9), '/')"
    return f"(CASE WHEN {slash} = 0 THEN '/' ELSE substr(e.url, {slash} + 8) END)"


def aggregate(
    tx: Transaction,
    prefix: str,
    columns: list[str],
    where: list[str],
    group_by: list[str],
    having: list[str],
    order: str,
    limit: int,
    parameters: Mapping[str, object],
) -> list[Row]:
    """Return the rows of a query. All arguments except the parameters are SQL from Octavo's own code."""
    grouped = f" GROUP BY {', '.join(group_by)}" if group_by else ""
    if having:
        grouped += f" HAVING {' AND '.join(having)}"
    return tx.all(
        (
            f"{prefix} SELECT {', '.join(columns)} FROM site_events e WHERE "
            f"{' AND '.join(where)}{grouped}{order} LIMIT :limit"
        ),
        limit=limit,
        **parameters,
    )


def count_views(tx: Transaction, site_id: str, since: int) -> dict[str, int]:
    """Return the number of times that people viewed each page of a site, by page ID."""
    rows = tx.all(
        """SELECT e.page_id, count(*) FROM site_events e WHERE e.site_id = :site AND e.at >= :since
             AND e.type = 'page_view' AND e.bot IS NULL AND e.page_id IS NOT NULL GROUP BY e.page_id""",
        site=site_id,
        since=since,
    )
    return {page_id: count for page_id, count in rows}


def list_frequent_queries(
    tx: Transaction, site_id: str, since: int, least: int, visitors: int, limit: int
) -> list[tuple[str, int]]:
    """Return search queries in lowercase, each with its number of searches, most frequent first. ``least`` and
    ``visitors``: the minimum numbers of searches and visitors."""
    rows = tx.all(
        """SELECT lower(trim(e.query)) AS said, count(*) FROM site_events e
           WHERE e.site_id = :site AND e.at >= :since AND e.type IN ('search_type_query', 'search_missing')
             AND e.query IS NOT NULL AND e.query <> ''
           GROUP BY lower(trim(e.query))
           HAVING count(*) >= :least AND count(DISTINCT e.visitor) >= :visitors
           ORDER BY count(*) DESC, said LIMIT :limit""",
        site=site_id,
        since=since,
        least=least,
        visitors=visitors,
        limit=limit,
    )
    return [(said, count) for said, count in rows if said]


def list_segments(
    tx: Transaction,
    site_id: str,
    since: int,
    limit: int,
    prefix: str,
    where: str,
    parameters: Mapping[str, object],
) -> list[Row]:
    """Return groups of visitors with the same claims, most active first, each as (claims, events, visitors,
    sessions). Only the events that match ``where`` are counted. ``prefix``: the SQL before ``where``."""
    return tx.all(
        f"""{prefix} SELECT e.claims, count(*), count(DISTINCT e.visitor), count(DISTINCT e.session) FROM site_events e
           WHERE e.site_id = :site AND e.at >= :since AND e.claims IS NOT NULL AND e.bot IS NULL AND {where}
           GROUP BY e.claims ORDER BY count(*) DESC, e.claims LIMIT :limit""",
        site=site_id,
        since=since,
        limit=limit,
        **parameters,
    )
