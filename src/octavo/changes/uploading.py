"""Bytes that a batch of changes brings along: fetched and stored before anything is read or locked."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable

from msgspec import Struct

from ..content import MAX_FILE, dimensions, store_file
from ..errors import BadRequest, TooLarge
from ..kit.context import Context
from ..kit.fetch import Fetcher, FetchError, Limits
from ..kit.files import detect_type
from .content_wire import ContentChange, FileInput, InsertFiles, UpdateFile

MAX_INLINE = 1024 * 1024
_LIMITS = Limits(size=MAX_FILE, seconds=60)


class Upload(Struct, frozen=True):
    hash: str
    size: int
    content_type: str
    width: int | None = None
    height: int | None = None


def store_uploads(context: Context, changes: Iterable[ContentChange]) -> list[Upload]:
    """The bytes of all files of a batch, in order. Raises BadRequest, TooLarge."""
    found = []
    for number, change in enumerate(changes):
        inputs: list[FileInput] = []
        if isinstance(change, InsertFiles):
            inputs = change.files
        elif isinstance(change, UpdateFile) and change.content is not None:
            inputs = [change.content]
        for given in inputs:
            found.append(_store(context, given, f"changes[{number}]: {given.name}"))
    return found


def _store(context: Context, given: FileInput, place: str) -> Upload:
    data = _fetched(context, given.url, place) if given.url is not None else _inline(given, place)
    blob = store_file(context, data)
    size = dimensions(data)
    told = detect_type(data[:64], given.name)
    if (
        told == "application/octet-stream"
        and given.content_type
        and not given.content_type.startswith("image/")
    ):
        told = given.content_type
    return Upload(blob.hash, blob.size, told, *(size or (None, None)))


def _inline(given: FileInput, place: str) -> bytes:
    text = given.base64 or ""
    if len(text) > MAX_INLINE * 4 // 3 + 4:
        raise TooLarge(f"{place}: base64 may hold at most {MAX_INLINE} bytes; give a url for more")
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest(f"{place}: base64: not valid base64") from None
    if len(data) > MAX_INLINE:
        raise TooLarge(f"{place}: base64 may hold at most {MAX_INLINE} bytes; give a url for more")
    return data


def _fetched(context: Context, url: str, place: str) -> bytes:
    try:
        answer = Fetcher(context.settings.allow_private_fetch).fetch(url, limits=_LIMITS)
    except FetchError as error:
        raise BadRequest(f"{place}: url: {error.message}") from None
    if answer.status != 200:
        raise BadRequest(f"{place}: url: answered {answer.status}")
    return answer.body
