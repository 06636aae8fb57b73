"""Uploads: a signed URL accepts the bytes of one file once, for a limited time.

Bytes that arrive before a connection breaks are kept: the client requests their number with HEAD and sends
the rest with PATCH, as in the IETF draft of resumable uploads for HTTP (``Upload-Offset``,
``Upload-Complete``).
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from octavo.errors import BadRequest, Conflict, Forbidden, NotFound, TooManyRequests, format_size
from octavo.kit import ids
from octavo.kit.clock import HOUR, now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.edge import Action, Answer, Request, Route, in_thread
from octavo.kit.scheduling.shares import SharedThreads
from octavo.kit.work.jobs import job, schedule
from octavo.organization.access.authorization import OrgAccess, organization_access
from octavo.organization.access.roles import Can
from octavo.organization.access.tokens import Grantor, find_grantor, grantor_of
from octavo.organization.spaces.garbage import release, retain

from . import store
from .store import UploadRow
from .types import Kind

PURPOSE = "upload"
PATH = "/uploads"
GOOD_FOR = HOUR
"""Time in milliseconds for which a URL accepts bytes."""
KEPT_FOR = 24 * GOOD_FOR
"""Time in milliseconds for which an uploaded file can be used."""
LARGEST: dict[Kind, int] = {
    "import_file": 100 * 1024 * 1024,
    "customization_font": 5 * 1024 * 1024,
    "page_file": 100 * 1024 * 1024,
    "customization_picture": 5 * 1024 * 1024,
}
MAX_PARTS = 500
"""Maximum number of parts of a file. Each part is stored separately until all parts have arrived."""
MAX_WAITING = 200
"""Maximum number of unused URLs per person."""


class UploadLimit(Struct, frozen=True):
    """Daily limits on one person's uploads: the number of files and the total number of bytes."""

    files: int
    size: int


MEMBER_SHARE = UploadLimit(1000, 10 * 1000**3)
GUEST_SHARE = UploadLimit(50, 1000**3)
"""Limits for guests, who can see some spaces of an organization without being members."""
_IN_MEMORY = 1024 * 1024


class _Ticket(Struct, frozen=True, array_like=True):
    """Payload of an upload URL: the upload, and the person who requested the URL."""

    upload: str
    by: Grantor


def open_upload(
    context: Context, org: OrgAccess, kind: Kind, name: str, content_type: str, size: int
) -> tuple[str, str]:
    """Return a URL that accepts a file of ``size`` bytes, and the key of the file.

    Raises BadRequest if the file is too large for its kind, and TooManyRequests if a limit is exceeded.
    """
    largest = LARGEST[kind]
    if size > largest:
        raise BadRequest(f"file.size: must be at most {format_size(largest)}")
    upload = UploadRow(
        id=ids.new_id(),
        organization_id=org.organization_id,
        user_id=org.user_id,
        kind=kind,
        name=name,
        content_type=content_type,
        size=size,
        hash=None,
        expires_at=now() + KEPT_FOR,
    )
    with context.db.write() as tx:
        _require_within_limit(tx, upload, GUEST_SHARE if org.role is None else MEMBER_SHARE)
        store.insert_upload(tx, upload)
    ticket = msgspec.json.encode(_Ticket(upload.id, grantor_of(org.actor))).decode()
    token = context.signer.sign(PURPOSE, ticket, now() + GOOD_FOR)
    return f"{context.settings.url.rstrip('/')}{PATH}/{token}", upload.id


def _require_within_limit(tx: Transaction, upload: UploadRow, share: UploadLimit) -> None:
    """Raise TooManyRequests if a limit is exceeded. Uploads are kept for a day, so the existing rows cover exactly one
    day."""
    usage = store.measure_uploads(tx, upload.user_id)
    if usage.waiting >= MAX_WAITING:
        raise TooManyRequests(
            f"You have {MAX_WAITING} unused upload URLs, which is the limit. Use them, or wait until they"
            " expire."
        )
    if usage.files >= share.files:
        raise TooManyRequests(
            f"file: you can upload at most {share.files} files per day. Try again tomorrow."
        )
    if usage.size + upload.size > share.size:
        raise TooManyRequests(
            f"file.size: you can upload at most {format_size(share.size)} per day. Try again tomorrow."
        )


