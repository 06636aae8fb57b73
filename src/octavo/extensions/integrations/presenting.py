"""Representation of integrations and installations in the API, and in the data that scripts receive."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import UNSET

from octavo.content.revisions.files import signed_url
from octavo.core.json_types import JsonObject
from octavo.interchange.gitsync.store import ProjectRow, find
from octavo.kit.clock import iso
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.files import FileGrant
from octavo.kit.http.operation import Actor, Recipient
from octavo.organization.access.authorization import find_site_access, find_space_access
from octavo.organization.access.roles import Can, at_least
from octavo.organization.orgs.store import OrgRow, OrgSettings, get_organization
from octavo.organization.orgs.wire import Organization, present_organization
from octavo.organization.spaces.store import get_space
from octavo.organization.spaces.wire import present_space
from octavo.sites.site.store import get_site
from octavo.sites.site.wire import present_site

from . import store
from .authorization import INTEGRATION, role_at_owner
from .configuration import declared, shown
from .policies import list_origins
from .store import CONFIGURATION, PLACE_CONFIGURATION, FileRow, InstallationRow, IntegrationRow, PlaceRow
from .wire import (
    Installation,
    InstallationUrls,
    Integration,
    IntegrationPermissions,
    IntegrationUrls,
    OrganizationTarget,
    PlaceUrls,
    SiteInstallation,
    SpaceInstallation,
)

PUBLIC = "/~integrations"
"""Path under which public endpoints are available, on the origin of sites."""


def public_endpoint(context: Context, name: str, installation_id: str = "", *place: str) -> str:
    """Return the public endpoint of an integration or of an installation. ``place``: the kind and ID of a space or
    site, for an installation on it."""
    url = f"{context.settings.sites_url.rstrip('/')}{PUBLIC}/{name}"
    if installation_id:
        url += f"/installations/{installation_id}"
    if place:
        url += f"/{place[0]}s/{place[1]}"
    return url


def present_integrations(
    to: Recipient, tx: Transaction, rows: Sequence[IntegrationRow], actor: Actor | None
) -> list[Integration]:
    """Return integrations in the API format, for ``actor`` or, if ``actor`` is None, for the integrations' own
    scripts."""
    files = store.list_files(tx, [row.id for row in rows])
    owners: dict[str, tuple[Organization, bool]] = {}
    for organization_id in {row.organization_id for row in rows}:
        org = get_organization(tx, organization_id)
        role = role_at_owner(tx, actor, organization_id) if actor is not None else None
        if role is None:
            # The organization's public profile.
            org = OrgRow(org.id, org.title, org.hostname, org.created_at, None, [], OrgSettings())
        owners[organization_id] = (
            present_organization(to, org, role),
            at_least(role, INTEGRATION[Can.ADMIN]),
        )
    return [_present(to, row, files, *owners[row.organization_id]) for row in rows]


def present_integration(
    to: Recipient, tx: Transaction, row: IntegrationRow, actor: Actor | None
) -> Integration:
    return present_integrations(to, tx, [row], actor)[0]


def _present(
    to: Recipient,
    row: IntegrationRow,
    files: dict[tuple[str, str], FileRow],
    owner: Organization,
    admin: bool,
) -> Integration:
    def link(name: str) -> str | None:
        file = files.get((row.id, name))
        if file is None:
            return None
        extension = file.content_type.rpartition("/")[2]
        return signed_url(to.context, FileGrant(file.hash, f"{name}.{extension}", file.content_type))

    manifest = row.manifest
    previews = [link(f"preview-{n}") for n in range(1, manifest.previews + 1)]
    endpoint = public_endpoint(to.context, row.name)
    return Integration(
        name=row.name,
        version=row.version,
        title=row.title,
        description=row.description,
        summary=row.summary,
        preview_images=[url for url in previews if url],
        target=row.target,  # type: ignore[arg-type]
        verified=False,
        visibility=row.visibility,  # type: ignore[arg-type]
        scopes=manifest.scopes,
        categories=manifest.categories,
        external_links=manifest.external_links,
        owner=owner,
        urls=IntegrationUrls(
            location=to.url(f"/integrations/{row.name}"),
            app=to.app.integration(row.name),
            assets=f"{endpoint}/~assets",
            public_endpoint=endpoint,
            public_content_endpoint=endpoint,
            icon=link(store.ICON) or UNSET,
        ),
        permissions=IntegrationPermissions(admin),
        blocks=manifest.blocks,
        content_sources=manifest.content_sources,
        configurations=manifest.configurations,
        content_security_policy=manifest.content_security_policy,
        frame_origins=list_origins(manifest),
    )


def open_configuration(context: Context, row: InstallationRow | PlaceRow) -> JsonObject:
    """Decrypt a configuration. Raises Unavailable if the key that encrypted it is missing."""
    if isinstance(row, InstallationRow):
        text = CONFIGURATION.open(context.sealer, row.configuration, row.id)
    else:
        key = (row.installation_id, row.kind, row.place_id)
        text = PLACE_CONFIGURATION.open(context.sealer, row.configuration, *key)
    found: JsonObject = msgspec.json.decode(text)
    return found


def _configuration(
    to: Recipient, tx: Transaction, row: InstallationRow | PlaceRow, integration_id: str, whole: bool
) -> JsonObject:
    found = open_configuration(to.context, row)
    if whole or not found:
        return found
    kind = "installation" if isinstance(row, InstallationRow) else row.kind
    return shown(declared(store.get_integration_by_id(tx, integration_id).manifest, kind), found)


def present_installation(
    to: Recipient, tx: Transaction, row: InstallationRow, *, whole: bool
) -> Installation:
    """Return an installation in the API format. ``whole``: whether the caller can change its configuration."""
    endpoint = public_endpoint(to.context, row.integration, row.id)
    return Installation(
        id=row.id,
        status=row.status,  # type: ignore[arg-type]
        space_selection=row.space_selection,  # type: ignore[arg-type]
        site_selection=row.site_selection,  # type: ignore[arg-type]
        spaces=row.spaces,
        configuration=_configuration(to, tx, row, row.integration_id, whole),
        created_at=iso(row.created_at),
        updated_at=iso(row.updated_at),
        urls=InstallationUrls(
            location=to.url(f"/integrations/{row.integration}/installations/{row.id}"),
            app=to.app.organization(row.organization_id, f"integrations/{row.integration}"),
            public_endpoint=endpoint,
            public_content_endpoint=endpoint,
        ),
        external_ids=row.external_ids,
        target=OrganizationTarget(row.organization_id),
    )


def _place_urls(to: Recipient, row: PlaceRow) -> PlaceUrls:
    path = f"/integrations/{row.integration}/installations/{row.installation_id}/{row.kind}s/{row.place_id}"
    endpoint = public_endpoint(to.context, row.integration, row.installation_id, row.kind, row.place_id)
    return PlaceUrls(to.url(path), endpoint, endpoint)


def present_space_installation(
    to: Recipient,
    tx: Transaction,
    row: PlaceRow,
    integration_id: str,
    *,
    whole: bool,
    actor: Actor | None,
    extended: bool = False,
) -> SpaceInstallation:
    """Return an installation on a space in the API format. ``extended``: whether to include the complete space,
    with the access of ``actor``."""
    space = None
    if extended and actor is not None:
        seen = find_space_access(tx, actor, Can.VIEW, row.place_id)
        space = present_space(to, tx, get_space(tx, row.place_id), seen.role if seen else None)
    return SpaceInstallation(
        integration=row.integration,
        installation=row.installation_id,
        status=row.status,  # type: ignore[arg-type]
        configuration=_configuration(to, tx, row, integration_id, whole),
        external_ids=row.external_ids,
        urls=_place_urls(to, row),
        space=space or row.place_id,
    )


def present_site_installation(
    to: Recipient,
    tx: Transaction,
    row: PlaceRow,
    integration_id: str,
    *,
    whole: bool,
    actor: Actor | None,
    extended: bool = False,
) -> SiteInstallation:
    """Return an installation on a site in the API format. ``extended``: whether to include the complete site, with
    the access of ``actor``."""
    site = None
    if extended and actor is not None:
        found = get_site(tx, row.place_id)
        seen = find_site_access(tx, actor, Can.VIEW, found.organization_id, found.id)
        organization, sync = get_organization(tx, found.organization_id), find(tx, ProjectRow, found.id)
        site = present_site(to, organization, found, seen.role if seen else None, sync)
    return SiteInstallation(
        integration=row.integration,
        installation=row.installation_id,
        status=row.status,  # type: ignore[arg-type]
        configuration=_configuration(to, tx, row, integration_id, whole),
        external_ids=row.external_ids,
        urls=_place_urls(to, row),
        site=site or row.place_id,
    )
