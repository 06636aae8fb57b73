"""Logs: one line an event on standard error, as text or JSON, those of libraries included."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, TextIO

import structlog

_SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def configure(form: Literal["text", "json"], stream: TextIO | None = None, level: int = logging.INFO) -> None:
    """Sets up structlog and the standard library's logging for the whole process; may be called again."""
    stream = stream or sys.stderr
    if form == "json":
        last: list[Any] = [structlog.processors.dict_tracebacks, structlog.processors.JSONRenderer()]
    else:
        last = [structlog.dev.ConsoleRenderer(colors=stream.isatty())]
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*_SHARED, structlog.stdlib.ExtraAdder()],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # These tell of every request they make, with its whole URL.
    for noisy in ("httpx", "httpcore"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    # Whoever sends what is no HTTP would fill the log.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)


@contextmanager
def bound_request(request_id: str, **fields: str) -> Iterator[None]:
    """Every log line of the block, in this thread or task, carries ``request_id`` and ``fields``."""
    with structlog.contextvars.bound_contextvars(request_id=request_id, **fields):
        yield
