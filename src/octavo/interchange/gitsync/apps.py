"""Clients for the apps that the server administrator registered with GitHub and GitLab.

A person signs in, and the app acts with the person's permissions. On GitHub, these permissions are used only to
choose a repository: syncs use tokens that the app creates for one repository. GitLab doesn't have tokens of this
kind, so syncs use and renew the person's tokens."""

from __future__ import annotations

import base64
import hashlib
from abc import ABC, abstractmethod
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from octavo.core.url_parts import own_address, write_authority
from octavo.errors import BadRequest, Conflict, Forbidden, Unavailable
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.cache import OwnCache
from octavo.kit.net.fetch import Fetched, Fetcher, Limits

from .urls import Remote

CALLBACK = "/~/git/authorized"
"""Path of the screen that providers redirect people to."""
PROVIDERS = ("github", "gitlab")
_LIMITS = Limits(size=1024 * 1024, seconds=20, follow=False)
_MARGIN = 5 * 60_000
"""Milliseconds for which a token must still be valid. Octavo doesn't use tokens that expire sooner."""
_APP_LIFETIME = 3_600_000
_JWT_SECONDS = 540
"""Lifetime, in seconds, of a GitHub App's signed requests. GitHub accepts at most ten minutes."""
_SKEW_SECONDS = 60
T = TypeVar("T")

_cache: OwnCache[tuple[int, Any]] = OwnCache("tokens for repositories", 1)
"""GitHub App tokens and descriptions, each with the time until which it can be used."""


class ProviderTokens(Struct, frozen=True):
    """A person's tokens from a provider. ``until``: the time until which the access token can be used; None
    if it doesn't expire."""

    access: str
    refresh: str | None
    until: int | None

    def __repr__(self) -> str:
        return "ProviderTokens()"


class AppRepository(Struct, frozen=True):
    """Repository that an app can sync. ``account``: the ID of the app's installation on GitHub; None for GitLab."""

    id: int
    account: int | None


class _TokenResponse(Struct):
    access_token: str
    refresh_token: str | None = None
    expires_in: int | None = None


class _RepositoryToken(Struct):
    token: str
    expires_at: datetime


class _GitHubApp(Struct):
    client_id: str
    html_url: str


class _Permissions(Struct, frozen=True):
    push: bool = False


class _GitHubRepository(Struct):
    id: int
    permissions: _Permissions = _Permissions()


class _Installation(Struct):
    id: int


class ProviderApp(ABC):
    """App registered with a Git provider. ``origin``: the scheme and host of the provider's server."""

    provider: ClassVar[str]
    label: ClassVar[str]

    def __init__(self, context: Context, url: str) -> None:
        parts = own_address(url)
        self.context = context
        self.origin = f"{parts.scheme}://{write_authority(parts.host, parts.port)}"

    @abstractmethod
    def authorization_url(self, state: str, verifier: str) -> str:
        """Return the provider's URL at which a person signs in and grants access. Raises OctavoError if the
        provider doesn't respond."""

    def installation_url(self, state: str) -> str | None:
        """Return the URL at which a person chooses the app's repositories; None if there is none. Raises
        OctavoError if the provider doesn't respond."""
        return None

    @abstractmethod
    def exchange(self, code: str, verifier: str) -> ProviderTokens:
        """Return the tokens for an authorization code. Raises BadRequest if the code is invalid, and OctavoError if
        the provider doesn't respond."""

    def _challenge(self, state: str, verifier: str) -> dict[str, str]:
        digest = hashlib.sha256(verifier.encode()).digest()
        return {
            "redirect_uri": self.callback_url,
            "state": state,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }

    @property
    def callback_url(self) -> str:
        return f"{self.context.settings.url.rstrip('/')}{CALLBACK}"

    def owns(self, remote: Remote) -> bool:
        """Return whether a repository is on the app's server, in which case tokens can be sent to that server."""
        return remote.url.lower().startswith(f"{self.origin}/".lower())

    def _send(self, url: str, method: str, headers: dict[str, str], body: bytes | None = None) -> Fetched:
        fetcher = Fetcher(self.context.settings.allow_private_fetch)
        return fetcher.fetch(url, method, {"accept": "application/json", **headers}, body, _LIMITS)

    def _ask_tokens(self, path: str, form: dict[str, str]) -> ProviderTokens | None:
        """Return the tokens from the provider's token endpoint; None if it rejects the code or refresh token."""
        headers = {"content-type": "application/x-www-form-urlencoded"}
        answer = self._send(f"{self.origin}{path}", "POST", headers, urlencode(form).encode())
        if answer.status in (400, 401, 403):
            return None
        if answer.status == 200:
            try:
                found = msgspec.json.decode(answer.body, type=_TokenResponse)
            except msgspec.ValidationError:
                return None  # GitHub reports errors with status 200
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                pass
            else:
                until = None if found.expires_in is None else now() + found.expires_in * 1000
                return ProviderTokens(found.access_token, found.refresh_token, until)
        raise self._unexpected(answer)

    def _unexpected(self, answer: Fetched) -> Unavailable:
        return Unavailable(f"{self.label} returned an unexpected response with status {answer.status}.")


