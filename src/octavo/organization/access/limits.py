"""Organization limits, usage, and the error when a limit is reached.

Each limit is checked when an object is added, and only if there is a limit. An organization that already exceeds its
limit keeps all of its content and can change it, but can't add more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Literal, TypeVar, get_args

import msgspec
from msgspec import Struct

from octavo.core.document.parts import size_text
from octavo.errors import LimitReached
from octavo.kit.db.database import Database, Transaction

Count = TypeVar("Count", bound=Callable[[Transaction, str], int])
Resource = Literal["members", "agents", "pages", "storage", "requests"]
RESOURCES: tuple[Resource, ...] = get_args(Resource)

NAMES: dict[Resource, str] = {
    "members": "members",
    "agents": "connected agents",
    "pages": "pages",
    "storage": "of files",
    "requests": "requests per minute",
}
_KEPT_DAYS = 400


class ResourceLimits(Struct, frozen=True, kw_only=True):
    """Limits of an organization; None means unlimited. ``storage``: the limit in bytes. ``requests``: the
    limit of API requests per minute."""

    members: int | None = None
    agents: int | None = None
    pages: int | None = None
    storage: int | None = None
    requests: int | None = None


class ResourceUsage(Struct, frozen=True, kw_only=True):
    """Resource usage of an organization. ``pages``: the number of pages in all spaces, excluding drafts.
    ``storage``: the size of files in spaces and drafts, in bytes."""

    members: int
    agents: int
    pages: int
    storage: int


_COUNTERS: dict[Resource, Callable[[Transaction, str], int]] = {}


def counts(resource: Resource) -> Callable[[Count], Count]:
    """Register ``count(tx, organization_id)`` as the function that counts a resource of an organization."""

    def register(count: Count) -> Count:
        _COUNTERS[resource] = count
        return count

    return register


@counts("members")
def _count_members(tx: Transaction, organization_id: str) -> int:
    return int(
        tx.value(
            """SELECT count(*) FROM members m JOIN users u ON u.id = m.user_id
               WHERE m.organization_id = :org AND u.kind = 'person'""",
            org=organization_id,
        )
    )


def read_limits(tx: Transaction, organization_id: str) -> ResourceLimits:
    row = tx.one(
        f"SELECT {', '.join(RESOURCES)} FROM organization_limits WHERE organization_id = :org",
        org=organization_id,
    )
    return ResourceLimits(**dict(zip(RESOURCES, row, strict=True))) if row else ResourceLimits()


def set_limits(tx: Transaction, organization_id: str, limits: ResourceLimits) -> None:
    """Replace the limits of an organization. Its administrators are warned again if usage is near a new
    limit."""
    names = ", ".join(RESOURCES)
    tx.run(
        f"""INSERT INTO organization_limits (organization_id, {names})
            VALUES (:org, {", ".join(f":{name}" for name in RESOURCES)})
            ON CONFLICT (organization_id) DO UPDATE
            SET {", ".join(f"{name} = excluded.{name}" for name in RESOURCES)}, warned = '[]'""",
        org=organization_id,
        **msgspec.structs.asdict(limits),
    )


def read_request_limits(database: Database) -> dict[str, int]:
    """Return the maximum number of API requests per minute for each organization with a limit."""
    with database.read() as tx:
        return dict(
            tx.all("SELECT organization_id, requests FROM organization_limits WHERE requests IS NOT NULL")
        )


def measure(tx: Transaction, organization_id: str) -> ResourceUsage:
    """Measure an organization's usage. The number of rows read is proportional to the size of its content."""
    return ResourceUsage(**{name: count(tx, organization_id) for name, count in _COUNTERS.items()})


@contextmanager
def within_limit(tx: Transaction, organization_id: str, *resources: Resource) -> Iterator[None]:
    """Raise LimitReached if the changes in the ``with`` block exceed a limit. If there is no limit, nothing is
    counted."""
    limits = read_limits(tx, organization_id)
    bounded = {name: limit for name in resources if (limit := getattr(limits, name)) is not None}
    before = {name: _COUNTERS[name](tx, organization_id) for name in bounded}
    yield
    for name, limit in bounded.items():
        count = _COUNTERS[name](tx, organization_id)
        if count > limit and count > before[name]:
            raise limit_reached(name, limit)


def require_room(tx: Transaction, organization_id: str, resource: Resource) -> None:
    """Raise LimitReached if the organization can't have one more of a resource."""
    limit = getattr(read_limits(tx, organization_id), resource)
    if limit is not None and _COUNTERS[resource](tx, organization_id) >= limit:
        raise limit_reached(resource, limit)


def limit_reached(resource: Resource, limit: int) -> LimitReached:
    """Return the error for an organization that has reached the limit for a resource."""
    return LimitReached(
        f"This organization has reached its limit of {format_amount(resource, limit)} {NAMES[resource]}. Ask the server"
        " administrator to raise the limit."
    )


def format_amount(resource: Resource, amount: int) -> str:
    """Format an amount of a resource for people.

    >>> format_amount("storage", 52_000_000), format_amount("pages", 12_000)
    ('52.0 MB', '12,000')
    """
    return size_text(amount) if resource == "storage" else f"{amount:,}"


class UsageDay(ResourceUsage, frozen=True, kw_only=True):
    day: str


def record_usage(tx: Transaction, organization_id: str, usage: ResourceUsage) -> None:
    """Store today's usage, replacing an earlier measurement."""
    names = ResourceUsage.__struct_fields__
    tx.run(
        f"""INSERT INTO organization_usage (organization_id, day, {", ".join(names)})
            VALUES (:org, :day, {", ".join(f":{name}" for name in names)})
            ON CONFLICT (organization_id, day) DO UPDATE
            SET {", ".join(f"{name} = excluded.{name}" for name in names)}""",
        org=organization_id,
        day=datetime.now(UTC).date().isoformat(),
        **msgspec.structs.asdict(usage),
    )
    tx.run(
        """DELETE FROM organization_usage WHERE organization_id = :org AND day NOT IN (
             SELECT day FROM organization_usage WHERE organization_id = :org ORDER BY day DESC LIMIT :kept)""",
        org=organization_id,
        kept=_KEPT_DAYS,
    )


def list_usage(tx: Transaction, organization_id: str, days: int) -> list[UsageDay]:
    """Return the usage on the last measured days, oldest first."""
    names = UsageDay.__struct_fields__
    rows = tx.all(
        f"SELECT {', '.join(names)} FROM organization_usage WHERE organization_id = :org ORDER BY day DESC LIMIT :days",
        org=organization_id,
        days=days,
    )
    return [UsageDay(**dict(zip(names, row, strict=True))) for row in reversed(rows)]


def near_limits(limits: ResourceLimits, usage: ResourceUsage) -> list[Resource]:
    """Return the resources for which an organization has reached at least 90% of its limit."""
    return [
        name
        for name in _COUNTERS
        if (limit := getattr(limits, name)) is not None and getattr(usage, name) * 10 >= limit * 9
    ]
