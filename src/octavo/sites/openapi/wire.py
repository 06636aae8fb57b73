"""Wire format of specifications."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.content.pages.links import register_spec_presenter
from octavo.content.revisions.bodies import get_body
from octavo.content.revisions.files import signed_url
from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.kit.files import FileGrant
from octavo.kit.http.operation import Recipient
from octavo.kit.urls import FetchUrl
from octavo.organization.access.authorization import SpaceAccess

from . import store
from .authorization import SpecsAccess, find_specs_access
from .bundling import use_full_paths
from .comparing import ApiChange
from .publishing import SLUG, GivenSource
from .reading import read_file
from .store import ErrorCode, SpecRow, State, VersionRow, Visibility

Slug = Annotated[str, Meta(min_length=1, max_length=100, pattern=SLUG)]


class SpecSource(Struct, forbid_unknown_fields=True):
    """Source of a specification: either ``url``, which is refetched every six hours, or ``text``."""

    url: FetchUrl | UnsetType = UNSET
    text: Annotated[str, Meta(min_length=1)] | UnsetType = UNSET


def source_of(given: SpecSource) -> GivenSource:
    return GivenSource(
        given.url if given.url is not UNSET else None, given.text if given.text is not UNSET else None
    )


class CreateSpec(Struct):
    slug: Slug
    source: SpecSource


class PutSpec(Struct):
    source: SpecSource


class UpdateSpec(Struct):
    visibility: Visibility


class SpecProblem(Struct, omit_defaults=True):
    """Problem with a specification. ``pointer`` and ``line``: its location. ``file``: the path of the file,
    if there is more than one."""

    message: str
    code: str
    pointer: str
    line: int | UnsetType = UNSET
    file: str | UnsetType = UNSET


class SpecPermissions(Struct):
    view: bool
    edit: bool


class SpecUrls(Struct):
    location: str
    app: str
    published: str | UnsetType = UNSET


class Spec(Struct, rename="camel", kw_only=True):
    id: str
    slug: str
    created_at: str
    updated_at: str
    processing_state: State
    visibility: Visibility
    permissions: SpecPermissions
    urls: SpecUrls
    source_url: str | UnsetType = msgspec.field(default=UNSET, name="sourceURL")
    last_version: str | UnsetType = UNSET
    last_processed_at: str | UnsetType = UNSET
    last_process_error_code: ErrorCode | UnsetType = UNSET
    last_processed_errors: list[SpecProblem] | UnsetType = UNSET
    last_processed_error_count: int
    object: Literal["openapi-spec"] = "openapi-spec"


class VersionUrls(Struct):
    location: str


class SpecVersion(Struct, rename="camel"):
    id: str
    created_at: str
    url: str
    urls: VersionUrls
    object: Literal["openapi-spec-version"] = "openapi-spec-version"


class SpecFile(Struct, rename="camel"):
    """File of a specification. ``filename``: its path, spelled as in references. ``references``: the files that it
    refers to. ``dir``: always the same value, because ``filename`` contains the complete path."""

    filename: str
    is_entrypoint: bool
    references: list[str]
    specification: Any
    dir: str = "./"


class ContentUrls(Struct):
    """URLs of the content. ``source``: the URL of the complete specification in one file. ``public``: the public URL,
    which is the same for everyone; null if the specification is private."""

    source: str
    public: str | None


class SpecContent(Struct):
    """Content of a version. ``filesystem``: its files by name, starting with the specification itself. For site
    renderers, the files are in a list, in the format that Scalar's parser loads. ``url``: the URL of the complete
    specification in one file, as OpenAPI 3 in JSON."""

    filesystem: dict[str, SpecFile] | list[SpecFile]
    url: str
    urls: ContentUrls


class RawContent(Struct):
    text: str
    format: Literal["json", "yaml"]


class CompareQuery(Struct):
    """Query parameters of a comparison. ``since``: the ID of another version; by default, the previous version."""

    since: str | None = None


class SpecChange(Struct):
    """Change to an operation. ``place``: the changed part; empty for the entire operation."""

    kind: Literal["added", "removed", "changed"]
    breaking: bool
    operation: str
    place: str
    message: str


class SpecChanges(Struct):
    """Changes between two versions. ``since``: the version used as the basis for comparison; omitted for the first
    version, which has no changes. ``breaking``: whether any change is breaking. Breaking changes are listed first."""

    version: str
    breaking: bool
    changes: list[SpecChange]
    since: str | UnsetType = UNSET


def present_changes(version: VersionRow, since: VersionRow | None, changes: list[ApiChange]) -> SpecChanges:
    found = [SpecChange(c.kind, c.breaking, c.operation, c.place, c.message) for c in changes]
    breaking = any(change.breaking for change in changes)
    return SpecChanges(version.id, breaking, found, since.id if since is not None else UNSET)


def _location(to: Recipient, organization_id: str, slug: str) -> str:
    return to.url(f"/orgs/{organization_id}/openapi/{slug}")


def present_spec(to: Recipient, access: SpecsAccess, row: SpecRow) -> Spec:
    location = _location(to, row.organization_id, row.slug)
    problems = [
        SpecProblem(each.message, each.code, each.pointer, each.line or UNSET, each.file or UNSET)
        for each in row.complaints
    ]
    return Spec(
        id=row.id,
        slug=row.slug,
        created_at=iso(row.created_at),
        updated_at=iso(row.updated_at),
        processing_state=row.state,
        visibility=row.visibility,
        permissions=SpecPermissions(view=True, edit=access.may_edit),
        urls=SpecUrls(
            location,
            to.app.organization(row.organization_id, f"openapi/{row.slug}"),
            _published(to, row) or UNSET,
        ),
        source_url=row.source_url or UNSET,
        last_version=row.version_id or UNSET,
        last_processed_at=iso(row.processed_at) if row.processed_at is not None else UNSET,
        last_process_error_code=row.error_code or UNSET,
        last_processed_errors=problems or UNSET,
        # Specifications processed by earlier versions have no count.
        last_processed_error_count=max(row.error_count, len(problems)),
    )


def _present_referred(to: Recipient, tx: Transaction, space: SpaceAccess, slug: str) -> Spec | None:
    """Return the specification that a page in the space refers to."""
    specs = find_specs_access(space.organization)
    row = store.find_spec(tx, space.organization_id, slug) if specs is not None else None
    return present_spec(to, specs, row) if specs is not None and row is not None else None


register_spec_presenter(_present_referred)


def _file_url(to: Recipient, slug: str, row: VersionRow) -> str:
    return signed_url(to.context, FileGrant(row.file, f"{slug}.json", "application/json"))


def present_version(to: Recipient, organization_id: str, slug: str, row: VersionRow) -> SpecVersion:
    location = f"{_location(to, organization_id, slug)}/versions/{row.id}"
    return SpecVersion(row.id, iso(row.created_at), _file_url(to, slug, row), VersionUrls(location))


def present_content(
    to: Recipient, tx: Transaction, spec: SpecRow, row: VersionRow, *, listed: bool
) -> SpecContent:
    """Return the content. ``listed``: whether to return the files as a list, which site renderers require."""
    values = {
        path: read_file(get_body(tx, body).encode()).value for path, body in store.list_files(tx, row.id)
    }
    files: list[SpecFile] = []
    for path in values:
        value, references = use_full_paths(values, path)
        files.append(SpecFile(path, not files, references, value))
    url = _file_url(to, spec.slug, row)
    return SpecContent(
        files if listed else {file.filename: file for file in files},
        url,
        ContentUrls(url, _published(to, spec)),
    )


def _published(to: Recipient, spec: SpecRow) -> str | None:
    """Return the public URL of the newest version; None if the specification is private."""
    return to.url(f"/openapi/{spec.id}") if spec.visibility == "public" else None
