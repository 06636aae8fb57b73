"""Publish and unpublish integrations, including their listing, script, images, and secrets."""

from __future__ import annotations

import base64
import binascii
import re
import secrets as random
from collections.abc import Sequence

import msgspec
from msgspec import UNSET

from octavo.content.revisions.computing import notify_dependency_changed
from octavo.content.revisions.files import store_file
from octavo.core.file_types import detect_type
from octavo.core.url_patterns import domain_of
from octavo.errors import BadRequest, NotFound, format_size
from octavo.extensions.deliveries.store import forget_waiting
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import organization_access
from octavo.organization.access.roles import Can
from octavo.organization.orgs.store import find_organization_by_hostname
from octavo.sites.site.store import touch_sites

from . import store
from .authorization import integration_access
from .installing import remove_installation
from .manifest import Configurations, Manifest, PublishIntegration
from .ordering import order_for
from .store import ICON, SCRIPT, FileRow, InstallationRow, IntegrationRow

ICON_SIZE = 256 * 1024
PREVIEW_SIZE = 1024 * 1024
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


_NAME = re.compile(r"[a-zA-Z0-9-_.]{1,100}")
BUILTIN_NAMES = frozenset({"oidc-sign-in", "plausible", "slack"})
"""Reserved names. These names, and all names that start with one of them followed by a dot, can be used only for
copies of built-in integrations."""


def copy_name(builtin: str, organization_id: str) -> str:
    """Return the name of an organization's copy of a built-in integration."""
    return f"{builtin}.{organization_id}"


def require_name(name: str) -> None:
    """Check the name of an integration. Raises BadRequest if it is invalid or reserved."""
    if not _NAME.fullmatch(name) or not name.strip("."):
        raise BadRequest(
            "integrationName: must be 1 to 100 letters, digits, hyphens, underscores, and periods"
        )
    base = name.lower().partition(".")[0]
    if base in BUILTIN_NAMES:
        raise BadRequest(
            f"integrationName: {base!r} is reserved for the built-in integration. Choose another name."
        )


def read_publication(data: bytes, organization: str, script: str) -> PublishIntegration:
    """Parse the JSON body for publishing an organization's copy of a built-in integration. Setup created this body."""
    given = msgspec.json.decode(data, type=PublishIntegration)
    return msgspec.structs.replace(given, organization=organization, script=script, visibility="private")


def publish(context: Context, actor: Actor, name: str, given: PublishIntegration) -> IntegrationRow:
    """Publish an integration, or a new version of an existing one. Raises BadRequest if the name or the body is
    invalid, Forbidden if the caller doesn't have permission, and NotFound if the organization doesn't exist."""
    _check_defaults(given.configurations)
    images = [(ICON, given.icon, ICON_SIZE)] if given.icon is not UNSET else []
    images += [(f"preview-{n}", image, PREVIEW_SIZE) for n, image in enumerate(given.preview_images, 1)]
    decoded = [(place, *_decode(place, image, size)) for place, image, size in images]
    with context.db.read() as tx:
        _require_publisher(tx, actor, name, given.organization)
    files = [
        FileRow(place, store_file(context, data).hash, content_type) for place, data, content_type in decoded
    ]
    files.append(_store_script(context, given.script))
    with context.db.write() as tx:
        organization_id, before = _require_publisher(tx, actor, name, given.organization)
        row = _row(context, before, name, organization_id, given)
        _put(tx, actor, row, files)
    return row


def move_to_copy(
    context: Context, name: str, given: PublishIntegration, installation: InstallationRow
) -> None:
    """Move an installation to its organization's integration ``name``. If that integration is new, it is
    published first.

    Events queued for the previous script are dropped. From then on, only the integration ``name`` receives events."""
    script = _store_script(context, given.script)
    with context.db.write() as tx:
        row = store.find_integration(tx, name)
        if row is None:
            row = _row(context, None, name, installation.organization_id, given)
            _put(tx, None, row, [script])
        forget_waiting(tx, installation.id)
        store.move_installation(tx, installation.id, row.id)
        touch_sites(tx, installation.organization_id)


def _store_script(context: Context, script: str) -> FileRow:
    return FileRow(SCRIPT, store_file(context, script.encode()).hash, "text/javascript")


def _put(tx: Transaction, actor: Actor | None, row: IntegrationRow, files: Sequence[FileRow]) -> None:
    store.reserve_name(tx, row.name, row.organization_id)
    store.put_integration(tx, row)
    store.set_tags(tx, row.id, _tags(row.manifest))
    store.set_files(tx, row.id, files)
    order_for(tx, row)
    for installation in store.list_all_installations(tx, row.id):
        touch_sites(tx, installation.organization_id)
    state = {"version": row.version, "visibility": row.visibility, "scopes": row.manifest.scopes}
    audit(tx, actor, "integration.published", row.organization_id, ("integration", row.name), after=state)


