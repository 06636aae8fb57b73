"""What the tables of translations are."""

from __future__ import annotations

from typing import get_args

from ..kit.tables import Table, declare, person, row, text
from ..spaces import on_transfer
from .store import remove_of_space
from .wire import TranslationStatus

_OF_SPACES = "(space_id IN {spaces} OR source_id IN {spaces})"

declare(
    Table(
        name="translations",
        of_space=_OF_SPACES,
        columns=(person("run_by"), row("revision", "revisions")),
        values={"status": get_args(TranslationStatus)},
        json={"instructions": object, "problems": list[object]},
    ),
    Table(
        name="translated_parts",
        of_space=f"translation_id IN (SELECT id FROM translations WHERE {_OF_SPACES})",
        columns=(text("source_body"), text("body")),
    ),
    Table(
        name="translation_memory",
        of_organization="organization_id = :org",
        values={"origin": ("machine", "person")},
        long=("source", "target"),
    ),
    Table(
        name="glossary_entries",
        of_organization="organization_id = :org",
        json={"translations": dict[str, str]},
    ),
)
on_transfer(remove_of_space)
