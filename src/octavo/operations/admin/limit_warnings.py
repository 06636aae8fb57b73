"""Set organization limits, measure usage once a day, and warn an organization's administrators before a
limit is reached."""

from __future__ import annotations

import logging

import msgspec

from octavo.errors import OctavoError
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.net import mail
from octavo.kit.work import jobs
from octavo.organization.access.auditing import audit
from octavo.organization.access.limits import (
    NAMES,
    Resource,
    ResourceLimits,
    format_amount,
    measure,
    near_limits,
    read_limits,
    record_usage,
    set_limits,
)

from .accounts import By

log = logging.getLogger(__name__)

_EVERY = 24 * 3600.0


def set_limits_by(tx: Transaction, by: By, organization_id: str, limits: ResourceLimits) -> None:
    """Replace an organization's limits, and record the change in its audit log."""
    before = read_limits(tx, organization_id)
    set_limits(tx, organization_id, limits)
    target = ("organization", organization_id)
    audit(tx, by, "organization.limits-updated", organization_id, target, before=before, after=limits)


@jobs.job("measureUsage", bound="one row for each organization")
def measure_all(context: Context) -> None:
    """Enqueue a measurement of each organization."""
    with context.db.write() as tx:
        for (organization_id,) in tx.all("SELECT id FROM organizations ORDER BY id"):
            jobs.enqueue(
                tx,
                "measureOrganization",
                organization=organization_id,
                key=f"measureOrganization {organization_id}",
                organization_id=organization_id,
            )


jobs.schedule("measureUsage", _EVERY, "measureUsage")


@jobs.job("measureOrganization", bound="one organization, and an email to each of its administrators")
def measure_organization(context: Context, organization_id: str) -> None:
    """Record an organization's current usage. The organization's administrators get an email when usage first reaches
    nine tenths of a limit. They get another email only if usage reaches that level again after it was lower or the
    limit was changed."""
    with context.db.read() as tx:
        usage, limits = measure(tx, organization_id), read_limits(tx, organization_id)
    near = near_limits(limits, usage)
    with context.db.write() as tx:
        title = tx.value("SELECT title FROM organizations WHERE id = :org", org=organization_id)
        if title is None:
            return
        record_usage(tx, organization_id, usage)
        row = tx.one(
            "SELECT warned FROM organization_limits WHERE organization_id = :org", org=organization_id
        )
        warned: list[str] = msgspec.json.decode(row[0]) if row else []
        tx.run(
            "UPDATE organization_limits SET warned = :warned WHERE organization_id = :org",
            org=organization_id,
            warned=msgspec.json.encode(near).decode(),
        )
        addresses = [
            address
            for (address,) in tx.all(
                """SELECT u.email FROM members m JOIN users u ON u.id = m.user_id
                   WHERE m.organization_id = :org AND m.role = 'admin' AND m.disabled = 0 AND u.disabled = 0
                     AND u.kind = 'person' AND u.email_verified = 1 ORDER BY u.email""",
                org=organization_id,
            )
        ]
    lines = [
        _describe(name, getattr(usage, name), getattr(limits, name)) for name in near if name not in warned
    ]
    for address in addresses if lines and context.settings.smtp_url else []:
        try:
            mail.send(
                context.settings,
                to=address,
                subject=f"{title} is near its limits",
                text="\n".join(
                    [
                        f"{title} on {context.settings.url} has:",
                        "",
                        *lines,
                        "",
                        "Ask the server administrator to raise the limits. Nothing is deleted when a limit is reached.",
                        "",
                    ]
                ),
            )
        except OctavoError as error:
            log.warning("a limit warning couldn't be sent: %s", error.message)


def _describe(name: Resource, used: int, limit: int) -> str:
    return f"- {format_amount(name, used)} of {format_amount(name, limit)} {NAMES[name]}"
