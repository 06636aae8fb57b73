"""Error responses for directories in the format of RFC 7644, section 3.12."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from octavo.errors import BadRequest, Conflict, OctavoError
from octavo.kit.http.edge import Answer, json_error

from .types import ERROR, MEDIA_TYPE

ScimType = Literal[
    "invalidFilter", "invalidPath", "invalidSyntax", "invalidValue", "mutability", "uniqueness"
]


class ScimError(Struct, rename="camel"):
    status: str
    detail: str
    scim_type: ScimType | UnsetType = UNSET
    schemas: list[str] = field(default_factory=lambda: [ERROR])


class ScimRefused(BadRequest):
    """Raised if a request is rejected with a SCIM error type."""

    def __init__(self, scim_type: ScimType, message: str) -> None:
        super().__init__(message)
        self.scim_type = scim_type


class ScimTaken(Conflict):
    """Raised if another user or group already has this name."""


def draw_error(error: OctavoError) -> Answer:
    """Return an error in SCIM format."""
    body = ScimError(str(error.status), error.message)
    if isinstance(error, ScimRefused):
        body.scim_type = error.scim_type
    elif isinstance(error, BadRequest):
        body.scim_type = "invalidSyntax" if error.message.startswith("body") else "invalidValue"
    elif isinstance(error, ScimTaken):
        body.scim_type = "uniqueness"
    usual = json_error(error)
    return Answer(usual.status, msgspec.json.encode(body), MEDIA_TYPE, usual.headers)
