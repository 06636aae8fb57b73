"""Answers of a site's assistant. They are kept for a day, so that conversations can continue."""

from __future__ import annotations

import hashlib
from typing import Any, assert_never

import msgspec
from msgspec import Struct

from octavo.errors import NotFound
from octavo.kit.clock import DAY, now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.work import jobs
from octavo.organization.access.authorization import SiteAccess, VisitedSite

LASTS = DAY
"""Time in milliseconds for which answers are kept."""
_MAX_QUESTIONS = 10


class SiteAnswer(Struct, frozen=True):
    """Answer to a question on a site. ``questions``: the questions that led to it, ending with the question that it
    answers. ``blocks``: the content of its document, as JSON nodes. ``previous``: the ID of the answer that it
    continues."""

    questions: list[str]
    blocks: list[dict[str, Any]]
    followups: list[str]
    previous: str | None = None


class _KeptAnswer(Struct, frozen=True, array_like=True):
    blocks: list[dict[str, Any]]
    followups: list[str]
    previous: str | None = None


def get_answer(tx: Transaction, site: SiteAccess | VisitedSite, answer_id: str) -> SiteAnswer:
    """Return an answer. Raises NotFound if it has expired or if someone else received it."""
    row = tx.one(
        """SELECT questions, answer FROM site_answers
           WHERE id = :id AND site_id = :site AND asker = :asker AND created_at > :since""",
        id=answer_id,
        site=site.site_id,
        asker=_asker(site),
        since=now() - LASTS,
    )
    if row is None:
        raise NotFound(f"There is no response with the ID {answer_id!r}.")
    kept = msgspec.json.decode(row[1], type=_KeptAnswer)
    questions = msgspec.json.decode(row[0], type=list[str])
    return SiteAnswer(questions, kept.blocks, kept.followups, kept.previous)


def _asker(site: SiteAccess | VisitedSite) -> str:
    """Return a key for the asker, which is either a member or all visitors who see the same content. Only askers
    with the same key share answers."""
    match site:
        case VisitedSite(visitor=visitor):
            who: tuple[object, ...] = ("", (visitor.claims, sorted(visitor.spaces), visitor.preview))
        case SiteAccess():
            who = (site.user_id, None)
        case _:
            assert_never(site)
    return hashlib.sha256(msgspec.json.encode(who, order="sorted")).hexdigest()


def keep_answer(context: Context, site: SiteAccess | VisitedSite, answer_id: str, answer: SiteAnswer) -> None:
    """Store a complete answer. If the site was deleted in the meantime, the answer isn't stored, and the caller
    can't continue from it."""
    with context.db.write() as tx:
        alive = tx.value(f"SELECT id FROM sites WHERE id = :site{tx.for_update}", site=site.site_id)
        if alive is not None:
            tx.insert(
                "site_answers",
                id=answer_id,
                site_id=site.site_id,
                asker=_asker(site),
                questions=msgspec.json.encode(answer.questions[-_MAX_QUESTIONS:]).decode(),
                answer=msgspec.json.encode(
                    _KeptAnswer(answer.blocks, answer.followups, answer.previous)
                ).decode(),
                created_at=now(),
            )


@jobs.job("pruneSiteAnswers", bound="everything that expired since the last run")
def prune_answers(context: Context) -> None:
    """Delete expired answers."""
    with context.db.write() as tx:
        tx.run("DELETE FROM site_answers WHERE created_at <= :before", before=now() - LASTS)


jobs.schedule("pruneSiteAnswers", 3600, "pruneSiteAnswers")
