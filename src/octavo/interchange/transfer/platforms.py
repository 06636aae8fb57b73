"""Platforms whose spaces can be imported through an API."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Literal, Protocol

from octavo.kit.net.fetch import Fetcher

from .api_client import FoundSpace
from .confluence import Confluence
from .hosted import HostedApi
from .readme import ReadMe

if TYPE_CHECKING:
    from octavo.interchange.readers.scratch import TemporaryFiles
from octavo.core.sources import Source

Service = Literal["octavo", "confluence", "readme"]
"""Service to import from. `octavo`: another Octavo server, or GitBook."""


class Platform(Protocol):
    def find_spaces(self) -> tuple[list[FoundSpace], bool]:
        """Return the spaces that the token can access, and whether the list is complete. Raises SourceError
        if the API can't be read."""

    def open(self, space: str, folder: TemporaryFiles, stack: ExitStack) -> Source:
        """Return a space as Octavo files. Raises SourceError if it can't be read."""


def platform_at(
    service: Service,
    address: str,
    user: str | None,
    token: str,
    fetcher: Fetcher,
    wait: Callable[[float], None] | None = time.sleep,
    tick: Callable[[], None] = lambda: None,
) -> Platform:
    """Return the platform at a URL. ``user``: the owner of the token, for platforms that require it. ``wait``: a
    function that waits before a retry; None if there is no time to retry. ``tick``: a function to call for each
    response."""
    if service == "confluence":
        return Confluence(address, user, token, fetcher, wait, tick)
    if service == "readme":
        return ReadMe(address, token, fetcher, wait, tick)
    return HostedApi(address, token, fetcher, wait, tick)
