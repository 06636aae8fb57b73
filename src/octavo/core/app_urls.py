"""Build and parse app URLs. ``web/studio/addresses.ts`` does the same in the app and maps each URL to a screen, so
every URL that the API returns opens a screen."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

_SPACE = re.compile(r"/(?:o/[^/]+/)?s/([A-Za-z0-9_-]{1,64})(?:/(.*))?\Z", re.DOTALL)
_PERSON = re.compile(r"/(?:o/[^/]+/)?(u|c)/([A-Za-z0-9_-]{1,64})/?\Z")


def change_view(number: int) -> str:
    """Return the path, relative to a space, that shows the space's pages in a change request."""
    return f"/~/changes/{number}"


def preview_view(number: int) -> str:
    """Return the path, relative to a space, that previews the space's site with a change request applied."""
    return f"{change_view(number)}/~/preview"


def revision_view(revision: str) -> str:
    """Return the path, relative to a space, that shows the space's pages at a revision."""
    return f"/~/revisions/{revision}"


class AppAddresses(NamedTuple):
    """App URLs of one server. ``base``: the app's root.

    >>> AppAddresses("https://docs.example.com").page("s1", "guides/start", change_view(4))
    'https://docs.example.com/s/s1/~/changes/4/guides/start'
    """

    base: str

    def organization(self, id: str, view: str = "") -> str:
        """Return the URL of an organization. ``view``: the path of one of the organization's screens, such
        as ``integrations/slack``."""
        return f"{self.base}/o/{id}/~/{view}" if view else f"{self.base}/o/{id}"

    def integration(self, name: str) -> str:
        """Return the URL of an integration in the viewer's current organization."""
        return f"{self.base}/~/integrations/{name}"

    def collection(self, id: str) -> str:
        return f"{self.base}/c/{id}"

    def site(self, organization: str, id: str, view: str = "") -> str:
        """Return the URL of a site. ``view``: the path of one of the site's screens."""
        return f"{self.base}/o/{organization}/sites/{id}{view and f'/~/{view}'}"

    @property
    def inbox(self) -> str:
        return f"{self.base}/~/inbox"

    def space(self, id: str, view: str = "") -> str:
        return f"{self.base}/s/{id}{view}"

    def thread(self, space: str, comment: str, path: str = "") -> str:
        """Return the URL of a comment in a space. ``path``: the path of the page to show with the comment; if empty,
        the comment is shown on its own."""
        return (
            f"{self.page(space, path)}?comment={comment}"
            if path
            else self.space(space, f"/~/comments/{comment}")
        )

    def page(self, space: str, path: str, view: str = "") -> str:
        """Return the URL of a page. ``path``: the slugs of the page and its ancestors."""
        return f"{self.space(space, view)}/{path}"


def read_space(path: str) -> tuple[str, str] | None:
    """Return the space ID and the decoded page path from a URL's path; None if the path doesn't lead to a space.

    >>> read_space("/o/acme/s/s1/guides/start")
    ('s1', 'guides/start')
    """
    found = _SPACE.match(path)
    return (found[1], unquote(found[2] or "").strip("/")) if found else None


def is_view(path: str) -> bool:
    """Return whether a path under a space leads to a screen instead of a page."""
    return path == "~" or path.startswith("~/")


def read_person_or_collection(path: str) -> tuple[str, str] | None:
    """Return ``user`` or ``collection`` and the ID if a path leads to a person or a collection; otherwise, None."""
    found = _PERSON.match(path)
    return ("user" if found[1] == "u" else "collection", found[2]) if found else None
