"""Operations on API specifications."""

from __future__ import annotations

from typing import Any

from octavo.content.revisions.bodies import get_body
from octavo.errors import NotFound
from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.operation import PUBLIC, Area, Call, Reply
from octavo.organization.access.roles import Can

from . import pages, publishing, store, wire
from .authorization import SpecsAccess, VisitedSpecs

operation = Area("openapi").operation

_SPECS = "/orgs/{organizationId}/openapi"
_SPEC = _SPECS + "/{specSlug}"
_VERSIONS = _SPEC + "/versions"
_TEXT_LIMIT = 32 * 1024 * 1024
"""Maximum size in bytes of a request body with the text of a specification. The text can be twice as long in JSON."""


@operation("listOpenAPISpecs", "GET", _SPECS, needs=Can.VIEW, errors=(404,))
def list_specs(call: Call, specs: SpecsAccess, query: PageQuery) -> Listing[wire.Spec]:
    """List the API specifications of an organization, sorted by slug."""
    with call.db.read() as tx:
        found = store.list_specs(tx, specs.organization_id, query.limit, query.page)
    return present_slice(found, lambda row: wire.present_spec(call, specs, row))


@operation(
    "createOpenAPISpec", "POST", _SPECS, needs=Can.EDIT, status=201, errors=(400, 404), body_limit=_TEXT_LIMIT
)
def create_spec(call: Call, specs: SpecsAccess, body: wire.CreateSpec) -> wire.Spec:
    """Create an API specification from a URL or from text. A job processes the specification."""
    with call.db.write() as tx:
        row = publishing.create(
            tx, specs.actor, specs.organization_id, body.slug, wire.source_of(body.source)
        )
    return wire.present_spec(call, specs, row)


@operation("getOpenAPISpecBySlug", "GET", _SPEC, needs=Can.VIEW, errors=(404,))
def get_spec(call: Call, specs: SpecsAccess, spec_slug: str) -> wire.Spec:
    """Get an API specification, with the result of the last time it was processed."""
    with call.db.read() as tx:
        return wire.present_spec(call, specs, publishing.get_spec(tx, specs.organization_id, spec_slug))


@operation(
    "createOrUpdateOpenAPISpecBySlug",
    "PUT",
    _SPEC,
    needs=Can.EDIT,
    also=(201,),
    errors=(400, 404),
    body_limit=_TEXT_LIMIT,
)
def put_spec(call: Call, specs: SpecsAccess, spec_slug: str, body: wire.PutSpec) -> wire.Spec | Reply:
    """Set the source of an API specification, and process it. If the specification doesn't exist, it is
    created (201)."""
    with call.db.write() as tx:
        row, is_new = publishing.put(
            tx, specs.actor, specs.organization_id, spec_slug, wire.source_of(body.source)
        )
    presented = wire.present_spec(call, specs, row)
    return Reply(presented, 201, {"location": presented.urls.location}) if is_new else presented


@operation("updateOpenAPISpecBySlug", "PATCH", _SPEC, needs=Can.EDIT, errors=(400, 404))
def update_spec(call: Call, specs: SpecsAccess, spec_slug: str, body: wire.UpdateSpec) -> wire.Spec:
    """Update the visibility of an API specification. It is visible either to members or to everyone with its public
    link."""
    with call.db.write() as tx:
        row = publishing.set_visibility(tx, specs.actor, specs.organization_id, spec_slug, body.visibility)
    return wire.present_spec(call, specs, row)


@operation("deleteOpenAPISpecBySlug", "DELETE", _SPEC, needs=Can.EDIT)
def delete_spec(call: Call, specs: SpecsAccess, spec_slug: str) -> bool:
    """Delete an API specification and all its versions."""
    with call.db.write() as tx:
        return publishing.delete(tx, specs.actor, specs.organization_id, spec_slug)


@operation("checkOpenAPISpecBySlug", "POST", f"{_SPEC}/check", needs=Can.EDIT, errors=(404,))
def check_spec(call: Call, specs: SpecsAccess, spec_slug: str) -> wire.Spec:
    """Check the source of an API specification now, without waiting for the regular check every six hours."""
    with call.db.write() as tx:
        row = publishing.check_now(tx, specs.organization_id, spec_slug)
    return wire.present_spec(call, specs, row)


@operation("listOpenAPISpecVersions", "GET", _VERSIONS, needs=Can.VIEW, errors=(404,))
def list_versions(
    call: Call, specs: SpecsAccess, spec_slug: str, query: PageQuery
) -> Listing[wire.SpecVersion]:
    """List the versions of an API specification, newest first."""
    with call.db.read() as tx:
        spec = publishing.get_spec(tx, specs.organization_id, spec_slug)
        found = store.list_versions(tx, spec.id, query.limit, query.page)
    return present_slice(found, lambda row: wire.present_version(call, specs.organization_id, spec_slug, row))


