"""Texts of the memory that are nearly the same: shown to people who translate, with how near they are."""

from __future__ import annotations

from msgspec import Struct

from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import OrgAccess

from . import store
from .segments import readable
from .similarity import nearness, signs
from .store import TranslationRow

MAX_MATCHES = 10
NEAR = 0.5
"""The score from which a text is near."""
_CANDIDATES = 60


class Match(Struct, frozen=True):
    """``score``: as ``nearness`` says."""

    source: str
    target: str
    origin: str
    score: float
    updated_at: int


def find_matches(tx: Transaction, org: OrgAccess, row: TranslationRow, text: str) -> list[Match]:
    """The texts nearest to this one, of the memory of a translation's languages and of spaces that the caller sees;
    the nearest first, and of those what people wrote."""
    found = []
    for entry in store.list_alike(tx, org, row.source_language, row.language, signs(text), _CANDIDATES):
        score = nearness(text, entry.source)
        if score >= NEAR:
            source, target = readable(entry.source), readable(entry.target)
            found.append(Match(source, target, entry.origin, score, entry.updated_at))
    found.sort(key=lambda match: (-match.score, match.origin != "person", match.source))
    return found[:MAX_MATCHES]
