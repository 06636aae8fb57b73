"""Database access for integrations and installations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

from octavo.kit.clock import now
from octavo.kit.db.database import Row, Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.kit.secrets.sealing import sealed_column
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.visibility import select_visible_spaces
from octavo.organization.spaces.garbage import release, retain

from .manifest import Manifest

SECRETS = sealed_column("integrations", "secrets", "id")
SIGNING_SECRET = sealed_column("integrations", "signing_secret", "id")
CONFIGURATION = sealed_column("integration_installations", "configuration", "id")
PLACE_CONFIGURATION = sealed_column(
    "integration_places", "configuration", "installation_id", "kind", "place_id"
)

Kind = Literal["space", "site"]
SCRIPT, ICON = "script", "icon"


class IntegrationRow(Struct, frozen=True):
    """Integration with its current version. ``secrets`` and ``signing_secret`` are encrypted."""

    id: str
    name: str
    organization_id: str
    version: int
    runtime: str
    title: str
    description: str
    summary: str
    visibility: str
    target: str
    manifest: Manifest
    secrets: str
    signing_secret: str
    created_at: int
    updated_at: int


class InstallationRow(Struct, frozen=True):
    """Installation of an integration in an organization. ``configuration``: the encrypted configuration.
    ``scopes``: the scopes that the organization granted."""

    id: str
    integration_id: str
    integration: str
    organization_id: str
    user_id: str
    status: str
    scopes: list[str]
    space_selection: str
    site_selection: str
    configuration: str
    external_ids: list[str]
    created_at: int
    updated_at: int
    spaces: int


class PlaceRow(Struct, frozen=True):
    """Installation on a space or site. ``configuration`` is encrypted."""

    installation_id: str
    kind: Kind
    place_id: str
    status: str
    configuration: str
    external_ids: list[str]
    created_at: int
    updated_at: int
    integration: str


class FileRow(Struct, frozen=True):
    name: str
    hash: str
    content_type: str


_INTEGRATION = ", ".join(f"i.{name}" for name in IntegrationRow.__struct_fields__)
_INSTALLATION = (
    "n.id, n.integration_id, i.name, n.organization_id, n.user_id, n.status, n.scopes, n.space_selection,"
    " n.site_selection, n.configuration, n.external_ids, n.created_at, n.updated_at,"
    " (SELECT count(*) FROM integration_places p WHERE p.installation_id = n.id AND p.kind = 'space')"
)
_INSTALLED = "integration_installations n JOIN integrations i ON i.id = n.integration_id"
_PLACE = (
    "p.installation_id, p.kind, p.place_id, p.status, p.configuration, p.external_ids, p.created_at,"
    " p.updated_at, i.name"
)
_NOT_TRASHED = "NOT EXISTS (SELECT 1 FROM spaces t WHERE t.id = p.place_id AND t.deleted_at IS NOT NULL)"
_PLACED = (
    "integration_places p JOIN integration_installations n ON n.id = p.installation_id JOIN "
    "integrations i ON i.id = n.integration_id"
)


def _integration(row: Row) -> IntegrationRow:
    values = list(row)
    values[10] = msgspec.json.decode(row[10], type=Manifest)
    return IntegrationRow(*values)


def _installation(row: Row) -> InstallationRow:
    values = list(row)
    for place in (6, 10):
        values[place] = msgspec.json.decode(row[place])
    return InstallationRow(*values)


def _place(row: Row) -> PlaceRow:
    values = list(row)
    values[5] = msgspec.json.decode(row[5])
    return PlaceRow(*values)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


# --- integrations ---------------------------------------------------------------------------------------


def find_integration(tx: Transaction, name: str) -> IntegrationRow | None:
    row = tx.one(f"SELECT {_INTEGRATION} FROM integrations i WHERE i.name = :name", name=name)
    return _integration(row) if row else None


def find_integration_by_id(tx: Transaction, integration_id: str) -> IntegrationRow | None:
    row = tx.one(f"SELECT {_INTEGRATION} FROM integrations i WHERE i.id = :id", id=integration_id)
    return _integration(row) if row else None


def get_integration_by_id(tx: Transaction, integration_id: str) -> IntegrationRow:
    found = find_integration_by_id(tx, integration_id)
    assert found is not None, "an installation belongs to an integration"
    return found


class IntegrationFilter(Struct, frozen=True, kw_only=True):
    """Conditions for listing integrations. ``blocks``, ``content_sources``: whether an integration must have blocks
    or content sources. ``target``: the kind of object on which it can be installed."""

    search: str | None = None
    category: str | None = None
    block_domain: str | None = None
    blocks: bool | None = None
    content_sources: bool | None = None
    owner: str | None = None
    scope: str | None = None
    target: str | None = None


def list_integrations(
    tx: Transaction,
    wanted: IntegrationFilter,
    limit: int,
    page: str | None,
    *,
    reached: Sequence[str] = (),
    organization_id: str | None = None,
) -> Slice[IntegrationRow]:
    """Return integrations by name. By default, these are the public integrations that the server administrator
    offers or that the organizations in ``reached`` publish. ``organization_id``: an organization whose own and
    installed integrations are returned instead of those published by the organizations in ``reached``."""
    given: dict[str, Any] = {"reached": list(reached)}
    where = ["i.visibility = 'public' AND (i.offered = 1 OR i.organization_id IN :reached)"]
    if organization_id is not None:
        given = {"org": organization_id}
        where = [
            "(i.visibility = 'public' AND i.offered = 1 OR i.organization_id = :org OR EXISTS (SELECT 1"
            " FROM integration_installations n WHERE n.integration_id = i.id AND n.organization_id = :org))"
        ]
    if wanted.search:
        where.append("(lower(i.title) LIKE :search ESCAPE '!' OR lower(i.name) LIKE :search ESCAPE '!')")
        given["search"] = _containing(wanted.search)
    for kind, value in (
        ("category", wanted.category),
        ("scope", wanted.scope),
        ("domain", wanted.block_domain and wanted.block_domain.lower()),
    ):
        if value is not None:
            where.append(
                f"EXISTS (SELECT 1 FROM integration_tags t WHERE t.integration_id = i.id AND t.kind = '{kind}'"
                f" AND t.value = :{kind})"
            )
            given[kind] = value
    for column, flag in (("has_blocks", wanted.blocks), ("has_content_sources", wanted.content_sources)):
        if flag is not None:
            where.append(f"i.{column} = {int(flag)}")
    if wanted.owner is not None:
        where.append("i.organization_id = :owner")
        given["owner"] = wanted.owner
    if wanted.target is not None:
        where.append("i.target IN ('all', :target)")
        given["target"] = wanted.target
    source = f"FROM integrations i WHERE {' AND '.join(where)}"
    return list_page(tx, limit, page, _INTEGRATION, source, _integration, by="i.name", **given)


def _containing(text: str) -> str:
    escaped = text.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"%{escaped}%"


def list_integrations_at(
    tx: Transaction, organization_id: str, kind: Kind, place_id: str, search: str | None
) -> list[tuple[IntegrationRow, str | None]]:
    """Return the active integrations in a space or on a site, by name, including integrations that are installed in the
    entire organization, which are returned with their account."""
    at_place = """EXISTS (SELECT 1 FROM integration_places p WHERE p.installation_id = n.id AND p.kind = :kind
                     AND p.place_id = :place AND p.status = 'active')"""
    rows = tx.all(
        f"""SELECT {_INTEGRATION}, CASE WHEN {at_place} THEN NULL ELSE n.user_id END FROM {_INSTALLED}
            WHERE n.organization_id = :org AND n.status = 'active' AND (n.{kind}_selection = 'all' OR {at_place})
              AND (lower(i.title) LIKE :search ESCAPE '!' OR lower(i.name) LIKE :search ESCAPE '!')
            ORDER BY i.name""",
        org=organization_id,
        kind=kind,
        place=place_id,
        search=_containing(search or ""),
    )
    return [(_integration(row[:-1]), row[-1]) for row in rows]


def computes(tx: Transaction, organization_id: str) -> bool:
    """Return whether any of the organization's active integrations computes content."""
    found = tx.one(
        f"""SELECT 1 FROM {_INSTALLED} WHERE n.organization_id = :org AND n.status = 'active'
              AND i.has_content_sources = 1 LIMIT 1""",
        org=organization_id,
    )
    return found is not None


