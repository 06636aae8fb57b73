"""Types of URLs in bodies and queries."""

from typing import Annotated

from msgspec import Meta

HttpUrl = Annotated[str, Meta(max_length=2048, pattern=r"^https?://[^\x00-\x1f\x7f-\x9f]*\Z")]
"""URL that people or programs follow. Control characters could not be sent in a header."""
FetchUrl = Annotated[str, Meta(max_length=2048, pattern=r"^https?://[^\s\x00-\x1f\x7f-\x9f]+\Z")]
"""URL that Octavo fetches."""
