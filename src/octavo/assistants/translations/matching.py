"""Find segments in the translation memory that are similar to a segment, to help people translate it."""

from __future__ import annotations

from msgspec import Struct

from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import OrgAccess

from . import store
from .segments import abbreviate_tags
from .similarity import signs, similarity
from .store import TranslationRow

MAX_MATCHES = 10
NEAR = 0.5
"""Minimum score at which segments count as similar."""
_CANDIDATES = 60


class SimilarText(Struct, frozen=True):
    """Text in the translation memory that is similar to another segment. ``score``: the ``similarity`` of the two."""

    source: str
    target: str
    origin: str
    score: float
    updated_at: int


def find_matches(tx: Transaction, org: OrgAccess, row: TranslationRow, text: str) -> list[SimilarText]:
    """Return the most similar segments in the translation memory for a translation's languages, from spaces that
    the caller can see. The most similar segment comes first. Among equally similar segments, human translations
    come first."""
    found = []
    for entry in store.list_similar(tx, org, row.source_language, row.language, signs(text), _CANDIDATES):
        score = similarity(text, entry.source)
        if score >= NEAR:
            source, target = abbreviate_tags(entry.source), abbreviate_tags(entry.target)
            found.append(SimilarText(source, target, entry.origin, score, entry.updated_at))
    found.sort(key=lambda match: (-match.score, match.origin != "person", match.source))
    return found[:MAX_MATCHES]