def reserve_name(tx: Transaction, name: str, organization_id: str) -> None:
    """Reserve a name for the organization that uses it first."""
    tx.run(
        (
            "INSERT INTO integration_names (name, organization_id) VALUES (:name, :organization) ON "
            "CONFLICT (name) DO NOTHING"
        ),
        name=name,
        organization=organization_id,
    )


def find_owner_of_name(tx: Transaction, name: str) -> str | None:
    found: str | None = tx.value(
        "SELECT organization_id FROM integration_names WHERE name = :name", name=name
    )
    return found


def put_integration(tx: Transaction, row: IntegrationRow) -> None:
    """Insert or replace an integration, along with the tags for filtering lists."""
    values = {**msgspec.structs.asdict(row), "manifest": _json(row.manifest)}
    values["has_blocks"] = int(bool(row.manifest.blocks))
    values["has_content_sources"] = int(bool(row.manifest.content_sources))
    columns = list(values)
    changed = [name for name in columns if name not in ("id", "name", "organization_id", "created_at")]
    tx.run(
        f"""INSERT INTO integrations ({", ".join(columns)}) VALUES ({", ".join(f":{name}" for name in columns)})
            ON CONFLICT (id) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in changed)}""",
        **values,
    )


def set_offered(tx: Transaction, integration_id: str, offered: bool) -> None:
    """Set whether an integration is offered to every organization."""
    tx.run(
        "UPDATE integrations SET offered = :offered WHERE id = :id", id=integration_id, offered=int(offered)
    )


