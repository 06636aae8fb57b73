"""Database access for site channels.

A channel defines where a site's assistant answers questions outside Octavo. The questions arrive through an
integration, which calls the site's API like any other script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from octavo.errors import Conflict, require_found
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess

ChannelType = Literal["slack", "discord", "linear", "github"]
ChannelRole = Literal["collaborator", "support"]
MAX_CHANNELS = 20
"""Maximum number of channels per site."""


class ChannelRow(Struct, frozen=True):
    """Channel in which a site's assistant answers questions. ``patterns``: patterns for the Slack channels, teams,
    or repositories in which the assistant answers; empty for all. ``answers``: the number of answers given in the
    channel.
    ``active``: whether an integration with the channel's name is active on the site."""

    id: str
    site_id: str
    type: str
    patterns: list[str]
    role: str
    answers: int
    created_at: int
    active: bool


_ACTIVE = """EXISTS (SELECT 1 FROM integration_places p JOIN integration_installations n ON n.id = p.installation_id
    JOIN integrations i ON i.id = n.integration_id
  WHERE p.site_id = c.site_id AND p.status = 'active' AND n.status = 'active' AND i.name = c.type)"""
_CHANNEL = f"c.id, c.site_id, c.type, c.patterns, c.role, c.answers, c.created_at, {_ACTIVE}"


def _channel(row: Sequence[object]) -> ChannelRow:
    id, site_id, type, patterns, role, answers, created_at, active = row
    decoded = msgspec.json.decode(str(patterns), type=list[str])
    return ChannelRow(id, site_id, type, decoded, role, answers, created_at, bool(active))  # type: ignore[arg-type]


def list_channels(tx: Transaction, site_id: str, limit: int, page: str | None) -> Slice[ChannelRow]:
    """Return the channels of a site, oldest first."""
    return list_page(
        tx,
        limit,
        page,
        _CHANNEL,
        "FROM site_channels c WHERE c.site_id = :site",
        _channel,
        by="c.id",
        site=site_id,
    )


def find_channel(tx: Transaction, site_id: str, channel_id: str) -> ChannelRow | None:
    row = tx.one(
        f"SELECT {_CHANNEL} FROM site_channels c WHERE c.site_id = :site AND c.id = :id",
        site=site_id,
        id=channel_id,
    )
    return _channel(row) if row else None


def get_channel(tx: Transaction, site_id: str, channel_id: str) -> ChannelRow:
    return require_found(
        find_channel(tx, site_id, channel_id), f"There is no channel with the ID {channel_id!r} on this site."
    )


def create_channel(
    tx: Transaction, site: SiteAccess, type: ChannelType, patterns: list[str], role: ChannelRole
) -> ChannelRow:
    """Create a channel. Raises Conflict if the site already has the maximum number of channels."""
    # The lock ensures that simultaneous requests count each other's channels.
    tx.one(f"SELECT id FROM sites WHERE id = :site{tx.for_update}", site=site.site_id)
    if (
        tx.value("SELECT count(*) FROM site_channels WHERE site_id = :site", site=site.site_id)
        >= MAX_CHANNELS
    ):
        raise Conflict(f"A site can have at most {MAX_CHANNELS} channels. Delete one before adding another.")
    channel_id = ids.new_id()
    tx.insert(
        "site_channels",
        id=channel_id,
        site_id=site.site_id,
        type=type,
        patterns=msgspec.json.encode(patterns).decode(),
        role=role,
        created_at=now(),
    )
    made = get_channel(tx, site.site_id, channel_id)
    _audit(tx, site, "created", channel_id, None, made)
    return made


def update_channel(
    tx: Transaction, site: SiteAccess, before: ChannelRow, patterns: list[str], role: str
) -> ChannelRow:
    tx.run(
        "UPDATE site_channels SET patterns = :patterns, role = :role WHERE id = :id",
        patterns=msgspec.json.encode(patterns).decode(),
        role=role,
        id=before.id,
    )
    after = get_channel(tx, site.site_id, before.id)
    if after != before:
        _audit(tx, site, "updated", before.id, before, after)
    return after


def delete_channel(tx: Transaction, site: SiteAccess, channel_id: str) -> bool:
    """Delete a channel. Return False if it doesn't exist."""
    before = find_channel(tx, site.site_id, channel_id)
    if before is None:
        return False
    tx.run("DELETE FROM site_channels WHERE id = :id", id=channel_id)
    _audit(tx, site, "removed", channel_id, before, None)
    return True


def find_channel_of_installation(tx: Transaction, site_id: str, installation_id: str) -> ChannelRow | None:
    """Return the site channel that an integration serves; the oldest one if there is more than one."""
    row = tx.one(
        f"""SELECT {_CHANNEL} FROM site_channels c WHERE c.site_id = :site AND c.type = (
             SELECT i.name FROM integration_installations n JOIN integrations i ON i.id = n.integration_id
              WHERE n.id = :installation) ORDER BY c.id LIMIT 1""",
        site=site_id,
        installation=installation_id,
    )
    return _channel(row) if row else None


def count_answer(tx: Transaction, site_id: str, installation_id: str) -> None:
    """Count an answer to an integration's question in the site channels that the integration serves."""
    tx.run(
        """UPDATE site_channels SET answers = answers + 1 WHERE site_id = :site AND type = (
             SELECT i.name FROM integration_installations n JOIN integrations i ON i.id = n.integration_id
              WHERE n.id = :installation)""",
        site=site_id,
        installation=installation_id,
    )


def _audit(
    tx: Transaction,
    site: SiteAccess,
    done: str,
    channel_id: str,
    before: ChannelRow | None,
    after: ChannelRow | None,
) -> None:
    def state(row: ChannelRow | None) -> dict[str, object] | None:
        return None if row is None else {"type": row.type, "allowed": row.patterns, "role": row.role}

    audit(
        tx,
        site.actor,
        f"siteChannel.{done}",
        site.organization_id,
        ("siteChannel", channel_id),
        before=state(before),
        after=state(after),
    )
