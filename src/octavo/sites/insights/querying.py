"""Event queries in the API's format: the columns to select, the filters, and the grouping."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import UNSET

from octavo.errors import BadRequest
from octavo.kit.clock import DAY, HOUR, WEEK, iso, milliseconds, now, parse_iso
from octavo.kit.db.database import Row, Transaction
from octavo.organization.access.authorization import SiteAccess

from . import store
from .questions import Aggregate, Aggregation, Filter, QueryColumn, Range, Segment, Values
from .visibility import sight_of

_PRESETS = {
    "last24Hours": DAY,
    "last7Days": WEEK,
    "last30Days": 30 * DAY,
    "last3Months": 91 * DAY,
    "lastYear": 365 * DAY,
}
_SEGMENTS = 200
# Weeks start on Monday; January 1, 1970 was a Thursday.
_INTERVALS = {
    "hour": f"(e.at / {HOUR}) * {HOUR}",
    "day": f"(e.at / {DAY}) * {DAY}",
    "week": f"((e.at + {3 * DAY}) / {WEEK}) * {WEEK} - {3 * DAY}",
    "month": "e.month",
}
_TEXTS = {
    "url": "url",
    "eventType": "type",
    "siteSection": "section_id",
    "siteSpace": "site_space_id",
    "siteShareKey": "share_link_id",
    "displayContext": "display_context",
    "visitorDevice": "device",
    "visitorBrowser": "browser",
    "visitorOS": "os",
    "visitorBot": "bot",
    "visitorLanguage": "language",
    "eventLinkTargetValue": "link_target",
    "eventLinkTargetKind": "link_kind",
    "eventLinkTargetDomain": "link_domain",
    "eventLinkPosition": "link_position",
    "eventAPIOperationPath": "api_path",
    "eventAPIOperationMethod": "api_method",
    "eventSearchQuery": "query",
    "eventPageFeedbackRating": "page_rating",
    "eventPageFeedbackComment": "comment",
    "eventAskResponseRating": "rating",
    "referrer": "referrer",
    "referrerDomain": "referrer_domain",
    "utmSource": "utm_source",
    "utmMedium": "utm_medium",
    "utmCampaign": "utm_campaign",
    "utmTerm": "utm_term",
    "utmContent": "utm_variant",
    "eventAdDomain": "ad_domain",
    "eventAdPlacement": "placement",
    "eventTrademarkPlacement": "placement",
    "eventLLMSVariant": "llms_variant",
    "eventMarkdownSource": "markdown_source",
}
_COMPUTED = {
    # Monday is 1; January 1, 1970 was a Thursday. Both in UTC.
    "dayOfWeek": f"((e.at / {DAY} + 3) % 7 + 1)",
    "hourOfDay": f"((e.at / {HOUR}) % 24)",
    "visitorAuthenticated": "(CASE WHEN e.claims IS NULL THEN 0 ELSE 1 END)",
}
_WHOLE = {"dayOfWeek": (1, 7), "hourOfDay": (0, 23)}
"""Integer columns, with their minimum and maximum values."""
_ALWAYS_NULL = ("visitorGeoCountry", "visitorGeoPoint", "eventPageNotFoundType")
"""Columns that are always null. Locations aren't stored, because they could be derived only from IP addresses.
Requests for pages that are hidden by conditions can't be distinguished from requests for other missing pages."""
_COUNTS = {
    "eventsCount": ("count(*)",),
    "sessionsCount": ("count(DISTINCT e.session)",),
    "visitorsCount": ("count(DISTINCT e.visitor)",),
    "pageFeedbackRating": tuple(
        f"COALESCE(sum(CASE WHEN e.page_rating = '{word}' THEN 1 ELSE 0 END), 0)"
        for word in ("ok", "good", "bad")
    ),
    "askResponseRating": tuple(
        f"COALESCE(sum(CASE WHEN e.rating = {n} THEN 1 ELSE 0 END), 0)" for n in (1, -1)
    ),
}
_OPERATORS = {"greaterThan": ">", "greaterThanOrEqual": ">=", "lessThan": "<", "lessThanOrEqual": "<="}