def set_tags(tx: Transaction, integration_id: str, tags: Iterable[tuple[str, str]]) -> None:
    tx.run("DELETE FROM integration_tags WHERE integration_id = :id", id=integration_id)
    tx.run_many(
        "INSERT INTO integration_tags (integration_id, kind, value) VALUES (:id, :kind, :value)",
        [{"id": integration_id, "kind": kind, "value": value} for kind, value in sorted(set(tags))],
    )


def set_files(tx: Transaction, integration_id: str, files: Sequence[FileRow]) -> None:
    """Replace the files of an integration."""
    hashes = "SELECT hash FROM integration_files WHERE integration_id = :id"
    release(tx, "file", hashes, id=integration_id)
    tx.run("DELETE FROM integration_files WHERE integration_id = :id", id=integration_id)
    retain(tx, "file", [file.hash for file in files])
    tx.run_many(
        "INSERT INTO integration_files (integration_id, name, hash, content_type)"
        " VALUES (:id, :name, :hash, :content_type)",
        [{"id": integration_id, **msgspec.structs.asdict(file)} for file in files],
    )


def list_files(tx: Transaction, integration_ids: Sequence[str]) -> dict[tuple[str, str], FileRow]:
    """Return the files of integrations, except scripts, by integration and name."""
    rows = tx.all(
        "SELECT integration_id, name, hash, content_type FROM integration_files"
        f" WHERE integration_id IN :ids AND name <> '{SCRIPT}'",
        ids=list(integration_ids),
    )
    return {(row[0], row[1]): FileRow(*row[1:]) for row in rows}


def find_file(tx: Transaction, integration_id: str, name: str) -> FileRow | None:
    row = tx.one(
        "SELECT name, hash, content_type FROM integration_files WHERE integration_id = :id AND name = :name",
        id=integration_id,
        name=name,
    )
    return FileRow(*row) if row else None


def delete_integration(tx: Transaction, integration_id: str) -> None:
    """Delete an integration and all its data. Its installations must be removed first."""
    release(tx, "file", "SELECT hash FROM integration_files WHERE integration_id = :id", id=integration_id)
    tx.run("DELETE FROM integrations WHERE id = :id", id=integration_id)


# --- installations --------------------------------------------------------------------------------------