class GitHubApp(ProviderApp):
    provider = "github"
    label = "GitHub"

    def __init__(self, context: Context) -> None:
        super().__init__(context, context.settings.github_url)
        self._api = (
            "https://api.github.com" if self.origin == "https://github.com" else f"{self.origin}/api/v3"
        )

    def authorization_url(self, state: str, verifier: str) -> str:
        query = {"client_id": self._described().client_id, **self._challenge(state, verifier)}
        return f"{self.origin}/login/oauth/authorize?{urlencode(query)}"

    def installation_url(self, state: str) -> str | None:
        return f"{self._described().html_url}/installations/new?{urlencode({'state': state})}"

    def exchange(self, code: str, verifier: str) -> ProviderTokens:
        grant = self._ask_tokens(
            "/login/oauth/access_token",
            {
                "client_id": self._described().client_id,
                "client_secret": self.context.settings.github_app_client_secret,
                "code": code,
                "redirect_uri": self.callback_url,
                "code_verifier": verifier,
            },
        )
        if grant is None:
            raise BadRequest("code: was rejected by GitHub. Sign in with GitHub again.")
        return grant

    def find_repository(self, grant: ProviderTokens, path: str) -> AppRepository:
        """Return a repository that the app is installed in and that the person can write to. Raises Forbidden if
        the person can't write to it, Conflict if the app isn't installed in it, and OctavoError if the provider
        doesn't respond.

        The person's permission is checked because the app's own tokens also allow writing to the repositories of
        other people who installed the app."""
        place = "/repos/" + "/".join(quote(part, safe="") for part in path.split("/"))
        answer = self._send(f"{self._api}{place}", "GET", {"authorization": f"Bearer {grant.access}"})
        if answer.status == 401:
            raise Conflict("Your GitHub sign-in has expired. Sign in with GitHub again.")
        if answer.status in (403, 404):
            raise Forbidden(
                f"You don't have access to {path} on GitHub, or the app isn't installed on this repository."
                " Ask the repository's owner for access, or install the app."
            )
        found = self._decode(answer, _GitHubRepository)
        if not found.permissions.push:
            raise Forbidden(
                f"You need write access to {path} on GitHub to sync it. Ask the repository's owner for"
                " access."
            )
        answer = self._send(f"{self._api}{place}/installation", "GET", self._signed())
        if answer.status == 404:
            raise Conflict(
                f"The app isn't installed on {path}. On GitHub, install it on this repository first."
            )
        return AppRepository(found.id, self._decode(answer, _Installation).id)

    def repository_token(self, account: int, repository: int) -> str:
        """Return an app token for one repository. Raises Conflict if the app no longer has access to it, and
        OctavoError if the provider doesn't respond."""
        kept = _cache.of(self.context.db)
        key = (self._api, self.context.settings.github_app_id, account, repository)
        found = kept.get(key)
        if found is not None and found[0] > now():
            return str(found[1])
        body = msgspec.json.encode({"repository_ids": [repository]})
        url = f"{self._api}/app/installations/{account}/access_tokens"
        answer = self._send(url, "POST", {**self._signed(), "content-type": "application/json"}, body)
        if answer.status in (403, 404, 422):
            raise Conflict(
                "The GitHub App no longer has access to this repository. Install the app on the "
                "repository again, or unsuspend the app."
            )
        made = self._decode(answer, _RepositoryToken)
        until = int(made.expires_at.timestamp() * 1000) - _MARGIN
        kept.put(key, (until, made.token), len(made.token))
        return made.token

    def _described(self) -> _GitHubApp:
        kept, key = _cache.of(self.context.db), (self._api, self.context.settings.github_app_id)
        found = kept.get(key)
        if found is None or found[0] <= now():
            answer = self._send(f"{self._api}/app", "GET", self._signed())
            found = now() + _APP_LIFETIME, self._decode(answer, _GitHubApp)
            kept.put(key, found, len(answer.body))
        described: _GitHubApp = found[1]
        return described

    def _signed(self) -> dict[str, str]:
        # Loaded here because most servers have no GitHub App.
        from joserfc import jwt
        from joserfc.jwk import RSAKey

        settings, seconds = self.context.settings, now() // 1000
        try:
            key = RSAKey.import_key(Path(settings.github_app_key_file).read_bytes())
        except (OSError, ValueError) as error:
            raise Unavailable(
                f"OCTAVO_GITHUB_APP_KEY_FILE: the file can't be read ({type(error).__name__})"
            ) from None
        claims = {
            "iat": seconds - _SKEW_SECONDS,
            "exp": seconds + _JWT_SECONDS,
            "iss": settings.github_app_id,
        }
        return {"authorization": f"Bearer {jwt.encode({'alg': 'RS256'}, claims, key)}"}

    def _decode(self, answer: Fetched, of: type[T]) -> T:
        if answer.status not in (200, 201):
            raise self._unexpected(answer)
        try:
            return msgspec.json.decode(answer.body, type=of)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise self._unexpected(answer) from None


