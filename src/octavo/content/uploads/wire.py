"""Uploads on the wire."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from .types import Kind


class FileMetadata(Struct):
    """``size`` in bytes: not a byte more can be uploaded."""

    name: Annotated[str, Meta(min_length=1, max_length=255, pattern=r"^[^/\\\x00-\x1f]+\Z")]
    type: Annotated[str, Meta(max_length=255)]
    size: Annotated[int, Meta(ge=1)]


class NewUpload(Struct):
    file: FileMetadata
    kind: Kind


class SignedUpload(Struct):
    """``PUT`` the bytes to ``url`` while it is good; ``key`` then names the file."""

    url: str
    key: str
    object: Literal["storage-signed-url"] = "storage-signed-url"
