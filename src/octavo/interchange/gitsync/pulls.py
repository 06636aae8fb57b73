"""Open pull requests from the APIs of Git providers. GitLab calls them merge requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import quote

import msgspec
from msgspec import Struct

from octavo.errors import Unavailable
from octavo.kit.net.fetch import Fetcher, Limits

from .credentials import Credential
from .failures import clean
from .providers import ProviderRequest, repository_api, require_provider_api
from .urls import Remote

MOST = 200
"""Maximum number of pull requests to follow at a time."""
_LIMITS = Limits(size=8 * 1024 * 1024, seconds=20, follow=False)
_PAGE = {"github": 100, "gitlab": 100, "gitea": 50, "bitbucket": 50}
_PAGES = 20
_MOST_TITLE = 200


class Pull(Struct, frozen=True):
    """Open pull request. ``branch``: the source branch, if it is in the same repository. ``ref``: the ref to fetch;
    None if there is none. ``merged``: the merge commit, if the provider returns it."""

    number: str
    title: str
    url: str
    branch: str | None
    ref: str | None
    state: Literal["open", "merged", "closed"]
    merged: str | None = None


def list_request(
    remote: Remote, provider: str, credential: Credential, branch: str, page: int
) -> ProviderRequest:
    """Return the request that lists the open pull requests into a branch in the provider's public API. Raises
    BadRequest if the provider doesn't have an API for that."""
    require_provider_api(remote, provider, credential.kind, "pullRequests")
    base, headers = repository_api(remote, provider, credential)
    to, size = quote(branch, safe=""), _PAGE[provider]
    url = {
        "github": f"{base}/pulls?state=open&base={to}&per_page={size}&page={page}",
        "gitlab": f"{base}/merge_requests?state=opened&target_branch={to}&per_page={size}&page={page}",
        "gitea": f"{base}/pulls?state=open&limit={size}&page={page}",
        "bitbucket": f"{base}/pullrequests?state=OPEN&pagelen={size}&page={page}",
    }[provider]
    return ProviderRequest(url, headers, b"")


def one_request(remote: Remote, provider: str, credential: Credential, number: str) -> ProviderRequest:
    """Return the request that gets one pull request."""
    require_provider_api(remote, provider, credential.kind, "pullRequests")
    base, headers = repository_api(remote, provider, credential)
    name = {"gitlab": "merge_requests", "bitbucket": "pullrequests"}.get(provider, "pulls")
    return ProviderRequest(f"{base}/{name}/{quote(number, safe='')}", headers, b"")


def list_open(
    fetcher: Fetcher, remote: Remote, provider: str, credential: Credential | None, branch: str
) -> tuple[list[Pull], bool]:
    """Return the open pull requests into a branch, and whether the list is complete. Raises OctavoError if
    the provider doesn't respond."""
    found: dict[str, Pull] = {}
    for page in range(1, _PAGES + 1):
        answer = _ask(fetcher, list_request(remote, provider, _given(credential), branch, page))
        values = answer.get("values") if isinstance(answer, dict) else answer
        if not isinstance(values, list):
            raise Unavailable("the Git provider didn't return a list of pull requests")
        for value in values:
            pull = read_pull(provider, value, branch)
            if pull is not None and pull.state == "open":
                found[pull.number] = pull
        # A Gitea server may return fewer results than requested, so only an empty page is known to be the
        # last.
        if not values or (provider != "gitea" and len(values) < _PAGE[provider]):
            return list(found.values())[:MOST], len(found) <= MOST
        if len(found) > MOST:
            break
    return list(found.values())[:MOST], False


def find_pull(
    fetcher: Fetcher, remote: Remote, provider: str, credential: Credential | None, branch: str, number: str
) -> Pull | None:
    """Return one pull request; None if it isn't a pull request into this branch. Raises OctavoError if the provider
    doesn't respond."""
    return read_pull(
        provider, _ask(fetcher, one_request(remote, provider, _given(credential), number)), branch
    )


def _given(credential: Credential | None) -> Credential:
    if credential is None:
        raise Unavailable("the access token is missing; add one in the sync settings")
    return credential


def _ask(fetcher: Fetcher, request: ProviderRequest) -> object:
    answer = fetcher.fetch(request.url, "GET", request.headers, request.body, _LIMITS)
    if answer.status != 200:
        raise Unavailable(
            f"the Git provider responded with status {answer.status}; check that the token can read pull requests"
        )
    try:
        return msgspec.json.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Unavailable("the Git provider returned invalid JSON") from None


def read_pull(provider: str, said: Any, target: str) -> Pull | None:
    """Parse a provider's pull request. Return None if it targets another branch or isn't a pull request."""
    try:
        found = _READ[provider](said, target)
    except (KeyError, TypeError, AttributeError):
        return None
    return found


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return clean(value)


def _number(value: object) -> str:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise TypeError
    return str(value)


def _pull(
    number: str, title: str, url: str, branch: str | None, ref: str | None, state: str, merged: object
) -> Pull:
    state = {"open": "open", "opened": "open", "merged": "merged"}.get(state.lower(), "closed")
    commit = merged if isinstance(merged, str) and len(merged) == 40 else None
    address = url if url.startswith(("https://", "http://")) else ""
    return Pull(
        number,
        title.strip()[:_MOST_TITLE] or f"#{number}",
        address,
        branch,
        f"refs/heads/{branch}" if branch else ref,
        state,  # type: ignore[arg-type]
        commit,
    )


def _github(said: Mapping[str, Any], target: str) -> Pull | None:
    """Parse a pull request from GitHub, Gitea, or Forgejo."""
    if _text(said["base"]["ref"]) != target:
        return None
    number = _number(said["number"])
    here, there = said["base"].get("repo") or {}, said["head"].get("repo") or {}
    branch = _text(said["head"]["ref"]) if here.get("id") and here.get("id") == there.get("id") else None
    merged = bool(said.get("merged") or said.get("merged_at"))
    state = "merged" if merged else _text(said["state"])
    return _pull(
        number,
        _text(said["title"]),
        _text(said["html_url"]),
        branch,
        f"refs/pull/{number}/head",
        state,
        said.get("merge_commit_sha") if merged else None,
    )


def _gitlab(said: Mapping[str, object], target: str) -> Pull | None:
    if _text(said["target_branch"]) != target:
        return None
    number = _number(said["iid"])
    same = said["source_project_id"] == said["target_project_id"]
    return _pull(
        number,
        _text(said["title"]),
        _text(said["web_url"]),
        _text(said["source_branch"]) if same else None,
        f"refs/merge-requests/{number}/head",
        _text(said["state"]),
        said.get("merge_commit_sha") or said.get("squash_commit_sha"),
    )


def _bitbucket(said: Mapping[str, Any], target: str) -> Pull | None:
    """Parse a pull request from Bitbucket. A pull request from another repository has no ref, because it can't be
    fetched from this repository."""
    if _text(said["destination"]["branch"]["name"]) != target:
        return None
    source, here = said["source"], said["destination"]["repository"]["full_name"]
    same = (source.get("repository") or {}).get("full_name") == here
    return _pull(
        _number(said["id"]),
        _text(said["title"]),
        _text(said["links"]["html"]["href"]),
        _text(source["branch"]["name"]) if same else None,
        None,
        _text(said["state"]),
        None,
    )


_READ = {"github": _github, "gitea": _github, "gitlab": _gitlab, "bitbucket": _bitbucket}
