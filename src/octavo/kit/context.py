"""What the process has: opened once by the composition root, handed to handlers, jobs and commands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .cache import FreshCache

if TYPE_CHECKING:
    from ..settings import Settings
    from .db import Database
    from .files import FileStore
    from .sealing import Sealer
    from .signing import Signer


@dataclass(slots=True)
class Context:
    settings: Settings
    db: Database
    files: FileStore
    signer: Signer
    sealer: Sealer
    fresh: FreshCache[Any] = field(init=False)
    """What requests ask for again and again, valid until anybody commits anything."""

    def __post_init__(self) -> None:
        self.fresh = FreshCache(self.db, 20_000)
