"""Common base of connectors for services with an API."""

from __future__ import annotations

import re
from collections.abc import Mapping

from octavo.kit.net.fetch import Fetcher

from ..client import ListGuard, SourceApi
from ..types import SourceFailure, SourceSetup


class ServiceConnector:
    """Connector for the API of a service.

    ``service``: the name of the service, for messages. ``base``: the root URL of the API, with placeholders for
    settings. ``patterns``: for each setting in that URL, the pattern that it must match, and the message if it
    doesn't match.
    """

    name: str
    service: str
    base: str
    fields: tuple[str, ...] = ("token",)
    secrets: tuple[str, ...] = ("token",)
    complete = False
    patterns: Mapping[str, tuple[re.Pattern[str], str]] | None = None

    def __init__(self, fetcher: Fetcher) -> None:
        self.fetcher = fetcher

    def api(self, setup: SourceSetup) -> SourceApi:
        """Return the client for a connection. Raises SourceFailure if a setting is invalid."""
        for name, (pattern, message) in (self.patterns or {}).items():
            if not pattern.fullmatch(setup.values[name]):
                raise SourceFailure("misconfigured", message)
        return SourceApi(self.service, self.base.format(**setup.values), self.fetcher, self.headers(setup))

    def headers(self, setup: SourceSetup) -> dict[str, str]:
        """Return the headers that authenticate requests to the service."""
        return {"Authorization": f"Bearer {setup.values['token']}"}

    def guard(self) -> ListGuard:
        """Return a guard for reading a list from the service."""
        return ListGuard(self.service)
