"""Install, configure, and remove integrations in organizations, on spaces, and on sites.

An installation has its own account, which belongs to the organization. For an installation on all spaces, the account
has a role in the organization; otherwise, it is a guest with a role in the selected spaces. The installation's tokens
are also limited to its scopes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from octavo.core.json_types import JsonObject
from octavo.errors import BadRequest, NotFound
from octavo.extensions.deliveries.store import forget_waiting
from octavo.kit import ids
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.db.tables import end_membership
from octavo.kit.http.operation import Actor
from octavo.organization.access.accounts import disable_account, insert_managed
from octavo.organization.access.auditing import audit
from octavo.organization.access.members import upsert_member
from octavo.organization.access.rights.granting import grant_installation

from . import store
from .authorization import (
    InstallationAccess,
    SiteInstallationAccess,
    SpaceInstallationAccess,
    kind_of,
    require_change,
)
from .configuration import check, declared, status_of
from .delivering import announce
from .presenting import open_configuration
from .store import CONFIGURATION, PLACE_CONFIGURATION, InstallationRow, IntegrationRow, Kind, PlaceRow

_WRITING = {
    "space:content:write",
    "space:metadata:write",
    "space:git:sync",
    "openapi:write",
    "conversations:ingest",
}


def _role(scopes: Iterable[str]) -> str:
    """Return the role that the account of an installation with these scopes has in its spaces or sites."""
    return "create" if _WRITING & set(scopes) else "read"


def install(
    tx: Transaction, context: Context, actor: Actor, row: IntegrationRow, organization_id: str
) -> InstallationRow:
    """Install an integration in an organization. If it is already installed, grant the scopes of its current
    version.

    Raises NotFound if the integration was unpublished in the meantime.
    """
    row = _lock_integration(tx, row.id, row.name)
    there = store.find_installation_in(tx, row.id, organization_id)
    if there is not None:
        store.update_installation(tx, there.id, scopes=list(row.manifest.scopes))
        changed = _get(tx, there)
        _set_roles(tx, changed)
        after = {"integration": row.name, "scopes": row.manifest.scopes}
        audit(tx, actor, "integration.agreed", organization_id, ("installation", there.id), after=after)
        return changed
    installation_id = ids.new_id()
    user_id = insert_managed(tx, organization_id, "integration", row.title).id
    spaces = "all" if row.target in ("all", "organization", "space") else "selected"
    sites = "all" if row.target in ("all", "organization", "site") else "selected"
    store.insert_installation(
        tx,
        id=installation_id,
        integration_id=row.id,
        organization_id=organization_id,
        user_id=user_id,
        status=status_of(declared(row.manifest, "installation"), {}, saved=False),
        scopes=row.manifest.scopes,
        space_selection=spaces,
        site_selection=sites,
        configuration=CONFIGURATION.seal(context.sealer, "{}", installation_id),
    )
    made = store.find_installation_in(tx, row.id, organization_id)
    assert made is not None
    _set_roles(tx, made)
    after = {"integration": row.name, "scopes": row.manifest.scopes}
    audit(tx, actor, "integration.installed", organization_id, ("installation", installation_id), after=after)
    announce(tx, context.sealer, made, "installation_setup", {"status": made.status})
    return made


def _lock_integration(tx: Transaction, integration_id: str, name: str) -> IntegrationRow:
    """Lock an integration until the transaction ends, and return its current row. Raises NotFound if the
    integration was unpublished in the meantime."""
    if not store.lock_integration(tx, integration_id):
        raise NotFound(f"There is no integration named {name!r}.")
    return store.get_integration_by_id(tx, integration_id)


def _lock(tx: Transaction, row: InstallationRow) -> tuple[IntegrationRow, InstallationRow]:
    """Lock an integration and an installation until the transaction ends, and return their current rows.
    Raises NotFound if either was removed in the meantime."""
    integration = _lock_integration(tx, row.integration_id, row.integration)
    found = store.find_installation(tx, integration.name, row.id)
    if found is None:
        raise NotFound(f"This integration has no installation with the ID {row.id!r}.")
    return integration, found


def _get(tx: Transaction, row: InstallationRow) -> InstallationRow:
    found = store.find_installation_in(tx, row.integration_id, row.organization_id)
    assert found is not None, "it is there, in this transaction"
    return found


def _set_roles(tx: Transaction, row: InstallationRow) -> None:
    role = _role(row.scopes)
    everywhere = row.space_selection == "all"
    upsert_member(tx, row.organization_id, row.user_id, role if everywhere else None, accepted=True)
    for space_id in store.list_place_ids(tx, row.id, "space"):
        grant_installation(tx, space_id, row.user_id, role)


def update(
    tx: Transaction, context: Context, access: InstallationAccess, given: Mapping[str, Any]
) -> InstallationRow:
    """Update an installation's configuration, selections, and external IDs, if they are in ``given``. Raises BadRequest
    if a value is invalid."""
    integration, row = _lock(tx, access.row)
    changes: JsonObject = {}
    if "configuration" in given:
        schema = declared(integration.manifest, "installation")
        check(schema, given["configuration"])
        text = msgspec.json.encode(given["configuration"]).decode()
        changes["configuration"] = CONFIGURATION.seal(context.sealer, text, row.id)
        changes["status"] = status_of(schema, given["configuration"], saved=True)
    for name in ("space_selection", "site_selection"):
        value = given.get(name, getattr(row, name))
        if value != getattr(row, name):
            if access.by_script and value == "all":
                raise BadRequest(
                    f"{name}: integration scripts can't install the integration in more spaces or on more"
                    " sites"
                )
            changes[name] = value
    if "external_ids" in given:
        changes["external_ids"] = list(dict.fromkeys(given["external_ids"]))
        store.set_external_ids(tx, row.id, "installation", "", given["external_ids"])
    if not changes:
        return row
    store.update_installation(tx, row.id, **changes)
    after = _get(tx, row)
    _set_roles(tx, after)
    _audit(tx, access.actor, "integration.configured", row, sorted(changes))
    announce(
        tx,
        context.sealer,
        after,
        "installation_setup",
        {"status": after.status},
        previous=_state(context, row),
    )
    return after


def _state(context: Context, row: InstallationRow | PlaceRow) -> JsonObject:
    """Return the state of an installation, which is included in the event that reports a change to it."""
    return {"status": row.status, "configuration": open_configuration(context, row)}


def uninstall(tx: Transaction, context: Context, access: InstallationAccess) -> None:
    row = access.row
    was = {"configuration": open_configuration(context, row)}
    forget_waiting(tx, row.id)
    remove_installation(tx, row)
    announce(tx, context.sealer, row, "installation_deleted", {}, previous=was)
    _audit(tx, access.actor, "integration.uninstalled", access.row, [])


def remove_installation(tx: Transaction, row: InstallationRow) -> None:
    end_membership(tx, row.organization_id, row.user_id)
    disable_account(tx, row.user_id)
    store.delete_installation(tx, row.id)


def _audit(tx: Transaction, actor: Actor, action: str, row: InstallationRow, changed: list[str]) -> None:
    after = {"integration": row.integration, **({"changed": changed} if changed else {})}
    audit(tx, actor, action, row.organization_id, ("installation", row.id), after=after)


# --- in a space or a site -------------------------------------------------------------------------------


def install_at(
    tx: Transaction, context: Context, actor: Actor, row: InstallationRow, kind: Kind, place_id: str
) -> PlaceRow:
    """Install an integration on a space or site of its organization, if the caller has permission. Raises
    BadRequest if the integration can't be installed on this space or site."""
    integration, row = _lock(tx, row)
    if integration.target not in ("all", kind):
        raise BadRequest(
            f"{kind}: an integration with the target {integration.target!r} can't be installed on a {kind}"
        )
    if (there := store.find_place(tx, row.id, kind, place_id)) is not None:
        return there
    status = status_of(declared(integration.manifest, kind), {}, saved=False)
    sealed = PLACE_CONFIGURATION.seal(context.sealer, "{}", row.id, kind, place_id)
    store.insert_place(tx, row.id, kind, place_id, status, sealed)
    if kind == "space":
        grant_installation(tx, place_id, row.user_id, _role(row.scopes))
    audit(
        tx,
        actor,
        f"integration.installed_on_{kind}",
        row.organization_id,
        (kind, place_id),
        after={"integration": row.integration},
    )
    made = _place(tx, row.id, kind, place_id)
    _announce_place(tx, context, row, made, "setup", {"status": made.status}, None)
    return made