@operation(
    "getLatestOpenAPISpecVersion", "GET", f"{_VERSIONS}/latest", needs=Can.VIEW, errors=(404,), visitors=True
)
def get_latest_version(call: Call, specs: SpecsAccess | VisitedSpecs, spec_slug: str) -> wire.SpecVersion:
    """Get the newest valid version of an API specification."""
    with call.db.read() as tx:
        row = publishing.get_version(tx, specs.organization_id, spec_slug, None)
    return wire.present_version(call, specs.organization_id, spec_slug, row)


@operation(
    "getLatestOpenAPISpecVersionContent",
    "GET",
    f"{_VERSIONS}/latest/content",
    needs=Can.VIEW,
    errors=(404,),
    visitors=True,
)
def get_latest_content(call: Call, specs: SpecsAccess | VisitedSpecs, spec_slug: str) -> wire.SpecContent:
    """Get the files of the newest valid version of an API specification."""
    with call.db.read() as tx:
        spec = publishing.get_spec(tx, specs.organization_id, spec_slug)
        row = publishing.get_version(tx, specs.organization_id, spec_slug, None)
        return wire.present_content(call, tx, spec, row, listed=isinstance(specs, VisitedSpecs))


@operation(
    "getLatestOpenAPISpecVersionContentRaw",
    "GET",
    f"{_VERSIONS}/latest/content/raw",
    needs=Can.VIEW,
    errors=(404,),
)
def get_latest_raw(call: Call, specs: SpecsAccess, spec_slug: str) -> wire.RawContent:
    """Get the original text of the newest valid version of an API specification. For an archive, returns the text of
    the file that contains the specification."""
    with call.db.read() as tx:
        row = publishing.get_version(tx, specs.organization_id, spec_slug, None)
        path, body = store.list_files(tx, row.id)[0]
        return wire.RawContent(get_body(tx, body), "json" if path.endswith(".json") else "yaml")


@operation("getOpenAPISpecVersionById", "GET", f"{_VERSIONS}/{{versionId}}", needs=Can.VIEW, errors=(404,))
def get_version(call: Call, specs: SpecsAccess, spec_slug: str, version_id: str) -> wire.SpecVersion:
    """Get a version of an API specification."""
    with call.db.read() as tx:
        row = publishing.get_version(tx, specs.organization_id, spec_slug, version_id)
    return wire.present_version(call, specs.organization_id, spec_slug, row)


@operation(
    "getOpenAPISpecVersionContentById",
    "GET",
    f"{_VERSIONS}/{{versionId}}/content",
    needs=Can.VIEW,
    errors=(404,),
)
def get_content(call: Call, specs: SpecsAccess, spec_slug: str, version_id: str) -> wire.SpecContent:
    """Get the files in a version of an API specification."""
    with call.db.read() as tx:
        spec = publishing.get_spec(tx, specs.organization_id, spec_slug)
        row = publishing.get_version(tx, specs.organization_id, spec_slug, version_id)
        return wire.present_content(call, tx, spec, row, listed=False)


@operation(
    "compareOpenAPISpecVersions", "GET", f"{_VERSIONS}/{{versionId}}/changes", needs=Can.VIEW, errors=(404,)
)
def compare_versions(
    call: Call, specs: SpecsAccess, spec_slug: str, version_id: str, query: wire.CompareQuery
) -> wire.SpecChanges:
    """Compare a version of an API specification with another version. Breaking changes are listed first."""
    with call.db.read() as tx:
        version = publishing.get_version(tx, specs.organization_id, spec_slug, version_id)
        since = next(iter(store.list_versions_before(tx, version, 1)), None)
        if query.since is not None:
            since = publishing.get_version(tx, specs.organization_id, spec_slug, query.since)
        return wire.present_changes(version, since, pages.compare_versions(tx, version, since))


@operation(
    "getPublishedOpenAPISpec", "GET", "/openapi/{specId}", needs=PUBLIC, errors=(404,), returns=dict[str, Any]
)
def get_published_spec(call: Call, spec_id: str) -> Reply:
    """Get the newest valid version of a public API specification as OpenAPI 3 in JSON. Everyone with the link can
    access it."""
    with call.db.read() as tx:
        spec = store.find_spec_by_id(tx, spec_id)
        row = store.find_version(tx, spec.id, spec.version_id or "") if spec is not None else None
        if spec is None or row is None or spec.visibility != "public":
            raise NotFound("There is no public API specification at this URL.")
        return Reply(get_body(tx, row.document).encode(), 200, {"content-type": "application/json"})
