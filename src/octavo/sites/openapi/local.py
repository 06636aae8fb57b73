"""Specifications in a space's files. When a revision adds a file, a job reads it, and stores the result by file hash.

A page can therefore show an operation from a file in its space, in any revision or change request."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, get_args

from msgspec import Struct

from octavo.content.revisions.computing import notify_dependency_changed
from octavo.content.revisions.item_versions import Item, list_content, list_items
from octavo.content.revisions.states import main_state
from octavo.content.revisions.store import Changes
from octavo.errors import NotFound, format_size
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.scheduling import deadlines
from octavo.kit.texts import counted
from octavo.kit.work import jobs
from octavo.organization.spaces.hooks import Copy
from octavo.organization.spaces.store import get_space

from .compiling import Compiled
from .problems import ASYNCAPI, Complaint
from .processing import compile_apart
from .reading import MAX_BYTES, SUFFIXES

FileState = Literal["waiting", "good", "bad"]
FILE_STATES = get_args(FileState)

_NAMED = (*SUFFIXES, ".zip")
_TOO_LARGE = f"The file must be at most {format_size(MAX_BYTES)}."
_NO_VERSION = "The file must have the key `openapi` or `swagger`."


class LocalSource(Struct, frozen=True):
    """Result of reading a file. ``complaint``: the first problem, on one line."""

    space_id: str
    content: str
    state: FileState
    complaint: str | None


def find_source(tx: Transaction, space_id: str, content: str) -> LocalSource | None:
    """Return the result for a file; None if the file was never in the space or if its name can't be the name of a
    specification."""
    row = tx.one(
        "SELECT state, complaint FROM openapi_sources WHERE space_id = :space AND content = :content",
        space=space_id,
        content=content,
    )
    return LocalSource(space_id, content, *row) if row else None


def get_text(tx: Transaction, source: LocalSource) -> str:
    """Return the specification in a file as JSON. The specification must be valid."""
    found: str = tx.value(
        "SELECT document FROM openapi_sources WHERE space_id = :space AND content = :content",
        space=source.space_id,
        content=source.content,
    )
    return found


# --- files to read ----------------------------------------------------------------------------------------


def _may_be_description(item: Item | None) -> bool:
    return item is not None and item.kind == "file" and item.name.lower().endswith(_NAMED)


def queue_files(tx: Transaction, space_id: str, changes: Changes) -> None:
    """Queue the files that a revision adds."""
    _queue(
        tx,
        space_id,
        [item.content or "" for item in changes.items.values() if item and _may_be_description(item)],
    )


def queue_all_files(tx: Transaction, space_id: str) -> None:
    _queue(tx, space_id, list_content(tx, space_id, _NAMED))


def _queue(tx: Transaction, space_id: str, contents: list[str]) -> None:
    if not contents:
        return
    tx.run_many(
        """INSERT INTO openapi_sources (space_id, content, state) VALUES (:space, :content, 'waiting')
           ON CONFLICT (space_id, content) DO NOTHING""",
        [{"space": space_id, "content": content} for content in sorted({*contents} - {""})],
    )
    jobs.enqueue(
        tx,
        "readDescriptions",
        organization=get_space(tx, space_id).organization_id,
        key=f"readDescriptions {space_id}",
        space_id=space_id,
    )


def clear(tx: Transaction, space_id: str, _: Sequence[str]) -> None:
    tx.run("DELETE FROM openapi_sources WHERE space_id = :space", space=space_id)


def check(tx: Transaction, space_id: str, hosts: tuple[str, ...]) -> str | None:
    """Check that all files in the main version that may be specifications have been queued."""
    wanted = {
        item.content for item in list_items(tx, main_state(tx, space_id), "file") if _may_be_description(item)
    }
    rows = tx.all("SELECT content FROM openapi_sources WHERE space_id = :space", space=space_id)
    missing = len(wanted - {None} - {row[0] for row in rows})
    return f"openapi: {counted(missing, 'file')} not read" if missing else None


def copy_sources(tx: Transaction, copy: Copy) -> None:
    """Copy a space's results to its duplicate. For a large space, a job recomputes them along with all other derived
    data."""
    if copy.written:
        return
    tx.run(
        """INSERT INTO openapi_sources (space_id, content, state, document, complaint)
           SELECT :copy, content, state, document, complaint FROM openapi_sources
           WHERE space_id = :source AND state <> 'waiting'""",
        source=copy.source_id,
        copy=copy.copy_id,
    )
    queue_all_files(tx, copy.copy_id)


# --- reading ----------------------------------------------------------------------------------------------


@jobs.job("readDescriptions", bound=None, seconds=900)
def read_descriptions(context: Context, space_id: str) -> None:
    """Read the queued files of a space, one at a time."""
    while (content := _next(context, space_id)) is not None:
        deadlines.check()
        compiled = _read(context, content)
        complaint = _shorten_complaint(compiled.errors[0]) if compiled.errors else None
        with context.db.write() as tx:
            organization_id = tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=space_id)
            if complaint is None and organization_id is not None:
                notify_dependency_changed(tx, organization_id, [space_id])
            tx.run(
                """UPDATE openapi_sources SET state = :state, document = :document, complaint = :complaint
                   WHERE space_id = :space AND content = :content""",
                state="bad" if complaint else "good",
                document=None if complaint else compiled.document,
                complaint=complaint,
                space=space_id,
                content=content,
            )
            jobs.advance(tx)


def _next(context: Context, space_id: str) -> str | None:
    with context.db.read() as tx:
        content: str | None = tx.value(
            "SELECT content FROM openapi_sources WHERE space_id = :space AND state = 'waiting' LIMIT 1",
            space=space_id,
        )
    return content


def _read(context: Context, content: str) -> Compiled:
    try:
        if (context.files.find_size(content) or 0) > MAX_BYTES:
            return Compiled([Complaint(_TOO_LARGE, "TOO_LARGE")])
        data = context.files.read(content)
    except NotFound:
        return Compiled([Complaint("The file no longer exists.", "TOO_LARGE")])
    # Most files with these names are something else, which can be detected without starting a process.
    if not data.startswith(b"PK") and b"openapi" not in data and b"swagger" not in data:
        is_async = re.search(rb"^\s*[\"']?asyncapi[\"']?\s*:", data, re.MULTILINE)
        return Compiled(
            [
                Complaint(
                    ASYNCAPI if is_async else _NO_VERSION, "UNKNOWN_VERSION" if is_async else "NO_VERSION"
                )
            ]
        )
    return compile_apart(data)


def _shorten_complaint(complaint: Complaint) -> str:
    where = [each for each in (complaint.file, f"line {complaint.line}" if complaint.line else "") if each]
    text = " ".join(complaint.message.split())[:500]
    return f"{', '.join(where)}: {text}" if where else text