def find_installation(tx: Transaction, name: str, installation_id: str) -> InstallationRow | None:
    """Return an installation of the integration ``name``."""
    found = find_installation_by_id(tx, installation_id)
    return found if found is not None and found.integration == name else None


def find_installation_by_id(tx: Transaction, installation_id: str) -> InstallationRow | None:
    row = tx.one(f"SELECT {_INSTALLATION} FROM {_INSTALLED} WHERE n.id = :id", id=installation_id)
    return _installation(row) if row else None


def find_installation_in(
    tx: Transaction, integration_id: str, organization_id: str
) -> InstallationRow | None:
    """Return the installation of an integration in an organization."""
    row = tx.one(
        f"SELECT {_INSTALLATION} FROM {_INSTALLED} WHERE n.integration_id = :id AND n.organization_id = :org",
        id=integration_id,
        org=organization_id,
    )
    return _installation(row) if row else None


def list_all_installations(tx: Transaction, integration_id: str) -> list[InstallationRow]:
    rows = tx.all(f"SELECT {_INSTALLATION} FROM {_INSTALLED} WHERE n.integration_id = :id", id=integration_id)
    return [_installation(row) for row in rows]


def list_installed_elsewhere(tx: Transaction, names: Sequence[str]) -> list[InstallationRow]:
    """Return the installations of integrations with one of these names, in organizations other than the one that
    published them."""
    rows = tx.all(
        f"""SELECT {_INSTALLATION} FROM {_INSTALLED}
            WHERE i.name IN :names AND n.organization_id <> i.organization_id ORDER BY n.id""",
        names=list(names),
    )
    return [_installation(row) for row in rows]


def move_installation(tx: Transaction, installation_id: str, integration_id: str) -> None:
    tx.run(
        "UPDATE integration_installations SET integration_id = :integration WHERE id = :id",
        id=installation_id,
        integration=integration_id,
    )


def list_installations(
    tx: Transaction,
    limit: int,
    page: str | None,
    *,
    integration_id: str | None = None,
    organization_id: str | None = None,
    external_id: str | None = None,
    search: str | None = None,
) -> Slice[InstallationRow]:
    """Return the installations of an integration, in an organization, or both, oldest first."""
    where, given = list[str](), dict[str, Any]()
    if integration_id is not None:
        where.append("n.integration_id = :integration")
        given["integration"] = integration_id
    if organization_id is not None:
        where.append("n.organization_id = :org")
        given["org"] = organization_id
    if external_id is not None:
        where.append(
            "n.id IN (SELECT installation_id FROM integration_external_ids"
            " WHERE external_id = :external AND kind = 'installation')"
        )
        given["external"] = external_id
    if search:
        where.append("(lower(i.title) LIKE :search ESCAPE '!' OR lower(i.name) LIKE :search ESCAPE '!')")
        given["search"] = _containing(search)
    condition = " AND ".join(where)
    return list_page(
        tx,
        limit,
        page,
        _INSTALLATION,
        f"FROM {_INSTALLED} WHERE {condition}",
        _installation,
        by="n.id",
        **given,
    )


def insert_installation(
    tx: Transaction,
    *,
    id: str,
    integration_id: str,
    organization_id: str,
    user_id: str,
    status: str,
    scopes: Sequence[str],
    space_selection: str,
    site_selection: str,
    configuration: str,
) -> None:
    moment = now()
    tx.insert(
        "integration_installations",
        id=id,
        integration_id=integration_id,
        organization_id=organization_id,
        user_id=user_id,
        status=status,
        scopes=_json(list(scopes)),
        space_selection=space_selection,
        site_selection=site_selection,
        configuration=configuration,
        external_ids="[]",
        created_at=moment,
        updated_at=moment,
    )


def update_installation(tx: Transaction, installation_id: str, **values: object) -> None:
    """Set the given columns. Lists are stored as JSON."""
    kept = {name: _json(value) if isinstance(value, list) else value for name, value in values.items()}
    tx.run(
        f"""UPDATE integration_installations SET {", ".join(f"{name} = :{name}" for name in kept)},
              updated_at = :at WHERE id = :id""",
        at=now(),
        id=installation_id,
        **kept,
    )


