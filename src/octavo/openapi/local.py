"""Descriptions that are files of a space: read by a job when a revision brings one, and kept by the hash of the file.

So a page may show an operation of a file that its space holds, in whichever revision or change request it is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, get_args

from msgspec import Struct

from ..content import Changes, Item, State, dependency_changed, list_content, list_items, main_state
from ..errors import NotFound
from ..kit import deadlines, jobs
from ..kit.context import Context
from ..kit.db import Transaction
from ..spaces import Copy, get_space
from .compiling import Compiled
from .complaints import ASYNCAPI, Complaint
from .processing import compile_apart
from .reading import MAX_BYTES, SUFFIXES

FileState = Literal["waiting", "good", "bad"]
FILE_STATES = get_args(FileState)

_NAMED = (*SUFFIXES, ".zip")
_TOO_LARGE = f"It has more than {MAX_BYTES} bytes."
_NO_VERSION = "It has neither the key `openapi` nor the key `swagger`."


class LocalSource(Struct, frozen=True):
    """What became of a file. ``complaint``: what is wrong with it, first of all; a line at most."""

    space_id: str
    content: str
    state: FileState
    complaint: str | None


def find_source(tx: Transaction, space_id: str, content: str) -> LocalSource | None:
    """None for a file that was never in the space, or that is called like nothing that is read."""
    row = tx.one(
        "SELECT state, complaint FROM openapi_sources WHERE space_id = :space AND content = :content",
        space=space_id,
        content=content,
    )
    return LocalSource(space_id, content, *row) if row else None


def get_text(tx: Transaction, source: LocalSource) -> str:
    """The description of a good one, as JSON."""
    found: str = tx.value(
        "SELECT document FROM openapi_sources WHERE space_id = :space AND content = :content",
        space=source.space_id,
        content=source.content,
    )
    return found


# --- what is to be read -----------------------------------------------------------------------------------


def _may_be_read(item: Item | None) -> bool:
    return item is not None and item.kind == "file" and item.name.lower().endswith(_NAMED)


def note_files(tx: Transaction, space_id: str, changes: Changes) -> None:
    """Has the files read that a revision brings."""
    _order(
        tx, space_id, [item.content or "" for item in changes.items.values() if item and _may_be_read(item)]
    )


def note_all_files(tx: Transaction, space_id: str, anew: bool) -> None:
    if anew:
        _order(tx, space_id, list_content(tx, space_id, _NAMED))


def _order(tx: Transaction, space_id: str, contents: list[str]) -> None:
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


def prepare_anew(
    tx: Transaction,
    state: State,
    changes: Changes,
    hosts: tuple[str, ...],
    *,
    anew: bool = False,
    whole: bool = False,
) -> bool:
    """Revisions note what they bring themselves, those of change requests too."""
    return anew


def clear(tx: Transaction, space_id: str, _: Sequence[str]) -> None:
    tx.run("DELETE FROM openapi_sources WHERE space_id = :space", space=space_id)


def check(tx: Transaction, space_id: str, hosts: tuple[str, ...]) -> str | None:
    """Whether each file of main that may be a description was noted."""
    wanted = {item.content for item in list_items(tx, main_state(tx, space_id), "file") if _may_be_read(item)}
    rows = tx.all("SELECT content FROM openapi_sources WHERE space_id = :space", space=space_id)
    missing = len(wanted - {None} - {row[0] for row in rows})
    return f"openapi: {missing} files are not read" if missing else None


def copy_sources(tx: Transaction, copy: Copy) -> None:
    """Gives a copy what was read of its source; of a large one a job makes it anew with all that is derived."""
    if copy.written:
        return
    tx.run(
        """INSERT INTO openapi_sources (space_id, content, state, document, complaint)
           SELECT :copy, content, state, document, complaint FROM openapi_sources
           WHERE space_id = :source AND state <> 'waiting'""",
        source=copy.source_id,
        copy=copy.copy_id,
    )
    note_all_files(tx, copy.copy_id, True)


# --- reading ----------------------------------------------------------------------------------------------


@jobs.job("readDescriptions", bound=None, seconds=900)
def read_descriptions(context: Context, space_id: str) -> None:
    """Reads the files of a space that wait for it, one after the other."""
    while (content := _next(context, space_id)) is not None:
        deadlines.check()
        compiled = _read(context, content)
        complaint = _in_a_line(compiled.errors[0]) if compiled.errors else None
        with context.db.write() as tx:
            organization_id = tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=space_id)
            if complaint is None and organization_id is not None:
                dependency_changed(tx, organization_id, [space_id])
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
        return Compiled([Complaint("It is not there any more.", "TOO_LARGE")])
    # Most files of these names are something else: that takes no process to see.
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


def _in_a_line(complaint: Complaint) -> str:
    where = [each for each in (complaint.file, f"line {complaint.line}" if complaint.line else "") if each]
    text = " ".join(complaint.message.split())[:500]
    return f"{', '.join(where)}: {text}" if where else text
