"""Read and write PDFs in the database."""

from __future__ import annotations

import hashlib

import msgspec
from msgspec import Struct

from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.organization.spaces.garbage import release

LOOK = 2
"""Version of the output. Increase it after a code change that affects the output, so that existing PDFs are
created again."""


class PrintSubject(Struct, frozen=True):
    """Subject of a PDF: the state of an entire space, or only ``page``, with or without its subpages.
    ``hidden``: a key for the pages that were restricted when the PDF was requested."""

    space_id: str
    revision_id: str
    page_id: str | None = None
    single: bool = False
    subtitle: str = ""
    hidden: str = ""

    def id_in(self, look: str) -> str:
        """Return the ID of the subject's PDF for a version of the space's appearance."""
        return hashlib.sha256(msgspec.json.encode((LOOK, look, msgspec.structs.astuple(self)))).hexdigest()[
            :40
        ]


class PrintRow(Struct, frozen=True):
    wanted: PrintSubject
    file: str | None
    size: int | None
    error: str | None


def find_print(tx: Transaction, print_id: str) -> PrintRow | None:
    row = tx.one(
        """SELECT space_id, revision_id, page_id, single, subtitle, file, size, error FROM prints
           WHERE id = :id""",
        id=print_id,
    )
    return PrintRow(PrintSubject(row[0], row[1], row[2], bool(row[3]), row[4]), *row[5:]) if row else None


def insert_print(tx: Transaction, print_id: str, wanted: PrintSubject) -> bool:
    """Insert a PDF. Return False if it already exists or the space was deleted."""
    return bool(
        tx.run(
            """INSERT INTO prints (id, space_id, revision_id, page_id, single, subtitle, created_at)
               SELECT :id, s.id, :revision, :page, :single, :subtitle, :now FROM spaces s WHERE s.id = :space
               ON CONFLICT (id) DO NOTHING""",
            id=print_id,
            space=wanted.space_id,
            revision=wanted.revision_id,
            page=wanted.page_id,
            single=int(wanted.single),
            subtitle=wanted.subtitle,
            now=now(),
        )
    )


def finish_print(tx: Transaction, print_id: str, file: str, size: int) -> None:
    tx.run(
        "UPDATE prints SET file = :file, size = :size, error = NULL WHERE id = :id",
        id=print_id,
        file=file,
        size=size,
    )


def fail_print(tx: Transaction, print_id: str, error: str) -> None:
    tx.run("UPDATE prints SET error = :error WHERE id = :id", id=print_id, error=error)


def forget_prints(tx: Transaction, before: int) -> None:
    """Delete PDFs that were requested before a given time. Their files are removed a day later, unless other content
    uses them by then."""
    old = [
        row[0] for row in tx.all("SELECT id FROM prints WHERE created_at < :before LIMIT 500", before=before)
    ]
    _delete(tx, old)


def forget_prints_of(tx: Transaction, organization_id: str) -> None:
    """Delete the PDFs of an organization's spaces."""
    rows = tx.all(
        "SELECT p.id FROM spaces s JOIN prints p ON p.space_id = s.id WHERE s.organization_id = :org",
        org=organization_id,
    )
    _delete(tx, [row[0] for row in rows])


def _delete(tx: Transaction, print_ids: list[str]) -> None:
    release(tx, "file", "SELECT file AS hash FROM prints WHERE id IN :ids", ids=print_ids)
    tx.run("DELETE FROM prints WHERE id IN :ids", ids=print_ids)
