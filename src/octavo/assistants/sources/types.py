"""Types shared by context sources and their connectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from octavo.core.sentences import shorten

RecordType = Literal["ticket", "document"]
ConnectionStatus = Literal["pending", "syncing", "succeeded", "failed"]
FailureReason = Literal["authentication", "misconfigured", "rate_limited", "upstream_unavailable", "unknown"]
MAX_RECORDS = 100_000
"""Maximum number of records per site."""
MAX_BODY = 100_000
HIDDEN = "••••••••"
"""Placeholder for secrets in responses."""
_TITLE, _DESCRIPTION, _URL = 256, 512, 2048


class SourceFailure(Exception):
    """Raised if a source can't be read. It contains a reason, and a message for people."""

    def __init__(self, reason: FailureReason, message: str) -> None:
        super().__init__(message)
        self.reason: FailureReason = reason
        self.message = message


class SourceRecord(Struct, frozen=True, kw_only=True):
    """Record of a source. ``id``: the record's ID in the source. ``body``: Markdown or plain text.
    ``created_at``: the creation time in milliseconds; None if unknown."""

    id: str
    type: RecordType
    title: str
    body: str
    description: str | None = None
    url: str | None = None
    created_at: int | None = None
    metadata: Mapping[str, str | int | float] = {}

    def limited(self) -> SourceRecord:
        """Return the record truncated to the limits, without characters that can't be stored."""
        return SourceRecord(
            id=_storable(self.id)[:255],
            type=self.type,
            title=shorten(" ".join(_storable(self.title).split()), _TITLE) or "Untitled",
            body=_storable(self.body)[:MAX_BODY],
            description=shorten(_storable(self.description), _DESCRIPTION) if self.description else None,
            url=self.url
            if self.url is not None and len(self.url) <= _URL and self.url.isprintable()
            else None,
            created_at=self.created_at,
            metadata={
                _storable(name)[:100]: _storable(value)[:2000] if isinstance(value, str) else value
                for name, value in list(self.metadata.items())[:100]
            },
        )


def _storable(text: str) -> str:
    return text.replace("\0", "").encode("utf-8", "replace").decode()


class SourceBatch(Struct, frozen=True):
    """Batch of records in a sync. ``cursor``: the position after this batch, which is stored together with its
    records."""

    records: Sequence[SourceRecord]
    cursor: str


class SourceSetup(Struct, frozen=True):
    """Settings of a connection, with its secrets. ``cursor``: the position from which to continue; empty for a full
    sync. ``tick``: a function to call regularly during a long batch."""

    values: Mapping[str, str]
    cursor: str = ""
    tick: Callable[[], None] = lambda: None


class Connector(Protocol):
    """Kind of source. Its methods raise SourceFailure if the source can't be read.

    ``fields``: the names of its settings. ``secrets``: the names of the settings that are stored encrypted.
    ``complete``: whether every sync reads all records, so that missing records can be deleted."""

    name: str
    fields: tuple[str, ...]
    secrets: tuple[str, ...]
    complete: bool

    def test(self, setup: SourceSetup) -> None:
        """Check that the source can be read."""

    def read(self, setup: SourceSetup) -> Iterator[SourceBatch]:
        """Yield batches of the records that are new or changed since the cursor, oldest change first."""
