"""Access to repositories through the GitHub or GitLab app: signing in, connecting a repository, and tokens for
syncs.

A person's tokens are stored, encrypted, with the installation. Only that person can use them to choose
repositories."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct, structs

from octavo.errors import BadRequest, Conflict, NotFound, OctavoError, Unavailable
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.kit.secrets.sealing import sealed_column
from octavo.organization.access.auditing import audit
from octavo.organization.access.roles import Can
from octavo.organization.identity import one_time

from . import store
from .apps import AppRepository, GitHubApp, GitLabApp, ProviderTokens, app_at, is_expiring, require_app
from .authorization import SyncAccess, sync_access
from .credentials import Credential, credential_of
from .failures import Reason, Stopped
from .repository_listing import ORIGINS
from .requesting import ask
from .store import Connected, DraftRow
from .types import RepositoryFolder
from .urls import Remote, read_remote

APP = Credential("app", "")
"""Placeholder credential for a person who signed in with the provider. It hasn't been resolved to a token yet."""
DRAFT_SECRET = sealed_column("git_installations", "secret", "id")
_PURPOSE = "git authorization"
_LIFETIME = 30 * 60_000
"""Milliseconds within which a person must return from the provider. People may have to create an account with the
provider first."""
_RENEWING = 40_000
"""Milliseconds after which another process can take over the renewal of tokens."""
_PAUSE = 0.25


class _PendingAuthorization(Struct, frozen=True):
    installation: str
    user: str
    verifier: str


class AuthorizationLinks(Struct, frozen=True):
    """URLs on the provider's site. ``url``: the page where a person signs in. ``install_url``: the page where the
    person chooses the app's repositories."""

    url: str
    install_url: str | None


# --- signing in with the provider -----------------------------------------------------------------------


def begin(context: Context, at: SyncAccess, provider: str) -> AuthorizationLinks:
    """Return the URLs where the caller signs in with the provider. Raises Conflict if this server has no
    app registered with the provider, and OctavoError if the provider doesn't respond."""
    app = require_app(context, provider)
    pending = _PendingAuthorization(at.id, at.user_id, secrets.token_urlsafe(48))
    with context.db.write() as tx:
        states = [
            one_time.issue(tx, context.sealer, _PURPOSE, pending, _LIFETIME) for _ in ("sign in", "install")
        ]
    return AuthorizationLinks(
        app.authorization_url(states[0], pending.verifier), app.installation_url(states[1])
    )


def finish(context: Context, actor: Actor, state: str, code: str) -> SyncAccess:
    """Store the tokens of a person who returned from the provider, and return that person's access to the object being
    connected. ``code``: the provider's code; empty if the person only chose repositories. Raises BadRequest if the
    state or code is invalid, Conflict if this server has no app registered with the provider, and OctavoError if the
    provider doesn't respond.

    The state is valid only for the person who started the process. Otherwise, attackers could connect their own
    object to another person's account, or another person's object to their own account."""
    with context.db.write() as tx:
        pending = one_time.redeem(tx, context.sealer, _PURPOSE, state, _PendingAuthorization)
        if pending is None or pending.user != actor.user_id:
            raise BadRequest(
                "This sign-in has expired, was already used, or was started by someone else. "
                "Start over in the Git sync settings."
            )
        at = _access(tx, actor, pending.installation)
        draft = _find_draft(tx, at)
    if not code:
        return at
    grant = require_app(context, draft.provider).exchange(code, pending.verifier)
    with context.db.write() as tx:
        at = _access(tx, actor, pending.installation)
        _store_grant(tx, context, at, _find_draft(tx, at), grant)
    return at


def _access(tx: Transaction, actor: Actor, id: str) -> SyncAccess:
    kind = store.find_kind(tx, id)
    if kind is None:
        raise NotFound(f"There is no installation with the ID {id!r}.")
    return sync_access(tx, actor, Can.ADMIN, kind, id)


