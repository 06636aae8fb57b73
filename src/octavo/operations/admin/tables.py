"""Declarations of the tables of server administration."""

from __future__ import annotations

from octavo.kit.db.tables import Table, declare

declare(Table(name="storage_usage", stays="the server's own"))
