"""Declare the tables for translations."""

from __future__ import annotations

from typing import get_args

from octavo.errors import PreconditionFailed
from octavo.kit.db.database import Transaction
from octavo.kit.db.tables import Table, declare, person, row, text
from octavo.organization.spaces.hooks import on_purge, on_transfer

from .store import TranslatedPart, list_languages, remove_of_space
from .types import Formality, TranslationStatus

declare(
    Table(
        name="translations",
        of_space="space_id IN {spaces}",
        columns=(person("run_by"), row("revision", "revisions")),
        values={"status": get_args(TranslationStatus), "formality": get_args(Formality)},
        json={"instructions": object, "problems": list[object]},
    ),
    Table(
        name="translated_parts",
        of_space="translation_id IN (SELECT id FROM translations WHERE space_id IN {spaces})",
        columns=(text("source_body"), text("body")),
        json={"written": TranslatedPart},
        long=("written",),
    ),
    Table(
        name="translation_memory",
        of_organization="organization_id = :org",
        values={"origin": ("machine", "person")},
        long=("source", "target"),
    ),
    Table(name="translation_memory_signs", of_organization="organization_id = :org"),
    Table(
        name="glossary_entries",
        of_organization="organization_id = :org",
        json={"translations": dict[str, str]},
    ),
)


def _refuse_move(tx: Transaction, space_id: str, organization_id: str) -> None:
    """Raise PreconditionFailed if a space has translations, because transferring the space would silently delete
    them."""
    languages = list_languages(tx, space_id)
    if languages:
        raise PreconditionFailed(
            f"This space is translated into {', '.join(languages)}. Delete its translations first; "
            "the translated spaces are kept."
        )
    remove_of_space(tx, space_id)


on_transfer(_refuse_move)
on_purge(remove_of_space)
