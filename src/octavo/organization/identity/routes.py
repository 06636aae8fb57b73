"""Operations for signing in and out, for the caller's sessions, tokens, password, and two-factor authentication, and
for service accounts."""

from __future__ import annotations

from msgspec import UNSET

from octavo.core.json_types import JsonObject
from octavo.errors import Conflict, Forbidden, NotFound
from octavo.kit.clock import iso, now
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.operation import PUBLIC, Actor, Area, Call, Reply
from octavo.organization.access.accounts import find_user, set_password_hash
from octavo.organization.access.auditing import audit, audit_person, source_of
from octavo.organization.access.authorization import OrgAccess, SignedIn
from octavo.organization.access.reach import PROOF_LASTS, is_session
from octavo.organization.access.roles import Can
from octavo.organization.access.store import revoke_token
from octavo.organization.access.tokens import cookie, cookie_header, require_same_origin

from . import (
    attempts,
    factors,
    oidc,
    passkeys,
    passwords,
    proof,
    removal,
    sessions,
    setting_up,
    signing_in,
    store,
    wire,
)
from .directory_sign_in import is_from_directory
from .saml.store import list_active_providers
from .tokens import issue_token

operation = Area("access").operation

_DISCOVERIES = 600
"""Maximum number of times that one IP address can look up sign-in methods within a time window (see ``attempts``)."""


def _reply(call: Call, outcome: signing_in.Outcome, cookie: bool) -> Reply:
    headers = {"cache-control": "no-store"}
    if cookie and isinstance(outcome, signing_in.CompletedSignIn):
        require_same_origin(call)
        headers["set-cookie"] = session_cookie(call, outcome.session)
    return Reply(wire.present_outcome(outcome), headers=headers)


def browser_of(call: Call) -> sessions.Browser:
    """Return the IP address and user agent of a request."""
    return sessions.Browser(call.client, call.headers.get(b"user-agent", b"").decode("latin-1"))


