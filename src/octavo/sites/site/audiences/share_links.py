"""Share links: named URLs, each with a key. They can be disabled individually.

A key is derived from the ID of its link, so that the key can be displayed again. Keys are looked up by their hash.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from octavo.errors import Conflict, require_found
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.kit.secrets.signing import Signer
from octavo.organization.access.accounts import like_part
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.access.tokens import hash_token

from ..publishing import require_publish_permission

MAX_LINKS = 1000
_KEY = 24
"""Number of characters in a key. They represent 144 bits."""
_COLUMNS = "id, name, active, created_at"


class ShareLinkRow(Struct, frozen=True):
    id: str
    name: str
    active: int
    created_at: int


def share_key(signer: Signer, link_id: str) -> str:
    return signer.derive("share link", link_id)[:_KEY]


def find_link_by_key(tx: Transaction, site_id: str, key: str) -> ShareLinkRow | None:
    """Return the site's active link with this key; None if the key is unknown, disabled, or belongs to
    another site."""
    row = tx.one(
        f"SELECT {_COLUMNS} FROM share_links WHERE key_hash = :hash AND site_id = :site AND active = 1",
        hash=hash_token(key),
        site=site_id,
    )
    return ShareLinkRow(*row) if row else None


def find_link(tx: Transaction, site_id: str, link_id: str) -> ShareLinkRow | None:
    row = tx.one(
        f"SELECT {_COLUMNS} FROM share_links WHERE id = :id AND site_id = :site", id=link_id, site=site_id
    )
    return ShareLinkRow(*row) if row else None


def get_link(tx: Transaction, site_id: str, link_id: str) -> ShareLinkRow:
    return require_found(
        find_link(tx, site_id, link_id), f"There is no share link with the ID {link_id!r} on this site."
    )


def list_links(
    tx: Transaction, site_id: str, search: str | None, limit: int, page: str | None
) -> Slice[ShareLinkRow]:
    """List share links, newest first. ``search``: part of the name."""
    return list_page(
        tx,
        limit,
        page,
        _COLUMNS,
        "FROM share_links WHERE site_id = :site AND lower(name) LIKE :like ESCAPE '!'",
        lambda row: ShareLinkRow(*row),
        descending=True,
        site=site_id,
        like=like_part(search or ""),
    )


def create_link(tx: Transaction, context: Context, site: SiteAccess, name: str) -> ShareLinkRow:
    """Create an active link. Raises Conflict if the site has too many links, and Forbidden if the caller
    can't publish the site's content."""
    require_publish_permission(tx, site)
    count = tx.value("SELECT count(*) FROM share_links WHERE site_id = :site", site=site.site_id)
    if count >= MAX_LINKS:
        raise Conflict(
            f"A site can have at most {MAX_LINKS:,} share links. Delete one before adding another."
        )
    link_id = ids.new_id()
    tx.insert(
        "share_links",
        id=link_id,
        site_id=site.site_id,
        name=name,
        key_hash=hash_token(share_key(context.signer, link_id)),
        active=1,
        created_at=now(),
    )
    audit(
        tx,
        site.actor,
        "shareLink.created",
        site.organization_id,
        ("shareLink", link_id),
        after={"site": site.site_id, "name": name},
    )
    return get_link(tx, site.site_id, link_id)


def update_link(
    tx: Transaction, site: SiteAccess, link_id: str, values: Mapping[str, object]
) -> ShareLinkRow:
    """Rename, disable, or enable a link. Disabling takes effect immediately. Raises Forbidden if the caller
    can't publish the content that an active link opens."""
    before = get_link(tx, site.site_id, link_id)
    if values.get("active"):
        require_publish_permission(tx, site)
    columns = ", ".join(f"{name} = :{name}" for name in values)
    tx.run(f"UPDATE share_links SET {columns} WHERE id = :id", id=link_id, **values)
    was = {name: getattr(before, name) for name in values}
    audit(
        tx,
        site.actor,
        "shareLink.updated",
        site.organization_id,
        ("shareLink", link_id),
        before=was,
        after=values,
    )
    return get_link(tx, site.site_id, link_id)


def delete_link(tx: Transaction, site: SiteAccess, link_id: str) -> bool:
    """Delete a link. Return False if it doesn't exist."""
    found = find_link(tx, site.site_id, link_id)
    if found is None:
        return False
    tx.run("DELETE FROM share_links WHERE id = :id", id=link_id)
    state = {"site": site.site_id, "name": found.name}
    audit(tx, site.actor, "shareLink.removed", site.organization_id, ("shareLink", link_id), before=state)
    return True