def delete_installation(tx: Transaction, installation_id: str) -> None:
    tx.run("DELETE FROM integration_installations WHERE id = :id", id=installation_id)


def set_external_ids(
    tx: Transaction, installation_id: str, kind: str, place_id: str, external_ids: Sequence[str]
) -> None:
    """Set the external IDs of an installation in an organization, or on one of its spaces or sites. ``place_id``:
    the space or site; empty for the installation in the organization."""
    where = "installation_id = :installation AND kind = :kind AND place_id = :place"
    key = {"installation": installation_id, "kind": kind, "place": place_id}
    tx.run(f"DELETE FROM integration_external_ids WHERE {where}", **key)
    tx.run_many(
        "INSERT INTO integration_external_ids (installation_id, kind, place_id, space_id, site_id, external_id)"
        " VALUES (:installation, :kind, :place, :space, :site, :external)",
        [{**key, **_named(kind, place_id), "external": one} for one in sorted(set(external_ids))],
    )


def _named(kind: str, place_id: str) -> dict[str, str | None]:
    return {name: place_id if kind == name else None for name in ("space", "site")}


# --- installations on spaces and sites -----------------------------------------------------------------


def find_place(tx: Transaction, installation_id: str, kind: Kind, place_id: str) -> PlaceRow | None:
    row = tx.one(
        f"""SELECT {_PLACE} FROM {_PLACED}
            WHERE p.installation_id = :installation AND p.kind = :kind AND p.place_id = :place""",
        installation=installation_id,
        kind=kind,
        place=place_id,
    )
    return _place(row) if row else None


def list_places_with_scope(
    tx: Transaction, site_id: str, scope: str
) -> list[tuple[IntegrationRow, InstallationRow, PlaceRow]]:
    """Return the installations on a site whose active integrations requested and were granted a scope, oldest
    first."""
    rows = tx.all(
        f"""SELECT n.integration_id, n.id, n.scopes FROM {_PLACED}
              JOIN integration_tags t ON t.integration_id = i.id AND t.kind = 'scope' AND t.value = :scope
            WHERE p.site_id = :site AND p.status = 'active' AND n.status = 'active' ORDER BY p.created_at, n.id""",
        scope=scope,
        site=site_id,
    )
    found = []
    for integration_id, installation_id, scopes in rows:
        if scope in msgspec.json.decode(scopes):
            integration = get_integration_by_id(tx, integration_id)
            installation = find_installation(tx, integration.name, installation_id)
            place = find_place(tx, installation_id, "site", site_id)
            assert installation is not None and place is not None, "they were joined"
            found.append((integration, installation, place))
    return found


def list_places(
    tx: Transaction,
    kind: Kind,
    limit: int,
    page: str | None,
    *,
    installation_id: str | None = None,
    integration_id: str | None = None,
    organization_id: str | None = None,
    external_id: str | None = None,
    only: Sequence[str] | None = None,
) -> Slice[PlaceRow]:
    """Return installations on spaces or sites, sorted by installation and ID, except installations on spaces in the
    trash. ``only``: the IDs of the spaces or sites."""
    where, given = ["p.kind = :kind", _NOT_TRASHED], dict[str, Any](kind=kind)
    for column, value in (
        ("p.installation_id", installation_id),
        ("n.integration_id", integration_id),
        ("n.organization_id", organization_id),
    ):
        if value is not None:
            name = column.partition(".")[2]
            where.append(f"{column} = :{name}")
            given[name] = value
    if external_id is not None:
        where.append(
            "EXISTS (SELECT 1 FROM integration_external_ids x WHERE x.external_id = :external AND x.kind = p.kind"
            " AND x.installation_id = p.installation_id AND x.place_id = p.place_id)"
        )
        given["external"] = external_id
    if only is not None:
        where.append("p.place_id IN :only")
        given["only"] = list(only)
    condition = " AND ".join(where)
    return list_page(
        tx,
        limit,
        page,
        _PLACE,
        f"FROM {_PLACED} WHERE {condition}",
        _place,
        by="p.installation_id, p.place_id",
        key_types=(str, str),
        **given,
    )


