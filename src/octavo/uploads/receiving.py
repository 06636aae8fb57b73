"""Uploads: a signed URL is given out, and takes the bytes of one file, once, for a while.

What came before a connection was cut is kept: the client asks with HEAD how much that is, and sends the rest with PATCH,
as in the IETF's draft of resumable uploads for HTTP (``Upload-Offset``, ``Upload-Complete``).
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from ..access import Can, Grantor, OrgAccess, find_grantor, grantor_of, organization_access
from ..errors import (
    BadRequest,
    Conflict,
    Forbidden,
    NotFound,
    TooManyRequests,
)
from ..kit import ids
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.edge import Action, Answer, Request, Route, in_thread
from ..kit.jobs import job, schedule
from ..kit.shares import SharedThreads
from ..spaces import release, retain
from . import store
from .kinds import Kind
from .store import UploadRow

PURPOSE = "upload"
PATH = "/uploads"
GOOD_FOR = 3600_000
"""Milliseconds in which a URL takes bytes."""
KEPT_FOR = 24 * GOOD_FOR
"""Milliseconds in which what was uploaded can be used."""
LARGEST: dict[Kind, int] = {
    "import_file": 100 * 1024 * 1024,
    "customization_font": 5 * 1024 * 1024,
    "page_file": 100 * 1024 * 1024,
    "customization_picture": 5 * 1024 * 1024,
}
MAX_PARTS = 500
"""Parts in which a file may come; each is kept by itself until all are there."""
MAX_WAITING = 200
"""URLs that somebody has and did not use."""


class Share(Struct, frozen=True):
    """What one person may upload within a day: files, and bytes of all of them."""

    files: int
    size: int


MEMBER_SHARE = Share(1000, 10 * 1000**3)
GUEST_SHARE = Share(50, 1000**3)
"""Guests see some spaces of an organization and belong to nobody's staff."""
_IN_MEMORY = 1024 * 1024


class _Ticket(Struct, frozen=True, array_like=True):
    """What a URL takes bytes for, and who asked for it."""

    upload: str
    by: Grantor


def open_upload(
    context: Context, org: OrgAccess, kind: Kind, name: str, content_type: str, size: int
) -> tuple[str, str]:
    """The URL that takes a file of ``size`` bytes, and the key that names it then. Raises BadRequest for a file larger than its kind may be, TooManyRequests for more than somebody may have."""
    largest = LARGEST[kind]
    if size > largest:
        raise BadRequest(f"file.size: expected at most {largest} bytes.")
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
        _require_share(tx, upload, GUEST_SHARE if org.role is None else MEMBER_SHARE)
        store.insert_upload(tx, upload)
    ticket = msgspec.json.encode(_Ticket(upload.id, grantor_of(org.actor))).decode()
    token = context.signer.sign(PURPOSE, ticket, now() + GOOD_FOR)
    return f"{context.settings.url.rstrip('/')}{PATH}/{token}", upload.id


def _require_share(tx: Transaction, upload: UploadRow, share: Share) -> None:
    """What was uploaded is kept for a day: so the rows that are there are those of a day."""
    held = store.measure_uploads(tx, upload.user_id)
    if held.waiting >= MAX_WAITING:
        raise TooManyRequests(f"There are {MAX_WAITING} URLs you did not use yet: upload to them first.")
    if held.files >= share.files:
        raise TooManyRequests(f"file: more than the {share.files} files that you can upload within a day.")
    if held.size + upload.size > share.size:
        raise TooManyRequests(
            f"file.size: more than the {share.size} bytes that you can upload within a day."
        )


def get_upload(tx: Transaction, organization_id: str, user_id: str, kind: str, key: str) -> UploadRow:
    """What somebody uploaded under a key. Raises NotFound, BadRequest."""
    return store.get_uploads(tx, organization_id, user_id, kind, [key])[0]


