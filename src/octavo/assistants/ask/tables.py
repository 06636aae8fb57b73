"""Declaration of the table of answers."""

from __future__ import annotations

from octavo.kit.db.tables import Table, declare

declare(Table(name="site_answers", stays="are deleted after a day"))
