"""What references of a project of Sphinx name."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

OUTSIDE = "extlinks:"
"""Before the name of a role that may be one of ``extlinks``."""


class Names(Struct, frozen=True):
    """What references of a project name. ``labels``: the page, the place in it and the words of each, in lower case;
    ``find``: the file that a path means, written in a file; ``title``: of a page; ``outside``: by role the URL and the
    words of links elsewhere, with ``%s`` for what is named."""

    labels: dict[str, tuple[str, str, str]]
    find: Callable[[str, str], str | None]
    title: Callable[[str], str]
    outside: dict[str, tuple[str, str]] = {}


def outside_link(form: tuple[str, str], target: str) -> tuple[str, str]:
    """The URL and the words of a role of ``extlinks``."""
    url, said = (part.replace("%s", target.strip()).replace("%%", "%") for part in form)
    return url, said or url
