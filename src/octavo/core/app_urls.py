"""Addresses of the app, written and read. ``web/studio/addresses.ts`` is the same for the app itself, and what is at an
address it says there: every address that the API names is a screen's."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

_SPACE = re.compile(r"/(?:o/[^/]+/)?s/([A-Za-z0-9_-]{1,64})(?:/(.*))?\Z", re.DOTALL)
_PERSON = re.compile(r"/(?:o/[^/]+/)?(u|c)/([A-Za-z0-9_-]{1,64})/?\Z")


def change_view(number: int) -> str:
    """Below a space: its pages as a change request has them."""
    return f"/~/changes/{number}"


def preview_view(number: int) -> str:
    """Below a space: the site as a change request will make it, where there is one."""
    return f"{change_view(number)}/~/preview"


def revision_view(revision: str) -> str:
    """Below a space: its pages as they were."""
    return f"/~/revisions/{revision}"


class AppAddresses(NamedTuple):
    """The addresses of one installation, of whose app ``base`` is the root.

    >>> AppAddresses("https://docs.example.com").page("s1", "guides/start", change_view(4))
    'https://docs.example.com/s/s1/~/changes/4/guides/start'
    """

    base: str

    def organization(self, id: str, view: str = "") -> str:
        """``view``: one of its screens, such as ``integrations/slack``."""
        return f"{self.base}/o/{id}/~/{view}" if view else f"{self.base}/o/{id}"

    def integration(self, name: str) -> str:
        """An integration, in the organization that whoever looks is in."""
        return f"{self.base}/~/integrations/{name}"

    def collection(self, id: str) -> str:
        return f"{self.base}/c/{id}"

    def site(self, organization: str, id: str) -> str:
        return f"{self.base}/o/{organization}/sites/{id}"

    @property
    def inbox(self) -> str:
        return f"{self.base}/~/inbox"

    def space(self, id: str, view: str = "") -> str:
        return f"{self.base}/s/{id}{view}"

    def thread(self, space: str, comment: str, path: str = "") -> str:
        """A comment on a space: beside the page at ``path``, or by itself."""
        return (
            f"{self.page(space, path)}?comment={comment}"
            if path
            else self.space(space, f"/~/comments/{comment}")
        )

    def page(self, space: str, path: str, view: str = "") -> str:
        """``path`` is made of the slugs of the page and those above it."""
        return f"{self.space(space, view)}/{path}"


def read_space(path: str) -> tuple[str, str] | None:
    """The space that the path of an address is in, and the path of a page there, decoded; None for any other.

    >>> read_space("/o/acme/s/s1/guides/start")
    ('s1', 'guides/start')
    """
    found = _SPACE.match(path)
    return (found[1], unquote(found[2] or "").strip("/")) if found else None


def is_view(path: str) -> bool:
    """Whether this path below a space is a screen, and no page."""
    return path == "~" or path.startswith("~/")


def read_person_or_collection(path: str) -> tuple[str, str] | None:
    """What a path shows that is a person (``user``) or a ``collection``, with its id."""
    found = _PERSON.match(path)
    return ("user" if found[1] == "u" else "collection", found[2]) if found else None
