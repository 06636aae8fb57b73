"""Database access for external links and the results of checking them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from octavo.kit.clock import now
from octavo.kit.db.database import Transaction

LinkStatus = Literal["pending", "healthy", "suspect", "failed", "recovering", "canceled"]
FailureKind = Literal["client-error", "server-error", "redirect", "dns", "tls", "connection", "timeout"]
_BATCH = 500


class OutboundLinkRow(Struct, frozen=True):
    """External link in a space. ``failures``: the number of consecutive failed checks. ``next_at``: the time
    in milliseconds of the next check."""

    space_id: str
    url_key: str
    url: str
    host: str
    status: LinkStatus
    failures: int
    failure_kind: FailureKind | None
    http_status: int | None
    checked_at: int | None
    next_at: int


_LINK = ", ".join(f"l.{name}" for name in OutboundLinkRow.__struct_fields__)


def link_key(url: str) -> str:
    return hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()


def sync_links(tx: Transaction, space_id: str, wanted: Mapping[str, str]) -> None:
    """Store a space's outbound links, and delete the space's stored links that aren't in ``wanted``. ``wanted``: the
    host of each URL."""
    rows = tx.all("SELECT url_key FROM outbound_links WHERE space_id = :space", space=space_id)
    known = {row[0] for row in rows}
    hashes = {link_key(url): (url, host) for url, host in wanted.items()}
    gone = sorted(known - hashes.keys())
    for start in range(0, len(gone), _BATCH):
        tx.run(
            "DELETE FROM outbound_links WHERE space_id = :space AND url_key IN :gone",
            space=space_id,
            gone=gone[start : start + _BATCH],
        )
    tx.run_many(
        """INSERT INTO outbound_links (space_id, url_key, url, host, status, next_at)
           VALUES (:space, :hash, :url, :host, 'pending', :at) ON CONFLICT DO NOTHING""",
        (
            {"space": space_id, "hash": key, "url": url, "host": host, "at": now()}
            for key, (url, host) in sorted(hashes.items())
            if key not in known
        ),
    )


def list_due(tx: Transaction, limit: int, each: int) -> list[OutboundLinkRow]:
    """Return links to check, most overdue first. ``each``: the maximum number of links for one host."""
    rows = tx.all(
        f"""SELECT {_LINK} FROM (
              SELECT d.*, row_number() OVER (PARTITION BY d.host ORDER BY d.next_at, d.url_key) AS place
              FROM outbound_links d WHERE d.next_at <= :now) l
            WHERE l.place <= :each ORDER BY l.next_at, l.url_key LIMIT :limit""",
        now=now(),
        each=each,
        limit=limit,
    )
    return [OutboundLinkRow(*row) for row in rows]


def find_healthy(tx: Transaction, except_hosts: Sequence[str]) -> OutboundLinkRow | None:
    """Return the most recently checked working link on a host that isn't in ``except_hosts``."""
    row = tx.one(
        f"""SELECT {_LINK} FROM outbound_links l WHERE l.status = 'healthy' AND l.host NOT IN :hosts
            ORDER BY l.checked_at DESC LIMIT 1""",
        hosts=list(except_hosts),
    )
    return OutboundLinkRow(*row) if row else None


def update_links(tx: Transaction, rows: Iterable[OutboundLinkRow]) -> None:
    """Store the results of checks. Links that were deleted in the meantime are skipped."""
    tx.run_many(
        """UPDATE outbound_links SET status = :status, failures = :failures, failure_kind = :failure_kind,
             http_status = :http_status, checked_at = :checked_at, next_at = :next_at
           WHERE space_id = :space_id AND url_key = :url_key""",
        (
            {
                name: getattr(row, name)
                for name in OutboundLinkRow.__struct_fields__
                if name not in ("url", "host")
            }
            for row in sorted(rows, key=lambda row: (row.space_id, row.url_key))
        ),
    )


def list_failed(tx: Transaction, space_id: str) -> list[OutboundLinkRow]:
    """Return the links of a space that don't work, including those that will be retried."""
    rows = tx.all(
        f"""SELECT {_LINK} FROM outbound_links l
            WHERE l.space_id = :space AND l.status IN ('failed', 'recovering') ORDER BY l.url_key""",
        space=space_id,
    )
    return [OutboundLinkRow(*row) for row in rows]


def read_links(tx: Transaction, urls: Iterable[str]) -> dict[tuple[str, str], OutboundLinkRow]:
    """Return links by space and URL."""
    hashes = sorted({link_key(url) for url in urls})
    found: dict[tuple[str, str], OutboundLinkRow] = {}
    for start in range(0, len(hashes), _BATCH):
        rows = tx.all(
            f"SELECT {_LINK} FROM outbound_links l WHERE l.url_key IN :hashes",
            hashes=hashes[start : start + _BATCH],
        )
        for row in rows:
            link = OutboundLinkRow(*row)
            found[link.space_id, link.url] = link
    return found
