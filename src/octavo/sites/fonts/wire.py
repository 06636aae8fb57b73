"""Wire format of fonts."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from octavo.content.revisions.files import signed_url
from octavo.kit.files import FileGrant
from octavo.kit.http.operation import Recipient
from octavo.kit.texts import NOT_BLANK
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.roles import at_least

from .store import FontRow

Weight = Annotated[int, Meta(ge=1, le=1000)]
Key = Annotated[str, Meta(min_length=1, max_length=512)]
Family = Annotated[str, Meta(min_length=1, max_length=50, pattern=NOT_BLANK)]


class FaceInput(Struct, rename="camel"):
    weight: Weight
    storage_key: Key


class FaceChange(Struct, rename="camel"):
    weight: Weight
    storage_key: Key | None


class CreateFont(Struct, rename="camel"):
    font_family: Family
    font_faces: Annotated[list[FaceInput], Meta(min_length=1, max_length=20)]


class UpdateFont(Struct, rename="camel"):
    """Update of a font. A null ``storageKey`` removes a weight. Weights that aren't listed stay unchanged."""

    font_family: Family | None = None
    font_faces: Annotated[list[FaceChange], Meta(max_length=20)] = []


class FontSource(Struct):
    url: str
    format: str


class FontFace(Struct):
    weight: int
    sources: list[FontSource]


class FontPermissions(Struct):
    edit: bool


class Font(Struct, rename="camel"):
    id: str
    font_family: str
    font_faces: list[FontFace]
    permissions: FontPermissions
    custom: Literal[True] = True


def present_font(to: Recipient, org: OrgAccess, font: FontRow) -> Font:
    faces = []
    for face in font.faces:
        grant = FileGrant(face.hash, f"{face.weight}.{face.format}", f"font/{face.format}")
        faces.append(FontFace(face.weight, [FontSource(signed_url(to.context, grant), face.format)]))
    return Font(font.id, font.family, faces, FontPermissions(at_least(org.role, "create")))
