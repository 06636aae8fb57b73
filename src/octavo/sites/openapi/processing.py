"""Job that processes a specification: it fetches the source, compiles it in a separate process, and stores a new
version.

A failure is shown with the specification, and the last valid version is kept."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
from msgspec import Struct

from octavo.content.references.mentions import list_spaces_naming_spec
from octavo.content.revisions.bodies import body_hash, get_body, put_bodies
from octavo.content.revisions.computing import notify_dependency_changed
from octavo.content.revisions.files import store_file
from octavo.kit.clock import HOUR, now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.net.fetch import Fetcher, FetchError, FetchTimeout, Limits
from octavo.kit.processes.subprocesses import ProcessLimits, run_apart
from octavo.kit.temporary import TemporaryFolder
from octavo.kit.work import jobs
from octavo.kit.work.outbox import emit
from octavo.kit.work.rebuilds import rebuilds

from . import store
from .compiling import Compiled
from .problems import Complaint
from .publishing import PATIENCE, process_again
from .reading import MAX_BYTES
from .store import ErrorCode, SpecRow

EVERY = 6 * HOUR
"""Interval in milliseconds between checks of a source URL."""
VERSIONS = 100
"""Maximum number of versions to keep per specification."""
BOUNDS = ProcessLimits(memory=1536 * 1024**2, file=256 * 1024**2, seconds=120)
"""Resource limits for reading a specification."""
_LOOK_EVERY = 60.0
_BATCH = 200
_TOO_MUCH = (
    "Processing the specification requires more memory or time than allowed. Make it smaller, or split it."
)


class _Read(Struct):
    """Result of fetching a source. ``data``: the content; None if it is unchanged."""

    data: bytes | None
    etag: str | None = None
    last_modified: str | None = None


class _CannotFetch(Exception):
    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


@jobs.job(
    "processSpec",
    bound="one specification, which a process with its own limits reads",
    attempts=3,
    seconds=2 * BOUNDS.longest,
)
def process_spec(context: Context, spec_id: str, generation: int) -> None:
    """Process a specification, unless a newer request exists."""
    with context.db.write() as tx:
        spec = store.find_spec_by_id(tx, spec_id)
        if spec is None or spec.generation != generation or spec.state == "complete":
            return
        store.update_spec(tx, spec_id, state="progress", check_at=now() + PATIENCE)
        text = get_body(tx, spec.pending) if spec.pending else None
    if text is None and spec.source_url is None:
        # A text that has been processed can't have changed.
        _finish(context, spec, spec.error_code, spec.complaints, count=spec.error_count)
        return
    try:
        read = _Read(text.encode()) if text is not None else _fetch(context, spec)
    except _CannotFetch as error:
        _finish(context, spec, error.code, [Complaint(str(error), error.code)])
        return
    if read.data is None:
        _finish(context, spec, None, [])
        return
    compiled = compile_apart(read.data)
    if compiled.errors:
        _finish(context, spec, "PARSE_ERROR", compiled.errors, count=compiled.count)
        return
    _store_version(context, spec, read, compiled)


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
        raise _CannotFetch("FETCH_TIMEOUT", f"The source didn't respond in time: {error}") from None
    except FetchError as error:
        raise _CannotFetch("FETCH_ERROR", f"The source couldn't be fetched: {error}") from None
    if answer.status == 304 and spec.version_id is not None:
        return _Read(None)
    if answer.status != 200:
        raise _CannotFetch("FETCH_ERROR", f"The source responded with status {answer.status}.")
    return _Read(answer.body, *(_safe_header(answer.headers.get(name)) for name in ("etag", "last-modified")))


def _safe_header(value: str | None) -> str | None:
    """Return a header value if it is safe to send back; otherwise, None."""
    return value if value and len(value) <= 500 and value.isascii() and value.isprintable() else None


def compile_apart(data: bytes) -> Compiled:
    """Compile a specification in a separate process."""
    with TemporaryFolder("openapi") as name:
        folder = Path(name)
        (folder / "source").write_bytes(data)
        if not run_apart("octavo.sites.openapi.compiling", folder, bounds=BOUNDS):
            return Compiled([Complaint(_TOO_MUCH, "TOO_LARGE")])
        return msgspec.json.decode((folder / "result.json").read_bytes(), type=Compiled)


def _store_version(context: Context, spec: SpecRow, read: _Read, compiled: Compiled) -> None:
    digest = hashlib.sha256(msgspec.json.encode(list(compiled.files.items()))).hexdigest()
    with context.db.read() as tx:
        last = store.find_version(tx, spec.id, spec.version_id or "")
    # An unchanged source can produce a different result after an upgrade.
    if last is not None and (last.digest, last.document) == (digest, body_hash(compiled.document)):
        _finish(context, spec, None, [], read)
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
        notify_dependency_changed(tx, spec.organization_id, made)
        emit(tx, "openapi_updated", organization_id=spec.organization_id, slug=spec.slug)
        jobs.finish(tx)


def _finish(
    context: Context,
    spec: SpecRow,
    code: ErrorCode | None,
    complaints: list[Complaint],
    read: _Read | None = None,
    *,
    count: int = 0,
) -> None:
    """Store the result of processing. ``count``: the total number of problems, if ``complaints`` contains only the
    first problems."""
    with context.db.write() as tx:
        if _is_newest(tx, spec):
            _complete(tx, spec, code, complaints, read, count)
        jobs.finish(tx)


def _is_newest(tx: Transaction, spec: SpecRow) -> bool:
    """Return whether this is still the latest request. A newer source may have been set, or the specification
    may have been deleted."""
    found = store.find_spec_by_id(tx, spec.id)
    return found is not None and found.generation == spec.generation


def _complete(
    tx: Transaction,
    spec: SpecRow,
    code: ErrorCode | None,
    complaints: list[Complaint],
    read: _Read | None,
    count: int = 0,
) -> None:
    # A submitted text is now either part of its version or useless.
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
        error_count=max(count, len(complaints)),
        check_at=now() + EVERY if spec.source_url is not None else None,
        **kept,
    )


@jobs.job("checkSpecs", bound="a batch of specifications")
def check_specs(context: Context) -> None:
    """Process specifications that are due, and specifications whose processing never finished."""
    with context.db.write() as tx:
        for spec in store.list_due(tx, now(), _BATCH):
            process_again(tx, spec.id)
        jobs.finish(tx)


jobs.schedule("checkSpecs", _LOOK_EVERY, "checkSpecs")
rebuilds("API descriptions", store.count_outdated)