def list_place_ids(tx: Transaction, installation_id: str, kind: Kind) -> list[str]:
    rows = tx.all(
        "SELECT place_id FROM integration_places WHERE installation_id = :id AND kind = :kind",
        id=installation_id,
        kind=kind,
    )
    return [row[0] for row in rows]


def insert_place(
    tx: Transaction, installation_id: str, kind: Kind, place_id: str, status: str, configuration: str
) -> None:
    tx.run(
        """INSERT INTO integration_places (installation_id, kind, place_id, space_id, site_id, status, configuration,
             external_ids, created_at, updated_at)
           VALUES (:installation, :kind, :place, :space, :site, :status, :configuration, '[]', :at, :at)""",
        installation=installation_id,
        kind=kind,
        place=place_id,
        **_named(kind, place_id),
        status=status,
        configuration=configuration,
        at=now(),
    )


def update_place(tx: Transaction, place: PlaceRow, **values: object) -> None:
    """Set the given columns. Lists are stored as JSON."""
    kept = {name: _json(value) if isinstance(value, list) else value for name, value in values.items()}
    tx.run(
        f"""UPDATE integration_places SET {", ".join(f"{name} = :{name}" for name in kept)}, updated_at = :at
            WHERE installation_id = :installation AND kind = :kind AND place_id = :place""",
        at=now(),
        installation=place.installation_id,
        kind=place.kind,
        place=place.place_id,
        **kept,
    )


def delete_place(tx: Transaction, installation_id: str, kind: Kind, place_id: str) -> None:
    key = {"installation": installation_id, "kind": kind, "place": place_id}
    where = "installation_id = :installation AND kind = :kind AND place_id = :place"
    tx.run(f"DELETE FROM integration_external_ids WHERE {where}", **key)
    tx.run(f"DELETE FROM integration_places WHERE {where}", **key)


def forget_space(tx: Transaction, space_id: str) -> None:
    """Remove all installations in a space."""
    for table in ("integration_external_ids", "integration_places", "integration_answers"):
        tx.run(f"DELETE FROM {table} WHERE space_id = :space", space=space_id)


# --- computed answers -----------------------------------------------------------------------------------


class AnswerRow(Struct, frozen=True):
    """Response of a script for a source. ``made_of``: a hash of the script's input. ``state``: a hash that
    identifies the response."""

    made_of: str
    state: str
    answer: str


def find_answer(tx: Transaction, key: str) -> AnswerRow | None:
    row = tx.one("SELECT made_of, state, answer FROM integration_answers WHERE question = :key", key=key)
    return AnswerRow(*row) if row else None


def find_answer_state(tx: Transaction, key: str) -> tuple[str, str] | None:
    """Return the fields ``made_of`` and ``state`` of a response."""
    row = tx.one("SELECT made_of, state FROM integration_answers WHERE question = :key", key=key)
    return (row[0], row[1]) if row else None


def put_answer(tx: Transaction, key: str, installation_id: str, space_id: str, answer: AnswerRow) -> None:
    """Store a response, replacing any earlier one, if the installation and the space still exist."""
    tx.run(
        """INSERT INTO integration_answers (question, installation_id, space_id, made_of, state, answer, used_at)
           SELECT :key, n.id, s.id, :made_of, :state, :answer, :at FROM integration_installations n, spaces s
           WHERE n.id = :installation AND s.id = :space
           ON CONFLICT (question) DO UPDATE SET made_of = excluded.made_of, state = excluded.state,
             answer = excluded.answer, used_at = excluded.used_at""",
        key=key,
        installation=installation_id,
        space=space_id,
        at=now(),
        **msgspec.structs.asdict(answer),
    )


def keep_answers(tx: Transaction, space_id: str, keys: Iterable[str], since: int) -> None:
    """Mark responses as used, and delete the space's responses that were last used before the given time (in
    milliseconds)."""
    tx.run("UPDATE integration_answers SET used_at = :at WHERE question IN :keys", at=now(), keys=list(keys))
    tx.run(
        "DELETE FROM integration_answers WHERE space_id = :space AND used_at < :since",
        space=space_id,
        since=since,
    )


