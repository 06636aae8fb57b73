"""The platforms whose spaces come over an API, each asked in its own way."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Literal, Protocol

from octavo.kit.net.fetch import Fetcher

from .api_client import FoundSpace
from .confluence import Confluence
from .converting import Folder
from .hosted import Remote
from .readme import ReadMe
from .sources import Source

Service = Literal["octavo", "confluence", "readme"]
"""`octavo`: another Octavo, or the hosted original."""


class Platform(Protocol):
    def find_spaces(self) -> tuple[list[FoundSpace], bool]:
        """The spaces that the token reaches, and whether those are all. Raises SourceError."""

    def open(self, space: str, folder: Folder, stack: ExitStack) -> Source:
        """A space as files of ours. Raises SourceError."""


def platform_at(
    service: Service,
    address: str,
    user: str | None,
    token: str,
    fetcher: Fetcher,
    wait: Callable[[float], None] | None = time.sleep,
    tick: Callable[[], None] = lambda: None,
) -> Platform:
    """``user``: whom the token belongs to, where the platform asks for both. ``wait``: None where nobody has the time to
    ask twice. ``tick`` is called for each answer."""
    if service == "confluence":
        return Confluence(address, user, token, fetcher, wait, tick)
    if service == "readme":
        return ReadMe(address, token, fetcher, wait, tick)
    return Remote(address, token, fetcher, wait, tick)