def get_upload(tx: Transaction, organization_id: str, user_id: str, kind: str, key: str) -> UploadRow:
    """Return the file that a person uploaded under a key. Raises NotFound if there is no such file, and
    BadRequest if it can't be used."""
    return store.get_uploads(tx, organization_id, user_id, kind, [key])[0]


def upload_route(context: Context, pool: SharedThreads) -> Route:
    """Return the ``/uploads/{token}`` route, which accepts bytes in pieces, up to the declared size.

    ``PUT`` sends all bytes, and ``PATCH`` sends the bytes after ``Upload-Offset``. ``GET`` and ``HEAD`` return the
    number of bytes that have arrived. ``pool``: the threads that store the bytes.
    """

    async def open_upload(request: Request) -> UploadRow:
        return await in_thread(pool, request.owner, _open, context, request.parameters["token"])

    async def store_in_turn(function: Callable[..., object], upload: UploadRow, *arguments: object) -> None:
        owner = (upload.organization_id, upload.user_id)
        await in_thread(pool, owner, function, context, upload, *arguments)

    async def open_for_writing(request: Request) -> UploadRow:
        await in_thread(pool, request.owner, context.gate.require_open)
        return await open_upload(request)

    async def put(request: Request) -> Answer:
        upload = await open_for_writing(request)
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as spool:
            try:
                size = await _receive(request, spool, upload.size)
            except BadRequest:
                await store_in_turn(_save_part, upload, 0, spool)
                raise
            if size < upload.size:
                raise BadRequest(f"body: must have {upload.size} bytes, not {size}. Upload the file again.")
            await store_in_turn(_save_file, upload, spool)
        return _answer(upload, upload.size, is_done=True)

    async def append(request: Request) -> Answer:
        upload = await open_for_writing(request)
        given = request.header(b"upload-offset")
        if not (given.isascii() and given.isdigit() and len(given) < 16):
            raise BadRequest("Upload-Offset: must be the number of bytes that you have already uploaded")
        start = int(given)
        _require_next(upload, start)
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as spool:
            try:
                size = await _receive(request, spool, upload.size - start)
            except BadRequest:
                await store_in_turn(_save_part, upload, start, spool)
                raise
            if size == upload.size:
                await store_in_turn(_save_file, upload, spool)
            else:
                await store_in_turn(_save_part, upload, start, spool)
                if start + size == upload.size:
                    await store_in_turn(_join_parts, upload)
        return _answer(upload, start + size, is_done=start + size == upload.size)

    async def report(request: Request) -> Answer:
        upload = await open_upload(request)
        return _answer(upload, _received(upload), is_done=upload.hash is not None)

    actions = {"PUT": put, "PATCH": append, "GET": report}
    return Route(
        f"{PATH}/{{token}}", {method: Action("upload", answer) for method, answer in actions.items()}
    )


async def _receive(request: Request, spool: Any, limit: int) -> int:
    """Write the body to ``spool`` and return its size in bytes. Raises BadRequest if the body is incomplete, or
    TooLarge if it is too long."""
    size = 0
    async for part in request.read_parts(limit, "that were announced"):
        size += len(part)
        spool.write(part)
    return size


def _received(upload: UploadRow) -> int:
    return upload.size if upload.hash is not None else upload.received


def _offset(came: int, *, is_done: bool) -> dict[str, str]:
    return {"upload-offset": str(came), "upload-complete": "?1" if is_done else "?0"}


def _answer(upload: UploadRow, came: int, *, is_done: bool) -> Answer:
    """Return a response with the number of bytes that have arrived and, once the file is complete, its key."""
    headers = {"cache-control": "no-store", **_offset(came, is_done=is_done)}
    if not is_done:
        return Answer(204, b"", "application/json", headers)
    return Answer(200, msgspec.json.encode({"key": upload.id}), "application/json", headers)


