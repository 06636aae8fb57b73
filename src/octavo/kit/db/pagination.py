"""Keyset pagination: a page token contains the sort key of the last item, so that pages neither skip nor
repeat items.

The token is opaque to callers: base64url JSON of the key's values, checked against the expected types.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.errors import BadRequest

from .database import Live, Row, Transaction

T = TypeVar("T")
U = TypeVar("U")

_WIDTH = 2**63
"""Exclusive upper limit on integers in a key. Larger integers never occur in a database."""

DEFAULT_LIMIT = 50
MAX_LIMIT = 1000


class PageQuery(Struct, rename="camel", forbid_unknown_fields=False):
    """Query parameters of every list operation. ``page``: the cursor of the page; ``limit``: the maximum number of
    items."""

    page: str | None = None
    limit: Annotated[int, Meta(ge=0, le=MAX_LIMIT)] = DEFAULT_LIMIT


Order = Literal["asc", "desc"]


class Next(Struct):
    page: str


class Listing(Struct, Generic[T]):
    """Page of a list. ``next``: the next page; omitted on the last page. ``count``: the total number of items on
    all pages."""

    items: list[T]
    count: int
    next: Next | UnsetType = UNSET


def encode_token(*key: str | int) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(key)).rstrip(b"=").decode()


def decode_token(token: str | None, *types: type) -> tuple[Any, ...] | None:
    """Decode the key in a page token. Return None for the first page. Raises BadRequest for ``page`` if the token is
    invalid."""
    if token is None:
        return None
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        key: tuple[Any, ...] = msgspec.json.decode(raw, type=tuple[types])  # type: ignore[valid-type]
        if not all(-_WIDTH <= part < _WIDTH if isinstance(part, int) else "\0" not in part for part in key):
            raise ValueError("not the key of a row")
        return key
    except (binascii.Error, msgspec.MsgspecError, ValueError, TypeError):
        raise BadRequest("page: must be the `next.page` value of an earlier response") from None


class Slice(Struct, Generic[T], frozen=True):
    """Result of a store's ``list_*`` function: up to ``limit`` rows, the total number of rows, and the key after
    which the next page starts."""

    rows: Sequence[T]
    count: int
    next_token: str | None = None


def slice_rows(
    rows: Sequence[T], limit: int, count: int, key: Callable[[T], tuple[str | int, ...]]
) -> Slice[T]:
    """Trim ``rows`` (fetched with ``limit + 1``) to one page. Use this only if neither ``list_page`` nor
    ``slice_items`` is suitable."""
    if len(rows) <= limit:
        return Slice(rows, count)
    kept = rows[:limit]
    return Slice(kept, count, encode_token(*key(kept[-1])) if kept else None)


def list_page(
    tx: Transaction,
    limit: int,
    page: str | None,
    columns: str,
    source: str,
    make: Callable[[Row], T],
    /,
    *,
    by: str = "id",
    key_types: tuple[type, ...] = (str,),
    descending: bool = False,
    before: str = "",
    count: int | None = None,
    **given: object,
) -> Slice[T]:
    """Return one page of the rows of ``source``, which is SQL from `FROM` to the end of its `WHERE`. If it is ``Live``,
    so are the statements.

    ``columns``: the columns to select. ``make``: a function that creates an item from a row. ``by``: the columns to
    sort by, such as ``a.created_at, a.id``, which together are unique and never NULL. ``key_types``: the types of
    their values. ``descending``: whether to sort by all of them in descending order. ``before``: a `WITH` clause
    that ``source`` requires. ``count``: the total number of rows, if it is already known. ``given``: the parameters
    of ``source``. Raises BadRequest if ``page`` belongs to another list.
    """
    key = decode_token(page, *key_types)
    names = by.split(", ")
    beyond, after = "", dict[str, Any]()
    if key is not None:
        after = {f"key_{n}": part for n, part in enumerate(key)}
        beyond = f"AND ({by}) {'<' if descending else '>'} ({', '.join(f':{name}' for name in after)})"
    order = ", ".join(f"{name} DESC" if descending else name for name in names)
    kind = Live if isinstance(source, Live) else str
    rows = tx.all(
        kind(f"{before} SELECT {by}, {columns} {source} {beyond} ORDER BY {order} LIMIT :limit"),
        limit=limit + 1,
        **given,
        **after,
    )
    if count is None:
        count = tx.value(kind(f"{before} SELECT count(*) {source}"), **given)
    found = slice_rows(rows, limit, count or 0, lambda row: row[: len(names)])
    return Slice([make(row[len(names) :]) for row in found.rows], found.count, found.next_token)


def slice_items(
    items: Iterable[T], limit: int, page: str | None, key: Callable[[T], str], *, descending: bool = False
) -> Slice[T]:
    """Return one page of ``items`` in memory, sorted by their unique ``key``."""
    after = decode_token(page, str)
    ordered = sorted(items, key=key, reverse=descending)
    rest = ordered
    if after is not None:
        last = after[0]
        rest = [item for item in ordered if (key(item) < last if descending else key(item) > last)]
    return slice_rows(rest[: limit + 1], limit, len(ordered), lambda item: (key(item),))


def present_slice(found: Slice[T], present: Callable[[T], U]) -> Listing[U]:
    return Listing(
        items=[present(row) for row in found.rows],
        count=found.count,
        next=Next(found.next_token) if found.next_token else UNSET,
    )