def _find_draft(tx: Transaction, at: SyncAccess) -> DraftRow:
    draft = store.find_draft(tx, at.id)
    if draft is None:
        raise NotFound(f"There is no installation with the ID {at.id!r}.")
    sync = store.find(tx, at.rows, at.id)
    if sync is not None and (sync.credential != "app" or draft.provider == "github"):
        raise Conflict(f"This {at.kind} is already connected. Disconnect it first.")
    return draft


def _store_grant(
    tx: Transaction, context: Context, at: SyncAccess, draft: DraftRow, grant: ProviderTokens
) -> None:
    app = require_app(context, draft.provider)
    store.put_draft(
        tx,
        structs.replace(
            draft,
            secret=_seal(context, at.id, grant),
            authorized_by=at.user_id,
            instance_url=None if app.origin == ORIGINS[draft.provider] else app.origin,
            renewing_until=None,
            updated_at=now(),
        ),
    )
    audit(tx, at.actor, "git.authorized", at.organization_id, at.target, after={"provider": draft.provider})
    if store.find(tx, at.rows, at.id) is not None:
        ask(tx, at.organization_id, at.rows, at.id, "asked")  # it failed without valid tokens


def _seal(context: Context, id: str, grant: ProviderTokens) -> str:
    return DRAFT_SECRET.seal(context.sealer, msgspec.json.encode(grant).decode(), id)


def _open(context: Context, draft: DraftRow) -> ProviderTokens:
    if draft.secret is None:
        raise Conflict(f"You aren't signed in with {_label(draft.provider)}. Sign in first.")
    return msgspec.json.decode(DRAFT_SECRET.open(context.sealer, draft.secret, draft.id), type=ProviderTokens)


def _label(provider: str) -> str:
    return "GitHub" if provider == "github" else "GitLab"


# --- choosing a repository ------------------------------------------------------------------------------


def credential_of_person(context: Context, at: SyncAccess, draft: DraftRow) -> Credential:
    """Return the token that the caller uses to list and preview repositories. Raises Conflict if another person
    signed in with the provider instead, because that person's token shows repositories that the caller may not be
    allowed to see."""
    if draft.authorized_by != at.user_id:
        label = _label(draft.provider)
        raise Conflict(
            f"Another person signed in with {label}. Sign in with your own account to choose a repository."
        )
    if draft.provider == "github":
        require_app(context, draft.provider)
        return Credential("token", _open(context, draft).access)
    return Credential("oauth", _renewed(context, draft).access, "oauth2")


def resolve(
    context: Context, at: SyncAccess, where: RepositoryFolder, remote: Remote
) -> tuple[RepositoryFolder, AppRepository | None]:
    """Return the requested repository for a sync, and its identity on the provider's server if it is connected
    through an app. Raises Conflict or Forbidden if the caller can't use the repository, BadRequest if the request
    is invalid, and OctavoError if the provider doesn't respond."""
    if where.credential != APP:
        return where, None
    draft, credential = _person_at(context, at, remote)
    repository = AppRepository(draft.repository_id or 0, None)
    if draft.provider == "github":
        app = require_app(context, "github")
        assert isinstance(app, GitHubApp), "the GitHub app"
        repository = app.find_repository(
            ProviderTokens(credential.secret, None, None), remote.path.strip("/").removesuffix(".git")
        )
    return structs.replace(where, credential=Credential("app", at.id)), repository


def resolve_preview(
    context: Context, at: SyncAccess, where: RepositoryFolder, remote: Remote
) -> RepositoryFolder:
    """Return a repository with the caller's token, for a preview. Raises the same errors as ``resolve``."""
    if where.credential != APP:
        return where
    return structs.replace(where, credential=_person_at(context, at, remote)[1])


def _person_at(context: Context, at: SyncAccess, remote: Remote) -> tuple[DraftRow, Credential]:
    with context.db.read() as tx:
        draft = store.find_draft(tx, at.id)
    if draft is None or draft.authorized_by is None:
        raise Conflict("credential: to use `app`, sign in with GitHub or GitLab first")
    app = require_app(context, draft.provider)
    if not app.owns(remote):
        raise BadRequest(f"remote: must be a repository on {app.origin}, where you signed in")
    return draft, credential_of_person(context, at, draft)


