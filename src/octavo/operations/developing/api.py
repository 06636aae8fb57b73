"""Calling the API of an installation, here or elsewhere, with somebody's token."""

from __future__ import annotations

import re
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

from octavo.errors import BadRequest, OctavoError, Unavailable

_SECONDS = 60
_TOKEN = re.compile(r"[\x21-\x7e]{1,8192}")


class RefusedCall(OctavoError):
    """The API refused a call; ``code`` is the HTTP status."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Api:
    """``url``: of the API, without ``/v1``."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url.rstrip("/")
        if not self.url.startswith(("http://", "https://")):
            raise BadRequest(f"--url: expected an address such as https://docs.example.com, got {url!r}")
        if not _TOKEN.fullmatch(token):
            raise BadRequest("--token-file: expected a file with one token in it, and nothing else")
        headers = {"authorization": f"Bearer {token}"}
        try:
            self._client = httpx.Client(base_url=f"{self.url}/v1", headers=headers, timeout=_SECONDS)
        except httpx.InvalidURL as error:
            raise BadRequest(f"--url: {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """The answer, None where there is none. Raises RefusedCall, Unavailable."""
        try:
            answer = self._client.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise Unavailable(
                f"{self.url} does not answer ({error}). Does the server run? --url says where it is."
            ) from None
        if answer.status_code == 401:
            raise RefusedCall(f"{self.url} does not know this token. --token-file names another.", 401)
        try:
            given = answer.json() if answer.content else None
        except ValueError:
            raise Unavailable(
                f"{self.url} answers, but not as the API does. Is it the right address?"
            ) from None
        if not answer.is_success:
            raise RefusedCall(
                _message(given) or f"{self.url} answered {answer.status_code}", answer.status_code
            )
        return given

    def only_organization(self) -> str:
        """The id of the organization, when the token's owner is in no other. Raises BadRequest that lists them."""
        found = self.call("GET", "/orgs")["items"]
        if len(found) == 1:
            return str(found[0]["id"])
        known = ", ".join(f"{one['id']} ({one['title']})" for one in found) or "none"
        raise BadRequest(
            f"say with --org, or in the manifest, which organization publishes; yours are: {known}"
        )


def integration_path(name: str) -> str:
    """Where an integration is in the API."""
    return f"/integrations/{quote(name, safe='')}"


def _message(given: Any) -> str | None:
    error = given.get("error") if isinstance(given, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    return message if isinstance(message, str) else None
