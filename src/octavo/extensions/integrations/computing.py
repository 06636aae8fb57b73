"""Compute the pages and documents that integrations provide (``integration:NAME:SOURCE``).

Readers never wait for a script. After each change to the content that a script depends on, a job calls the script,
and stores the response until it is replaced. A source that is previewed with its own settings is computed
immediately, and cached in memory."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from functools import partial
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import UNSET

from octavo.content.revisions.computing import (
    Computed,
    ComputedSource,
    ComputeInput,
    Computer,
    NotFetchedYet,
    Requester,
    build_input,
    compute_revision,
    notify_dependency_changed,
    on_dependency_change,
    register_computer,
)
from octavo.content.revisions.expanding import source_of
from octavo.content.revisions.page_versions import list_computed
from octavo.content.revisions.states import State, main_state
from octavo.core.document.json import DocumentError, from_json
from octavo.core.document.nodes import Document
from octavo.core.pages import Page
from octavo.errors import BadRequest, NotFound, OctavoError, format_size
from octavo.kit.clock import DAY, now
from octavo.kit.context import Context
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction
from octavo.kit.work import jobs, outbox
from octavo.organization.access.reach import actor_for_job
from octavo.organization.spaces.store import get_space

from . import store
from .active import find_active
from .blocks import version_of
from .computed_pages import InputRevision, read_pages, with_own_pages
from .event_replies import Failed, ask
from .invoking import Subject
from .ordering import JOB, order_computing, order_retry
from .store import AnswerRow

log = logging.getLogger(__name__)

TYPE = "integration:"
_LARGEST = 8 * 1024 * 1024
"""Maximum size in bytes of a script's response."""
_SECONDS = 600
_RETRIES = (60, 600, 3600)
"""Numbers of seconds after which a failed script is retried."""
_UNUSED = 30 * DAY
"""Milliseconds after which an unused response is deleted."""

_fetched: OwnCache[AnswerRow] = OwnCache("integration responses", 4)
"""Responses for sources that aren't on any page, by the hash of their dependencies."""


def _read_revision(asked: ComputeInput, text: str) -> Computed:
    """Decode the pages in a response. Raises BadRequest if they are invalid."""
    try:
        return Computed(read_pages(asked, msgspec.json.decode(text, type=InputRevision)))
    except (msgspec.DecodeError, RecursionError) as error:
        raise _bad(error) from None


def _read_document(asked: ComputeInput, text: str) -> Document:
    """Decode the document in a response. Raises BadRequest if it is invalid."""
    try:
        given = msgspec.json.decode(text)
        document = from_json(given.get("document") if isinstance(given, dict) else None)
    except (msgspec.DecodeError, DocumentError, RecursionError) as error:
        raise _bad(error) from None
    return with_own_pages(document, asked.source)


def _bad(error: Exception) -> BadRequest:
    return BadRequest(f"source.type: the integration returned an invalid response: {error}"[:500])