def unpublish(tx: Transaction, actor: Actor, name: str) -> bool:
    """Remove an integration everywhere. Return False if it doesn't exist. Raises Forbidden if the caller doesn't
    have permission, and NotFound if the caller can't see the integration."""
    if store.find_integration(tx, name) is None:
        return False
    row = integration_access(tx, actor, Can.ADMIN, name).row
    for installation in store.list_all_installations(tx, row.id):
        remove_installation(tx, installation)
        notify_dependency_changed(tx, installation.organization_id)
    store.delete_integration(tx, row.id)
    audit(tx, actor, "integration.unpublished", row.organization_id, ("integration", name))
    return True


def offer(tx: Transaction, name: str, offered: bool) -> None:
    """Offer a public integration to every organization, or stop offering it. Only server administrators can
    do this.

    Raises BadRequest if the integration isn't public, and NotFound if it doesn't exist."""
    row = store.find_integration(tx, name)
    if row is None:
        raise NotFound(f"There is no integration named {name!r}.")
    if offered and row.visibility != "public":
        raise BadRequest(f"{name}: must be a public integration, but its visibility is {row.visibility!r}")
    store.set_offered(tx, row.id, offered)
    after = {"offered": offered}
    audit(tx, None, "integration.offered", row.organization_id, ("integration", name), after=after)


def _require_publisher(
    tx: Transaction, actor: Actor, name: str, organization: str
) -> tuple[str, IntegrationRow | None]:
    """Return the organization that publishes an integration, and its current integration with this name, if any.
    ``organization``: the ID or subdomain of the organization."""
    named = find_organization_by_hostname(tx, organization)
    org = organization_access(tx, actor, Can.ADMIN, named.id if named else organization)
    if store.find_owner_of_name(tx, name) not in (None, org.organization_id):
        raise NotFound(f"The name {name!r} isn't available. Choose another name.")
    return org.organization_id, store.find_integration(tx, name)


def _row(
    context: Context,
    before: IntegrationRow | None,
    name: str,
    organization_id: str,
    given: PublishIntegration,
) -> IntegrationRow:
    integration_id = before.id if before else ids.new_id()
    signing = (
        before.signing_secret
        if before
        else store.SIGNING_SECRET.seal(context.sealer, random.token_hex(32), integration_id)
    )
    moment = now()
    return IntegrationRow(
        id=integration_id,
        name=name,
        organization_id=organization_id,
        version=before.version + 1 if before else 1,
        runtime=given.runtime,
        title=given.title,
        description=given.description,
        summary=given.summary,
        visibility=given.visibility,
        target=given.target,
        manifest=Manifest(
            scopes=list(dict.fromkeys(given.scopes)),
            categories=list(dict.fromkeys(given.categories)),
            external_links=list(given.external_links),
            previews=len(given.preview_images),
            blocks=given.blocks,
            content_sources=given.content_sources,
            configurations=given.configurations,
            content_security_policy=given.content_security_policy,
        ),
        secrets=store.SECRETS.seal(
            context.sealer, msgspec.json.encode(given.secrets).decode(), integration_id
        ),
        signing_secret=signing,
        created_at=before.created_at if before else moment,
        updated_at=moment,
    )


def _tags(manifest: Manifest) -> list[tuple[str, str]]:
    tags: list[tuple[str, str]] = [("category", category) for category in manifest.categories]
    tags += [("scope", scope) for scope in manifest.scopes]
    for block in manifest.blocks or ():
        domains = (domain_of(pattern) for pattern in block.url_unfurl or ())
        tags += [("domain", domain) for domain in domains if domain]
    return tags


def _decode(place: str, image: str, size: int) -> tuple[bytes, str]:
    field = "icon" if place == ICON else f"previewImages[{int(place.rpartition('-')[2]) - 1}]"
    try:
        data = base64.b64decode(image, validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest(f"{field}: must be a Base64-encoded image") from None
    if len(data) > size:
        raise BadRequest(f"{field}: must be at most {format_size(size)}")
    content_type = detect_type(data[:32], "")
    if content_type not in _IMAGES:
        raise BadRequest(f"{field}: must be a PNG, JPEG, GIF, or WebP image")
    return data, content_type


def _check_defaults(configurations: Configurations | object) -> None:
    """Check that all required properties are declared. Raises BadRequest if a required property isn't declared."""
    if not isinstance(configurations, Configurations):
        return
    for place in ("account", "space", "site"):
        schema = getattr(configurations, place)
        if schema is UNSET or schema.properties is UNSET or schema.required is UNSET:
            continue
        for name in schema.required:
            if name not in schema.properties:
                raise BadRequest(f"configurations.{place}.required: there is no property named {name!r}")