def session_cookie(call: Call, new: sessions.NewSession) -> str:
    return cookie_header(call.context, new.secret, (new.expires_at - now()) // 1000)


def _audit_own_account(
    tx: Transaction,
    call: Call,
    action: str,
    *,
    only: str | None = None,
    before: object = None,
    after: object = None,
) -> None:
    """Record, in the audit logs of the caller's organizations, a change that the caller made to their own account."""
    actor: Actor = call.actor
    audit_person(
        tx,
        action,
        actor.user_id,
        client=call.client,
        token=actor.token_id,
        source=source_of(actor),
        only=only if only is not None else actor.organization_id,
        before=before,
        after=after,
    )


# --- signing in and out -------------------------------------------------------------------------------


@operation(
    "signIn",
    "POST",
    "/sign-in",
    needs=PUBLIC,
    returns=wire.SignedInResult,
    errors=(401, 403, 503),
    body_limit=16_384,
    in_maintenance=True,
)
def sign_in(call: Call, body: wire.SignIn) -> Reply:
    """Start a session with a password.

    If two-factor authentication is on and no code was sent, the response indicates this and contains a challenge.
    Returns 401 if the email address or the password is wrong, without distinguishing the two; 429 after too many
    attempts; and 503 if the directory that checks passwords can't be reached.
    """
    outcome = signing_in.with_password(
        call.context, browser_of(call), body.email, body.password, body.code, body.device
    )
    return _reply(call, outcome, body.cookie)


@operation(
    "signInWithCode",
    "POST",
    "/sign-in/code",
    needs=PUBLIC,
    returns=wire.SignedInResult,
    errors=(401, 403),
    body_limit=16_384,
    in_maintenance=True,
)
def sign_in_with_code(call: Call, body: wire.SignInWithCode) -> Reply:
    """Complete a sign-in that requires a code. Also accepts a recovery code."""
    return _reply(
        call, signing_in.with_code(call.context, browser_of(call), body.challenge, body.code), body.cookie
    )


@operation(
    "startPasskeySignIn",
    "POST",
    "/sign-in/passkey/start",
    needs=PUBLIC,
    returns=passkeys.StartedPasskey,
    errors=(401, 429, 503),
    body_limit=16_384,
    in_maintenance=True,
)
def start_passkey_sign_in(call: Call, body: wire.StartPasskeySignIn) -> Reply:
    """Create a challenge for a passkey, with the options for the browser. The challenge expires after five
    minutes and can be used only once. The response doesn't reveal whether an account has a passkey."""
    started = signing_in.start_passkey(call.context, browser_of(call), body.challenge)
    return Reply(passkeys.present_started(started), headers={"cache-control": "no-store"})


@operation(
    "signInWithPasskey",
    "POST",
    "/sign-in/passkey",
    needs=PUBLIC,
    returns=wire.SignedInResult,
    errors=(401, 403, 503),
    body_limit=32_768,
    in_maintenance=True,
)
def sign_in_with_passkey(call: Call, body: wire.SignInWithPasskey) -> Reply:
    """Start a session with a passkey, or use a passkey instead of a code to complete a sign-in with two-factor
    authentication. Without a code challenge, the passkey must verify its user, and counts as both factors."""
    outcome = signing_in.with_passkey(call.context, browser_of(call), body.challenge, body.credential)
    return _reply(call, outcome, body.cookie)


@operation(
    "requestSignInLink",
    "POST",
    "/sign-in/link",
    needs=PUBLIC,
    errors=(503,),
    body_limit=16_384,
    in_maintenance=True,
)
def request_sign_in_link(call: Call, body: wire.SignInLinkRequest) -> None:
    """Email a sign-in link that can be used once within 15 minutes. The response is the same if no account has this
    email address."""
    signing_in.request_link(call.context, browser_of(call), body.email)


@operation(
    "signInWithLink",
    "POST",
    "/sign-in/link/use",
    needs=PUBLIC,
    returns=wire.SignedInResult,
    errors=(401, 403),
    body_limit=16_384,
    in_maintenance=True,
)
def sign_in_with_link(call: Call, body: wire.SignInWithLink) -> Reply:
    """Start a session with the secret from an emailed link. The link can be used only once."""
    return _reply(
        call, signing_in.with_link(call.context, browser_of(call), body.link, body.code), body.cookie
    )


@operation(
    "discoverSignIn", "POST", "/sign-in/discover", needs=PUBLIC, body_limit=16_384, in_maintenance=True
)
def discover_sign_in(call: Call, body: wire.Discover) -> wire.SignInWays:
    """List the sign-in methods for an email address.

    The result depends only on the domain of the address and the server's settings, so it doesn't reveal
    whether an account exists."""
    domain = body.email.strip().lower().rpartition("@")[2]
    with call.db.write() as tx:
        attempts.record_or_refuse(tx, attempts.client_counter("discover", call.client, _DISCOVERIES))
    found: list[wire.SignInProvider] = []
    with call.db.read() as tx:
        for organization_id in store.list_domain_organizations(tx, domain):
            found += [
                wire.SignInProvider(row.id, row.label, call.url(f"/saml/{row.id}/start"))
                for row in list_active_providers(tx, organization_id)
            ]
    if call.settings.oidc_issuer:
        found.append(wire.SignInProvider("oidc", call.settings.oidc_label, call.url("/oidc/start")))
    return wire.SignInWays(["password", "link"] if call.settings.smtp_url else ["password"], found)


@operation("signOut", "POST", "/sign-out", needs=Can.OWN_TOKEN, in_maintenance=True)
def sign_out(call: Call, caller: SignedIn) -> Reply:
    """End the session, or revoke the token, that was used for the request."""
    actor: Actor = call.actor
    with call.db.write() as tx:
        if is_session(actor):
            sessions.end(tx, actor.user_id, actor.token_id)
            _audit_own_account(tx, call, "session.ended", before={"session": actor.token_id})
        else:
            revoke_token(tx, actor.user_id, actor.token_id)
            _audit_own_account(tx, call, "token.revoked", before={"token": actor.token_id})
    return Reply(status=204, headers={"set-cookie": cookie_header(call.context, "", 0)})


# --- OpenID Connect -----------------------------------------------------------------------------------


@operation(
    "startOpenIdSignIn", "GET", "/oidc/start", needs=PUBLIC, status=303, errors=(502, 503), browsed=True
)
def start_oidc(call: Call, query: oidc.OidcStartQuery) -> Reply:
    """Redirect the browser to the server's OpenID Connect provider."""
    started = oidc.start(call.context, query.next)
    return Reply(
        status=303,
        headers={
            "location": started.url,
            "cache-control": "no-store",
            "set-cookie": cookie_header(
                call.context, started.binding, oidc.LIFETIME // 1000, oidc.cookie_name(call.context)
            ),
        },
    )


@operation(
    "finishOpenIdSignIn",
    "GET",
    "/oidc/callback",
    needs=PUBLIC,
    status=303,
    errors=(401, 502, 503),
    browsed=True,
)
def finish_oidc(call: Call, query: oidc.CallbackQuery) -> Reply:
    """Handle the browser's return from the provider: start a session, and redirect the browser to the app."""
    finished = oidc.finish(
        call.context, browser_of(call), cookie(call, oidc.cookie_name(call.context)) or "", query
    )
    return Reply(
        status=303,
        headers={
            "location": f"{call.settings.url}{finished.next}",
            "cache-control": "no-store",
            "set-cookie": session_cookie(call, finished.session),
        },
    )


# --- sessions -----------------------------------------------------------------------------------------


@operation("listSessions", "GET", "/user/sessions", needs=Can.SIGN_IN)
def list_sessions(call: Call, caller: SignedIn, query: PageQuery) -> Listing[wire.Session]:
    """List the caller's sessions, newest first."""
    only = call.actor.organization_id
    with call.db.read() as tx:
        found = sessions.list_sessions(tx, caller.user_id, query.limit, query.page, only=only)
    return present_slice(found, lambda row: wire.present_session(call, row))


@operation("endSession", "DELETE", "/user/sessions/{sessionId}", needs=Can.END_SIGN_INS, in_maintenance=True)
def end_session(call: Call, caller: SignedIn, session_id: str) -> bool:
    """End one of the caller's sessions immediately."""
    only = call.actor.organization_id
    with call.db.write() as tx:
        found = sessions.find_session(tx, caller.user_id, session_id)
        if found is None or (only is not None and found.organization_id != only):
            return False
        _audit_own_account(
            tx, call, "session.ended", only=found.organization_id, before={"session": session_id}
        )
        return sessions.end(tx, caller.user_id, session_id)


@operation(
    "endOtherSessions", "POST", "/user/sessions/end-others", needs=Can.CHANGE_SIGN_IN, in_maintenance=True
)
def end_other_sessions(call: Call, caller: SignedIn) -> None:
    """End all of the caller's sessions except the current session."""
    with call.db.write() as tx:
        if ended := sessions.end_others(tx, caller.user_id, call.actor.token_id):
            _audit_own_account(tx, call, "session.ended", before={"sessions": ended})


# --- password and two-factor authentication -----------------------------------------------------------


@operation(
    "proveIdentity", "POST", "/user/proof", needs=Can.RENEW_PROOF, body_limit=16_384, in_maintenance=True
)
def prove_identity(call: Call, caller: SignedIn, body: wire.ProveIdentity) -> wire.ProvedIdentity:
    """Confirm the caller's identity. Passwords, two-factor authentication, sessions, and tokens can be
    changed for 15 minutes after this call or after signing in."""
    return wire.ProvedIdentity(
        iso(
            proof.confirm_identity(call.context, call.client, caller.actor, body.password, body.code)
            + PROOF_LASTS
        )
    )


@operation("setPassword", "PUT", "/user/password", needs=Can.CHANGE_SIGN_IN, errors=(409,), body_limit=16_384)
def set_password(call: Call, caller: SignedIn, body: wire.SetPassword) -> None:
    """Set the caller's password, and end the caller's other sessions. Returns 409 if the server's directory manages the
    password."""
    with call.db.read() as tx:
        user = find_user(tx, caller.user_id)
        if is_from_directory(tx, call.settings, caller.user_id):
            raise Conflict("Your organization's directory manages your password. Change it there.")
    assert user is not None
    passwords.require_acceptable_password(body.password, user.email)
    hashed = passwords.hash_password(body.password)
    with call.db.write() as tx:
        sessions.require_still_signed_in(tx, call.actor)
        set_password_hash(tx, caller.user_id, hashed)
        sessions.end_others(tx, caller.user_id, call.actor.token_id)
        _audit_own_account(tx, call, "password.updated")


@operation("setUpAccount", "PUT", "/user/setup", needs=Can.CHANGE_SIGN_IN, body_limit=16_384)
def set_up_account(call: Call, caller: SignedIn, body: wire.SetUpAccount) -> None:
    """Set the name, email address, and password of the first administrator, and end the administrator's other sessions.

    `email` is required if the server's settings don't specify the first administrator; otherwise, it can't be
    changed. Returns 409 for any other account, or if the account has already been set up."""
    with call.db.read() as tx:
        user = find_user(tx, caller.user_id)
        assert user is not None
        email = setting_up.email_after_setup(tx, call.settings, user, body.email)
    passwords.require_acceptable_password(body.password, email)
    hashed = passwords.hash_password(body.password)
    with call.db.write() as tx:
        sessions.require_still_signed_in(tx, call.actor)
        made = setting_up.set_up_account(
            tx, call.settings, caller.user_id, name=body.display_name, email=body.email, password_hash=hashed
        )
        sessions.end_others(tx, caller.user_id, call.actor.token_id)
        before = {"displayName": user.display_name, "email": user.email}
        after = {"displayName": made.display_name, "email": made.email}
        _audit_own_account(tx, call, "user.updated", before=before, after=after)
        _audit_own_account(tx, call, "password.updated")


@operation("getMfa", "GET", "/user/mfa", needs=Can.SIGN_IN)
def get_mfa(call: Call, caller: SignedIn) -> wire.SecondFactor:
    """Get the status of two-factor authentication for the caller."""
    with call.db.read() as tx:
        row = factors.status(tx, caller.user_id)
    return wire.SecondFactor(row is not None, row or 0)


@operation(
    "startMfa", "POST", "/user/mfa", needs=Can.CHANGE_SIGN_IN, returns=wire.StartedSecondFactor, errors=(409,)
)
def start_mfa(call: Call, caller: SignedIn) -> Reply:
    """Create a secret for an authenticator app. It takes effect once `confirmMfa` accepts a code."""
    with call.db.write() as tx:
        sessions.require_still_signed_in(tx, call.actor)
        user = find_user(tx, caller.user_id)
        secret = factors.start(tx, call.context.sealer, caller.user_id)
    assert user is not None
    started = wire.StartedSecondFactor(
        secret, factors.provisioning_uri(secret, user.email, call.settings.name)
    )
    return Reply(started, headers={"cache-control": "no-store"})


@operation(
    "confirmMfa",
    "POST",
    "/user/mfa/confirm",
    needs=Can.CHANGE_SIGN_IN,
    returns=wire.RecoveryCodes,
    errors=(409,),
)
def confirm_mfa(call: Call, caller: SignedIn, body: wire.CodeBody) -> Reply:
    """Turn on two-factor authentication. The response contains recovery codes, which can't be retrieved
    again."""
    with call.db.write() as tx:
        sessions.require_still_signed_in(tx, call.actor)
        codes = factors.confirm(tx, call.context.sealer, caller.user_id, body.code)
        sessions.end_others(tx, caller.user_id, call.actor.token_id)
        _audit_own_account(tx, call, "second-factor.created")
    return Reply(wire.RecoveryCodes(codes), headers={"cache-control": "no-store"})


def _require_code(call: Call, user_id: str, code: str) -> None:
    counters = attempts.counters("code", user_id, call.client, per_account=signing_in.CODE_TRIES)
    with call.db.write() as tx:
        attempts.record_or_refuse(tx, counters)
    with call.db.write() as tx:
        if not factors.accept(tx, call.context.sealer, user_id, code):
            raise Forbidden("code: is incorrect or was already used")
        attempts.uncount(tx, counters)


@operation(
    "renewMfaRecoveryCodes",
    "POST",
    "/user/mfa/recovery-codes",
    needs=Can.CHANGE_SIGN_IN,
    returns=wire.RecoveryCodes,
)
def renew_recovery_codes(call: Call, caller: SignedIn, body: wire.CodeBody) -> Reply:
    """Replace the recovery codes. The old codes stop working."""
    _require_code(call, caller.user_id, body.code)
    with call.db.write() as tx:
        sessions.require_still_signed_in(tx, call.actor)
        codes = factors.renew_recovery_codes(tx, caller.user_id)
        _audit_own_account(tx, call, "second-factor.updated", after={"recoveryCodes": len(codes)})
    return Reply(wire.RecoveryCodes(codes), headers={"cache-control": "no-store"})


@operation("endMfa", "POST", "/user/mfa/end", needs=Can.CHANGE_SIGN_IN)
def end_mfa(call: Call, caller: SignedIn, body: wire.CodeBody) -> None:
    """Turn off two-factor authentication. Requires an authenticator code or a recovery code."""
    _require_code(call, caller.user_id, body.code)
    with call.db.write() as tx:
        sessions.require_still_signed_in(tx, call.actor)
        factors.end(tx, caller.user_id)
        _audit_own_account(tx, call, "second-factor.removed")


# --- passkeys -----------------------------------------------------------------------------------------


@operation("listPasskeys", "GET", "/user/passkeys", needs=Can.SIGN_IN)
def list_passkeys(call: Call, caller: SignedIn) -> wire.Passkeys:
    """List the caller's passkeys, oldest first."""
    with call.db.read() as tx:
        return wire.Passkeys(
            [wire.present_passkey(row) for row in passkeys.list_passkeys(tx, caller.user_id)]
        )


@operation(
    "startPasskey",
    "POST",
    "/user/passkeys/start",
    needs=Can.CHANGE_SIGN_IN,
    returns=passkeys.StartedPasskey,
    errors=(409, 503),
)
def start_passkey(call: Call, caller: SignedIn) -> Reply:
    """Create a challenge for a new passkey, with the options for the browser. The challenge expires after
    five minutes and can be used only once."""
    with call.db.write() as tx:
        sessions.require_still_signed_in(tx, call.actor)
        user = find_user(tx, caller.user_id)
        assert user is not None
        started = passkeys.start_registration(tx, call.context, user)
    return Reply(passkeys.present_started(started), headers={"cache-control": "no-store"})


@operation(
    "registerPasskey",
    "POST",
    "/user/passkeys",
    needs=Can.CHANGE_SIGN_IN,
    status=201,
    errors=(400, 409, 503),
    body_limit=32_768,
)
def register_passkey(call: Call, caller: SignedIn, body: wire.RegisterPasskey) -> wire.Passkey:
    """Save a passkey that the browser has just created."""
    proved = passkeys.finish_registration(call.context, caller.user_id, body.challenge, body.credential)
    with call.db.write() as tx:
        sessions.require_still_signed_in(tx, call.actor)
        row = passkeys.save(tx, caller.user_id, proved, body.name)
        _audit_own_account(tx, call, "passkey.created", after={"passkey": row.id, "name": row.name})
    return wire.present_passkey(row)


@operation("updatePasskey", "PATCH", "/user/passkeys/{passkeyId}", needs=Can.CHANGE_SIGN_IN, errors=(404,))
def update_passkey(call: Call, caller: SignedIn, passkey_id: str, body: wire.UpdatePasskey) -> wire.Passkey:
    """Rename one of the caller's passkeys."""
    with call.db.write() as tx:
        row = passkeys.get_passkey(tx, caller.user_id, passkey_id)
        if body.name is not UNSET and body.name != row.name:
            passkeys.rename(tx, passkey_id, body.name)
            _audit_own_account(
                tx, call, "passkey.updated", before={"name": row.name}, after={"name": body.name}
            )
        return wire.present_passkey(passkeys.get_passkey(tx, caller.user_id, passkey_id))


@operation("removePasskey", "DELETE", "/user/passkeys/{passkeyId}", needs=Can.CHANGE_SIGN_IN)
def remove_passkey(call: Call, caller: SignedIn, passkey_id: str) -> bool:
    """Remove one of the caller's passkeys. The passkey can no longer be used to sign in, but sessions that were started
    with it stay active."""
    with call.db.write() as tx:
        if not passkeys.remove(tx, caller.user_id, passkey_id):
            return False
        _audit_own_account(tx, call, "passkey.removed", before={"passkey": passkey_id})
    return True


def _token_state(row: store.TokenRow) -> JsonObject:
    return {"token": row.id, "name": row.name, "scopes": row.scopes, "expiresAt": row.expires_at}


# --- personal tokens ----------------------------------------------------------------------------------


@operation("listPersonalTokens", "GET", "/user/tokens", needs=Can.SIGN_IN)
def list_personal_tokens(call: Call, caller: SignedIn, query: PageQuery) -> Listing[wire.Token]:
    """List the caller's tokens, newest first, without their secrets."""
    only = call.actor.organization_id
    with call.db.read() as tx:
        found = store.list_tokens(tx, caller.user_id, query.limit, query.page, only=only)
    return present_slice(found, wire.present_token)


@operation(
    "createPersonalToken",
    "POST",
    "/user/tokens",
    needs=Can.CREATE_TOKEN,
    returns=wire.Token,
    status=201,
    body_limit=16_384,
)
def create_personal_token(call: Call, caller: SignedIn, body: wire.CreateToken) -> Reply:
    """Create a token for the caller. Only this response contains its secret, which can't be retrieved again.

    A token created in a session that is limited to one organization works only in that organization."""
    actor: Actor = call.actor
    with call.db.write() as tx:
        sessions.require_still_signed_in(tx, call.actor)
        row, secret = issue_token(
            tx,
            actor,
            caller.user_id,
            name=body.name,
            scopes=body.scopes,
            expires_at=body.expires_at,
            organization_id=actor.organization_id,
        )
        _audit_own_account(tx, call, "token.created", after=_token_state(row))
    return Reply(wire.present_token(row, secret), status=201, headers={"cache-control": "no-store"})


@operation("revokePersonalToken", "DELETE", "/user/tokens/{tokenId}", needs=Can.END_SIGN_INS)
def revoke_personal_token(call: Call, caller: SignedIn, token_id: str) -> bool:
    """Revoke one of the caller's tokens immediately."""
    with call.db.write() as tx:
        if not revoke_token(tx, caller.user_id, token_id, only=call.actor.organization_id):
            return False
        _audit_own_account(tx, call, "token.revoked", before={"token": token_id})
    return True


# --- service accounts ---------------------------------------------------------------------------------

_ACCOUNTS = "/orgs/{organizationId}/service-accounts"


@operation("listServiceAccounts", "GET", _ACCOUNTS, needs=Can.ADMIN)
def list_service_accounts(call: Call, org: OrgAccess, query: PageQuery) -> Listing[wire.ServiceAccount]:
    """List the service accounts of an organization, newest first."""
    with call.db.read() as tx:
        found = store.list_service_accounts(tx, org.organization_id, query.limit, query.page)
    return present_slice(found, wire.present_service_account)


@operation("createServiceAccount", "POST", _ACCOUNTS, needs=Can.ADMIN, status=201)
def create_service_account(
    call: Call, org: OrgAccess, body: wire.CreateServiceAccount
) -> wire.ServiceAccount:
    """Create a service account: a member that isn't a person. It acts through its tokens, and only in this
    organization."""
    with call.db.write() as tx:
        row = store.insert_service_account(tx, org.organization_id, body.name.strip(), body.role)
        state = {"name": row.name, "role": body.role}
        target = ("service-account", row.id)
        audit(tx, call.actor, "service-account.created", org.organization_id, target, after=state)
    return wire.present_service_account(row)


@operation("deleteServiceAccount", "DELETE", _ACCOUNTS + "/{serviceAccountId}", needs=Can.ADMIN)
def delete_service_account(call: Call, org: OrgAccess, service_account_id: str) -> bool:
    """Delete a service account, and revoke its tokens immediately. Content that it created is kept."""
    with call.db.write() as tx:
        if not store.is_service_account(tx, org.organization_id, service_account_id):
            return False
        removal.end_all_sign_ins(tx, service_account_id)
        store.disable_service_account(tx, org.organization_id, service_account_id)
        target = ("service-account", service_account_id)
        audit(tx, call.actor, "service-account.removed", org.organization_id, target)
    return True


def _require_service_account(tx: Transaction, org: OrgAccess, account_id: str) -> None:
    if not store.is_service_account(tx, org.organization_id, account_id):
        raise NotFound(f"There is no service account with the ID {account_id!r} in this organization.")


@operation("listServiceAccountTokens", "GET", _ACCOUNTS + "/{serviceAccountId}/tokens", needs=Can.ADMIN)
def list_service_account_tokens(
    call: Call, org: OrgAccess, service_account_id: str, query: PageQuery
) -> Listing[wire.Token]:
    """List the tokens of a service account, without their secrets."""
    with call.db.read() as tx:
        _require_service_account(tx, org, service_account_id)
        found = store.list_tokens(tx, service_account_id, query.limit, query.page)
    return present_slice(found, wire.present_token)


@operation(
    "createServiceAccountToken",
    "POST",
    _ACCOUNTS + "/{serviceAccountId}/tokens",
    needs=Can.ADMIN,
    returns=wire.Token,
    status=201,
)
def create_service_account_token(
    call: Call, org: OrgAccess, service_account_id: str, body: wire.CreateToken
) -> Reply:
    """Create a token for a service account. The token works only in this organization. Only this response
    contains its secret."""
    with call.db.write() as tx:
        _require_service_account(tx, org, service_account_id)
        row, secret = issue_token(
            tx,
            call.actor,
            service_account_id,
            name=body.name,
            scopes=body.scopes,
            expires_at=body.expires_at,
            organization_id=org.organization_id,
        )
        target = ("service-account", service_account_id)
        audit(tx, call.actor, "token.created", org.organization_id, target, after=_token_state(row))
    return Reply(wire.present_token(row, secret), status=201, headers={"cache-control": "no-store"})


@operation(
    "revokeServiceAccountToken", "DELETE", _ACCOUNTS + "/{serviceAccountId}/tokens/{tokenId}", needs=Can.ADMIN
)
def revoke_service_account_token(call: Call, org: OrgAccess, service_account_id: str, token_id: str) -> bool:
    """Revoke a service account's token immediately."""
    with call.db.write() as tx:
        _require_service_account(tx, org, service_account_id)
        if not revoke_token(tx, service_account_id, token_id):
            return False
        target = ("service-account", service_account_id)
        audit(tx, call.actor, "token.revoked", org.organization_id, target, before={"token": token_id})
    return True