class _Question:
    """Request for a script to compute a source, with the requester, the space, and the dependencies of the result."""

    def __init__(self, subject: Subject, source_id: str, asked: ComputeInput, whole: bool) -> None:
        installation = subject.installation
        assert installation is not None, "it is active"
        self._subject, self._source_id, self._asked = subject, source_id, asked
        self._type = "content_compute_revision" if whole else "content_compute_document"
        self._read = partial(_read_revision if whole else _read_document, asked)
        self.installation_id, self.space_id = installation.id, asked.space_id
        self.user_id = installation.user_id
        source = asked.source
        refs = {name: dependency.ref for name, dependency in source.dependencies.items()}
        there = sorted(name for name, value in asked.values.items() if value is not None)
        self.key = _hash(installation.id, asked.space_id, self._type, source.type, source.props, refs, there)
        self.made_of = _hash(self.key, version_of(subject), asked.values)

    def find(self, tx: Transaction) -> AnswerRow | None:
        return store.find_answer(tx, self.key) or _fetched.of(tx).get(self.made_of)

    def find_state(self, tx: Transaction) -> str:
        kept = store.find_answer_state(tx, self.key)
        if kept is not None:
            return kept[1]
        fetched = _fetched.of(tx).get(self.made_of)
        return fetched.state if fetched is not None else ""

    def is_fresh(self, tx: Transaction) -> bool:
        kept = store.find_answer_state(tx, self.key)
        return kept is not None and kept[0] == self.made_of

    def ask(self, context: Context) -> AnswerRow:
        """Call the script and return its response. Raises BadRequest if the response is invalid, Failed if the
        script fails, and Unavailable if it can't run right now."""
        source, values = self._asked.source, self._asked.values
        fields: dict[str, Any] = {
            "spaceId": self.space_id,
            "sourceId": self._source_id,
            "props": source.props,
            "dependencies": {
                name: {"ref": dependency.ref, "value": values[name]}
                for name, dependency in source.dependencies.items()
            },
        }
        answer = ask(context, self._subject, self._type, fields)
        if answer.status != 200:
            raise Failed("source.type: the integration failed. See its events for the reason.")
        if len(answer.body) > _LARGEST:
            raise BadRequest(f"source.type: the integration returned more than {format_size(_LARGEST)}")
        try:
            text = answer.body.decode()
        except UnicodeDecodeError:
            raise BadRequest("source.type: the integration didn't return JSON") from None
        self._read(text)
        return AnswerRow(self.made_of, _hash(text), text)

    def fetch(self, context: Context) -> None:
        """Compute a source that isn't on any page. Raises the same errors as ``ask``."""
        found = self.ask(context)
        _fetched.of(context.db).put(self.made_of, found, 500 + len(found.answer))


def _hash(*parts: object) -> str:
    return blake2b(msgspec.json.encode(parts, order="sorted"), digest_size=24).hexdigest()


# --- stored answers -------------------------------------------------------------------------------------


def _question(tx: Transaction, asked: ComputeInput, whole: bool) -> _Question:
    """Return the request to compute a source. If the space doesn't exist yet, the organization's installed
    integrations are considered.

    Raises BadRequest if no active integration provides the source."""
    _, _, named = asked.source.type.partition(":")
    name, _, source_id = named.partition(":")
    integration = store.find_integration(tx, name)
    sources = integration.manifest.content_sources if integration is not None else UNSET
    subject = None
    if integration is not None and sources and any(source.id == source_id for source in sources):
        if asked.space_id:
            subject = find_active(tx, integration, asked.organization_id, asked.space_id)
        else:
            installation = store.find_installation_in(tx, integration.id, asked.organization_id)
            active = installation is not None and installation.status == "active"
            subject = Subject(integration, installation) if active else None
    if subject is None:
        raise BadRequest(f"source.type: no active integration in this space provides {asked.source.type!r}")
    return _Question(subject, source_id, asked, whole)


def _state(tx: Transaction, asked: ComputeInput, whole: bool) -> str:
    return _question(tx, asked, whole).find_state(tx)


def _answer(tx: Transaction, asked: ComputeInput, whole: bool) -> str:
    """Return the stored response. Raises BadRequest if no active integration provides the source, and NotFetchedYet
    if there is no response yet."""
    question = _question(tx, asked, whole)
    found = question.find(tx)
    if found is None:
        raise NotFetchedYet(
            "source.type: the content hasn't been computed yet. Try again later.", question.fetch
        )
    return found.answer


def _revision(tx: Transaction, asked: ComputeInput) -> Computed:
    return _read_revision(asked, _answer(tx, asked, True))


def _document(tx: Transaction, asked: ComputeInput) -> Document:
    return _read_document(asked, _answer(tx, asked, False))


register_computer(TYPE, Computer(document=_document, revision=_revision, state=_state))


# --- asking ---------------------------------------------------------------------------------------------


