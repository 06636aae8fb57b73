"""Log slow requests and slow statements, using thresholds for the whole process."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from .tracing import TracedCursor

log = logging.getLogger(__name__)

_EXPLAINED = re.compile(r"\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\b", re.I)
"""Pattern for statements that have a query plan."""
_LINES = 60
"""Maximum number of lines of a query plan to log."""


class Thresholds:
    """Thresholds in seconds above which requests and statements count as slow; None to turn off logging. There is
    one instance, ``THRESHOLDS``."""

    __slots__ = ("request", "statement")

    def __init__(self) -> None:
        self.request: float | None = None
        self.statement: float | None = None


THRESHOLDS = Thresholds()


Execute = Callable[[str, Any], TracedCursor]
Explain = Callable[[str, Any], Sequence[str]]


def note_request(operation: str, method: str, status: int, seconds: float) -> None:
    """Log a request if it was slow."""
    if THRESHOLDS.request is not None and seconds >= THRESHOLDS.request:
        log.warning(
            "slow request",
            extra={"operation": operation, "method": method, "status": status, "seconds": round(seconds, 3)},
        )


def watched(execute: Execute, explain: Explain) -> Execute:
    """Wrap a function that executes statements, so that slow statements are logged. If there is no threshold,
    return the function itself.

    ``explain``: a function that returns the query plan for a statement and its parameters. Log lines don't contain
    parameters.
    """
    if THRESHOLDS.statement is None:
        return execute

    def measure(sql: str, parameters: object) -> TracedCursor:
        began = time.perf_counter()
        cursor = execute(sql, parameters)
        return _Watched(cursor, sql, parameters, explain, time.perf_counter() - began)

    return measure


class _Watched:
    """Cursor that also measures the time for fetching rows, because SQLite does most of its work while rows are
    fetched."""

    __slots__ = ("_cursor", "_explain", "_parameters", "_seconds", "_sql")

    def __init__(
        self, cursor: TracedCursor, sql: str, parameters: object, explain: Explain, seconds: float
    ) -> None:
        self._cursor, self._sql, self._parameters, self._explain = cursor, sql, parameters, explain
        self._seconds = 0.0
        self._add(seconds)

    @property
    def rowcount(self) -> int:
        return self._cursor.rowcount

    def fetchone(self) -> tuple[object, ...] | None:
        began = time.perf_counter()
        row = self._cursor.fetchone()
        self._add(time.perf_counter() - began)
        return row

    def fetchall(self) -> list[tuple[object, ...]]:
        began = time.perf_counter()
        rows = self._cursor.fetchall()
        self._add(time.perf_counter() - began)
        return rows

    def _add(self, seconds: float) -> None:
        """Add a duration, and log the statement if its total duration has reached the threshold."""
        least = THRESHOLDS.statement
        was_slow = least is None or self._seconds >= least
        self._seconds += seconds
        if was_slow or least is None or self._seconds < least:
            return
        plan: Sequence[str] = []
        if _EXPLAINED.match(self._sql):
            # A statement that can't be explained is logged without its plan.
            with suppress(Exception):
                plan = self._explain(self._sql, self._parameters)
        log.warning(
            "slow statement",
            extra={
                "seconds": round(self._seconds, 3),
                "statement": " ".join(self._sql.split()),
                "plan": list(plan[:_LINES]),
            },
        )
