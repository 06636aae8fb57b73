"""What hosters of repositories are told over their APIs: what became of a commit, as its status."""

from __future__ import annotations

import base64
from typing import Any, Literal
from urllib.parse import quote, unquote

import msgspec
from msgspec import Struct

from ..core.problems import Problem
from ..errors import BadRequest, OctavoError
from ..kit.fetch import Fetcher, Limits
from .addresses import Remote
from .credentials import Credential

_LIMITS = Limits(size=256 * 1024, seconds=20, follow=False)
_MOST_DESCRIPTION = 140
_STATES = {
    "github": {"success": "success", "failure": "failure"},
    "gitlab": {"success": "success", "failure": "failed"},
    "gitea": {"success": "success", "failure": "failure"},
    "bitbucket": {"success": "SUCCESSFUL", "failure": "FAILED"},
}


class CommitStatus(Struct, frozen=True):
    """``name`` tells the statuses of several spaces apart, ``key`` does so for machines; ``url`` is where people read
    more."""

    commit: str
    state: Literal["success", "failure"]
    description: str
    url: str
    name: str
    key: str


class Request(Struct, frozen=True):
    url: str
    headers: dict[str, str]
    body: bytes


def require_reportable(remote: Remote, provider: str, credential: str | None) -> None:
    """Raises BadRequest where a hoster cannot be told of commits."""
    if provider not in _STATES:
        raise BadRequest(
            "commitStatuses: expected a repository at GitHub, GitLab, Gitea, Forgejo or Bitbucket"
        )
    if remote.scheme not in ("http", "https") or credential is None:
        raise BadRequest("commitStatuses: a hoster is told with the token of an https address")
    if len(_parts(remote)) < 2:
        raise BadRequest("commitStatuses: the address names no owner and repository")
    if provider == "bitbucket" and remote.host != "bitbucket.org":
        raise BadRequest("commitStatuses: of Bitbucket only bitbucket.org is told")


def status_request(remote: Remote, provider: str, credential: Credential, status: CommitStatus) -> Request:
    """What a hoster is sent, as its public API has it. Raises BadRequest where there is no way."""
    require_reportable(remote, provider, credential.kind)
    origin = remote.url.removesuffix(remote.path)
    parts = _parts(remote)
    owner, name = (quote(part, safe="") for part in parts[-2:])
    above = "".join(f"/{quote(part, safe='')}" for part in parts[:-2])
    state = _STATES[provider][status.state]
    description = status.description[:_MOST_DESCRIPTION]
    headers = {"accept": "application/json", "content-type": "application/json"}
    body: dict[str, Any] = {"state": state, "target_url": status.url, "description": description}
    if provider == "github":
        base = "https://api.github.com" if remote.host == "github.com" else f"{origin}/api/v3"
        url = f"{base}/repos/{owner}/{name}/statuses/{status.commit}"
        headers |= {"accept": "application/vnd.github+json", "x-github-api-version": "2022-11-28"}
        headers["authorization"] = _authorization(credential, "Bearer")
        body["context"] = status.name
    elif provider == "gitlab":
        project = quote("/".join(parts), safe="")
        url = f"{origin}/api/v4/projects/{project}/statuses/{status.commit}"
        headers["private-token"] = credential.secret
        body["name"] = status.name
    elif provider == "gitea":
        url = f"{origin}{above}/api/v1/repos/{owner}/{name}/statuses/{status.commit}"
        headers["authorization"] = _authorization(credential, "token")
        body["context"] = status.name
    else:
        url = (
            f"https://api.bitbucket.org/2.0/repositories/{owner}/{name}/commit/{status.commit}/statuses/build"
        )
        headers["authorization"] = _authorization(credential, "Bearer")
        body = {
            "key": status.key,
            "state": state,
            "name": status.name,
            "url": status.url,
            "description": description,
        }
    return Request(url, headers, msgspec.json.encode(body))


def tell(
    fetcher: Fetcher, remote: Remote, provider: str, credential: Credential | None, status: CommitStatus
) -> list[Problem]:
    """Tells the hoster; a problem where it does not take it, for a sync does not fail by that."""
    try:
        if credential is None:
            raise BadRequest("there is no token any more")
        request = status_request(remote, provider, credential, status)
        answer = fetcher.fetch(request.url, "POST", request.headers, request.body, _LIMITS)
    except OctavoError as error:
        return [_problem(status, error.message)]
    if answer.status not in (200, 201):
        return [_problem(status, f"the hoster answered {answer.status}; may the token write statuses?")]
    return []


def _problem(status: CommitStatus, message: str) -> Problem:
    return Problem("", 0, "commit_status", f"the status of {status.commit[:12]} was not taken: {message}")


def _parts(remote: Remote) -> list[str]:
    return [part for part in unquote(remote.path).removesuffix(".git").split("/") if part]


def _authorization(credential: Credential, scheme: str) -> str:
    if credential.kind == "password":
        pair = f"{credential.user}:{credential.secret}".encode()
        return f"Basic {base64.b64encode(pair).decode()}"
    return f"{scheme} {credential.secret}"
