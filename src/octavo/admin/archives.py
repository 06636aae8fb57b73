"""A whole organization as a folder, and back: what its spaces say now as files, all the rest as rows.

    organization.json             what this is
    spaces/TITLE-ID/...           main of each space, as ``octavo export SPACE`` writes it
    history/XX/HASH               texts and files that only older revisions and change requests have
    rows/TABLE.jsonl              one JSON object a line: everything else, with its ids

Nothing secret leaves: no passwords, tokens, sessions or invitations. Rows name texts and files by their SHA-256,
which are looked up among the files when the folder is taken back.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..content import (
    Changes,
    apply_followers,
    get_body,
    list_items,
    list_pages,
    main_state,
    prepare_main,
    put_bodies,
    store_file,
)
from ..core.links import app_hosts
from ..core.pages import slugify
from ..errors import BadRequest
from ..installation import load_packages
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.tables import Table, insert_rows, list_tables, parents_first, read_rows
from ..spaces import HashUse, LeftoverKind, hash_uses
from .import_export import write_state

FORMAT = "octavo-organization"
VERSION = 1
ABOUT = "organization.json"
_BATCH = 500
_KINDS: tuple[LeftoverKind, ...] = ("body", "file")


class _Taken(NamedTuple):
    """``where`` picks the rows of an organization; ``users`` are columns with ids of people."""

    where: str
    users: tuple[str, ...] = ()


_IN_SPACES = "IN (SELECT id FROM spaces WHERE organization_id = :org)"
_BRANCHES = f"(SELECT id FROM branches WHERE space_id {_IN_SPACES})"
_CHANGES = f"(SELECT id FROM change_requests WHERE space_id {_IN_SPACES})"
_OWN = "organization_id = :org"

TABLES: dict[str, _Taken] = {
    "organizations": _Taken("id = :org"),
    "members": _Taken(_OWN, ("user_id",)),
    "teams": _Taken(_OWN),
    "team_members": _Taken("team_id IN (SELECT id FROM teams WHERE organization_id = :org)", ("user_id",)),
    "saml_providers": _Taken(_OWN),
    "scim_resources": _Taken(_OWN, ("user_id",)),
    "scim_invited_members": _Taken("team_id IN (SELECT id FROM teams WHERE organization_id = :org)"),
    "fonts": _Taken(_OWN),
    "font_faces": _Taken("font_id IN (SELECT id FROM fonts WHERE organization_id = :org)"),
    "collections": _Taken(_OWN),
    "spaces": _Taken(_OWN, ("created_by",)),
    "branches": _Taken(f"space_id {_IN_SPACES}"),
    "revisions": _Taken(f"branch_id IN {_BRANCHES}", ("author",)),
    "page_versions": _Taken(f"branch_id IN {_BRANCHES}"),
    "item_versions": _Taken(f"branch_id IN {_BRANCHES}"),
    "node_keys": _Taken(
        f"owner_id IN (SELECT page_id FROM page_versions WHERE branch_id IN {_BRANCHES}"
        f" UNION SELECT item_id FROM item_versions WHERE branch_id IN {_BRANCHES})"
    ),
    "change_requests": _Taken(f"space_id {_IN_SPACES}", ("created_by",)),
    "change_contributors": _Taken(f"change_id IN {_CHANGES}", ("user_id",)),
    "change_reviewers": _Taken(f"change_id IN {_CHANGES}", ("user_id", "requested_by")),
    "change_reviews": _Taken(f"change_id IN {_CHANGES}", ("reviewer", "requested_by")),
    "comments": _Taken(f"space_id {_IN_SPACES}", ("posted_by", "resolved_by")),
    "comment_reactions": _Taken(
        f"comment_id IN (SELECT id FROM comments WHERE space_id {_IN_SPACES})", ("user_id",)
    ),
    "sites": _Taken(_OWN),
    "site_spaces": _Taken("site_id IN (SELECT id FROM sites WHERE organization_id = :org)"),
    "grants": _Taken(
        f"object_id {_IN_SPACES} OR object_id IN (SELECT id FROM collections WHERE organization_id = :org)",
        ("subject_id",),
    ),
    "audit_events": _Taken(_OWN, ("actor_id",)),
}
"""What is taken along, in an order in which nothing refers to what comes later."""

LEFT_BEHIND = {
    "users": "taken along without passwords, in a file of their own",
    "bodies": "taken along as files",
    "blobs": "taken along as files",
    **dict.fromkeys(
        ("tokens", "sessions", "second_factors", "one_time_secrets", "secrets", "attempts", "invitations"),
        "secret",
    ),
    **dict.fromkeys(
        ("invite_links", "external_identities", "saml_assertions"), "opens doors of the installation it is in"
    ),
    **dict.fromkeys(
        (
            "search_pages",
            "search_sections",
            "search_words",
            "search_index",
            "content_references",
            "reference_questions",
        ),
        "made anew",
    ),
    **dict.fromkeys(("prints", "uploads", "import_runs", "leftovers"), "of the moment"),
    **dict.fromkeys(("events", "event_cursors", "jobs", "schedules", "migrations"), "the installation's own"),
}
"""Every other table, and why it stays."""

_USER = ("id", "email", "display_name", "photo_url", "kind", "created_at")


class _About(Struct):
    format: str
    version: int
    organization: str
    title: str


class Moved(Struct):
    """``rows`` by table; ``files`` counts texts and files."""

    organization: str
    title: str
    spaces: int
    files: int
    rows: int


# --- out ----------------------------------------------------------------------------------------------


def export_organization(context: Context, organization_id: str, folder: Path) -> Moved:
    """Writes an organization below ``folder``, as it is at one moment. Raises BadRequest for a folder that holds
    something, or an organization that is not there."""
    if folder.exists() and any(folder.iterdir()):
        raise BadRequest(f"{folder}: expected a folder that is empty or not there")
    (folder / "rows").mkdir(parents=True, exist_ok=True)
    with context.db.read() as tx:
        title = tx.value("SELECT title FROM organizations WHERE id = :id", id=organization_id)
        if title is None:
            raise BadRequest(f"There is no organization {organization_id!r}.")
        people: set[str] = set()
        count = 0
        tables = list_tables(context.db, tx)
        for table, taken in TABLES.items():
            rows = list(read_rows(tx, tables[table], taken.where, org=organization_id))
            people.update(row[column] for row in rows for column in taken.users if row[column])
            count += _write_rows(folder / "rows" / f"{table}.jsonl", rows)
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
    told = msgspec.json.encode(_About(FORMAT, VERSION, organization_id, title))
    (folder / ABOUT).write_bytes(msgspec.json.format(told) + b"\n")
    return Moved(organization_id, title, len(spaces), len(needed), count)


def _people(tx: Transaction, ids: list[str]) -> list[dict[str, Any]]:
    found = []
    for start in range(0, len(ids), _BATCH):
        # A grant's subject may be a team: it is simply not among the users.
        rows = tx.all(
            f"SELECT {', '.join(_USER)} FROM users WHERE id IN :ids ORDER BY id",
            ids=ids[start : start + _BATCH],
        )
        found += [dict(zip(_USER, row, strict=True)) for row in rows]
    return found


def _write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    count = 0
    with path.open("wb") as out:
        for row in rows:
            out.write(msgspec.json.encode(row) + b"\n")
            count += 1
    return count


def _uses() -> list[HashUse]:
    """The columns of what is taken along that name texts or files."""
    load_packages()
    return [use for kind in _KINDS for use in hash_uses(kind) if use.table in TABLES]


def _needed(tx: Transaction, organization_id: str) -> dict[str, bool]:
    """The hashes of all texts (True) and files (False) that anything taken along names."""
    return {
        row[0]: use.kind == "body"
        for use in _uses()
        for row in tx.all(
            f"SELECT DISTINCT {use.column} FROM {use.table} WHERE ({TABLES[use.table].where}) AND {use.named}",
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


# --- back ---------------------------------------------------------------------------------------------


def is_organization(where: str) -> bool:
    """Whether a path is a folder that ``export_organization`` wrote."""
    return os.path.isfile(os.path.join(where, ABOUT)) and os.path.isdir(os.path.join(where, "rows"))


def import_organization(
    context: Context, folder: Path, progress: Callable[[int, int], None] = lambda done, total: None
) -> Moved:
    """Takes back what ``export_organization`` wrote, with all its ids; people are found again by their email.

    Raises BadRequest for a folder that is damaged or was changed, and where the organization is there already.
    """
    about = _read_about(folder)
    rows = {table: _read_rows(folder / "rows" / f"{table}.jsonl") for table in (*TABLES, "users")}
    have = _hashes(folder)
    texts, files = _named(rows)
    if missing := sorted((texts | files) - have.keys()):
        raise BadRequest(
            f"{folder}: {len(missing)} texts or files are not as they were exported; the first one has the"
            f" SHA-256 {missing[0]}"
        )
    total, done = len(texts) + len(files), 0
    for digest in sorted(files):
        store_file(context, have[digest].read_bytes())
        done += 1
        progress(done, total)
    ordered = sorted(texts)
    for start in range(0, len(ordered), _BATCH):
        batch = ordered[start : start + _BATCH]
        with context.db.write() as tx:
            put_bodies(tx, [have[digest].read_bytes().decode() for digest in batch])
        done += len(batch)
        progress(done, total)
    with context.db.write() as tx:
        count = _write(context, tx, about, rows)
    return Moved(about.organization, about.title, len(rows["spaces"]), total, count)


def _read_about(folder: Path) -> _About:
    try:
        about = msgspec.json.decode((folder / ABOUT).read_bytes(), type=_About)
    except (OSError, msgspec.MsgspecError) as error:
        raise BadRequest(f"{folder / ABOUT}: {error}") from None
    if about.format != FORMAT or about.version != VERSION:
        raise BadRequest(f"{folder / ABOUT}: expected {FORMAT} {VERSION}, got {about.format} {about.version}")
    return about


def _read_rows(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    found = []
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                found.append(msgspec.json.decode(line, type=dict[str, str | int | float | None]))
            except msgspec.MsgspecError as error:
                raise BadRequest(f"{path}:{number}: {error}") from None
    return found


def _hashes(folder: Path) -> dict[str, Path]:
    found = {}
    for part in ("spaces", "history"):
        for path in sorted((folder / part).rglob("*")):
            if path.is_file() and not path.is_symlink():
                with path.open("rb") as file:
                    found[hashlib.file_digest(file, "sha256").hexdigest()] = path
    return found


def _named(rows: dict[str, list[dict[str, Any]]]) -> tuple[set[str], set[str]]:
    """The texts and the files that rows name."""
    found: dict[str, set[str]] = {kind: set() for kind in _KINDS}
    for use in _uses():
        found[use.kind].update(
            row[use.column]
            for row in rows[use.table]
            if row.get(use.column) and (not use.kinds or row.get("kind") in use.kinds)
        )
    return found["body"], found["file"]


def _write(context: Context, tx: Transaction, about: _About, rows: dict[str, list[dict[str, Any]]]) -> int:
    hosts = app_hosts(context.settings.url)
    if tx.one("SELECT 1 FROM organizations WHERE id = :id", id=about.organization):
        raise BadRequest(f"The organization {about.organization!r} is there already.")
    for name in ("organizations", "sites"):
        for row in rows[name]:
            host = row.get("hostname")
            if host and tx.one(f"SELECT 1 FROM {name} WHERE hostname = :host", host=host):
                raise BadRequest(f"{name}: the name {host!r} is taken here.")
    tables = list_tables(context.db, tx)
    people, made = _find_people(tx, tables["users"], rows["users"])
    count = len(rows["users"])
    for name, taken in TABLES.items():
        table = tables[name]
        for row in rows[name]:
            if unknown := sorted(row.keys() - set(table.columns)):
                raise BadRequest(f"{name}.{unknown[0]}: this was exported by a newer Octavo.")
            if name == "scim_resources" and row.get("kind") == "user":
                row.setdefault("user_id", row["id"])  # as older versions had it
            for column in taken.users:
                row[column] = people.get(row.get(column), row.get(column))
            if name == "members":
                # Who had an account here has accepted nothing: an archive gives nobody's provider power over them.
                row["accepted"] = int(bool(row.get("accepted")) and row["user_id"] in made)
        # A copy of a space that is here already has the same keys of nodes.
        count += insert_rows(tx, table, parents_first(table, rows[name]), known=name == "node_keys")
    for user_id in sorted(made & {row["user_id"] for row in rows["members"]}):
        # As if the organization's directory had made the account: its identity provider may vouch for it.
        tx.run("UPDATE users SET managed_by = :org WHERE id = :id", org=about.organization, id=user_id)
    for row in rows["spaces"]:
        follow(tx, row["id"], hosts)
    return count


def _find_people(
    tx: Transaction, table: Table, users: list[dict[str, Any]]
) -> tuple[dict[Any, str], set[str]]:
    """The id of each person here: of whoever has that email, else a new account, without a password; and the ids of
    those new accounts."""
    found: dict[Any, str] = {}
    made: set[str] = set()
    for row in users:
        row = {name: row.get(name) for name in _USER}
        here = tx.value("SELECT id FROM users WHERE email = :email", email=row["email"])
        if here is None:
            if tx.one("SELECT 1 FROM users WHERE id = :id", id=row["id"]):
                raise BadRequest(
                    f"users: the account {row['id']!r} has another email here than {row['email']!r}."
                )
            insert_rows(tx, table, [row])
            made.add(row["id"])
        found[row["id"]] = here or row["id"]
    return found, made


def follow(tx: Transaction, space_id: str, hosts: tuple[str, ...]) -> None:
    """Lets everything that follows main (search, references) see the space's content as new. ``hosts``: the addresses
    of this installation."""
    base = main_state(tx, space_id)
    kinds = ("file", "reusable-content", "variable", "source")
    items = [item for kind in kinds for item in list_items(tx, base, kind)]  # type: ignore[arg-type]
    changes = Changes({page.id: page for page in list_pages(tx, base)}, {item.id: item for item in items})
    # As if it came over nothing: so whoever refers here from elsewhere is looked at again, too.
    nothing = replace(base, layers=tuple(replace(layer, sequence=0) for layer in base.layers))
    apply_followers(tx, space_id, prepare_main(tx, nothing, changes, hosts))
