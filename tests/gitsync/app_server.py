"""The parts of GitHub and GitLab that apps use: sign-in with a code and PKCE, signed requests of a GitHub App, tokens
for one repository, and refresh tokens that work once."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, parse_qsl, unquote, urlsplit

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

from octavo.kit.clock import now

KEY = RSAKey.generate_key(2048)
APP_ID, CLIENT, CLIENT_SECRET = "1234", "Iv1.client", "client-secret-of-a-test"
GITLAB_ID, GITLAB_SECRET = "gitlab-application", "gitlab-secret-of-a-test"
REPOSITORIES = {"acme/docs": 5, "acme/secret": 6, "elsewhere/docs": 7, "acme/other": 8}
INSTALLATIONS = {"acme/docs": 100, "acme/secret": 100, "elsewhere/docs": 200}
"""Installations of the app by repository; it is not installed in the last one."""
PEOPLE = {
    "alice": {"acme/docs": True, "acme/other": True, "elsewhere/docs": False},
    "bob": {"acme/secret": True},
}
"""Repositories that people see at the provider, and whether they can write to them."""


class AppServer:
    """Server of both providers. ``asked``: paths of API requests. ``minted``: the repositories of the tokens of the
    app. ``lifetime``: seconds for which GitLab's access tokens are valid. ``is_suspended``: whether the app lost its
    access."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.minted: dict[str, int] = {}
        self.people: dict[str, str] = {}
        self.lifetime = 7200
        self.is_suspended = False
        self.url = ""
        self._codes: dict[str, tuple[str, str]] = {}
        self._refreshes: dict[str, str] = {}
        self._count = 0

    def sign_in(self, url: str, person: str) -> dict[str, str]:
        """Sign a person in at a URL of the provider, as a browser does, and return the parameters of the redirect."""
        query = dict(parse_qsl(urlsplit(url).query))
        assert query["code_challenge_method"] == "S256"
        assert query["redirect_uri"].endswith("/~/git/authorized")
        assert query["client_id"] in (CLIENT, GITLAB_ID)
        code = self._new("code")
        self._codes[code] = person, query["code_challenge"]
        return {"code": code, "state": query["state"]}

    def accepts(self, user: str, password: str, path: str) -> bool:
        repository = path.strip("/").partition(".git")[0]
        if user == "x-access-token":
            return self.minted.get(password) == REPOSITORIES.get(repository) or self._sees(
                password, repository
            )
        return user == "oauth2" and self._sees(password, repository)

    def respond(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any] | None:
        where, _, query = path.partition("?")
        self.asked.append(f"{method} {where}")
        form = {name: values[0] for name, values in parse_qs(body.decode("latin-1")).items()}
        if where in ("/login/oauth/access_token", "/oauth/token"):
            return self._tokens(where.startswith("/login"), form)
        if where.startswith("/api/v3/"):
            return self._github(method, unquote(where[7:]), headers.get("authorization", ""), body)
        if where.startswith("/api/v4/"):
            return self._gitlab(where[7:], headers)
        return None

    def _new(self, kind: str) -> str:
        self._count += 1
        return f"{kind}-of-a-test-{self._count}"

    def _sees(self, token: str, repository: str) -> bool:
        return repository in PEOPLE.get(self.people.get(token, ""), {})

    def _tokens(self, github: bool, form: dict[str, str]) -> tuple[int, Any]:
        refused = (200 if github else 400), {"error": "invalid_grant"}
        own = (CLIENT, CLIENT_SECRET) if github else (GITLAB_ID, GITLAB_SECRET)
        if (form.get("client_id"), form.get("client_secret")) != own:
            return refused
        if form.get("grant_type") == "refresh_token":
            person = self._refreshes.pop(form.get("refresh_token", ""), None)
        else:
            person, challenge = self._codes.pop(form.get("code", ""), (None, ""))
            digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
            if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != challenge:
                return refused
        if person is None:
            return refused
        token = self._new("person-token")
        self.people[token] = person
        if github:
            return 200, {"access_token": token, "token_type": "bearer", "scope": ""}
        refresh = self._new("refresh-token")
        self._refreshes[refresh] = person
        return 200, {"access_token": token, "refresh_token": refresh, "expires_in": self.lifetime}

    def _github(self, method: str, path: str, authorization: str, body: bytes) -> tuple[int, Any]:
        token = authorization.removeprefix("Bearer ")
        person = self.people.get(token)
        if path == "/app" or path.startswith("/app/") or path.endswith("/installation"):
            if not self._is_signed(token):
                return 401, {"message": "A JSON web token could not be decoded"}
            if path == "/app":
                return 200, {"id": 1234, "client_id": CLIENT, "html_url": f"{self.url}/apps/octavo"}
            if match := re.fullmatch(r"/app/installations/(\d+)/access_tokens", path):
                return self._mint(int(match[1]), json.loads(body))
            found = INSTALLATIONS.get(path.removeprefix("/repos/").removesuffix("/installation"))
            return (404, {}) if found is None else (200, {"id": found})
        if path == "/installation/repositories" and token in self.minted:
            names = [name for name, id in REPOSITORIES.items() if id == self.minted[token]]
            return 200, {"repositories": [self._repository(name, True) for name in names]}
        if person is None:
            return 401, {"message": "Bad credentials"}
        seen = PEOPLE[person]
        if path == "/user/installations":
            return 200, {"installations": [{"id": id} for id in sorted({*INSTALLATIONS.values()})]}
        if match := re.fullmatch(r"/user/installations/(\d+)/repositories", path):
            names = [name for name in seen if INSTALLATIONS.get(name) == int(match[1])]
            return 200, {"repositories": [self._repository(name, seen[name]) for name in names]}
        if match := re.fullmatch(r"/repos/(\w+/\w+)(/branches)?", path):
            if match[1] not in seen:
                return 404, {}
            return 200, [{"name": "main"}] if match[2] else self._repository(match[1], seen[match[1]])
        if match := re.fullmatch(r"/repositories/(\d+)", path):
            names = [name for name in seen if REPOSITORIES[name] == int(match[1])]
            return (200, self._repository(names[0], seen[names[0]])) if names else (404, {})
        return 404, {}

    def _repository(self, name: str, writes: bool) -> dict[str, Any]:
        permissions = {"pull": True, "push": writes}
        return {
            "id": REPOSITORIES[name],
            "full_name": name,
            "default_branch": "main",
            "permissions": permissions,
        }

    def _is_signed(self, token: str) -> bool:
        try:
            found = jwt.decode(token, KEY, algorithms=["RS256"])
        except (JoseError, ValueError):
            return False
        claims, seconds = found.claims, now() / 1000
        lasts = claims["exp"] - claims["iat"]
        return bool(claims["iss"] == APP_ID and claims["iat"] <= seconds < claims["exp"] and lasts <= 600)

    def _mint(self, installation: int, wanted: dict[str, Any]) -> tuple[int, Any]:
        known = [id for name, id in REPOSITORIES.items() if INSTALLATIONS.get(name) == installation]
        (repository,) = wanted["repository_ids"]
        if self.is_suspended or repository not in known:
            return 404, {}
        token = self._new("ghs-token")
        self.minted[token] = repository
        until = datetime.fromtimestamp(now() / 1000 + 3600, UTC)
        return 201, {"token": token, "expires_at": until.strftime("%Y-%m-%dT%H:%M:%SZ")}

    def _gitlab(self, path: str, headers: dict[str, str]) -> tuple[int, Any]:
        person = self.people.get(headers.get("authorization", "").removeprefix("Bearer "))
        if person is None:
            return 401, {}
        listed = [{"id": REPOSITORIES[name], "path_with_namespace": name} for name in PEOPLE[person]]
        if path == "/projects":
            return 200, listed
        found = [one for one in listed if path == f"/projects/{one['id']}"]
        return (200, found[0]) if found else (404, {})
