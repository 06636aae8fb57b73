"""Send requests to the APIs of Git providers, such as reporting the result of a commit as a commit status."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, Literal
from urllib.parse import quote, unquote

import msgspec
from msgspec import Struct

from octavo.core.problems import Problem
from octavo.errors import BadRequest, OctavoError
from octavo.kit.net.fetch import Fetcher, Limits

from .credentials import Credential
from .urls import Remote

_LIMITS = Limits(size=256 * 1024, seconds=20, follow=False)
_MOST_DESCRIPTION = 140
_STATES = {
    "github": {"success": "success", "failure": "failure"},
    "gitlab": {"success": "success", "failure": "failed"},
    "gitea": {"success": "success", "failure": "failure"},
    "bitbucket": {"success": "SUCCESSFUL", "failure": "FAILED"},
}


class CommitStatus(Struct, frozen=True):
    """Status of a commit. ``name``: a name that distinguishes the statuses of different spaces. ``key``: a short
    identifier with the same purpose, for providers that require an identifier. ``url``: the page with details."""

    commit: str
    state: Literal["success", "failure"]
    description: str
    url: str
    name: str
    key: str


class ProviderRequest(Struct, frozen=True):
    url: str
    headers: dict[str, str]
    body: bytes


def require_provider_api(remote: Remote, provider: str, credential: str | None, field: str) -> None:
    """Raise BadRequest, naming ``field``, if the provider's API can't be used."""
    if provider not in _STATES:
        raise BadRequest(f"{field}: requires a repository on GitHub, GitLab, Gitea, Forgejo, or Bitbucket")
    if remote.scheme not in ("http", "https") or credential is None:
        raise BadRequest(f"{field}: requires an HTTPS URL and an access token")
    if len(_parts(remote)) < 2:
        raise BadRequest(f"{field}: requires a repository URL with an owner and a name")
    if provider == "bitbucket" and remote.host != "bitbucket.org":
        raise BadRequest(f"{field}: is supported only for bitbucket.org, not for other Bitbucket servers")


def repository_api(remote: Remote, provider: str, credential: Credential) -> tuple[str, dict[str, str]]:
    """Return the URL of a repository in its provider's API, and the headers for all requests to it."""
    origin = remote.url.removesuffix(remote.path)
    parts = _parts(remote)
    owner, name = (quote(part, safe="") for part in parts[-2:])
    above = "".join(f"/{quote(part, safe='')}" for part in parts[:-2])
    headers = {"accept": "application/json", "content-type": "application/json"}
    if provider == "github":
        base = "https://api.github.com" if remote.host == "github.com" else f"{origin}/api/v3"
        headers |= {"accept": "application/vnd.github+json", "x-github-api-version": "2022-11-28"}
        headers["authorization"] = _authorization(credential, "Bearer")
        return f"{base}/repos/{owner}/{name}", headers
    if provider == "gitlab":
        if credential.kind == "oauth":
            headers["authorization"] = _authorization(credential, "Bearer")
        else:
            headers["private-token"] = credential.secret
        return f"{origin}/api/v4/projects/{quote('/'.join(parts), safe='')}", headers
    if provider == "gitea":
        headers["authorization"] = _authorization(credential, "token")
        return f"{origin}{above}/api/v1/repos/{owner}/{name}", headers
    headers["authorization"] = _authorization(credential, "Bearer")
    return f"https://api.bitbucket.org/2.0/repositories/{owner}/{name}", headers


def status_request(
    remote: Remote, provider: str, credential: Credential, status: CommitStatus
) -> ProviderRequest:
    """Return the request that reports a status through the provider's public API. Raises BadRequest if the provider
    doesn't have an API for that."""
    require_provider_api(remote, provider, credential.kind, "commitStatuses")
    base, headers = repository_api(remote, provider, credential)
    state = _STATES[provider][status.state]
    description = status.description[:_MOST_DESCRIPTION]
    body: dict[str, Any] = {"state": state, "target_url": status.url, "description": description}
    url = f"{base}/statuses/{status.commit}"
    if provider == "bitbucket":
        url = f"{base}/commit/{status.commit}/statuses/build"
        body = {
            "key": status.key,
            "state": state,
            "name": status.name,
            "url": status.url,
            "description": description,
        }
    else:
        body["name" if provider == "gitlab" else "context"] = status.name
    return ProviderRequest(url, headers, msgspec.json.encode(body))


def send_status(
    fetcher: Fetcher,
    remote: Remote,
    provider: str,
    find_credential: Callable[[], Credential | None],
    status: CommitStatus,
) -> list[Problem]:
    """Report a status to the provider. If the request fails, return the problem instead of raising it, because a
    failed report must not make a sync fail."""
    try:
        credential = find_credential()
        if credential is None:
            raise BadRequest("the access token is missing; add one in the sync settings")
        request = status_request(remote, provider, credential, status)
        answer = fetcher.fetch(request.url, "POST", request.headers, request.body, _LIMITS)
    except OctavoError as error:
        return [_problem(status, error.message)]
    if answer.status not in (200, 201):
        return [
            _problem(
                status,
                f"the Git provider responded with status {answer.status}; check that the token "
                "can write commit statuses",
            )
        ]
    return []


def _problem(status: CommitStatus, message: str) -> Problem:
    return Problem(
        "", 0, "commit_status", f"the status of {status.commit[:12]} couldn't be reported: {message}"
    )


def _parts(remote: Remote) -> list[str]:
    return [part for part in unquote(remote.path).removesuffix(".git").split("/") if part]


def _authorization(credential: Credential, scheme: str) -> str:
    if credential.kind == "password":
        pair = f"{credential.user}:{credential.secret}".encode()
        return f"Basic {base64.b64encode(pair).decode()}"
    return f"{scheme} {credential.secret}"
