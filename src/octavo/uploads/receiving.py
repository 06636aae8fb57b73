"""Uploads: a signed URL is given out, and takes the bytes of one file, once, for a while."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
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
from ..kit.asgi import Action, Answer, Request, Route
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.jobs import job, schedule
from ..spaces import release, retain
from . import store
from .store import UploadRow
from .wire import Kind, NewUpload, SignedUpload

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
}
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


def open_upload(context: Context, org: OrgAccess, wanted: NewUpload) -> SignedUpload:
    """Raises BadRequest for a file larger than its kind may be, TooManyRequests for more than somebody may have."""
    largest = LARGEST[wanted.kind]
    if wanted.file.size > largest:
        raise BadRequest(f"file.size: expected at most {largest} bytes.")
    upload = UploadRow(
        id=ids.new_id(),
        organization_id=org.organization_id,
        user_id=org.user_id,
        kind=wanted.kind,
        name=wanted.file.name,
        content_type=wanted.file.type,
        size=wanted.file.size,
        hash=None,
        expires_at=now() + KEPT_FOR,
    )
    with context.db.write() as tx:
        _require_share(tx, upload, GUEST_SHARE if org.role is None else MEMBER_SHARE)
        store.insert_upload(tx, upload)
    ticket = msgspec.json.encode(_Ticket(upload.id, grantor_of(org.actor))).decode()
    token = context.signer.sign(PURPOSE, ticket, now() + GOOD_FOR)
    return SignedUpload(url=f"{context.settings.url.rstrip('/')}{PATH}/{token}", key=upload.id)


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


def upload_route(context: Context) -> Route:
    """``PUT /uploads/{token}``: takes the bytes piece by piece, never more than were announced."""

    async def answer(request: Request) -> Answer:
        loop = asyncio.get_running_loop()
        upload = await loop.run_in_executor(None, _open, context, request.parameters["token"])
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as spool:
            size = 0
            async for part in request.read_parts(upload.size, "that were announced"):
                size += len(part)
                spool.write(part)
            if size < upload.size:
                raise BadRequest(f"body: {upload.size} bytes were announced, {size} came")
            key = await loop.run_in_executor(None, _keep, context, upload, spool)
        body = msgspec.json.encode({"key": key})
        return Answer(200, body, "application/json", {"cache-control": "no-store"})

    return Route(f"{PATH}/{{token}}", {"PUT": Action("upload", answer)})


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


def _keep(context: Context, upload: UploadRow, spool: Any) -> str:
    spool.seek(0)
    digest = hashlib.file_digest(spool, "sha256").hexdigest()
    with context.db.write() as tx:
        # Whoever released such bytes before: they are not removed now.
        retain(tx, "file", [digest])
    spool.seek(0)
    context.files.put(spool, upload.size)
    with context.db.write() as tx:
        if not store.set_uploaded(tx, upload.id, digest):
            raise Conflict("Other bytes were uploaded here before: ask for a new URL.")
    return upload.id


@job("forgetUploads")
def forget_uploads(context: Context) -> None:
    """Forgets what was uploaded and is past its time."""
    before = now()
    with context.db.write() as tx:
        release(tx, "file", f"SELECT hash FROM uploads WHERE expires_at <= {before}")
        store.delete_expired_uploads(tx, before)


schedule("forgetUploads", 3600, "forgetUploads")
