"""Common base of connectors for the APIs of services."""

from __future__ import annotations

import re
from collections.abc import Mapping

from octavo.kit.net.fetch import Fetcher

from ..client import ListGuard, SourceApi
from ..types import SourceFailure, SourceSetup


class ServiceConnector:
    """Connector for the API of a service.

    ``service``: its name, for messages. ``base``: the root URL of the API, with placeholders for settings.
    ``patterns``: for settings in that URL, a pattern that they must match, and the message if they don't match.
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
        """Return the headers that sign in to the service."""
        return {"Authorization": f"Bearer {setup.values['token']}"}

    def guard(self) -> ListGuard:
        """Return a guard for a list of the service."""
        return ListGuard(self.service)
