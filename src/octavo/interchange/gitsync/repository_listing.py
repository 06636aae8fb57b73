"""Repositories, branches, and files on GitHub and GitLab that an access token can access."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Literal, TypeVar
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from octavo.core.url_parts import read_address
from octavo.errors import BadRequest, NotFound, Unavailable
from octavo.kit.net.fetch import Fetcher, Limits

from .credentials import Credential
from .providers import repository_api
from .urls import read_remote

ORIGINS = {"github": "https://github.com", "gitlab": "https://gitlab.com"}
T = TypeVar("T")
_LIMITS = Limits(size=8 * 1024 * 1024, seconds=20, follow=False)
_PAGE = 100
_PAGES = 10
"""Maximum number of requests per list."""


Reach = Literal["token", "app", "repository"]
"""Repositories that a credential can access: all repositories that its owner can see, only the repositories in which
the server's app is installed, or only a single repository."""


class ProviderAccount(Struct, frozen=True):
    """Access to a provider. ``origin``: the scheme and host of its server."""

    provider: str
    origin: str
    credential: Credential
    fetcher: Fetcher
    reach: Reach = "token"


class ListedRepository(Struct, frozen=True):
    """Repository on a Git provider's server. ``path``: the provider's name for the repository, including the owner."""

    id: int
    path: str
    default_branch: str | None

    @property
    def account(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


class ListedFile(Struct, frozen=True):
    name: str
    path: str
    sha: str
    size: int


def read_origin(text: str) -> str:
    """Return the scheme and host of a GitLab server. Raises BadRequest if it is invalid."""
    parts = read_address(text)
    if (
        parts is None
        or not parts.host
        or parts.scheme not in ("http", "https")
        or parts.username
        or parts.password
    ):
        raise BadRequest("customInstanceURL: must be an https URL, such as https://gitlab.example.com")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise BadRequest("customInstanceURL: must be the URL of the server, without a path")
    origin = read_remote(f"{text.rstrip('/')}/x/y", local=False).url
    return origin.removesuffix("/x/y")


class _GitHubRepository(Struct):
    id: int
    full_name: str
    default_branch: str | None = None


class _GitHubRepositories(Struct):
    repositories: list[_GitHubRepository]


class _GitHubInstallation(Struct):
    id: int


class _GitHubInstallations(Struct):
    installations: list[_GitHubInstallation]


class _GitLabProject(Struct):
    id: int
    path_with_namespace: str
    default_branch: str | None = None


class _Named(Struct):
    name: str


class _GitHubFile(Struct):
    name: str
    path: str
    sha: str
    size: int


class _GitLabFile(Struct):
    file_name: str
    file_path: str
    blob_id: str
    size: int


def list_repositories(account: ProviderAccount) -> list[ListedRepository]:
    """Return the repositories that the token can access, at most 1,000. Raises OctavoError if the provider doesn't
    respond."""
    if account.provider == "github":
        return [
            ListedRepository(found.id, found.full_name, found.default_branch)
            for found in islice(_each_at_github(account), _PAGE * _PAGES)
        ]
    return [
        ListedRepository(found.id, found.path_with_namespace, found.default_branch)
        for found in _each(account, "/projects", _GitLabProject, membership="true", simple="true")
    ]


def _each_at_github(account: ProviderAccount) -> Iterator[_GitHubRepository]:
    if account.reach == "token":
        yield from _each(account, "/user/repos", _GitHubRepository, sort="full_name")
        return
    places = ["/installation/repositories"]
    if account.reach == "app":
        installed = _ask(account, "/user/installations", {"per_page": str(_PAGE)}, _GitHubInstallations)
        places = [f"/user/installations/{found.id}/repositories" for found in installed.installations]
    for place in places:
        for page in range(1, _PAGES + 1):
            query = {"per_page": str(_PAGE), "page": str(page)}
            found = _ask(account, place, query, _GitHubRepositories).repositories
            yield from found
            if len(found) < _PAGE:
                break


def list_branch_names(account: ProviderAccount, repository: str) -> list[str]:
    """Return the branches of a repository, at most 1,000. ``repository``: the path of the repository, or
    the ID of a GitLab project. Raises OctavoError if the provider doesn't respond."""
    branches = "branches" if account.provider == "github" else "repository/branches"
    return [found.name for found in _each(account, f"{_repository(account, repository)}/{branches}", _Named)]


def find_file(account: ProviderAccount, repository: str, path: str, ref: str) -> ListedFile:
    """Return a file in a branch, tag, or commit. Raises NotFound if it doesn't exist, and OctavoError if the
    provider doesn't respond."""
    place, query = _repository(account, repository), {"ref": ref.removeprefix("refs/heads/")}
    if account.provider == "github":
        found = _ask(account, f"{place}/contents/{quote(path.strip('/'))}", query, _GitHubFile)
        return ListedFile(found.name, found.path, found.sha, found.size)
    file = quote(path.strip("/"), safe="")
    gitlab_file = _ask(account, f"{place}/repository/files/{file}", query, _GitLabFile)
    return ListedFile(gitlab_file.file_name, gitlab_file.file_path, gitlab_file.blob_id, gitlab_file.size)


def find_repository_path(account: ProviderAccount, number: int) -> str:
    """Return the path of a repository by its number. Raises OctavoError if the provider doesn't respond."""
    if account.provider == "github":
        return _ask(account, f"/repositories/{number}", {}, _GitHubRepository).full_name
    return _ask(account, f"/projects/{number}", {}, _GitLabProject).path_with_namespace


def _repository(account: ProviderAccount, repository: str) -> str:
    if account.provider == "github":
        return "/repos/" + "/".join(quote(part, safe="") for part in repository.split("/"))
    return f"/projects/{quote(repository, safe='')}"


def _each(account: ProviderAccount, path: str, of: type[T], **query: str) -> Iterator[T]:
    for page in range(1, _PAGES + 1):
        found = _ask(account, path, {**query, "per_page": str(_PAGE), "page": str(page)}, list[of])  # type: ignore[valid-type]
        yield from found
        if len(found) < _PAGE:
            return


def _ask(account: ProviderAccount, path: str, query: dict[str, str], of: type[T]) -> T:
    remote = read_remote(f"{account.origin}/owner/name", local=False)
    base, headers = repository_api(remote, account.provider, account.credential)
    api = base.partition("/repos/" if account.provider == "github" else "/projects/")[0]
    url = f"{api}{path}" + (f"?{urlencode(query)}" if query else "")
    answer = account.fetcher.fetch(url, "GET", headers, b"", _LIMITS)
    if answer.status == 404:
        raise NotFound(
            "The Git provider has no repository or file with this name, or the access token can't read it."
        )
    if answer.status != 200:
        raise Unavailable(
            f"The Git provider responded with status {answer.status}. Check that the access token is valid"
            " and can read repositories."
        )
    try:
        return msgspec.json.decode(answer.body, type=of)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise Unavailable("The Git provider returned an unexpected response. Check its URL.") from None
