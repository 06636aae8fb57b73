"""URL types for request bodies and queries."""

from typing import Annotated

from msgspec import Meta

from octavo.kit.texts import pattern

HttpUrl = Annotated[
    str,
    Meta(
        max_length=2048,
        pattern=pattern(
            r"^https?://[^\x00-\x1f\x7f-\x9f]*\Z", "be a URL that starts with http:// or https://"
        ),
    ),
]
"""URL that people or other clients follow. It can't contain control characters, because these can't be sent in a
header."""
FetchUrl = Annotated[
    str,
    Meta(
        max_length=2048,
        pattern=pattern(
            r"^https?://[^\s\x00-\x1f\x7f-\x9f]+\Z",
            "be a URL that starts with http:// or https://, without spaces",
        ),
    ),
]
"""URL that Octavo fetches."""
