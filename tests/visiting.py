"""A visitor of published sites, through the reader's own application."""

from __future__ import annotations

from typing import Any

import httpx

from light_client import LightClient
from octavo.delivery.reader.app import reader_edge
from octavo.kit.context import Context
from octavo.sites.insights.queueing import EventQueue

ADDRESS = "203.0.113.9"
"""IP address of visitors as the server sees it."""


class Visitor:
    def __init__(self, context: Context) -> None:
        self.events = EventQueue(context)
        app = reader_edge(context, events=self.events)
        self._client = LightClient(app, "http://sites.test", address=ADDRESS)

    def get(self, path: str, params: dict[str, str] | None = None, **headers: Any) -> httpx.Response:
        return self._client.ask("GET", path, params=params, headers=headers)

    def head(self, path: str, **headers: Any) -> httpx.Response:
        return self._client.ask("HEAD", path, headers=headers)

    def post(self, path: str, form: dict[str, str], **headers: Any) -> httpx.Response:
        """Post a form as a browser does."""
        return self._client.ask("POST", path, data=form, headers=headers)

    def send(self, path: str, message: Any, **headers: Any) -> httpx.Response:
        """Post JSON as a program does."""
        return self._client.ask("POST", path, json=message, headers=headers)
