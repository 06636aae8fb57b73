"""Reader for plain Markdown folders, which have no configuration file of a documentation tool."""

from __future__ import annotations

import posixpath

from ..layout import Dialect, Layout
from ..source_files import Heads, address_of
from ..trees import grow, pages_below, redirects_of
from ..types import Reader


def _plain_addresses(files: Heads, paths: list[str], root: str) -> dict[str, str]:
    made = {}
    for path in paths:
        head = files.head(path)
        address = address_of(path[len(root) :])
        if isinstance(slug := head.get("slug"), str) and slug.strip("/"):
            address = slug if slug.startswith("/") else posixpath.join(posixpath.dirname(address), slug)
        made[path] = address.strip("/")
    return made


def _plain(files: Heads, project: str) -> Layout:
    paths = pages_below(files, project, lambda path: posixpath.basename(path).lower() == "summary.md")
    return Layout(
        entries=grow(files, paths, project),
        dialect=Dialect(jsx=(".mdx",), tags=True),
        root=project,
        addresses=_plain_addresses(files, paths, project),
        redirects=redirects_of(files, paths),
        rest=True,
    )


PLAIN = Reader("markdown", "Markdown", lambda files: "", _plain)
