"""Wire format of sign-in, sessions, tokens, and two-factor authentication."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.clock import iso
from octavo.kit.http.operation import Recipient
from octavo.kit.texts import NOT_BLANK, pattern
from octavo.organization.access.wire import DisplayName

from .passkeys import MadeCredential, PasskeyRow, UsedCredential
from .sessions import NewSession, SessionRow
from .signing_in import Outcome, SecondFactorNeeded
from .store import ServiceAccountRow, TokenRow

Email = Annotated[str, Meta(min_length=3, max_length=320, pattern=pattern("@", "be an email address"))]
Password = Annotated[str, Meta(max_length=4096)]
Code = Annotated[str, Meta(min_length=6, max_length=32)]
Secret = Annotated[str, Meta(min_length=1, max_length=4096)]
Name = Annotated[str, Meta(min_length=1, max_length=100, pattern=NOT_BLANK)]


class SignIn(Struct):
    """Request body of a sign-in. ``code``: the code for two-factor authentication. ``cookie``: whether to
    also keep the session in a cookie.

    ``device``: the value from an earlier sign-in on this device, so that other people's failed attempts don't count.
    """

    email: Email
    password: Password
    code: Code | None = None
    cookie: bool = False
    device: Secret | None = None


class SignInWithCode(Struct):
    challenge: Secret
    code: Code
    cookie: bool = False


class SignInWithLink(Struct):
    link: Secret
    code: Code | None = None
    cookie: bool = False


class SignInLinkRequest(Struct):
    email: Email


class Discover(Struct):
    email: Email


class SignedInResult(Struct, rename="camel", kw_only=True):
    """Result of a sign-in. ``token``: the token for ``Authorization: Bearer``. ``challenge``: the challenge
    to send with a code to `POST /sign-in/code`. ``device``: the value to store and send with the next `POST
    /sign-in`. ``passkeys``: whether a passkey can replace the code."""

    status: Literal["signed-in", "code-needed"]
    expires_at: str
    session: str | UnsetType = UNSET
    token: str | UnsetType = UNSET
    challenge: str | UnsetType = UNSET
    device: str | UnsetType = UNSET
    passkeys: bool | UnsetType = UNSET


class SignInProvider(Struct, rename={"start_url": "startURL"}):
    id: str
    label: str
    start_url: str


class SignInWays(Struct):
    """Sign-in methods for an email address. They depend only on the address, not on whether an account exists."""

    methods: list[Literal["password", "link"]]
    sso: list[SignInProvider]


class Session(Struct, rename="camel", kw_only=True):
    id: str
    method: str
    client: str
    agent: str
    created_at: str
    expires_at: str
    last_used_at: str
    current: bool
    organization: str | UnsetType = UNSET
    object: Literal["session"] = "session"


class SetPassword(Struct):
    password: Password


class SetUpAccount(Struct, rename="camel"):
    """Request body of the first administrator's setup. ``email``: the email address; required if the settings
    don't specify it."""

    display_name: DisplayName
    password: Password
    email: Email | None = None


class ProveIdentity(Struct):
    """Request body for confirming the caller's identity. ``code``: the code for two-factor authentication."""

    password: Password
    code: Code | None = None


class ProvedIdentity(Struct, rename="camel"):
    """Time until which the session can change its owner's sign-in methods."""

    proved_until: str


class SecondFactor(Struct, rename="camel"):
    enabled: bool
    recovery_codes_left: int


class StartedSecondFactor(Struct):
    secret: str
    uri: str


class CodeBody(Struct):
    code: Code


class RecoveryCodes(Struct, rename="camel"):
    recovery_codes: list[str]


class StartPasskeySignIn(Struct):
    """Request body for starting a passkey sign-in. ``challenge``: the challenge from a sign-in that requires a code; by
    default, the passkey is the only sign-in step."""

    challenge: Secret | None = None


class SignInWithPasskey(Struct):
    challenge: Secret
    credential: UsedCredential
    cookie: bool = False


class RegisterPasskey(Struct):
    """Request body for saving a passkey. ``name``: the name chosen by its owner."""

    challenge: Secret
    credential: MadeCredential
    name: Name


class UpdatePasskey(Struct):
    name: Name | UnsetType = UNSET


class Passkey(Struct, rename="camel"):
    id: str
    name: str
    created_at: str
    last_used_at: str | None
    object: Literal["passkey"] = "passkey"


class Passkeys(Struct):
    items: list[Passkey]


class CreateToken(Struct, rename="camel"):
    """Request body for creating a token. ``scopes``: the scopes; by default, the token has all of its owner's
    permissions. ``expiresAt``: the expiration time (ISO 8601); by default, the token never expires."""

    name: Name
    scopes: Annotated[list[str], Meta(min_length=1, max_length=50)] | None = None
    expires_at: Annotated[str, Meta(max_length=40)] | None = None


class CreateServiceAccount(Struct):
    name: Name
    role: Literal["read", "comment", "edit", "review", "create", "admin"] = "read"


class Token(Struct, rename="camel", kw_only=True):
    """Access token. ``token``: the secret, only in the response that creates the token."""

    id: str
    name: str
    hint: str
    scopes: list[str] | None
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    token: str | UnsetType = UNSET
    organization: str | UnsetType = UNSET
    object: Literal["token"] = "token"


class ServiceAccount(Struct, rename="camel"):
    id: str
    name: str
    role: str | None
    created_at: str
    object: Literal["service-account"] = "service-account"


def present_outcome(outcome: Outcome) -> SignedInResult:
    if isinstance(outcome, SecondFactorNeeded):
        return SignedInResult(
            status="code-needed",
            expires_at=iso(outcome.expires_at),
            challenge=outcome.challenge,
            passkeys=outcome.passkeys,
        )
    return present_new_session(outcome.session, outcome.device)


def present_new_session(new: NewSession, device: str | UnsetType = UNSET) -> SignedInResult:
    return SignedInResult(
        status="signed-in", expires_at=iso(new.expires_at), session=new.id, token=new.secret, device=device
    )


def present_session(to: Recipient, row: SessionRow) -> Session:
    return Session(
        id=row.id,
        method=row.method,
        client=row.client,
        agent=row.agent,
        created_at=iso(row.created_at),
        expires_at=iso(row.expires_at),
        last_used_at=iso(row.last_used_at),
        current=row.id == to.actor.token_id,
        organization=row.organization_id or UNSET,
    )


def present_passkey(row: PasskeyRow) -> Passkey:
    return Passkey(row.id, row.name, iso(row.created_at), iso(row.last_used_at) if row.last_used_at else None)


def present_token(row: TokenRow, secret: str | UnsetType = UNSET) -> Token:
    return Token(
        id=row.id,
        name=row.name,
        hint=row.hint,
        scopes=row.scopes,
        created_at=iso(row.created_at),
        expires_at=iso(row.expires_at) if row.expires_at else None,
        last_used_at=iso(row.last_used_at) if row.last_used_at else None,
        token=secret,
        organization=row.organization_id or UNSET,
    )


def present_service_account(row: ServiceAccountRow) -> ServiceAccount:
    return ServiceAccount(row.id, row.name, row.role, iso(row.created_at))
