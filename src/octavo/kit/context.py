"""What the process has: opened once by the composition root, handed to handlers, jobs and commands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .cache import FreshCache
from .shares import SharedThreads, Shares

if TYPE_CHECKING:
    from ..settings import Settings
    from .db import Database
    from .files import FileStore
    from .sealing import Sealer
    from .signing import Signer


_ENDPOINTS = 16
"""Threads that start when they are needed: nearly all of their time they wait."""


@dataclass(slots=True)
class Context:
    settings: Settings
    db: Database
    files: FileStore
    signer: Signer
    sealer: Sealer
    fresh: FreshCache[Any] = field(init=False)
    """What requests ask for again and again, valid until anybody commits anything."""
    questions: SharedThreads = field(init=False)
    """Where models are waited for, by members and visitors."""
    endpoints: SharedThreads = field(init=False)
    """Where visitors wait for integrations."""
    scripts: Shares = field(init=False)
    """Threads of requests to the API that wait for integrations."""

    def __post_init__(self) -> None:
        self.questions = SharedThreads(
            "questions are being answered", self.settings.ask_connections, "octavo-model"
        )
        self.endpoints = SharedThreads("requests wait for integrations", _ENDPOINTS, "octavo-integration")
        self.scripts = Shares("requests wait for integrations", max(2, self.settings.threads // 2))
        self.fresh = FreshCache(self.db, 20_000)