# --- statuses -------------------------------------------------------------------------------------------


class InstalledRow(NamedTuple):
    """Status of an integration on the object on which it is installed."""

    integration_id: str
    status: str
    target_id: str


def list_statuses(
    tx: Transaction, org: OrgAccess, target: str, target_id: str | None, limit: int, page: str | None
) -> Slice[InstalledRow]:
    """List the integrations that are installed in an organization (``target`` `organization`), on each of its
    spaces or sites that the caller can see, or only on the object ``target_id``."""
    before, parameters = "", dict[str, Any]()
    columns = "n.integration_id, n.status, n.organization_id"
    source, by = "FROM integration_installations n WHERE n.organization_id = :org", "n.id"
    if target != "organization":
        columns, by = "n.integration_id, p.status, p.place_id", "n.id, p.place_id"
        joined = f"""FROM integration_installations n
            JOIN integration_places p ON p.installation_id = n.id AND p.kind = '{target}'"""
        if target == "space":
            seen = select_visible_spaces(org, "s.deleted_at IS NULL")
            joined += f" JOIN {seen.visible} v ON v.id = p.space_id"
            before, parameters = seen.prefix, dict(seen.parameters)
        source = f"{joined} WHERE n.organization_id = :org"
        if target_id is not None:
            source += " AND p.place_id = :target"
            parameters["target"] = target_id
    return list_page(
        tx,
        limit,
        page,
        columns,
        source,
        lambda row: InstalledRow(*row),
        by=by,
        key_types=(str,) * len(by.split(", ")),
        before=before,
        org=org.organization_id,
        **parameters,
    )


class Tunnel(Struct, frozen=True):
    """Tunnel that receives events during the development of an integration. ``all``: whether the tunnel also
    receives events from other organizations."""

    url: str
    all: int


def find_tunnel(tx: Transaction, integration_id: str) -> Tunnel | None:
    row = tx.one("SELECT tunnel_url, tunnel_all FROM integrations WHERE id = :id", id=integration_id)
    return Tunnel(*row) if row and row[0] else None


def set_tunnel(tx: Transaction, integration_id: str, url: str | None, all: bool) -> None:
    tx.run(
        "UPDATE integrations SET tunnel_url = :url, tunnel_all = :all, updated_at = :now WHERE id = :id",
        url=url,
        all=int(all),
        # Cached answers can be recomputed.
        now=now(),
        id=integration_id,
    )


def lock_integration(tx: Transaction, integration_id: str) -> bool:
    """Lock an integration until the transaction ends. Return False if it doesn't exist."""
    return tx.one(f"SELECT 1 FROM integrations WHERE id = :id{tx.for_update}", id=integration_id) is not None


def list_recipients(
    tx: Transaction, organization_id: str, kind: str, place_id: str, scope: str, at: int
) -> list[tuple[str, str, str]]:
    """Return the installations that are active in a space or on a site, that already existed at the given time (in
    milliseconds), and that were granted a scope that their integration requests. Each of them is returned as the ID
    of the installation, the ID of the integration, and the ID of the installation's account."""
    rows = tx.all(
        f"""SELECT n.id, n.integration_id, n.user_id, n.scopes FROM integration_installations n
              JOIN integration_tags t ON t.integration_id = n.integration_id AND t.kind = 'scope' AND t.value = :scope
            WHERE n.organization_id = :org AND n.status = 'active' AND n.created_at <= :at AND
            (n.{kind}_selection = 'all' OR EXISTS (
              SELECT 1 FROM integration_places p WHERE p.installation_id = n.id AND p.kind = :kind
                AND p.place_id = :place)) ORDER BY n.id""",
        org=organization_id,
        kind=kind,
        place=place_id,
        scope=scope,
        at=at,
    )
    return [(row[0], row[1], row[2]) for row in rows if scope in msgspec.json.decode(row[3])]


def find_organization_of_site(tx: Transaction, site_id: str) -> str | None:
    found: str | None = tx.value("SELECT organization_id FROM sites WHERE id = :id", id=site_id)
    return found