class _Question:
    def __init__(self, tx: Transaction, site: SiteAccess, hosts: Sequence[str]) -> None:
        self._tx = tx
        self._sight = sight_of(tx, site)
        self.prefix = self._sight.prefix
        self.parameters: dict[str, Any] = {"site": site.site_id, **self._sight.parameters}
        self.where = ["e.site_id = :site", self._sight.where]
        self.having: list[str] = []
        self._hosts = hosts

    def bind(self, value: object) -> str:
        name = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return f":{name}"

    def expressions(self, column: QueryColumn) -> tuple[str, ...]:
        """Return the SQL expressions of a result column; empty if the column is always null."""
        name = column.column
        if name in _COUNTS:
            return _COUNTS[name]
        if name in _ALWAYS_NULL:
            return ()
        if name == "datetime":
            return (_INTERVALS[column.interval],)
        if name == "page":
            return ("e.page_id", "e.space_id")
        if name == "visitorClaim":
            return (self.claim(column.claim),)
        return (self._text(name),)

    def _text(self, name: str) -> str:
        """Return a stored column as SQL. If a space of the site or one of its pages is hidden from the caller,
        referrers and link targets that could point to hidden pages are null."""
        if name == "referrer" and not self._sight.whole:
            return f"CASE WHEN e.referrer_domain IN {self.bind(self._hosts)} THEN NULL ELSE e.referrer END"
        if name == "eventLinkTargetValue" and not self._sight.whole:
            elsewhere = f"e.link_domain IS NOT NULL AND NOT e.link_domain IN {self.bind(self._hosts)}"
            shown = f"CASE WHEN e.link_kind = 'url' THEN {elsewhere} ELSE {self._sight.target} END"
            return f"CASE WHEN {shown} THEN e.link_target END"
        if name in _COMPUTED:
            return _COMPUTED[name]
        if name == "urlPath":
            return store.path_expression(self._tx)
        return f"e.{_TEXTS.get(name, 'at')}"

    def claim(self, claim: str | None) -> str:
        return store.claim_expression(self._tx, self.bind(claim)[1:])

    def add(self, place: str, condition: Filter) -> None:
        """Add a condition. Raises BadRequest if the column can't have the given values."""
        name = condition.column
        if name == "page":
            self.where.append(self._pages(place, condition))
            return
        if name in _ALWAYS_NULL:
            holds = (None in condition.values) == (condition.operator == "in")
            self.where.append("1 = 1" if holds else "1 = 0")
            return
        if name in _COUNTS:
            self.having.append(self._comparison(place, condition, _COUNTS[name][0]))
            return
        expression = self.claim(condition.claim) if name == "visitorClaim" else self._text(name)
        self.where.append(self._comparison(place, condition, expression))

    def _comparison(self, place: str, condition: Filter, expression: str) -> str:
        values = [_value(place, condition.column, value) for value in condition.values]
        if condition.operator in _OPERATORS:
            if len(values) != 1 or values[0] is None:
                raise BadRequest(f"{place}.values: `{condition.operator}` requires exactly one value")
            return f"{expression} {_OPERATORS[condition.operator]} {self.bind(values[0])}"
        known = [value for value in values if value is not None]
        parts = [f"{expression} IN {self.bind(known)}"] if known else []
        if None in values:
            parts.append(f"{expression} IS NULL")
        found = f"({' OR '.join(parts)})" if parts else "1 = 0"
        return found if condition.operator == "in" else f"NOT COALESCE({found}, 1 = 0)"

    def _pages(self, place: str, condition: Filter) -> str:
        if condition.operator not in ("in", "notIn"):
            raise BadRequest(f"{place}.operator: must be `in` or `notIn` for pages")
        parts = []
        for value in condition.values:
            if value is None:
                parts.append("e.page_id IS NULL")
                continue
            page, space = (value.get("page"), value.get("space")) if isinstance(value, dict) else (None, None)
            if not isinstance(space, str) or not (page is None or isinstance(page, str)):
                raise BadRequest(f"{place}.values: must be an array of objects with `page` and `space`")
            at = f"e.page_id = {self.bind(page)}" if page is not None else "e.page_id IS NULL"
            parts.append(f"({at} AND e.space_id = {self.bind(space)})")
        found = f"({' OR '.join(parts)})" if parts else "1 = 0"
        return found if condition.operator == "in" else f"NOT COALESCE({found}, 1 = 0)"


def _value(place: str, name: str, value: object) -> object:
    if value is None:
        return None
    if name == "datetime":
        return _moment(f"{place}.values", value)
    if name == "visitorAuthenticated":
        if isinstance(value, bool):
            return int(value)
        raise BadRequest(f"{place}.values: must be an array of booleans")
    if name in _WHOLE or name in _COUNTS:
        least, most = _WHOLE.get(name, (0, 2**53))
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        raise BadRequest(f"{place}.values: must be an array of whole numbers from {least} to {most}")
    if name == "eventAskResponseRating":
        if value in (1, -1) and not isinstance(value, bool):
            return int(value)
        raise BadRequest(f"{place}.values: must be an array that contains only 1 and -1")
    if name == "eventLinkTargetValue":
        if isinstance(value, dict):
            return msgspec.json.encode(value).decode()
        raise BadRequest(f"{place}.values: must be an array of references")
    if not isinstance(value, str) or "\0" in value:
        raise BadRequest(f"{place}.values: must be an array of strings")
    return value


def _moment(place: str, text: Any) -> int:
    try:
        return parse_iso(text)
    except (ValueError, TypeError):
        raise BadRequest(f"{place}: must be an ISO 8601 time, such as 2026-01-31T12:00:00Z") from None


