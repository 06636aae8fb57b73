"""Read and write API specifications and their versions in the database. Rows are returned as frozen
records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.kit.work.rebuilds import Remainder
from octavo.organization.spaces.garbage import release

from .problems import Complaint

State = Literal["pending", "progress", "complete"]
Visibility = Literal["private", "public"]
ErrorCode = Literal["FETCH_TIMEOUT", "FETCH_ERROR", "PARSE_ERROR"]
STATES, VISIBILITIES, ERROR_CODES = get_args(State), get_args(Visibility), get_args(ErrorCode)


class SpecRow(Struct, frozen=True):
    """API specification of an organization. ``pending``: the hash of the text to process. ``generation``: the number of
    the newest request to process the specification. ``errors``: the first problems found during the last processing, as
    JSON. ``error_count``: the total number of problems. Times are in milliseconds."""

    id: str
    organization_id: str
    slug: str
    source_url: str | None
    pending: str | None
    visibility: Visibility
    state: State
    generation: int
    version_id: str | None
    processed_at: int | None
    error_code: ErrorCode | None
    errors: str
    error_count: int
    etag: str | None
    last_modified: str | None
    created_at: int
    updated_at: int

    @property
    def complaints(self) -> list[Complaint]:
        return msgspec.json.decode(self.errors, type=list[Complaint])


class VersionRow(Struct, frozen=True):
    """Version of an API specification. ``digest``: the hash of all files. ``document``: the hash of the text
    of the complete specification as OpenAPI 3. ``file``: the hash of the same text as a file. ``size``: the
    size of that file in bytes."""

    id: str
    spec_id: str
    number: int
    digest: str
    document: str
    file: str
    size: int
    created_at: int


_SPEC = ", ".join(SpecRow.__struct_fields__)
_VERSION = ", ".join(VersionRow.__struct_fields__)


def find_spec(tx: Transaction, organization_id: str, slug: str) -> SpecRow | None:
    row = tx.one(
        f"SELECT {_SPEC} FROM openapi_specs WHERE organization_id = :org AND slug = :slug",
        org=organization_id,
        slug=slug,
    )
    return SpecRow(*row) if row else None


def find_spec_by_id(tx: Transaction, spec_id: str) -> SpecRow | None:
    row = tx.one(f"SELECT {_SPEC} FROM openapi_specs WHERE id = :id", id=spec_id)
    return SpecRow(*row) if row else None


def find_spec_by_url(tx: Transaction, organization_id: str, url: str) -> SpecRow | None:
    row = tx.one(
        f"""SELECT {_SPEC} FROM openapi_specs WHERE organization_id = :org AND source_url = :url
            ORDER BY slug LIMIT 1""",
        org=organization_id,
        url=url,
    )
    return SpecRow(*row) if row else None


def list_specs(tx: Transaction, organization_id: str, limit: int, page: str | None) -> Slice[SpecRow]:
    """Return the specifications, sorted by slug."""
    return list_page(
        tx,
        limit,
        page,
        _SPEC,
        "FROM openapi_specs WHERE organization_id = :org",
        lambda row: SpecRow(*row),
        by="slug",
        org=organization_id,
    )


def insert_spec(tx: Transaction, organization_id: str, slug: str) -> str:
    spec_id = ids.new_id()
    moment = now()
    tx.insert(
        "openapi_specs",
        id=spec_id,
        organization_id=organization_id,
        slug=slug,
        visibility="private",
        state="pending",
        created_at=moment,
        updated_at=moment,
    )
    return spec_id


def update_spec(tx: Transaction, spec_id: str, **columns: object) -> None:
    names = ", ".join(f"{name} = :{name}" for name in columns)
    tx.run(f"UPDATE openapi_specs SET {names} WHERE id = :id", id=spec_id, **columns)


def delete_spec(tx: Transaction, spec_id: str) -> None:
    release_pending(tx, spec_id)
    _release_versions(tx, "spec_id = :id", id=spec_id)
    tx.run("DELETE FROM openapi_specs WHERE id = :id", id=spec_id)


def release_pending(tx: Transaction, spec_id: str) -> None:
    """Release the pending text, so that it can be replaced or dropped."""
    release(tx, "text", "SELECT pending AS hash FROM openapi_specs WHERE id = :id", id=spec_id)


def list_due(tx: Transaction, moment: int, limit: int) -> list[SpecRow]:
    """Return the specifications that are due for processing before a given time, most overdue first."""
    rows = tx.all(
        f"""SELECT {_SPEC} FROM openapi_specs WHERE check_at IS NOT NULL AND check_at <= :now
            ORDER BY check_at LIMIT :limit""",
        now=moment,
        limit=limit,
    )
    return [SpecRow(*row) for row in rows]


def count_outdated(tx: Transaction, since: int) -> Remainder:
    """Count the specifications that a migration marked for processing and that haven't been processed yet."""
    return Remainder(
        tx.value(
            """SELECT count(*) FROM openapi_specs
               WHERE processed_at <= :since AND (state <> 'complete' OR check_at = 0)""",
            since=since,
        )
    )


