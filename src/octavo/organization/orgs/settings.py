"""Validate and change organization settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from octavo.core.json_types import JsonObject
from octavo.errors import BadRequest, NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.identity.saml.store import list_active_providers
from octavo.settings import Settings

from . import store
from .domains import set_domains
from .merge_rules import require_merge_rules
from .types import Hostname, MergeRules, SitePointer


def check_hostname(tx: Transaction, settings: Settings, row: Mapping[str, Any]) -> None:
    """Raise BadRequest if the hostname of an organization from an archive is invalid or already in use on
    this server."""
    hostname = row.get("hostname")
    try:
        msgspec.convert(hostname, Hostname | None)
    except msgspec.ValidationError as error:
        raise BadRequest(f"hostname: {error}") from None
    if hostname is not None and store.hostname_is_taken(tx, hostname):
        raise BadRequest("hostname: is already in use. Choose another one.")


def update(tx: Transaction, access: OrgAccess, given: Mapping[str, object]) -> store.OrgRow:
    """Update an organization's title, hostname, default role, email domains, and the fields of ``OrgSettings``.
    Values that aren't given stay unchanged. Raises BadRequest if a value is invalid, Forbidden if the caller
    doesn't have permission, and NotFound if an object belongs to another organization."""
    before = store.get_organization(tx, access.organization_id)
    _update(tx, access.actor, before, given)
    after = store.get_organization(tx, access.organization_id)
    was, is_now = _difference(before, after)
    if is_now:
        target = ("organization", after.id)
        audit(tx, access.actor, "organization.updated", after.id, target, before=was, after=is_now)
    return after


def _update(tx: Transaction, actor: Actor, org: store.OrgRow, given: Mapping[str, Any]) -> None:
    hostname = given.get("hostname", org.hostname)
    if hostname != org.hostname and store.hostname_is_taken(tx, hostname, org.id):
        raise BadRequest("hostname: is already in use. Choose another one.")
    default_content: SitePointer | None = given.get("default_content")
    if default_content is not None:
        site = tx.value("SELECT organization_id FROM sites WHERE id = :id", id=default_content.site)
        if site != org.id:
            raise NotFound(
                f"defaultContent: there is no site with the ID {default_content.site!r} in this organization"
            )
    if given.get("sso") and not org.settings.sso and not list_active_providers(tx, org.id):
        raise BadRequest(
            "sso: requires an active SAML provider. Add one first. Otherwise, only"
            " administrators could sign in."
        )
    merge_rules: MergeRules | None = given.get("merge_rules")
    if merge_rules is not None and merge_rules.rules is not UNSET:
        require_merge_rules(tx, org.id, merge_rules.rules)
    columns = {name: given[name] for name in ("title", "default_role") if name in given}
    if "title" in columns:
        columns["title"] = columns["title"].strip()
    if "email_domains" in given:
        store.set_email_domains(tx, org.id, set_domains(tx, org, given["email_domains"]))
    kept = {
        name: msgspec.to_builtins(given[name])
        for name in store.OrgSettings.__struct_fields__
        if name in given
    }
    if kept:
        settings = msgspec.structs.replace(org.settings, **kept)
        columns["settings"] = msgspec.json.encode(settings).decode()
    if hostname != org.hostname:
        store.change_hostname(tx, org, hostname)
    if columns:
        store.update_organization(tx, org.id, columns)


def _difference(before: store.OrgRow, after: store.OrgRow) -> tuple[JsonObject, JsonObject]:
    """Return the changed settings, with their values before and after the change."""
    was, is_now = _flatten(before), _flatten(after)
    names = [name for name in was if was[name] != is_now[name]]
    return {name: was[name] for name in names}, {name: is_now[name] for name in names}


def _flatten(org: store.OrgRow) -> JsonObject:
    found = msgspec.structs.asdict(org)
    del found["proved"]  # audited by its own events
    found |= msgspec.structs.asdict(found.pop("settings"))
    return {_camel(name): value for name, value in found.items()}


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(word.title() for word in tail)