def aggregate(tx: Transaction, site: SiteAccess, hosts: Sequence[str], body: Aggregate) -> Aggregation:
    """Count events on a site in the spaces that the caller can see. The result has the columns in ``groupBy`` and
    ``select``. Selected columns that aren't counts are also used for grouping. Bots are included only if the query
    refers to `visitorBot`. ``hosts``: the hosts that can serve pages of the site. Raises BadRequest for an invalid
    query."""
    asked = _Question(tx, site, hosts)
    for n, column in enumerate(body.group_by):
        if column.column in _COUNTS:
            raise BadRequest(f"groupBy[{n}].column: must not be {column.column!r}, which is a count")
    answered = [*body.group_by, *body.select]
    answered = [column for n, column in enumerate(answered) if column not in answered[:n]]
    answered = answered or [QueryColumn("eventsCount")]
    since, until = _time_range(body.range)
    asked.where += [f"e.at >= {asked.bind(since)}", f"e.at < {asked.bind(until)}"]
    for n, condition in enumerate(body.where):
        asked.add(f"where[{n}]", condition)
    named = {*(column.column for column in answered), *(condition.column for condition in body.where)}
    if "visitorBot" not in named:
        # Bots are counted only if the query asks for them; otherwise, they aren't visitors.
        asked.where.append("e.bot IS NULL")
    made = [asked.expressions(column) for column in answered]
    flat = [expression for one in made for expression in one]
    names = [f"c{n}" for n in range(len(flat))]
    grouped, position = [], 0
    places: list[slice] = []
    for column, one in zip(answered, made, strict=True):
        places.append(slice(position, position + len(one)))
        if column.column not in _COUNTS:
            grouped += names[places[-1]]
        position += len(one)
    order = _order(body, answered, [names[place] for place in places], grouped)
    selected = [f"{expression} AS {name}" for expression, name in zip(flat, names, strict=True)] or ["1"]
    found = store.aggregate(
        tx, asked.prefix, selected, asked.where, grouped, asked.having, order, body.limit, asked.parameters
    )
    return Aggregation(
        [
            Values(column.column, [_present(column, row[place]) for row in found], column.claim or UNSET)
            for column, place in zip(answered, places, strict=True)
        ]
    )


def _order(body: Aggregate, answered: list[QueryColumn], names: list[list[str]], grouped: list[str]) -> str:
    """Return SQL that sorts rows as requested. Rows that are equal in this respect are sorted by their groups, so that
    the same query returns them in the same order, and the limit leaves out the same ones. ``names``: the names of each
    column's expressions. ``grouped``: those to group by."""
    parts: list[str] = []
    if body.order is not UNSET:
        made = next(
            (made for column, made in zip(answered, names, strict=True) if column == body.order.by), None
        )
        if made is None:
            raise BadRequest("order.by: must be a column from `select` or `groupBy`")
        parts = [f"{name} {body.order.direction}" for name in made]
        grouped = [name for name in grouped if name not in made]
    return f" ORDER BY {', '.join([*parts, *grouped])}" if parts or grouped else ""


def _time_range(range: str | Range) -> tuple[int, int]:
    if isinstance(range, Range):
        since, until = _moment("range.from", range.from_), _moment("range.to", range.to)
        if since > until:
            raise BadRequest("range: `from` must not be after `to`")
        return since, until
    moment = now()
    return moment - _PRESETS[range], moment + 1


def _present(column: QueryColumn, cells: Row) -> object:
    """Return the value of a column, based on the results of its SQL expressions."""
    name = column.column
    if name in _ALWAYS_NULL:
        return None
    if name == "page":
        return {"page": cells[0], "space": cells[1]} if cells[1] is not None else None
    if name == "pageFeedbackRating":
        return dict(zip(("ok", "good", "bad"), map(int, cells), strict=True))
    if name == "askResponseRating":
        return dict(zip(("positive", "negative"), map(int, cells), strict=True))
    value = cells[0]
    if name == "datetime":
        if column.interval == "month":
            return iso(milliseconds(datetime(value // 100, value % 100, 1, tzinfo=UTC)))
        return iso(value)
    if name == "visitorAuthenticated":
        return bool(value)
    if name == "eventLinkTargetValue" and value is not None:
        return msgspec.json.decode(value)
    return value


def list_segments(tx: Transaction, site: SiteAccess) -> list[Segment]:
    """List groups of visitors with the same signed claims in the last year, in the spaces that the caller can see."""
    since, sight = now() - _PRESETS["lastYear"], sight_of(tx, site)
    rows = store.list_segments(
        tx, site.site_id, since, _SEGMENTS, sight.prefix, sight.where, sight.parameters
    )
    found = []
    for text, events, visitors, sessions in rows:
        claims = msgspec.json.decode(text, type=dict[str, str])
        title = ", ".join(f"{name}: {value}" for name, value in claims.items())
        found.append(Segment(title[:200], claims, events, visitors, sessions))
    return found