@outbox.consumer("computed by integrations")
def _follow(tx: Transaction, event: outbox.Event) -> None:
    """Schedule recomputation after a change to content that computed pages depend on."""
    organization_id = event.organization_id
    if organization_id is not None and event.type == "space_content_updated":
        order_computing(tx, organization_id)


# Scripts may return more pages than their spaces contain. Pages change only if the answer does.
on_dependency_change(lambda tx, organization_id, space_ids: order_computing(tx, organization_id))


@jobs.job(JOB, bound=None, seconds=_SECONDS)
def _compute(context: Context, space_id: str, tries: int = 0) -> None:
    """Compute the pages of a space, and then their documents. Each result is stored immediately, so that an
    interrupted run can continue where it stopped."""
    with context.db.read() as tx:
        try:
            state = main_state(tx, space_id)
        except NotFound:
            return
        questions = list(_list_revisions(tx, state))
    if not questions:
        return
    changed, failed = _ask_all(context, questions)
    with context.db.read() as tx:
        documents = list(_list_documents(tx, state))
    more, later = _ask_all(context, documents)
    with context.db.write() as tx:
        keys = [question.key for question in (*questions, *documents)]
        store.keep_answers(tx, space_id, keys, now() - _UNUSED)
        organization_id = get_space(tx, space_id).organization_id
        if changed or more:
            notify_dependency_changed(tx, organization_id, [space_id])
        if (failed or later) and tries < len(_RETRIES):
            run_at = now() + _RETRIES[tries] * 1000
            order_retry(tx, organization_id, space_id, tries=tries + 1, run_at=run_at)
        jobs.finish(tx)


def _list_revisions(tx: Transaction, state: State) -> Iterator[_Question]:
    for page, source, askers in _list_sources(tx, state):
        for asker in askers:
            asked = build_input(tx, asker, source, page.id)
            yield _question(tx, asked, True)


def _list_documents(tx: Transaction, state: State) -> Iterator[_Question]:
    for page, source, askers in _list_sources(tx, state):
        for asker in askers:
            try:
                found = compute_revision(tx, asker, source, page.id)[0].pages
            except BadRequest:
                continue
            for computed in found:
                of = source_of(computed) if computed.kind == "document" else None
                if of is not None and of.type.startswith(TYPE):
                    try:
                        yield _question(tx, build_input(tx, asker, of, computed.id), False)
                    except BadRequest:
                        continue


def _list_sources(tx: Transaction, state: State) -> Iterator[tuple[Page, ComputedSource, list[Requester]]]:
    """Yield the pages that an integration computes, each with its source and with the requesters for which it is
    computed: visitors, and everyone who can see the same content as the installation."""
    organization_id = get_space(tx, state.space_id).organization_id
    visitor = Requester(state.space_id, organization_id, None)
    for page in list_computed(tx, state):
        source = source_of(page)
        if source is None or not source.type.startswith(TYPE):
            continue
        try:
            question = _question(tx, build_input(tx, visitor, source, page.id), True)
        except BadRequest:
            continue
        member = Requester(state.space_id, organization_id, actor_for_job(question.user_id, organization_id))
        yield page, source, [visitor, member] if source.dependencies else [visitor]


def _ask_all(context: Context, questions: Iterable[_Question]) -> tuple[bool, bool]:
    """Request missing and outdated responses. Return whether any response was stored, and whether any request
    failed."""
    changed = failed = False
    seen: set[str] = set()
    for question in questions:
        jobs.renew()
        with context.db.read() as tx:
            known = question.key in seen or question.is_fresh(tx)
        if known:
            continue
        seen.add(question.key)
        try:
            answer = question.ask(context)
        except OctavoError as error:
            details = {"space": question.space_id, "problem": error.message}
            log.warning("computing content failed", extra=details)
            failed = True
            continue
        with context.db.write() as tx:
            store.put_answer(tx, question.key, question.installation_id, question.space_id, answer)
        changed = True
    return changed, failed
