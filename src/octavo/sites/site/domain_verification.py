"""The record by which a host proves whose it is."""

from __future__ import annotations

from typing import NamedTuple

from octavo.kit.context import Context


class Record(NamedTuple):
    """A TXT record."""

    name: str
    text: str


def record_of(context: Context, organization_id: str, host: str) -> Record:
    """The record that proves a host to be an organization's."""
    text = context.signer.derive("host", f"{organization_id} {host}")
    return Record(f"_octavo.{host}", f"octavo-site={text}")
