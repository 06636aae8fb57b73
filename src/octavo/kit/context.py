"""Resources of a process. The composition root opens them once and passes them to handlers, jobs, and commands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from octavo.core.app_urls import AppAddresses
from octavo.kit.db.cache import FreshCache, share
from octavo.kit.scheduling.rates import OrganizationRates, RateLimiter
from octavo.kit.scheduling.shares import LoopTurns, SharedThreads, Shares
from octavo.kit.work.maintenance import WriteGate

if TYPE_CHECKING:
    from octavo.kit.db.database import Database
    from octavo.kit.secrets.sealing import Sealer
    from octavo.kit.secrets.signing import Signer
    from octavo.settings import Settings

    from .files import FileStore


_ENDPOINTS = 16
_SERVERS = 8
"""Maximum number of threads that wait for other servers. The threads are started on demand, and spend most of their
time waiting."""
_DOCUMENTS, _FETCHES = 4, 20
"""Maximum number of apps' client metadata documents to fetch at the same time, and maximum number of these fetches per
minute for one IP address."""


_FRESH = share("repeated queries", 16)
_ANSWERS = share("search results", 16)
_PER_BYTE = 3
"""Estimated number of bytes in memory for each byte of JSON."""


def _measure(answer: object) -> int:
    return _PER_BYTE * len(msgspec.json.encode(answer))


@dataclass(slots=True)
class Context:
    settings: Settings
    db: Database
    files: FileStore
    signer: Signer
    sealer: Sealer
    fresh: FreshCache[Any] = field(init=False)
    """Cache of values that many requests need. Each value is valid until the next commit."""
    answers: FreshCache[Any] = field(init=False)
    """Cache of responses that take a long time to compute. Each response is valid until the next commit."""
    questions: SharedThreads = field(init=False)
    """Threads in which members and visitors wait for language models."""
    endpoints: SharedThreads = field(init=False)
    """Threads in which visitors wait for integrations."""
    servers: SharedThreads = field(init=False)
    """Threads in which members wait for other servers."""
    scripts: Shares = field(init=False)
    """Slots for API requests that wait for integrations."""
    documents: Shares = field(init=False)
    """Slots for threads that wait for apps' client metadata documents, shared by the API and sites."""
    document_fetches: RateLimiter = field(init=False)
    """Rate limiter for fetches of apps' client metadata documents, by client IP address."""
    turns: LoopTurns = field(init=False)
    """Turns for running on the event loop, shared by the API and sites."""
    organization_rates: OrganizationRates = field(default_factory=OrganizationRates)
    """Rate limits for organizations."""
    gate: WriteGate = field(init=False)
    """Gate for changes, closed in maintenance mode."""

    def __post_init__(self) -> None:
        self.questions = SharedThreads(
            "questions are being answered", self.settings.ask_connections, "octavo-model"
        )
        self.endpoints = SharedThreads(
            "requests are waiting for integrations", _ENDPOINTS, "octavo-integration"
        )
        self.servers = SharedThreads("requests are waiting for other servers", _SERVERS, "octavo-server")
        self.scripts = Shares("requests are waiting for integrations", max(2, self.settings.threads // 2))
        self.documents = Shares("app documents are being fetched", _DOCUMENTS)
        self.document_fetches = RateLimiter(_FETCHES)
        self.turns = LoopTurns("requests are being processed", max(1, self.settings.connections // 2))
        self.gate = WriteGate(self.db)
        self.fresh = FreshCache(self.db, _FRESH)
        self.answers = FreshCache(self.db, _ANSWERS, _measure)

    @property
    def app(self) -> AppAddresses:
        """Return the URLs of the app."""
        return AppAddresses(self.settings.url)

    def url(self, path: str) -> str:
        """Return the public URL of an API path (under ``/v1``)."""
        return f"{self.settings.url}/v1{path}"