def keep_repository(tx: Transaction, id: str, repository: AppRepository) -> None:
    """Store the repository of a new sync, and delete the tokens that were only needed to choose it."""
    draft = store.find_draft(tx, id)
    if draft is None:
        raise Conflict("credential: to use `app`, sign in with GitHub or GitLab first")
    kept: dict[str, Any] = {"account": repository.account, "repository_id": repository.id or None}
    if draft.provider == "github":
        kept["secret"] = None
    store.put_draft(tx, structs.replace(draft, **kept))


# --- tokens of syncs ------------------------------------------------------------------------------------


def usable_credential(context: Context, row: Connected) -> Credential | None:
    """Return the credential of a sync, with a current token if it is connected through an app. Raises
    Conflict if the app or the person has lost access, and Unavailable if the provider doesn't respond."""
    credential = credential_of(context.sealer, row)
    if credential is None or credential.kind != "app":
        return credential
    with context.db.read() as tx:
        draft = store.find_draft(tx, credential.secret)
    if draft is None:
        raise Conflict(
            "This repository's connection through the app was deleted. Disconnect the repository, and connect"
            " it again."
        )
    app = require_app(context, draft.provider)
    if not app.owns(read_remote(row.remote, local=True)):
        raise Conflict(
            f"This server's app is registered at {app.origin}, but the repository is on another server."
            " Disconnect the repository, and connect it with an access token."
        )
    if isinstance(app, GitHubApp):
        if draft.account is None or draft.repository_id is None:
            raise Conflict(
                "The repository isn't connected through the app. Disconnect the repository, and connect it again."
            )
        return Credential("token", app.repository_token(draft.account, draft.repository_id))
    return Credential("oauth", _renewed(context, draft).access, "oauth2")


def credential_source(context: Context, row: Connected) -> Callable[[], Credential | None]:
    """Return a function that returns the current credential of a sync, or raises Stopped if there is none. A
    function is needed because a token can expire during a sync."""

    def current() -> Credential | None:
        try:
            return usable_credential(context, row)
        except Conflict as error:
            raise Stopped(Reason.UNAUTHORIZED, error.message) from None
        except OctavoError as error:
            raise Stopped(Reason.UNREACHABLE, error.message) from None

    return current


def _renewed(context: Context, draft: DraftRow) -> ProviderTokens:
    """Return a person's current GitLab tokens. A refresh token works only once, so one process uses it while other
    processes wait. Raises Conflict if GitLab no longer accepts the token, and Unavailable if GitLab doesn't
    respond."""
    app = app_at(context, draft.provider)
    assert isinstance(app, GitLabApp), "only GitLab's tokens are renewed"
    for _ in range(int(_RENEWING / 1000 / _PAUSE) + 1):
        grant = _open(context, draft)
        if not is_expiring(grant):
            return grant
        if grant.refresh is None:
            break
        with context.db.write() as tx:
            is_mine = store.claim_renewal(tx, draft.id, now() + _RENEWING)
            draft = store.find_draft(tx, draft.id) or draft
        if is_mine:
            # Another process may have renewed them before this one claimed the task.
            grant = _open(context, draft)
            return grant if not is_expiring(grant) else _renew(context, app, draft, grant)
        time.sleep(_PAUSE)
        with context.db.read() as tx:
            draft = store.find_draft(tx, draft.id) or draft
    raise Unavailable("Another process is renewing access to GitLab. Try again in a moment.")


def _renew(context: Context, app: GitLabApp, draft: DraftRow, grant: ProviderTokens) -> ProviderTokens:
    try:
        renewed = app.renew(grant)
    except OctavoError:
        with context.db.write() as tx:
            store.end_renewal(tx, draft.id, draft.secret)
        raise
    with context.db.write() as tx:
        store.end_renewal(tx, draft.id, None if renewed is None else _seal(context, draft.id, renewed))
    if renewed is None:
        raise Conflict(
            "GitLab no longer accepts the sign-in that was used to connect this repository. Sign in again."
        )
    return renewed
