"""Targets of references in a Sphinx project."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

OUTSIDE = "extlinks:"
"""Prefix for the name of a role that may be defined by ``extlinks``."""


class Names(Struct, frozen=True):
    """Targets of references in a project. ``labels``: the page, anchor, and text for each label in lowercase. ``find``:
    a function that returns the file that a path in another file refers to. ``title``: a function that returns the title
    of a page. ``outside``: the URL and the text of external links by role, with ``%s`` for the target."""

    labels: dict[str, tuple[str, str, str]]
    find: Callable[[str, str], str | None]
    title: Callable[[str], str]
    outside: dict[str, tuple[str, str]] = {}


def outside_link(form: tuple[str, str], target: str) -> tuple[str, str]:
    """Return the URL and the text for an ``extlinks`` role."""
    url, said = (part.replace("%s", target.strip()).replace("%%", "%") for part in form)
    return url, said or url
