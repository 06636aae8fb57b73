"""Locations and contents of documentation tools' configuration files."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable
from itertools import islice
from typing import Any

from octavo.core.json_types import JsonObject
from octavo.core.problems import Problem
from octavo.core.yaml_text import YamlError, read_yaml

from ..markdown.literals import UNKNOWN, Module, read_export
from ..source_files import Heads
from ..values import mapping

MAX_DEPTH = 4
"""Maximum depth of folders to search for a tool's configuration."""
MAX_ENTRIES = 50_000
MAX_DATA = 256 * 1024
"""Maximum size in bytes of a data file that is searched for a page tree or a value."""


def shallowest(
    files: Heads, names: tuple[str, ...], accept: Callable[[str], bool] = lambda text: True
) -> str | None:
    """Return the file closest to the root that has one of these names and that ``accept`` accepts."""
    found = [
        path
        for path in files.paths
        if path.count("/") <= MAX_DEPTH
        and any(path == name or path.endswith("/" + name) for name in names)
        and "node_modules/" not in path
    ]
    for path in sorted(found, key=lambda path: (path.count("/"), path)):
        if accept(files.text(path) or ""):
            return path
    return None


def finder(*names: str, accept: Callable[[str], bool] = lambda text: True) -> Callable[[Heads], str | None]:
    def find(files: Heads) -> str | None:
        path = shallowest(files, names, accept)
        return (
            None
            if path is None
            else path[
                : len(path) - len(next(name for name in names if path == name or path.endswith("/" + name)))
            ]
        )

    return find


def read_yaml_file(files: Heads, path: str, problems: list[Problem]) -> JsonObject:
    text = files.text(path)
    if text is None:
        return {}
    # YAML tags that create application objects are dropped, so that only their values are read.
    text = re.sub(r"!!?(?:python/[\w.:/-]+|[A-Za-z][\w.-]*)(?=\s|$)", "", text)
    try:
        return mapping(read_yaml(text).value)
    except YamlError as error:
        problems.append(Problem(path, error.line, "invalid_yaml", f"{error}. The default values were used."))
        return {}


def read_json_file(files: Heads, path: str, problems: list[Problem]) -> Any:
    text = files.text(path)
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    made = read_export("export default " + text)
    if made is UNKNOWN:
        problems.append(
            Problem(path, 0, "invalid_configuration", "the file can't be read; the default values were used")
        )
        return None
    return made


_CODE = (".ts", ".js", ".mts", ".mjs", ".cts", ".cjs", ".tsx", ".jsx", ".json")


def read_configuration(files: Heads, path: str, problems: list[Problem]) -> JsonObject:
    """Return the contents of a configuration file in TOML, JSON, or YAML."""
    if path.endswith("toml"):
        import tomllib

        try:
            return tomllib.loads(files.text(path) or "")
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            problems.append(
                Problem(path, 0, "invalid_configuration", f"{error}; the default values were used")
            )
            return {}
    read = read_json_file if path.endswith("json") else read_yaml_file
    return mapping(read(files, path, problems))


def module_at(files: Heads, path: str) -> Module:
    """Return the module in a code file, with its imports from nearby files."""

    def take(name: str) -> Module | None:
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        stem = re.sub(r"\.[cm]?js$", "", wanted)
        for candidate in (wanted, *(stem + end for end in _CODE), *(f"{wanted}/index{end}" for end in _CODE)):
            if candidate in files.known and candidate.endswith(_CODE):
                return module_at(files, candidate)
        return None

    text = files.text(path) or ""
    return Module(f"export default {text}" if path.endswith(".json") else text, take)


_OTHER_PAGES = (".html", ".htm", ".org", ".rst", ".adoc", ".asciidoc", ".textile")
MAX_REPORTED = 100


def unread_pages(
    files: Heads, root: str, left: tuple[str, ...], endings: tuple[str, ...] = _OTHER_PAGES
) -> list[Problem]:
    """Return problems for the pages under ``root`` that aren't Markdown, except the pages in ``left``."""
    found = (
        path
        for path in files.paths
        if path.startswith(root)
        and path.lower().endswith(endings)
        and not path[len(root) :].startswith((".", *left))
        and files.head(path)
    )
    message = "skipped: the page format isn't supported"
    return [Problem(path, 0, "format_left_out", message) for path in islice(found, MAX_REPORTED)]


def unread_navigation(path: str, what: str) -> Problem:
    return Problem(
        path,
        0,
        "navigation_unread",
        f"{what} is computed when the site is built, so the table of contents follows the folders instead",
    )
