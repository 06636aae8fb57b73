"""Operations for uploading files."""

from __future__ import annotations

from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.roles import Can

from . import receiving
from .wire import NewUpload, SignedUpload

operation = Area("imports").operation


@operation(
    "generateStorageUploadURL",
    "POST",
    "/orgs/{organizationId}/storage/upload",
    needs=Can.VIEW,
    status=201,
    errors=(400,),
)
def generate_upload_url(call: Call, org: OrgAccess, body: NewUpload) -> SignedUpload:
    """Create a URL for uploading one file with ``PUT`` within an hour. For the next day, the key
    identifies the file, but only for the person who requested the URL."""
    file = body.file
    url, key = receiving.open_upload(call.context, org, body.kind, file.name, file.type, file.size)
    return SignedUpload(url=url, key=key)
