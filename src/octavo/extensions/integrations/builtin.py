"""Built-in integrations. Their names are reserved, and each organization installs its own copy."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from octavo.errors import NotFound
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import OrgAccess, organization_access
from octavo.organization.access.roles import Can

from . import installing, publishing, store
from .publishing import BUILTIN_NAMES
from .store import InstallationRow, IntegrationRow

BUILT = Path(__file__).with_name("dist")
"""Folder with the files that the build creates for each integration: ``NAME.json``, the request body for publishing
it, and ``NAME.js``, its script."""


State = Literal["available", "published", "outdated"]


class Builtin(NamedTuple):
    """Built-in integration. ``body``: the request body for publishing it, as JSON, without the publisher and the
    script."""

    name: str
    body: bytes
    script_hash: str


class BuiltinStatus(NamedTuple):
    """Built-in integration with its state in an organization. ``copy``: the name of the organization's copy;
    None if there is none."""

    builtin: Builtin
    state: State
    copy: str | None


def _script(name: str) -> str:
    return (BUILT / f"{name}.js").read_text(encoding="utf-8")


@cache
def _catalog() -> dict[str, Builtin]:
    """Return the built-in integrations without their scripts, keyed by name and in order. The result is empty if
    setup couldn't reach the npm registry."""
    found = {}
    for path in sorted(BUILT.glob("*.json")):
        script_hash = hashlib.sha256(_script(path.stem).encode()).hexdigest()
        found[path.stem] = Builtin(path.stem, path.read_bytes(), script_hash)
    return found


def list_builtin(tx: Transaction, org: OrgAccess) -> list[BuiltinStatus]:
    """Return the built-in integrations, each with the state of the organization's copy."""
    return [_offered(tx, one, org.organization_id) for one in _catalog().values()]


def _offered(tx: Transaction, one: Builtin, organization_id: str) -> BuiltinStatus:
    row = _find_copy(tx, one.name, organization_id)
    if row is None:
        return BuiltinStatus(one, "available", None)
    return BuiltinStatus(one, "published" if _is_current(tx, row, one) else "outdated", row.name)


def _find_copy(tx: Transaction, name: str, organization_id: str) -> IntegrationRow | None:
    """Return an organization's copy of a built-in integration. Copies that were published before names were
    reserved have a name without a prefix."""
    for candidate in (name, publishing.copy_name(name, organization_id)):
        row = store.find_integration(tx, candidate)
        if row is not None and row.organization_id == organization_id:
            return row
    return None


def _is_current(tx: Transaction, row: IntegrationRow, one: Builtin) -> bool:
    script = store.find_file(tx, row.id, store.SCRIPT)
    return script is not None and script.hash == one.script_hash


def install_builtin(context: Context, org: OrgAccess, name: str) -> InstallationRow:
    """Publish an organization's copy of a built-in integration, unless the copy is up to date, and install it in
    the organization.

    Raises Forbidden if the caller doesn't have permission, and NotFound if the integration doesn't exist."""
    one = _catalog().get(name)
    if one is None:
        known = (
            ", ".join(_catalog())
            or "none, because the built-in integrations weren't built when Octavo was set up"
        )
        raise NotFound(f"name: there is no built-in integration named {name!r}. Available: {known}.")
    with context.db.read() as tx:
        row = _find_copy(tx, name, org.organization_id)
        current = row is not None and _is_current(tx, row, one)
    if row is None or not current:
        body = publishing.read_publication(one.body, org.organization_id, _script(name))
        copy = row.name if row is not None else publishing.copy_name(name, org.organization_id)
        row = publishing.publish(context, org.actor, copy, body)
    with context.db.write() as tx:
        organization_access(tx, org.actor, Can.INSTALL_INTEGRATION, org.organization_id)
        return installing.install(tx, context, org.actor, row, org.organization_id)


def separate_copies(context: Context) -> None:
    """Create a separate copy of a built-in integration for each organization that uses another
    organization's copy.

    Before names were reserved, all organizations used the copy of the first organization that published it.
    Installations keep their IDs, configuration, and public endpoints.
    """
    with context.db.read() as tx:
        shared = store.list_installed_elsewhere(tx, sorted(BUILTIN_NAMES))
    for installation in shared:
        one = _catalog().get(installation.integration)
        if one is not None:
            organization_id = installation.organization_id
            body = publishing.read_publication(one.body, organization_id, _script(one.name))
            publishing.move_to_copy(
                context, publishing.copy_name(one.name, organization_id), body, installation
            )
