"""Files in a batch of changes. They are fetched and stored before any content is read or locked."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed

from msgspec import Struct

from octavo.content.revisions.files import store_file
from octavo.content.revisions.images import HEAD as IMAGE_HEAD
from octavo.content.revisions.images import dimensions
from octavo.content.uploads.store import get_uploads
from octavo.core.file_types import detect_type
from octavo.core.paths import MAX_FILE
from octavo.errors import BadRequest, TooLarge, format_size
from octavo.kit.context import Context
from octavo.kit.net.fetch import ByteAllowance, Fetcher, FetchError, Limits
from octavo.organization.access.authorization import SpaceAccess
from octavo.organization.spaces.garbage import retain

from .commands import ContentChange, FileInput, InsertFiles, UpdateFile

MAX_INLINE = 1024 * 1024
"""Maximum size in bytes of a file that is part of the request itself."""
MAX_FILES = 100
"""Maximum number of files in a batch."""
MAX_URLS = 20
"""Maximum number of files in a batch that are fetched from URLs."""
FETCH_SECONDS = 20.0
"""Time limit for fetching all files of a batch, because the client waits for the response."""
FETCH_SIZE = MAX_FILE
"""Maximum total size in bytes of the files that a batch fetches."""
_AT_ONCE = 5


class Upload(Struct, frozen=True):
    hash: str
    size: int
    content_type: str
    width: int | None = None
    height: int | None = None


def store_uploads(context: Context, space: SpaceAccess, changes: Iterable[ContentChange]) -> list[Upload]:
    """Store the files of a batch and return them in order. Raises BadRequest if a file is invalid, TooLarge
    if a file is too large, and NotFound if an upload doesn't exist."""
    wanted = list(_inputs(changes))
    if len(wanted) > MAX_FILES:
        raise BadRequest(f"changes: a batch can have at most {MAX_FILES:,} files, not {len(wanted)}")
    urls = sum(given.url is not None for given, _ in wanted)
    if urls > MAX_URLS:
        raise BadRequest(f"changes: a batch can have at most {MAX_URLS} files with a `url`, not {urls}")
    # Report problems with the other files before anything is fetched.
    uploaded = iter(_find_uploaded(context, space, [one for one in wanted if one[0].upload is not None]))
    inline = [_inline(given, place) if given.base64 is not None else None for given, place in wanted]
    fetched = iter(
        _fetch_all(context, [(given.url, place) for given, place in wanted if given.url is not None])
    )
    return [
        next(uploaded)
        if given.upload is not None
        else _store(context, given, next(fetched) if data is None else data)
        for (given, _), data in zip(wanted, inline, strict=True)
    ]


def _find_uploaded(context: Context, space: SpaceAccess, wanted: list[tuple[FileInput, str]]) -> list[Upload]:
    """Return the uploads that the batch's files refer to, by key. Only the beginning of each upload's content is
    read."""
    if not wanted:
        return []
    keys, places = [given.upload or "" for given, _ in wanted], [f"{place}.upload" for _, place in wanted]
    with context.db.read() as tx:
        rows = get_uploads(tx, space.organization_id, space.user_id, "page_file", keys, places)
    with context.db.write() as tx:
        # The upload may expire before a row of the space refers to its file, so the file is retained.
        retain(tx, "file", [row.hash for row in rows if row.hash is not None])
    found = []
    for (given, _), row in zip(wanted, rows, strict=True):
        assert row.hash is not None, "get_uploads returns only complete uploads"
        head = b"".join(context.files.open(row.hash, 0, min(row.size, IMAGE_HEAD)))
        found.append(Upload(row.hash, row.size, _type_of(given, head), *(dimensions(head) or (None, None))))
    return found


def _inputs(changes: Iterable[ContentChange]) -> Iterator[tuple[FileInput, str]]:
    """Yield the files of a batch, each with its path in the request body."""
    for number, change in enumerate(changes):
        if isinstance(change, InsertFiles):
            yield from ((given, f"changes[{number}].files[{at}]") for at, given in enumerate(change.files))
        elif isinstance(change, UpdateFile) and change.content is not None:
            yield change.content, f"changes[{number}].content"


def _store(context: Context, given: FileInput, data: bytes) -> Upload:
    blob = store_file(context, data)
    return Upload(blob.hash, blob.size, _type_of(given, data), *(dimensions(data) or (None, None)))


def _type_of(given: FileInput, head: bytes) -> str:
    """Return the content type detected from the content. If it can't be detected, return the declared type, unless that
    is an image type."""
    detected = detect_type(head[:64], given.name)
    own = given.content_type
    return (
        own if detected == "application/octet-stream" and own and not own.startswith("image/") else detected
    )


def _inline(given: FileInput, place: str) -> bytes:
    text = given.base64 or ""
    if len(text) > MAX_INLINE * 4 // 3 + 4:
        raise TooLarge(
            f"{place}.base64: must be at most {format_size(MAX_INLINE)}. Use `url` or `upload` for larger"
            " files."
        )
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest(f"{place}.base64: must be valid Base64") from None
    if len(data) > MAX_INLINE:
        raise TooLarge(
            f"{place}.base64: must be at most {format_size(MAX_INLINE)}. Use `url` or `upload` for larger"
            " files."
        )
    return data


def _fetch_all(context: Context, addresses: list[tuple[str, str]]) -> list[bytes]:
    """Fetch the contents of these URLs, and stop at the first failure. ``addresses``: the URLs, each with its field
    name for error messages."""
    if not addresses:
        return []
    fetcher, together = Fetcher(context.settings.allow_private_fetch), ByteAllowance(FETCH_SIZE)
    deadline = time.monotonic() + FETCH_SECONDS
    pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="octavo-fetch")
    try:
        waiting = [pool.submit(_fetch, fetcher, url, place, together, deadline) for url, place in addresses]
        for done in as_completed(waiting):
            done.result()
        return [fetch.result() for fetch in waiting]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _fetch(fetcher: Fetcher, url: str, place: str, together: ByteAllowance, deadline: float) -> bytes:
    left = deadline - time.monotonic()
    if left <= 0:
        raise BadRequest(
            f"{place}.url: the files couldn't be fetched within {FETCH_SECONDS:g} seconds. Upload them"
            " instead."
        )
    try:
        answer = fetcher.fetch(url, limits=Limits(size=MAX_FILE, seconds=left, together=together))
    except FetchError as error:
        raise BadRequest(f"{place}.url: {error.message}") from None
    if answer.status != 200:
        raise BadRequest(f"{place}.url: the server responded with status {answer.status}")
    return answer.body
