"""DNS record that verifies that a host belongs to an organization."""

from __future__ import annotations

from typing import NamedTuple

from octavo.kit.context import Context


class TxtRecord(NamedTuple):
    """DNS TXT record."""

    name: str
    text: str


def verification_record(context: Context, organization_id: str, host: str) -> TxtRecord:
    """Return the record that verifies that a host belongs to an organization."""
    text = context.signer.derive("host", f"{organization_id} {host}")
    return TxtRecord(f"_octavo.{host}", f"octavo-site={text}")