def _require_next(upload: UploadRow, start: int) -> None:
    came = _received(upload)
    if start != came:
        raise Conflict(
            f"Upload-Offset: must be {came}, the number of bytes received so far. Resume from that offset.",
            **_offset(came, is_done=upload.hash is not None),
        )


def _open(context: Context, token: str) -> UploadRow:
    payload = context.signer.verify(PURPOSE, token)
    if payload is not None:
        with context.db.read() as tx:
            if (upload := _find_open(tx, payload)) is not None:
                return upload
    raise NotFound("This upload URL is invalid or has expired. Request a new one.")


def _find_open(tx: Transaction, payload: str) -> UploadRow | None:
    """Return the upload that a URL's payload refers to. Return None if the person who requested the URL no longer has
    permission to upload the file."""
    try:
        ticket = msgspec.json.decode(payload, type=_Ticket)
    except msgspec.MsgspecError:
        return None
    upload = store.find_upload(tx, ticket.upload)
    actor = find_grantor(tx, ticket.by, "generateStorageUploadURL") if upload is not None else None
    if upload is None or actor is None:
        return None
    try:
        organization_access(tx, actor, Can.VIEW, upload.organization_id)
    except (NotFound, Forbidden):
        return None
    return upload


def _save_file(context: Context, upload: UploadRow, spool: object) -> None:
    digest = _store(context, spool, upload.size)
    with context.db.write() as tx:
        if not store.set_uploaded(tx, upload.id, digest):
            raise Conflict("Different content has already been uploaded to this URL. Request a new URL.")
        _release_parts(tx, upload.id)


def _store(context: Context, spool: Any, limit: int) -> str:
    """Store bytes and return their hash."""
    spool.seek(0)
    digest = hashlib.file_digest(spool, "sha256").hexdigest()
    with context.db.write() as tx:
        # Keep the bytes even if they were released before.
        retain(tx, "file", [digest])
    spool.seek(0)
    context.files.put(spool, limit)
    return digest


def _save_part(context: Context, upload: UploadRow, start: int, spool: Any) -> None:
    """Save the next bytes of an upload as a part. Raises Conflict if other bytes arrived for the same
    position in the meantime, and TooManyRequests if the upload has too many parts."""
    size = spool.tell()
    if not size or start != _received(upload):
        return
    with context.db.read() as tx:
        if len(store.list_parts(tx, upload.id)) >= MAX_PARTS:
            raise TooManyRequests(
                f"This upload has more than {MAX_PARTS:,} parts. Request a new URL, and send larger parts."
            )
    digest = _store(context, spool, size)
    with context.db.write() as tx:
        if not store.add_part(tx, upload.id, start, start + size, digest):
            raise Conflict(
                "Another request uploaded different content in the meantime. Send a HEAD request to get the"
                " current offset."
            )


def _join_parts(context: Context, upload: UploadRow) -> None:
    """Build the file from its parts, all of which have arrived."""
    with context.db.read() as tx:
        parts = store.list_parts(tx, upload.id)
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as spool:
        for part in parts:
            for chunk in context.files.open(part):
                spool.write(chunk)
        _save_file(context, upload, spool)


def _release_parts(tx: Transaction, upload_id: str) -> None:
    release(tx, "file", "SELECT hash FROM upload_parts WHERE upload_id = :upload", upload=upload_id)
    store.delete_parts(tx, upload_id)


@job("forgetUploads", bound="everything that expired since the last run")
def forget_uploads(context: Context) -> None:
    """Delete expired uploads."""
    before = now()
    with context.db.write() as tx:
        release(tx, "file", f"SELECT hash FROM uploads WHERE expires_at <= {before}")
        release(
            tx,
            "file",
            "SELECT p.hash FROM upload_parts p JOIN uploads u ON u.id = p.upload_id"
            f" WHERE u.expires_at <= {before}",
        )
        store.delete_expired_uploads(tx, before)


schedule("forgetUploads", 3600, "forgetUploads")