class GitLabApp(ProviderApp):
    provider = "gitlab"
    label = "GitLab"

    def __init__(self, context: Context) -> None:
        super().__init__(context, context.settings.gitlab_url)

    def authorization_url(self, state: str, verifier: str) -> str:
        query = {
            "client_id": self.context.settings.gitlab_app_id,
            "response_type": "code",
            "scope": "api",
            **self._challenge(state, verifier),
        }
        return f"{self.origin}/oauth/authorize?{urlencode(query)}"

    def exchange(self, code: str, verifier: str) -> ProviderTokens:
        form = {"grant_type": "authorization_code", "code": code, "code_verifier": verifier}
        grant = self._ask_tokens("/oauth/token", self._own(form))
        if grant is None:
            raise BadRequest("code: was rejected by GitLab. Sign in with GitLab again.")
        return grant

    def renew(self, grant: ProviderTokens) -> ProviderTokens | None:
        """Return new tokens, which replace the given tokens; None if GitLab no longer accepts the given tokens.
        Raises OctavoError if GitLab doesn't respond."""
        form = {"grant_type": "refresh_token", "refresh_token": grant.refresh or ""}
        return self._ask_tokens("/oauth/token", self._own(form))

    def _own(self, form: dict[str, str]) -> dict[str, str]:
        settings = self.context.settings
        return {
            **form,
            "client_id": settings.gitlab_app_id,
            "client_secret": settings.gitlab_app_secret,
            "redirect_uri": self.callback_url,
        }


def is_expiring(grant: ProviderTokens) -> bool:
    return grant.until is not None and grant.until - _MARGIN <= now()


def github_app(context: Context) -> GitHubApp | None:
    return GitHubApp(context) if context.settings.github_app_id else None


def gitlab_app(context: Context) -> GitLabApp | None:
    return GitLabApp(context) if context.settings.gitlab_app_id else None


def app_at(context: Context, provider: str) -> ProviderApp | None:
    """Return the app registered with a provider; None if the server administrator hasn't registered one."""
    return github_app(context) if provider == "github" else gitlab_app(context)


def require_app(context: Context, provider: str) -> ProviderApp:
    """Return the app registered with a provider. Raises Conflict if there is no app."""
    found = app_at(context, provider)
    if found is None:
        raise Conflict(missing_app(context, provider))
    return found


def missing_app(context: Context, provider: str) -> str:
    """Return the error message for a provider if this server doesn't have an app registered with it."""
    url = context.settings.github_url if provider == "github" else context.settings.gitlab_url
    place = "settings/apps" if provider == "github" else "-/user_settings/applications"
    return (
        f"This server has no app registered at {url.rstrip('/')}/{place} (OCTAVO_{provider.upper()}_APP_ID)."
        " Connect the repository with an access token instead."
    )
