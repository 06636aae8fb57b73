"""Targets of references in a Sphinx project."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

OUTSIDE = "extlinks:"
"""Prefix for the name of a role that may be defined by ``extlinks``."""


class Names(Struct, frozen=True):
    """Targets of references in a project. ``labels``: the page, anchor, and text for each label, with labels in
    lowercase. ``find``: a function that returns the file to which a path in another file refers. ``title``: a
    function that returns the title of a page. ``outside``: the URL and the text of external links by role, with
    ``%s`` as a placeholder for the target."""

    labels: dict[str, tuple[str, str, str]]
    find: Callable[[str, str], str | None]
    title: Callable[[str], str]
    outside: dict[str, tuple[str, str]] = {}


_CODE = frozenset(
    "attr class const data enum enumerator exc func macro member meth mod obj property struct type union var".split()
)


def code_name(role: str, target: str) -> str:
    """Return the text that Sphinx shows for a role without a title. A name that starts with `~` is reduced to its
    last part, a leading period is removed, and a function is followed by parentheses. The text of roles that aren't
    code names, such as `:file:`, stays unchanged.

    >>> code_name("meth", "~flask.Flask.route"), code_name("py:attr", ".Request.host"), code_name("file", "~/.env")
    ('route()', 'Request.host', '~/.env')
    """
    kind, shown = role.rpartition(":")[2], target.lstrip("!")
    if kind not in _CODE:
        return shown
    shown = shown[1:].rpartition(".")[2] if shown.startswith("~") else shown.lstrip(".")
    return f"{shown}()" if kind in ("func", "meth") and not shown.endswith(")") else shown


def outside_link(form: tuple[str, str], target: str) -> tuple[str, str]:
    """Return the URL and the link text for an ``extlinks`` role."""
    url, said = (part.replace("%s", target.strip()).replace("%%", "%") for part in form)
    return url, said or url
