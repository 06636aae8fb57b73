"""Wire types for uploads."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from octavo.kit.texts import pattern

from .types import Kind


class FileMetadata(Struct):
    """File to upload. ``size``: its size in bytes, which is also the maximum number of bytes that can be
    sent."""

    name: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=255,
            pattern=pattern(
                r"^[^/\\\x00-\x1f]+\Z", "be a file name without slashes, backslashes, or control characters"
            ),
        ),
    ]
    type: Annotated[str, Meta(max_length=255)]
    size: Annotated[int, Meta(ge=1)]


class NewUpload(Struct):
    file: FileMetadata
    kind: Kind


class SignedUpload(Struct):
    """Upload URL. ``url``: the URL to send the bytes to with ``PUT`` while it is valid. ``key``: the key that then
    identifies the file."""

    url: str
    key: str
    object: Literal["storage-signed-url"] = "storage-signed-url"
