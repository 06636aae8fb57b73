"""The integrations that come with Octavo: nobody's until an organization installs one, and from then on its own."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from ..access import Can, OrgAccess, organization_access
from ..errors import NotFound
from ..kit.context import Context
from ..kit.db import Transaction
from . import installing, publishing, store
from .store import InstallationRow, IntegrationRow

BUILT = Path(__file__).with_name("dist")
"""What setting up makes of each: ``NAME.json``, the body that publishes it, and ``NAME.js``, its script."""


State = Literal["available", "published", "outdated", "taken"]


class Builtin(NamedTuple):
    """``body``: JSON of what publishes it, without who does and without its script."""

    name: str
    body: bytes
    script_hash: str


def _script(name: str) -> str:
    return (BUILT / f"{name}.js").read_text(encoding="utf-8")


@cache
def _catalogue() -> dict[str, Builtin]:
    """By name, in order; without their scripts. Empty where setting up could not reach the npm registry."""
    found = {}
    for path in sorted(BUILT.glob("*.json")):
        script_hash = hashlib.sha256(_script(path.stem).encode()).hexdigest()
        found[path.stem] = Builtin(path.stem, path.read_bytes(), script_hash)
    return found


def list_builtin(tx: Transaction, org: OrgAccess) -> list[tuple[Builtin, State]]:
    """Each with whose its name is by now."""
    return [(one, _state(tx, one, org.organization_id)) for one in _catalogue().values()]


def _state(tx: Transaction, one: Builtin, organization_id: str) -> State:
    owner = store.find_owner_of_name(tx, one.name)
    if owner not in (None, organization_id):
        return "taken"
    row = store.find_integration(tx, one.name)
    if row is None:
        return "available"
    return "published" if _is_current(tx, row, one) else "outdated"


def _is_current(tx: Transaction, row: IntegrationRow, one: Builtin) -> bool:
    script = store.find_file(tx, row.id, store.SCRIPT)
    return script is not None and script.hash == one.script_hash


def install_builtin(context: Context, org: OrgAccess, name: str) -> InstallationRow:
    """Publishes one for an organization, where that did not happen yet or with another script, and installs it there.
    Raises Forbidden, NotFound."""
    one = _catalogue().get(name)
    if one is None:
        known = ", ".join(_catalogue()) or "none, because they were not built when Octavo was set up"
        raise NotFound(f"name: there is no built-in integration {name!r}; there are: {known}.")
    with context.db.read() as tx:
        row = store.find_integration(tx, name)
        current = row is not None and row.organization_id == org.organization_id and _is_current(tx, row, one)
    if row is None or not current:
        body = publishing.read_publication(one.body, org.organization_id, _script(name))
        row = publishing.publish(context, org.actor, name, body)
    with context.db.write() as tx:
        organization_access(tx, org.actor, Can.INSTALL_INTEGRATION, org.organization_id)
        return installing.install(tx, context, org.actor, row, org.organization_id)
