"""Events that are answered immediately: requests for a script to render output, and requests to its public
endpoint.

Each caller occupies a thread while it waits. API requests can occupy at most half of the API's threads, which
organizations share. Public endpoints have separate threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

from octavo.errors import BadGateway
from octavo.extensions.deliveries.store import new_delivery_id
from octavo.kit.context import Context
from octavo.kit.net.fetch import FetchError
from octavo.kit.runtime.process import ScriptAnswer, ScriptFailed

from . import delivering
from .invoking import ScriptOutcome, Subject, invoke


class Failed(BadGateway):
    """Raised if an integration's script failed or returned no valid response."""

    reason = "integration_failed"


_PATIENCE = 2.0
"""Number of seconds that a request waits in its thread because of other requests from the same organization."""


class _Note:
    """Record of an event. The record is written when the script has responded and its background work has ended."""

    def __init__(self, type: str, write: Callable[[ScriptOutcome], None]) -> None:
        self._type, self._write = type, write
        self._lock = threading.Lock()
        self._outcome: ScriptOutcome | None = None
        self._problem: str | None = None
        self._known = 0

    def finished(self, outcome: ScriptOutcome) -> None:
        self._outcome = outcome
        self._one_more()

    def answered(self, answer: ScriptAnswer | None) -> None:
        """Record the response. ``answer``: the script's response; None if there is none, in which case the outcome
        contains the reason."""
        self._problem = delivering.problem_in(self._type, answer) if answer is not None else None
        self._one_more()

    def _one_more(self) -> None:
        with self._lock:
            self._known += 1
            known = self._known
        if known == 2 and self._outcome is not None:
            self._write(self._outcome._replace(problem=self._outcome.problem or self._problem))


def ask(
    context: Context,
    subject: Subject,
    type: str,
    fields: Mapping[str, object],
    body: bytes | None = None,
) -> ScriptAnswer:
    """Return an integration's response to an event.

    The event is recorded with its log. The reason for a failure is stored only in the event, because callers can be
    anonymous. Raises Failed if the script fails, and Unavailable if it can't run right now."""
    integration, installation, place = subject
    event: dict[str, Any] = {"eventId": new_delivery_id(), "type": type, **fields}
    organization_id = integration.organization_id
    if installation is not None:
        event["installationId"] = installation.id
        organization_id = installation.organization_id
    if place is not None:
        event[f"{place.kind}Id"] = place.place_id
    where = (place.kind, place.place_id) if place is not None else ("", "")

    def write(outcome: ScriptOutcome) -> None:
        delivering.record(
            context,
            integration.id,
            installation.id if installation else None,
            organization_id,
            event,
            outcome,
            where,
        )

    with (
        nullcontext() if context.endpoints.is_mine() else context.scripts.place((organization_id,), _PATIENCE)
    ):
        note = _Note(type, write)
        answer = None
        try:
            answer = invoke(context, subject, event, note.finished, body=body)
        except (ScriptFailed, FetchError):
            raise Failed("The integration failed. See its events for the reason.") from None
        finally:
            note.answered(answer)
        return answer
