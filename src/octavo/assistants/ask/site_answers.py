"""Answers of a site's assistant. They are kept for a day, so that conversations can continue."""

from __future__ import annotations

import hashlib
from typing import Any, assert_never

import msgspec
from msgspec import Struct

from octavo.content.references.viewing import load_view
from octavo.content.revisions.restrictions import hidden_from, shown_state
from octavo.errors import NotFound
from octavo.kit.clock import DAY, now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.work import jobs
from octavo.organization.access.authorization import SiteAccess, VisitedSite, find_space_access
from octavo.organization.access.roles import Can

LASTS = DAY
"""Time in milliseconds for which answers are kept."""
_MAX_QUESTIONS = 10


class SiteAnswer(Struct, frozen=True):
    """Answer to a question on a site. ``questions``: the questions that led to it, ending with the question that it
    answers. ``blocks``: the content of its document, as JSON nodes. ``pages``: the pages whose text it can contain,
    each with its space. ``previous``: the ID of the answer that it continues."""

    questions: list[str]
    blocks: list[dict[str, Any]]
    followups: list[str]
    pages: list[tuple[str, str]]
    previous: str | None = None


class _KeptAnswer(Struct, frozen=True, array_like=True):
    blocks: list[dict[str, Any]]
    followups: list[str]
    previous: str | None = None
    pages: list[tuple[str, str]] = []


def get_visible_answer(tx: Transaction, site: SiteAccess | VisitedSite, answer_id: str) -> SiteAnswer:
    """Return an answer. Raises NotFound under the same conditions as ``get_answer``, or if the answer may quote a
    page that the caller can no longer see."""
    found = get_answer(tx, site, answer_id)
    if not all(_sees(tx, site, *page) for page in found.pages):
        raise _missing(answer_id)
    return found


def _sees(tx: Transaction, site: SiteAccess | VisitedSite, space_id: str, page_id: str) -> bool:
    match site:
        case VisitedSite(visitor=visitor):
            if space_id not in visitor.spaces:
                return False
            view = load_view(tx, shown_state(tx, visitor.drafted, space_id), visitor.claims)
            return view.tree.page(page_id) is not None
        case SiteAccess():
            space = find_space_access(tx, site.actor, Can.VIEW, space_id)
            return space is not None and page_id not in hidden_from(tx, site.organization).of(space_id)
        case _:
            assert_never(site)


def _missing(answer_id: str) -> NotFound:
    return NotFound(f"There is no response with the ID {answer_id!r}.")


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
        raise _missing(answer_id)
    kept = msgspec.json.decode(row[1], type=_KeptAnswer)
    questions = msgspec.json.decode(row[0], type=list[str])
    return SiteAnswer(questions, kept.blocks, kept.followups, kept.pages, kept.previous)


def _asker(site: SiteAccess | VisitedSite) -> str:
    """Return a key for the person asking. Each member has their own key, and visitors who see the same content share a
    key. People can get only answers that were given to someone with their key."""
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
                    _KeptAnswer(answer.blocks, answer.followups, answer.previous, answer.pages)
                ).decode(),
                created_at=now(),
            )


@jobs.job("pruneSiteAnswers", bound="everything that expired since the last run")
def prune_answers(context: Context) -> None:
    """Delete expired answers."""
    with context.db.write() as tx:
        tx.run("DELETE FROM site_answers WHERE created_at <= :before", before=now() - LASTS)


jobs.schedule("pruneSiteAnswers", 3600, "pruneSiteAnswers")
