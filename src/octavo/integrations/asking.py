"""Events that somebody waits for: what a script renders, and what it answers at its public endpoint.

Those who wait take a thread each. No more of them do than half of a process's threads, and none more than two for one
installation: a script that hangs keeps nobody from anything else.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..deliveries import new_delivery_id
from ..errors import OctavoError, Unavailable
from ..kit.context import Context
from ..kit.fetch import FetchError
from ..runtime import Answer, ScriptFailed
from . import delivering
from .invoking import Outcome, Subject, invoke

_EACH = 2


class Failed(OctavoError):
    """The integration's script did not answer as it should."""

    status = 502


class _Gate:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: Counter[str] = Counter()

    @contextmanager
    def entered(self, key: str, most: int) -> Iterator[None]:
        """Raises Unavailable when too many wait."""
        with self._lock:
            if self._waiting[key] >= _EACH or self._waiting.total() >= most:
                raise Unavailable("This integration is busy. Try again in a moment.", **{"retry-after": "2"})
            self._waiting[key] += 1
        try:
            yield
        finally:
            with self._lock:
                self._waiting[key] -= 1
                if not self._waiting[key]:
                    del self._waiting[key]


_gate = _Gate()


def ask(
    context: Context, subject: Subject, type: str, fields: dict[str, Any], body: bytes | None = None
) -> Answer:
    """What an integration answers; the event is noted with what it logged, and alone says why it failed: whoever waits
    may be anybody. Raises Failed, Unavailable."""
    integration, installation, place = subject
    event: dict[str, Any] = {"eventId": new_delivery_id(), "type": type, **fields}
    organization_id = integration.organization_id
    if installation is not None:
        event["installationId"] = installation.id
        organization_id = installation.organization_id
    if place is not None:
        event[f"{place.kind}Id"] = place.place_id
    where = (place.kind, place.place_id) if place is not None else ("", "")

    def finished(outcome: Outcome) -> None:
        delivering.record(
            context,
            integration.id,
            installation.id if installation else None,
            organization_id,
            event,
            outcome,
            where,
        )

    key = installation.id if installation else integration.id
    with _gate.entered(key, max(2, context.settings.threads // 2)):
        try:
            return invoke(context, subject, event, finished, body=body)
        except (ScriptFailed, FetchError):
            raise Failed("This integration failed. Its events say why.") from None
