"""What the assistant of a site answered: kept for a day so that a conversation can go on."""

from __future__ import annotations

import hashlib
from typing import Any, assert_never

import msgspec
from msgspec import Struct

from ..access import SiteAccess, VisitedSite
from ..errors import NotFound
from ..kit import jobs
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Transaction

LASTS = 24 * 3_600_000
"""Milliseconds for which an answer is kept."""
_MAX_QUESTIONS = 10


class SiteAnswer(Struct, frozen=True):
    """``questions``: those that led to it, the last one its own. ``blocks``: its document as JSON nodes."""

    questions: list[str]
    blocks: list[dict[str, Any]]
    followups: list[str]


def get_answer(tx: Transaction, site: SiteAccess | VisitedSite, answer_id: str) -> SiteAnswer:
    """Raises NotFound for one that was given to somebody else, or too long ago."""
    row = tx.one(
        """SELECT questions, answer FROM site_answers
           WHERE id = :id AND site_id = :site AND asker = :asker AND created_at > :since""",
        id=answer_id,
        site=site.site_id,
        asker=_asker(site),
        since=now() - LASTS,
    )
    if row is None:
        raise NotFound(f"There is no response {answer_id!r}.")
    blocks, followups = msgspec.json.decode(row[1], type=tuple[list[dict[str, Any]], list[str]])
    return SiteAnswer(msgspec.json.decode(row[0], type=list[str]), blocks, followups)


def _asker(site: SiteAccess | VisitedSite) -> str:
    """Who asks: a member, or a visitor by what they see. It depends on that what an answer may say."""
    match site:
        case VisitedSite(visitor=visitor):
            who: tuple[object, ...] = ("", (visitor.claims, sorted(visitor.spaces), visitor.preview))
        case SiteAccess():
            who = (site.user_id, None)
        case _:
            assert_never(site)
    return hashlib.sha256(msgspec.json.encode(who, order="sorted")).hexdigest()


def keep_answer(context: Context, site: SiteAccess | VisitedSite, answer_id: str, answer: SiteAnswer) -> None:
    """Keeps a complete answer. What took time to write is given, even when its site is gone by now; only then nobody
    goes on from it."""
    with context.db.write() as tx:
        alive = tx.value(f"SELECT id FROM sites WHERE id = :site{tx.for_update}", site=site.site_id)
        if alive is not None:
            tx.run(
                """INSERT INTO site_answers (id, site_id, asker, questions, answer, created_at)
                   VALUES (:id, :site, :asker, :questions, :answer, :at)""",
                id=answer_id,
                site=site.site_id,
                asker=_asker(site),
                questions=msgspec.json.encode(answer.questions[-_MAX_QUESTIONS:]).decode(),
                answer=msgspec.json.encode((answer.blocks, answer.followups)).decode(),
                at=now(),
            )


@jobs.job("pruneSiteAnswers", bound="what expired since the last one")
def prune_answers(context: Context) -> None:
    """Forgets answers that can no longer be asked for."""
    with context.db.write() as tx:
        tx.run("DELETE FROM site_answers WHERE created_at <= :before", before=now() - LASTS)


jobs.schedule("pruneSiteAnswers", 3600, "pruneSiteAnswers")
