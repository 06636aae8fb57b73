"""What the tables of answers are."""

from __future__ import annotations

from octavo.kit.db.tables import Table, declare

declare(Table(name="site_answers", stays="forgotten after a day"))
