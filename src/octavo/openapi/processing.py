"""The job that processes a specification: fetch, compile in a process of its own, keep what is new.

What fails is told at the specification, and the last good version stays.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
from msgspec import Struct

from ..content import body_hash, dependency_changed, get_body, put_bodies, store_file
from ..kit import jobs
from ..kit.apart import ProcessLimits, run_apart
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.fetch import Fetcher, FetchError, FetchTimeout, Limits
from ..kit.outbox import emit
from ..kit.temporary import TemporaryFolder
from ..references import list_spaces_naming_spec
from . import store
from .compiling import Compiled
from .complaints import Complaint
from .publishing import PATIENCE, process_again
from .reading import MAX_BYTES
from .store import ErrorCode, SpecRow

EVERY = 6 * 3_600_000
"""Milliseconds after which the URL of a source is looked at again."""
VERSIONS = 100
"""Versions of a specification that are kept."""
BOUNDS = ProcessLimits(memory=1536 * 1024**2, file=256 * 1024**2, seconds=120)
"""What reading a description may take."""
_LOOK_EVERY = 60.0
_BATCH = 200
_TOO_MUCH = "The description could not be read: it asks for more memory or time than a description is given."


class _Read(Struct):
    """What a source gave: ``data`` None where it is as it was."""

    data: bytes | None
    etag: str | None = None
    last_modified: str | None = None


class _CannotFetch(Exception):
    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


@jobs.job("processSpec", attempts=3, seconds=2 * BOUNDS.longest)
def process_spec(context: Context, spec_id: str, generation: int) -> None:
    """Processes a specification unless a newer request to do so was made meanwhile."""
    with context.db.write() as tx:
        spec = store.find_spec_by_id(tx, spec_id)
        if spec is None or spec.generation != generation or spec.state == "complete":
            return
        store.update_spec(tx, spec_id, state="progress", check_at=now() + PATIENCE)
        text = get_body(tx, spec.pending) if spec.pending else None
    if text is None and spec.source_url is None:
        # A text that was processed has nothing that could have changed.
        _end(context, spec, spec.error_code, spec.complaints)
        return
    try:
        read = _Read(text.encode()) if text is not None else _fetch(context, spec)
    except _CannotFetch as error:
        _end(context, spec, error.code, [Complaint(str(error), error.code)])
        return
    if read.data is None:
        _end(context, spec, None, [])
        return
    compiled = compile_apart(read.data)
    if compiled.errors:
        _end(context, spec, "PARSE_ERROR", compiled.errors)
        return
    _keep(context, spec, read, compiled)


def _fetch(context: Context, spec: SpecRow) -> _Read:
    assert spec.source_url is not None
    asked = {"Accept": "application/json, application/yaml, text/yaml, application/zip, */*;q=0.5"}
    if spec.version_id is not None and spec.etag:
        asked["If-None-Match"] = spec.etag
    if spec.version_id is not None and spec.last_modified:
        asked["If-Modified-Since"] = spec.last_modified
    fetcher = Fetcher(context.settings.allow_private_fetch)
    try:
        answer = fetcher.fetch(spec.source_url, headers=asked, limits=Limits(size=MAX_BYTES, seconds=30))
    except FetchTimeout as error:
        raise _CannotFetch("FETCH_TIMEOUT", f"The source did not answer in time: {error}.") from None
    except FetchError as error:
        raise _CannotFetch("FETCH_ERROR", f"The source cannot be fetched: {error}.") from None
    if answer.status == 304 and spec.version_id is not None:
        return _Read(None)
    if answer.status != 200:
        raise _CannotFetch("FETCH_ERROR", f"The source answered with the status {answer.status}.")
    return _Read(answer.body, *(_header(answer.headers.get(name)) for name in ("etag", "last-modified")))


def _header(value: str | None) -> str | None:
    """A value that may be sent back."""
    return value if value and len(value) <= 500 and value.isascii() and value.isprintable() else None


def compile_apart(data: bytes) -> Compiled:
    """What a description is, found by a process of its own."""
    with TemporaryFolder("openapi") as name:
        folder = Path(name)
        (folder / "source").write_bytes(data)
        if not run_apart("octavo.openapi.compiling", folder, bounds=BOUNDS):
            return Compiled([Complaint(_TOO_MUCH, "TOO_LARGE")])
        return msgspec.json.decode((folder / "result.json").read_bytes(), type=Compiled)


def _keep(context: Context, spec: SpecRow, read: _Read, compiled: Compiled) -> None:
    digest = hashlib.sha256(msgspec.json.encode(list(compiled.files.items()))).hexdigest()
    with context.db.read() as tx:
        last = store.find_version(tx, spec.id, spec.version_id or "")
    # The same source may be understood better by now.
    if last is not None and (last.digest, last.document) == (digest, body_hash(compiled.document)):
        _end(context, spec, None, [], read)
        return
    blob = store_file(context, compiled.document.encode())
    with context.db.write() as tx:
        if not _is_newest(tx, spec):
            return
        document, *bodies = put_bodies(tx, [compiled.document, *compiled.files.values()])
        version_id = store.insert_version(
            tx,
            spec.id,
            digest=digest,
            document=document,
            file=blob.hash,
            size=blob.size,
            bodies=dict(zip(compiled.files, bodies, strict=True)),
        )
        store.drop_versions(tx, spec.id, VERSIONS)
        store.update_spec(tx, spec.id, version_id=version_id, updated_at=now())
        _complete(tx, spec, None, [], read)
        made = list_spaces_naming_spec(tx, spec.organization_id, spec.slug)
        dependency_changed(tx, spec.organization_id, made)
        emit(tx, "openapi_updated", organization_id=spec.organization_id, slug=spec.slug)
        jobs.finish(tx)


def _end(
    context: Context,
    spec: SpecRow,
    code: ErrorCode | None,
    complaints: list[Complaint],
    read: _Read | None = None,
) -> None:
    with context.db.write() as tx:
        if _is_newest(tx, spec):
            _complete(tx, spec, code, complaints, read)
        jobs.finish(tx)


def _is_newest(tx: Transaction, spec: SpecRow) -> bool:
    """Whether this is still what was asked for last: a newer source was given meanwhile, or it is gone."""
    found = store.find_spec_by_id(tx, spec.id)
    return found is not None and found.generation == spec.generation


def _complete(
    tx: Transaction,
    spec: SpecRow,
    code: ErrorCode | None,
    complaints: list[Complaint],
    read: _Read | None,
) -> None:
    # A text that was handed over is part of its version now, or of no use.
    store.release_pending(tx, spec.id)
    kept = {"etag": read.etag, "last_modified": read.last_modified} if read is not None else {}
    store.update_spec(
        tx,
        spec.id,
        state="complete",
        pending=None,
        processed_at=now(),
        error_code=code,
        errors=msgspec.json.encode(complaints).decode(),
        check_at=now() + EVERY if spec.source_url is not None else None,
        **kept,
    )


@jobs.job("checkSpecs")
def check_specs(context: Context) -> None:
    """Has those processed again whose time has come, and those that were never processed to an end."""
    with context.db.write() as tx:
        for spec in store.list_due(tx, now(), _BATCH):
            process_again(tx, spec.id)
        jobs.finish(tx)


jobs.schedule("checkSpecs", _LOOK_EVERY, "checkSpecs")
