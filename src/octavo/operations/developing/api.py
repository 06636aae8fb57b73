"""Client that calls the API of a local or remote Octavo server with a person's token."""

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
    """Error response from the API. ``code``: the HTTP status."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class ApiClient:
    """API client. ``url``: the URL of the server, without ``/v1``."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url.rstrip("/")
        if not self.url.startswith(("http://", "https://")):
            raise BadRequest(f"--url: must be a URL such as https://docs.example.com, not {url!r}")
        if not _TOKEN.fullmatch(token):
            raise BadRequest("--token-file: must be a file that contains only a token")
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

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Return the decoded response; None if it is empty. Raises RefusedCall if the API returns an error, and
        Unavailable if there is no response."""
        try:
            answer = self._client.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise Unavailable(
                f"{self.url} can't be reached ({error}). Check that the server is running and that --url is"
                " correct."
            ) from None
        if answer.status_code == 401:
            raise RefusedCall(
                f"{self.url} rejected the token. Use --token-file to provide another token.", 401
            )
        try:
            given = answer.json() if answer.content else None
        except ValueError:
            raise Unavailable(f"{self.url} didn't respond like the Octavo API. Check --url.") from None
        if not answer.is_success:
            raise RefusedCall(
                _message(given) or f"{self.url} responded with status {answer.status_code}.",
                answer.status_code,
            )
        return given

    def only_organization(self) -> str:
        """Return the ID of the token owner's only organization. Raises BadRequest with a list of organizations if
        there is more than one."""
        found = self.call("GET", "/orgs")["items"]
        if len(found) == 1:
            return str(found[0]["id"])
        known = ", ".join(f"{one['id']} ({one['title']})" for one in found) or "none"
        raise BadRequest(
            "The publishing organization isn't set. Choose one with --org or in the manifest. Your"
            f" organizations: {known}"
        )


def integration_path(name: str) -> str:
    """Return an integration's API path."""
    return f"/integrations/{quote(name, safe='')}"


def _message(given: object) -> str | None:
    error = given.get("error") if isinstance(given, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    return message if isinstance(message, str) else None
