"""Export and import a whole organization as a folder: current content as files, and all other data as rows.

    organization.json             format and version of this folder
    spaces/TITLE-ID/...           main of each space, as ``octavo export SPACE`` writes it
    history/XX/HASH               Markdown sources and files that only older revisions and change requests have
    rows/TABLE.jsonl              one JSON object per line: everything else, with its IDs

Secrets, such as passwords, tokens, sessions, and invitations, aren't exported. Rows refer to Markdown sources and
files by their SHA-256 hashes, which are looked up among the files during an import. The packages that own the
tables declare which tables are exported, and which data their columns refer to (``kit/db/tables.py``).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from octavo.content.comments.targets import order_commented_nodes
from octavo.content.revisions.bodies import get_body, put_bodies
from octavo.content.revisions.deriving import rebuild_derived
from octavo.content.revisions.files import store_file
from octavo.content.revisions.states import main_state
from octavo.core.links import app_hosts
from octavo.core.pages import slugify
from octavo.core.paths import MAX_FILE
from octavo.errors import BadRequest, Conflict, format_size
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction, json_list
from octavo.kit.db.rows import Schema, insert_new, parents_first, read_rows, read_schema
from octavo.kit.db.tables import TABLES, Content, content_columns
from octavo.organization.spaces.garbage import release

from .archive_checks import USER, Line, Rows, check_rows, check_states, naming_columns
from .archive_checks import read_rows as read_lines
from .import_export import write_state

FORMAT = "octavo-organization"
VERSION = 1
ABOUT = "organization.json"
_BATCH = 500
_LONGEST_TEXT = 16 * 1024 * 1024
_KINDS = {
    "person": "a personal",
    "service": "a service",
    "integration": "an integration",
    "deleted": "a deleted",
}

Progress = Callable[[int, int], None]


class _About(Struct):
    format: str
    version: int
    organization: str
    title: str


class ArchiveCounts(Struct):
    """Counts of an export or import of an organization. ``rows``: the total number of rows in all tables.
    ``files``: the number of Markdown sources and files."""

    organization: str
    title: str
    spaces: int
    files: int
    rows: int


# --- export -------------------------------------------------------------------------------------------


def export_organization(context: Context, organization_id: str, folder: Path) -> ArchiveCounts:
    """Export an organization to ``folder``, from a single snapshot of the database. Raises BadRequest if the folder
    isn't empty or the organization doesn't exist."""
    if folder.exists() and any(folder.iterdir()):
        raise BadRequest(f"{folder}: must be a new or empty folder")
    (folder / "rows").mkdir(parents=True, exist_ok=True)
    with context.db.read() as tx:
        title = tx.value("SELECT title FROM organizations WHERE id = :id", id=organization_id)
        if title is None:
            raise BadRequest(f"There is no organization with the ID {organization_id!r}.")
        people: set[str] = set()
        count = 0
        for schema in read_schema(context.db, tx).values():
            table = TABLES[schema.name]
            if not table.is_exported:
                continue
            rows = list(read_rows(tx, schema, table.rows_of_organization, org=organization_id))
            for column in naming_columns(table, schema):
                if column.is_person:
                    people.update(user for row in rows for user in column.read(row))
            count += _write_rows(folder / "rows" / f"{schema.name}.jsonl", rows)
        count += _write_rows(folder / "rows" / "users.jsonl", _people(tx, sorted(people)))
        written: set[str] = set()
        spaces = tx.all(
            "SELECT id, title FROM spaces WHERE organization_id = :org ORDER BY id", org=organization_id
        )
        for space_id, name in spaces:
            place = folder / "spaces" / f"{slugify(name)[:60]}-{space_id}"
            written.update(
                entry.hash for entry in write_state(tx, context.files, main_state(tx, space_id), place)
            )
        needed = _needed(tx, organization_id)
        for digest, is_text in sorted(needed.items()):
            if digest not in written:
                _write_old(context, tx, folder, digest, is_text)
    about = msgspec.json.encode(_About(FORMAT, VERSION, organization_id, title))
    (folder / ABOUT).write_bytes(msgspec.json.format(about) + b"\n")
    return ArchiveCounts(organization_id, title, len(spaces), len(needed), count)


def _people(tx: Transaction, ids: list[str]) -> list[dict[str, object]]:
    found = []
    for start in range(0, len(ids), _BATCH):
        rows = tx.all(
            f"SELECT {', '.join(USER)} FROM users WHERE id IN :ids ORDER BY id",
            ids=ids[start : start + _BATCH],
        )
        found += [dict(zip(USER, row, strict=True)) for row in rows]
    return found


def _write_rows(path: Path, rows: Iterable[dict[str, object]]) -> int:
    count = 0
    with path.open("wb") as out:
        for row in rows:
            out.write(msgspec.json.encode(row) + b"\n")
            count += 1
    return count


def _needed(tx: Transaction, organization_id: str) -> dict[str, bool]:
    """Return the hashes of all Markdown sources and files that exported rows refer to."""
    contents: tuple[Content, ...] = ("text", "file")
    return {
        row[0]: content == "text"
        for content in contents
        for table, column in content_columns(content)
        if table.is_exported
        for row in tx.all(
            f"SELECT DISTINCT {column.name} FROM {table.name}"
            f" WHERE ({table.rows_of_organization}) AND {column.condition}",
            org=organization_id,
        )
    }


def _write_old(context: Context, tx: Transaction, folder: Path, digest: str, is_text: bool) -> None:
    place = folder / "history" / digest[:2] / digest
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("wb") as out:
        pieces = iter([get_body(tx, digest).encode()]) if is_text else context.files.open(digest)
        for piece in pieces:
            out.write(piece)


# --- import -------------------------------------------------------------------------------------------


def is_organization(where: str) -> bool:
    """Return whether a path is a folder that ``export_organization`` wrote."""
    return os.path.isfile(os.path.join(where, ABOUT)) and os.path.isdir(os.path.join(where, "rows"))


def import_organization(
    context: Context, folder: Path, progress: Progress = lambda done, total: None
) -> ArchiveCounts:
    """Import a folder that ``export_organization`` wrote. All IDs are kept.

    People whose email address already has an account on this server keep that account. All other people get a new
    account without a password. ``progress``: a function that counts Markdown sources, files, and spaces.

    Raises BadRequest if the folder is damaged or was changed, if it refers to data outside itself, or if it
    contains an ID that is already in use on this server.
    """
    about = _read_about(folder)
    with context.db.read() as tx:
        schemas = read_schema(context.db, tx)
        if tx.one("SELECT 1 FROM organizations WHERE id = :id", id=about.organization):
            raise BadRequest(f"There is already an organization with the ID {about.organization!r}.")
    order = ["users", *(name for name in schemas if TABLES[name].is_exported)]
    rows = {name: read_lines(folder / "rows" / f"{name}.jsonl") for name in order}
    for line in rows["scim_resources"]:
        if line.row.get("kind") == "user":
            line.row.setdefault("user_id", line.row.get("id"))  # Format of older versions.
    check_rows(rows, schemas, about.organization)
    check_states(rows)
    have = _hashes(folder)
    texts, files = _named(rows, "text"), _named(rows, "file")
    if missing := sorted((texts | files) - have.keys()):
        raise BadRequest(
            f"{folder}: {len(missing):,} files in the archive are missing or were changed after the export. The"
            f" SHA-256 hash of the first one is {missing[0]}."
        )
    spaces = [line.row["id"] for line in rows["spaces"]]
    total = len(texts) + len(files) + len(spaces)
    try:
        _store(context, have, texts, files, lambda done: progress(done, total))
        with context.db.write() as tx:
            count = _write(context, tx, schemas, rows, about.organization)
            for space_id in spaces:
                order_commented_nodes(tx, about.organization, space_id)
    except BadRequest:
        with context.db.write() as tx:
            _release(tx, "text", texts)
            _release(tx, "file", files)
        raise
    hosts = app_hosts(context.settings.url)
    for done, space_id in enumerate(spaces, len(texts) + len(files) + 1):
        rebuild_derived(context.db, space_id, hosts)
        progress(done, total)
    return ArchiveCounts(about.organization, about.title, len(spaces), len(texts | files), count)


def _read_about(folder: Path) -> _About:
    try:
        about = msgspec.json.decode((folder / ABOUT).read_bytes(), type=_About)
    except (OSError, msgspec.MsgspecError) as error:
        raise BadRequest(f"{folder / ABOUT}: {error}") from None
    if about.format != FORMAT or about.version != VERSION:
        raise BadRequest(f"{folder / ABOUT}: must be {FORMAT} {VERSION}, not {about.format} {about.version}")
    return about


def _hashes(folder: Path) -> dict[str, Path]:
    found = {}
    for part in ("spaces", "history"):
        for path in sorted((folder / part).rglob("*")):
            if path.is_file() and not path.is_symlink():
                with path.open("rb") as file:
                    found[hashlib.file_digest(file, "sha256").hexdigest()] = path
    return found


def _named(rows: Rows, content: Content) -> set[str]:
    """Return the hashes of the Markdown sources, or of the files, that rows refer to."""
    return {
        digest
        for table, column in content_columns(content)
        for line in rows.get(table.name, [])
        for digest in column.read(line.row)
    }


def _store(
    context: Context, have: dict[str, Path], texts: set[str], files: set[str], progress: Callable[[int], None]
) -> None:
    done = 0
    for digest in sorted(files):
        store_file(context, _bytes(have[digest], MAX_FILE))
        done += 1
        progress(done)
    ordered = sorted(texts)
    for start in range(0, len(ordered), _BATCH):
        batch = [_text(have[digest]) for digest in ordered[start : start + _BATCH]]
        with context.db.write() as tx:
            put_bodies(tx, batch)
        done += len(batch)
        progress(done)


def _bytes(path: Path, most: int) -> bytes:
    if path.stat().st_size > most:
        raise BadRequest(f"{path}: must be at most {format_size(most)}")
    return path.read_bytes()


def _text(path: Path) -> str:
    try:
        return _bytes(path, _LONGEST_TEXT).decode()
    except UnicodeDecodeError as error:
        raise BadRequest(f"{path}: {error}") from None


def _release(tx: Transaction, content: Content, hashes: set[str]) -> None:
    """Release the content that was stored for a rejected archive, so that it is deleted unless other content uses
    it."""
    release(
        tx,
        content,
        f"SELECT hash FROM {tx.given('hashes', 'hash')} AS given_hashes",
        hashes=json_list(sorted(hashes)),
    )


def _write(
    context: Context, tx: Transaction, schemas: dict[str, Schema], rows: Rows, organization_id: str
) -> int:
    people, made = _find_people(tx, schemas["users"], rows)
    for line in rows["node_keys"]:
        _check_keys(tx, line)
    count = len(rows["users"])
    for name, lines in rows.items():
        if name == "users":
            continue
        persons = [column for column in naming_columns(TABLES[name], schemas[name]) if column.is_person]
        where = {id(line.row): line for line in lines}
        for row in parents_first(schemas[name], (line.row for line in lines)):
            line = where[id(row)]
            for column in persons:
                column.rename(row, people.__getitem__)
            if name == "members":
                # People who already had an account have not accepted the membership: an archive must not give
                # an organization's identity provider control over them.
                row["accepted"] = int(bool(row.get("accepted")) and row["user_id"] in made)
            _refuse_taken(tx, line)
            _check(tx, context, name, line)
            try:
                is_new = insert_new(tx, schemas[name], row)
            except context.db.row_errors as error:
                raise BadRequest(f"{line.path}:{line.number}: {str(error).splitlines()[0]}") from None
            if not is_new and name != "node_keys":
                key = ", ".join(schemas[name].key)
                raise line.refuse(
                    key,
                    "this row, or one of its unique values, already exists on this server. Delete the"
                    " existing row, or import the archive into another server.",
                )
        count += len(lines)
    for user_id in sorted(made & {line.row["user_id"] for line in rows["members"]}):
        # The account is treated as if the organization's directory had created it: its identity provider can
        # sign the person in.
        tx.run("UPDATE users SET managed_by = :org WHERE id = :id", org=organization_id, id=user_id)
    return count


def _check(tx: Transaction, context: Context, name: str, line: Line) -> None:
    check = TABLES[name].check
    try:
        if check is not None:
            check(tx, context.settings, line.row)
    except (BadRequest, Conflict) as error:
        column, _, why = error.message.partition(": ")
        raise line.refuse(column, why) from None


def _check_keys(tx: Transaction, line: Line) -> None:
    """Check that the node keys in an imported row match those on this server. Spaces on this server can contain the
    same Markdown source with the same keys, and different keys would change their content."""
    given = {name: line.row[name] for name in ("owner_id", "body")}
    here = tx.value("SELECT keys FROM node_keys WHERE owner_id = :owner_id AND body = :body", **given)
    if here is None:
        in_use = tx.one(
            "SELECT 1 FROM page_versions WHERE body = :body AND page_id = :owner_id", **given
        ) or tx.one("SELECT 1 FROM item_versions WHERE content = :body AND item_id = :owner_id", **given)
        here = "{}" if in_use else line.row["keys"]
    if msgspec.json.decode(here) != msgspec.json.decode(line.row["keys"]):
        raise line.refuse(
            "keys",
            "must match the block keys that this server already has for the same text",
        )


def _find_people(tx: Transaction, schema: Schema, rows: Rows) -> tuple[dict[str, str], set[str]]:
    """Return, for each person in the archive, the ID on this server; also return the IDs of the new accounts.

    People are looked up by email address. People who aren't found get a new account without a password.
    """
    found: dict[str, str] = {}
    made: set[str] = set()
    for line in rows["users"]:
        here = tx.one("SELECT id, kind FROM users WHERE email = :email", email=line.row["email"])
        if here is None:
            if not insert_new(tx, schema, line.row):
                raise line.refuse(
                    "id", f"the account {line.row['id']!r} has another email address on this server"
                )
            made.add(line.row["id"])
        elif here[1] != line.row.get("kind", "person"):
            raise line.refuse(
                "kind",
                f"{line.row['email']}: the archive has {_KINDS[line.row.get('kind', 'person')]} account with"
                f" this email address, but this server has {_KINDS[here[1]]} account. Change the email"
                " address on this server, then import the archive again.",
            )
        found[line.row["id"]] = here[0] if here else line.row["id"]
    return found, made


def _refuse_taken(tx: Transaction, line: Line) -> None:
    """Raise an error if permissions on this server already refer to an imported ID, because these permissions must
    not apply to imported content."""
    for table, column in _RIGHTS.get(line.path.stem, ()):
        if tx.one(f"SELECT 1 FROM {table} WHERE {column}", id=line.row["id"]) is not None:
            raise line.refuse("id", f"{line.row['id']!r} is already used in {table}")


_RIGHTS = {
    "spaces": (
        ("grants", "object_type = 'space' AND object_id = :id"),
        ("invite_links", "target_type = 'space' AND target_id = :id"),
    ),
    "collections": (
        ("grants", "object_type = 'collection' AND object_id = :id"),
        ("invite_links", "target_type = 'collection' AND target_id = :id"),
    ),
    "sites": (("grants", "object_type = 'site' AND object_id = :id"),),
    "teams": (("grants", "subject_type = 'team' AND subject_id = :id"),),
    "saml_providers": (("external_identities", "provider = :id"),),
}
