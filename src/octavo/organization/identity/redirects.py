"""Safe redirects after sign-in, which point only to Octavo's own pages and never to another site."""

from __future__ import annotations

import re

# One slash, followed by anything other than a slash or backslash, which browsers would read as the start of a
# hostname.
_LOCAL = re.compile(r"/(?![/\\])[^\x00-\x20\\\x7f-\U0010ffff]{0,2000}")


def local_path(wanted: str | None) -> str:
    """Return ``wanted`` if it is a path on this server; otherwise, ``/``.

    >>> local_path("/o/1?tab=2"), local_path("//evil.example"), local_path("https://evil.example")
    ('/o/1?tab=2', '/', '/')
    """
    return wanted if wanted and _LOCAL.fullmatch(wanted) else "/"
