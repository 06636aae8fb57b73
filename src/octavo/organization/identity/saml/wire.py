"""Wire format of SAML providers."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.clock import iso
from octavo.kit.http.operation import Recipient
from octavo.kit.texts import NOT_BLANK
from octavo.organization.access.roles import Role
from octavo.organization.access.teams import TeamRow
from octavo.organization.access.wire import Team, present_team

from .service import _NAMES, Service, service
from .store import ProviderRow

Label = Annotated[str, Meta(min_length=1, max_length=30, pattern=NOT_BLANK)]
EntityId = Annotated[str, Meta(max_length=1024)]
Certificate = Annotated[str, Meta(max_length=10_000)]
Url = Annotated[str, Meta(max_length=2048)]


class CreateProvider(Struct, rename=_NAMES, kw_only=True):
    """Request body for creating a provider. ``idpInitiated`` (an Octavo extension): whether to allow sign-ins that the
    provider initiates."""

    label: Label
    entity_id: EntityId = ""
    certificate: Certificate = ""
    sso_url: Url = ""
    default_team: str | None = None
    default_role: Role | None = "read"
    idp_initiated: bool = False


class UpdateProvider(Struct, rename=_NAMES, kw_only=True):
    """Request body for updating a provider. Omitted fields stay unchanged."""

    label: Label | UnsetType = UNSET
    entity_id: EntityId | UnsetType = UNSET
    certificate: Certificate | UnsetType = UNSET
    sso_url: Url | UnsetType = UNSET
    default_team: str | None | UnsetType = UNSET
    default_role: Role | None | UnsetType = UNSET
    idp_initiated: bool | UnsetType = UNSET


class ProviderUrls(Struct):
    location: str


class Provider(Struct, rename=_NAMES, kw_only=True):
    id: str
    label: str
    entity_id: str
    certificate: str
    default_role: str | None
    idp_initiated: bool
    created_at: str
    status: Literal["active", "pending"]
    service: Service
    urls: ProviderUrls
    object: Literal["saml-provider"] = "saml-provider"
    default_team: Team | UnsetType = UNSET
    sso_url: str | UnsetType = UNSET


class ProviderLogin(Struct, rename=_NAMES):
    id: str
    label: str
    start_url: str


class ProviderLogins(Struct):
    items: list[ProviderLogin]


class UseAnswer(Struct):
    """Request body with an answer. ``answer``: the secret in the page's URL."""

    answer: Annotated[str, Meta(min_length=1, max_length=200)]


class SamlAnswer(Struct):
    """Pending answer. ``organization`` and ``provider``: their display names."""

    step: Literal["confirm", "connect"]
    organization: str
    provider: str
    email: str | None


class SamlSignedIn(Struct):
    """Completed sign-in. ``next``: the path to redirect to."""

    next: str


def present_provider(to: Recipient, row: ProviderRow, team: TeamRow | None) -> Provider:
    return Provider(
        id=row.id,
        label=row.label,
        sso_url=row.sso_url or UNSET,
        entity_id=row.entity_id,
        certificate=row.certificate,
        default_role=row.default_role,
        idp_initiated=row.idp_initiated,
        created_at=iso(row.created_at),
        status="active" if row.active else "pending",
        service=service(to.context, row.id),
        urls=ProviderUrls(to.url(f"/orgs/{row.organization_id}/saml/{row.id}")),
        # Only administrators can see a provider, and they manage the teams.
        default_team=present_team(to, team, admin=True) if team else UNSET,
    )


def present_login(to: Recipient, row: ProviderRow) -> ProviderLogin:
    return ProviderLogin(row.id, row.label, service(to.context, row.id).start_url)
