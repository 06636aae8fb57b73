"""What the process has: opened once by the composition root, handed to handlers, jobs and commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..settings import Settings
    from .db import Database
    from .files import FileStore
    from .signing import Signer


@dataclass(slots=True)
class Context:
    settings: Settings
    db: Database
    files: FileStore
    signer: Signer
