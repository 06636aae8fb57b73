"""What the settings of an organization must hold to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from ..access import OrgAccess, audit
from ..errors import BadRequest, NotFound
from ..identity import list_active_providers
from ..kit.db import Transaction
from ..kit.operation import Actor
from ..settings import Settings
from . import store
from .domains import set_domains
from .kinds import Hostname
from .merge_rules import require_merge_rules
from .wire import UpdateOrganization


def check_hostname(tx: Transaction, settings: Settings, row: Mapping[str, Any]) -> None:
    """Raises BadRequest for an organization of an archive with a host name that it could not be given here."""
    hostname = row.get("hostname")
    try:
        msgspec.convert(hostname, Hostname | None)
    except msgspec.ValidationError as error:
        raise BadRequest(f"hostname: {error}") from None
    if hostname is not None and store.hostname_is_taken(tx, hostname):
        raise BadRequest("hostname: taken")


def update(tx: Transaction, access: OrgAccess, body: UpdateOrganization) -> store.OrgRow:
    """Changes what the body holds. Raises BadRequest, Forbidden, and NotFound for things of others."""
    before = store.get_organization(tx, access.organization_id)
    _update(tx, access.actor, before, body)
    after = store.get_organization(tx, access.organization_id)
    was, is_now = _difference(before, after)
    if is_now:
        target = ("organization", after.id)
        audit(tx, access.actor, "organization.updated", after.id, target, before=was, after=is_now)
    return after


def _update(tx: Transaction, actor: Actor, org: store.OrgRow, body: UpdateOrganization) -> None:
    if body.hostname is not UNSET and body.hostname != org.hostname:
        if store.hostname_is_taken(tx, body.hostname):
            raise BadRequest("hostname: taken")
    if isinstance(body.default_content, msgspec.Struct):
        site = tx.value("SELECT organization_id FROM sites WHERE id = :id", id=body.default_content.site)
        if site != org.id:
            raise NotFound(f"defaultContent: there is no site {body.default_content.site!r} here.")
    if body.sso is True and not org.settings.sso and not list_active_providers(tx, org.id):
        raise BadRequest("sso: add a SAML provider first, or nobody but administrators could come in")
    if body.merge_rules is not UNSET and body.merge_rules.rules is not UNSET:
        require_merge_rules(tx, org.id, body.merge_rules.rules)
    columns: dict[str, Any] = {}
    if body.title is not UNSET:
        columns["title"] = body.title.strip()
    if body.hostname is not UNSET:
        columns["hostname"] = body.hostname
    if body.default_role is not UNSET:
        columns["default_role"] = body.default_role
    if body.email_domains is not UNSET:
        store.set_email_domains(tx, org.id, set_domains(tx, actor, org, body.email_domains))
    kept = {
        name: msgspec.to_builtins(value)
        for name in ("logo", "sso", "ai", "invite_links", "merge_rules", "default_content")
        if (value := getattr(body, name)) is not UNSET
    }
    if kept:
        settings = msgspec.structs.replace(org.settings, **kept)
        columns["settings"] = msgspec.json.encode(settings).decode()
    if columns:
        store.update_organization(tx, org.id, columns)


def _difference(before: store.OrgRow, after: store.OrgRow) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings that differ, as they were and as they are."""
    was, is_now = _flat(before), _flat(after)
    names = [name for name in was if was[name] != is_now[name]]
    return {name: was[name] for name in names}, {name: is_now[name] for name in names}


def _flat(org: store.OrgRow) -> dict[str, Any]:
    found = msgspec.structs.asdict(org)
    del found["proved"]  # says so itself
    found |= msgspec.structs.asdict(found.pop("settings"))
    return {_camel(name): value for name, value in found.items()}


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(word.title() for word in tail)