def _announce_place(
    tx: Transaction,
    context: Context,
    row: InstallationRow,
    place: PlaceRow,
    what: str,
    fields: JsonObject,
    previous: JsonObject | None,
) -> None:
    announce(
        tx,
        context.sealer,
        row,
        f"{place.kind}_installation_{what}",
        {f"{place.kind}Id": place.place_id, **fields},
        place=(place.kind, place.place_id),
        previous=previous,
    )


def _place(tx: Transaction, installation_id: str, kind: Kind, place_id: str) -> PlaceRow:
    found = store.find_place(tx, installation_id, kind, place_id)
    assert found is not None, "it is there, in this transaction"
    return found


PlaceAccess = SpaceInstallationAccess | SiteInstallationAccess


def require_place(access: PlaceAccess) -> PlaceRow:
    """Return the installation on a space or site. Raises NotFound if there is none."""
    if access.place is None:
        raise _not_there(access)
    return access.place


def _not_there(access: PlaceAccess) -> NotFound:
    return NotFound(
        f"This integration isn't installed on the {kind_of(access)} with the ID {access.place_id!r}."
    )


def update_at(tx: Transaction, context: Context, access: PlaceAccess, given: Mapping[str, Any]) -> PlaceRow:
    """Update an installation's configuration and external IDs, if they are in ``given``. Raises BadRequest if a value
    is invalid, Forbidden if the caller doesn't have permission, and NotFound if the integration isn't installed on the
    space or site."""
    require_change(tx, access)
    was = require_place(access)
    integration, _ = _lock(tx, access.installation)
    place = store.find_place(tx, was.installation_id, was.kind, was.place_id)
    if place is None:
        raise _not_there(access)
    changes: JsonObject = {}
    if "configuration" in given:
        schema = declared(integration.manifest, place.kind)
        check(schema, given["configuration"])
        text = msgspec.json.encode(given["configuration"]).decode()
        changes["configuration"] = PLACE_CONFIGURATION.seal(
            context.sealer, text, place.installation_id, place.kind, place.place_id
        )
        changes["status"] = status_of(schema, given["configuration"], saved=True)
    if "external_ids" in given:
        changes["external_ids"] = list(dict.fromkeys(given["external_ids"]))
        store.set_external_ids(tx, place.installation_id, place.kind, place.place_id, given["external_ids"])
    if not changes:
        return place
    store.update_place(tx, place, **changes)
    _audit(tx, access.actor, "integration.configured", access.installation, sorted(changes))
    after = _place(tx, place.installation_id, place.kind, place.place_id)
    fields = {"status": after.status}
    _announce_place(tx, context, access.installation, after, "setup", fields, _state(context, place))
    return after


def uninstall_at(tx: Transaction, context: Context, access: PlaceAccess) -> bool:
    """Remove an installation from a space or site. Return False if there was none. Raises Forbidden if the caller
    doesn't have permission."""
    require_change(tx, access)
    place = access.place
    if place is None or not store.lock_integration(tx, access.installation.integration_id):
        return False
    store.delete_place(tx, place.installation_id, place.kind, place.place_id)
    if place.kind == "space":
        grant_installation(tx, place.place_id, access.installation.user_id, None)
    row = access.installation
    _announce_place(tx, context, row, place, "deleted", {}, _state(context, place))
    after = {"integration": row.integration}
    audit(
        tx,
        access.actor,
        f"integration.removed_from_{place.kind}",
        row.organization_id,
        (place.kind, place.place_id),
        after=after,
    )
    return True
