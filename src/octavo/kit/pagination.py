"""Keyset pages: a page token holds the sort key of the last item, so pages neither skip nor repeat.

The token is opaque to callers: base64url JSON of the key's values, checked against the expected types.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from ..errors import BadRequest

T = TypeVar("T")
U = TypeVar("U")

_WIDTH = 2**63
"""Integers of a key are below it: more than a database takes was never in one of ours."""

DEFAULT_LIMIT = 50
MAX_LIMIT = 1000


class PageQuery(Struct, rename="camel", forbid_unknown_fields=False):
    """``page`` and ``limit`` as every list operation takes them."""

    page: str | None = None
    limit: Annotated[int, Meta(ge=0, le=MAX_LIMIT)] = DEFAULT_LIMIT


Order = Literal["asc", "desc"]


class Next(Struct):
    page: str


class Listing(Struct, Generic[T]):
    """One page of a list. `next` is left out on the last page, and `count` is the total of all pages."""

    items: list[T]
    count: int
    next: Next | UnsetType = UNSET


def encode_token(*key: str | int) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(key)).rstrip(b"=").decode()


def decode_token(token: str | None, *types: type) -> tuple[Any, ...] | None:
    """The key in a page token, or None for the first page. Raises BadRequest naming ``page``."""
    if token is None:
        return None
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        key: tuple[Any, ...] = msgspec.json.decode(raw, type=tuple[types])  # type: ignore[valid-type]
        if not all(-_WIDTH <= part < _WIDTH if isinstance(part, int) else "\0" not in part for part in key):
            raise ValueError("a key of no row")
        return key
    except (binascii.Error, msgspec.MsgspecError, ValueError, TypeError):
        raise BadRequest(
            "page: expected a page identifier taken from `next.page` of an earlier answer"
        ) from None


class Slice(Struct, Generic[T], frozen=True):
    """What a store's ``list_*`` gives: up to ``limit`` rows, the total, and the key to go on after."""

    rows: Sequence[T]
    count: int
    next_token: str | None = None


def slice_rows(
    rows: Sequence[T], limit: int, count: int, key: Callable[[T], tuple[str | int, ...]]
) -> Slice[T]:
    """Cuts ``rows`` (fetched with ``limit + 1``) to a page."""
    if len(rows) <= limit:
        return Slice(rows, count)
    kept = rows[:limit]
    return Slice(kept, count, encode_token(*key(kept[-1])) if kept else None)


def present_slice(found: Slice[T], present: Callable[[T], U]) -> Listing[U]:
    return Listing(
        items=[present(row) for row in found.rows],
        count=found.count,
        next=Next(found.next_token) if found.next_token else UNSET,
    )