def upload_route(context: Context, pool: SharedThreads) -> Route:
    """``/uploads/{token}``: takes the bytes piece by piece, never more than were announced. ``PUT`` takes all of them,
    ``PATCH`` those behind ``Upload-Offset``; ``GET`` and ``HEAD`` say how many there are. ``pool``: threads that store
    them."""

    async def open_upload(request: Request) -> UploadRow:
        return await in_thread(pool, request.owner, _open, context, request.parameters["token"])

    async def store_in_turn(function: Callable[..., object], upload: UploadRow, *arguments: Any) -> None:
        owner = (upload.organization_id, upload.user_id)
        await in_thread(pool, owner, function, context, upload, *arguments)

    async def put(request: Request) -> Answer:
        upload = await open_upload(request)
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as spool:
            try:
                size = await _receive(request, spool, upload.size)
            except BadRequest:
                await store_in_turn(_keep_part, upload, 0, spool)
                raise
            if size < upload.size:
                raise BadRequest(f"body: {upload.size} bytes were announced, {size} came")
            await store_in_turn(_keep, upload, spool)
        return _answer(upload, upload.size, is_done=True)

    async def append(request: Request) -> Answer:
        upload = await open_upload(request)
        given = request.header(b"upload-offset")
        if not (given.isascii() and given.isdigit() and len(given) < 16):
            raise BadRequest("Upload-Offset: expected how many bytes of the file came before.")
        start = int(given)
        _require_next(upload, start)
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as spool:
            try:
                size = await _receive(request, spool, upload.size - start)
            except BadRequest:
                await store_in_turn(_keep_part, upload, start, spool)
                raise
            if size == upload.size:
                await store_in_turn(_keep, upload, spool)
            else:
                await store_in_turn(_keep_part, upload, start, spool)
                if start + size == upload.size:
                    await store_in_turn(_join, upload)
        return _answer(upload, start + size, is_done=start + size == upload.size)

    async def tell(request: Request) -> Answer:
        upload = await open_upload(request)
        return _answer(upload, _came(upload), is_done=upload.hash is not None)

    actions = {"PUT": put, "PATCH": append, "GET": tell}
    return Route(
        f"{PATH}/{{token}}", {method: Action("upload", answer) for method, answer in actions.items()}
    )


async def _receive(request: Request, spool: Any, limit: int) -> int:
    """Writes the body to ``spool``; how many bytes. Raises BadRequest where it was cut, TooLarge."""
    size = 0
    async for part in request.read_parts(limit, "that are to come"):
        size += len(part)
        spool.write(part)
    return size


def _came(upload: UploadRow) -> int:
    return upload.size if upload.hash is not None else upload.received


def _offset(came: int, *, is_done: bool) -> dict[str, str]:
    return {"upload-offset": str(came), "upload-complete": "?1" if is_done else "?0"}


def _answer(upload: UploadRow, came: int, *, is_done: bool) -> Answer:
    """What is there of a file; its key once that is all of it."""
    headers = {"cache-control": "no-store", **_offset(came, is_done=is_done)}
    if not is_done:
        return Answer(204, b"", "application/json", headers)
    return Answer(200, msgspec.json.encode({"key": upload.id}), "application/json", headers)


def _require_next(upload: UploadRow, start: int) -> None:
    came = _came(upload)
    if start != came:
        raise Conflict(
            f"Upload-Offset: {came} bytes of this file are there.",
            **_offset(came, is_done=upload.hash is not None),
        )


def _open(context: Context, token: str) -> UploadRow:
    payload = context.signer.verify(PURPOSE, token)
    if payload is not None:
        with context.db.read() as tx:
            if (upload := _find_open(tx, payload)) is not None:
                return upload
    raise NotFound("This URL takes no files, or no more: ask for a new one.")


def _find_open(tx: Transaction, payload: str) -> UploadRow | None:
    """None where whoever asked for the URL may not upload there any more."""
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


def _keep(context: Context, upload: UploadRow, spool: Any) -> None:
    """Keeps all bytes of a file."""
    digest = _store(context, spool, upload.size)
    with context.db.write() as tx:
        if not store.set_uploaded(tx, upload.id, digest):
            raise Conflict("Other bytes were uploaded here before: ask for a new URL.")
        _release_parts(tx, upload.id)


def _store(context: Context, spool: Any, limit: int) -> str:
    """Stores bytes; their hash."""
    spool.seek(0)
    digest = hashlib.file_digest(spool, "sha256").hexdigest()
    with context.db.write() as tx:
        # Whoever released such bytes before: they are not removed now.
        retain(tx, "file", [digest])
    spool.seek(0)
    context.files.put(spool, limit)
    return digest


def _keep_part(context: Context, upload: UploadRow, start: int, spool: Any) -> None:
    """Keeps bytes that follow those that are there. Raises Conflict where others do by now."""
    size = spool.tell()
    if not size or start != _came(upload):
        return
    with context.db.read() as tx:
        if len(store.list_parts(tx, upload.id)) >= MAX_PARTS:
            raise TooManyRequests(f"More than {MAX_PARTS} parts of a file: ask for a new URL.")
    digest = _store(context, spool, size)
    with context.db.write() as tx:
        if not store.add_part(tx, upload.id, start, start + size, digest):
            raise Conflict("Other bytes were uploaded here before: ask with HEAD how many.")


def _join(context: Context, upload: UploadRow) -> None:
    """Makes the file of its parts, all of which are there."""
    with context.db.read() as tx:
        parts = store.list_parts(tx, upload.id)
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as spool:
        for part in parts:
            for chunk in context.files.open(part):
                spool.write(chunk)
        _keep(context, upload, spool)


def _release_parts(tx: Transaction, upload_id: str) -> None:
    release(tx, "file", "SELECT hash FROM upload_parts WHERE upload_id = :upload", upload=upload_id)
    store.delete_parts(tx, upload_id)


@job("forgetUploads", bound="what expired since the last one")
def forget_uploads(context: Context) -> None:
    """Forgets what was uploaded and is past its time."""
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