# --- versions -------------------------------------------------------------------------------------------


def find_version(tx: Transaction, spec_id: str, version_id: str) -> VersionRow | None:
    row = tx.one(
        f"SELECT {_VERSION} FROM openapi_versions WHERE id = :id AND spec_id = :spec",
        id=version_id,
        spec=spec_id,
    )
    return VersionRow(*row) if row else None


def list_versions_before(tx: Transaction, version: VersionRow, limit: int) -> list[VersionRow]:
    """Return the versions before this version, newest first."""
    rows = tx.all(
        f"""SELECT {_VERSION} FROM openapi_versions WHERE spec_id = :spec AND number < :number
            ORDER BY number DESC LIMIT :limit""",
        spec=version.spec_id,
        number=version.number,
        limit=limit,
    )
    return [VersionRow(*row) for row in rows]


def list_versions(tx: Transaction, spec_id: str, limit: int, page: str | None) -> Slice[VersionRow]:
    """Return the versions, newest first."""
    return list_page(
        tx,
        limit,
        page,
        _VERSION,
        "FROM openapi_versions WHERE spec_id = :spec",
        lambda row: VersionRow(*row),
        by="number",
        key_types=(int,),
        descending=True,
        spec=spec_id,
    )


def insert_version(
    tx: Transaction,
    spec_id: str,
    *,
    digest: str,
    document: str,
    file: str,
    size: int,
    bodies: Mapping[str, str],
) -> str:
    """Insert a version. ``bodies``: the hashes of the files by path, starting with the specification
    itself."""
    version_id = ids.new_id()
    last = tx.value("SELECT max(number) FROM openapi_versions WHERE spec_id = :spec", spec=spec_id)
    tx.insert(
        "openapi_versions",
        id=version_id,
        spec_id=spec_id,
        number=(last or 0) + 1,
        digest=digest,
        document=document,
        file=file,
        size=size,
        created_at=now(),
    )
    for position, (path, body) in enumerate(bodies.items()):
        tx.insert("openapi_files", version_id=version_id, position=position, path=path, body=body)
    return version_id


def drop_versions(tx: Transaction, spec_id: str, kept: int) -> None:
    """Delete all versions except the ``kept`` newest versions."""
    rows = tx.all(
        "SELECT number FROM openapi_versions WHERE spec_id = :spec ORDER BY number DESC LIMIT :limit",
        spec=spec_id,
        limit=kept + 1,
    )
    if len(rows) > kept:
        where = "spec_id = :spec AND number <= :last"
        _release_versions(tx, where, spec=spec_id, last=rows[-1][0])
        tx.run(f"DELETE FROM openapi_versions WHERE {where}", spec=spec_id, last=rows[-1][0])


def _release_versions(tx: Transaction, where: str, **given: object) -> None:
    release(tx, "text", f"SELECT document AS hash FROM openapi_versions WHERE {where}", **given)
    release(tx, "file", f"SELECT file AS hash FROM openapi_versions WHERE {where}", **given)
    versions = f"SELECT id FROM openapi_versions WHERE {where}"
    release(tx, "text", f"SELECT body AS hash FROM openapi_files WHERE version_id IN ({versions})", **given)


def list_files(tx: Transaction, version_id: str) -> Sequence[tuple[str, str]]:
    """Return the path and text hash of each file, starting with the specification itself."""
    rows = tx.all(
        "SELECT path, body FROM openapi_files WHERE version_id = :version ORDER BY position",
        version=version_id,
    )
    return [(row[0], row[1]) for row in rows]
