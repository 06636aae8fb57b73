"""Bundle the files of a specification into one file in which all references are internal.

References are followed only to files uploaded with the specification, and never to a path on the server or
to another host. The bundle contains the content of other files unchanged, under ``x-octavo-files``."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from octavo.core.json_types import JsonObject

from .problems import MOST, Complaint, SpecError, Way, pointer
from .reading import SpecFiles
from .validating import EARLY_WEBHOOKS

FILES = "x-octavo-files"
_HOPS = 50

_NAMED = frozenset(
    [
        "properties",
        "patternProperties",
        "definitions",
        "$defs",
        "schemas",
        "responses",
        "parameters",
        "examples",
        "requestBodies",
        "headers",
        "securitySchemes",
        "securityDefinitions",
        "links",
        "callbacks",
        "pathItems",
        "paths",
        "webhooks",
        EARLY_WEBHOOKS,
        "mapping",
        "variables",
        "encoding",
        "content",
        "scopes",
        "dependentSchemas",
        FILES,
    ]
)
"""Names of objects in which authors choose the keys."""
_VALUES = frozenset(["example", "default", "enum", "const", "value"])
"""Keys that contain example values, in which ``$ref`` has no special meaning."""


def bundle(files: SpecFiles) -> JsonObject:
    """Bundle the files. Raises SpecError with all broken references."""
    bundler = _Bundler(files)
    whole = bundler.run()
    if bundler.complaints:
        raise SpecError(bundler.complaints, bundler.count)
    return whole


def drop_empty_keys(value: object) -> bool:
    """Remove keys without a value, such as ``schema:`` in YAML, from a specification in place, and return whether there
    were any. Keys chosen by authors are kept, and so are null values in examples."""
    stack: list[tuple[Any, bool]] = [(value, False)]
    seen: set[int] = set()
    found = False
    while stack:
        here, named = stack.pop()
        if not isinstance(here, (dict, list)) or id(here) in seen:
            continue
        seen.add(id(here))
        if isinstance(here, list):
            stack += [(item, False) for item in here]
            continue
        for key, inner in list(here.items()):
            if named:
                stack.append((inner, False))
            elif key in _VALUES or key.startswith("x-"):
                continue
            elif inner is None:
                del here[key]
                found = True
            else:
                stack.append((inner, key in _NAMED))
    return found


def walk_references(value: object, change: Callable[[str, Way], str | None]) -> Any:
    """Return a copy of a specification with references replaced by ``change(reference, way)``. A result of
    None leaves a reference unchanged."""

    def copy(here: object, way: Way, named: bool) -> object:
        if isinstance(here, list):
            return [copy(item, (*way, index), False) for index, item in enumerate(here)]
        if not isinstance(here, dict):
            return here
        made = {}
        for key, inner in here.items():
            if named:
                made[key] = copy(inner, (*way, key), False)
            elif key == "$ref" and isinstance(inner, str):
                made[key] = change(inner, (*way, key)) or inner
            elif key in _VALUES or (key.startswith("x-") and key not in (FILES, EARLY_WEBHOOKS)):
                made[key] = inner
            elif key == "mapping" and isinstance(inner, dict):
                made[key] = {
                    name: (change(to, (*way, key, name)) or to) if isinstance(to, str) and "/" in to else to
                    for name, to in inner.items()
                }
            else:
                made[key] = copy(inner, (*way, key), key in _NAMED and isinstance(inner, dict))
        return made

    return copy(value, (), False)


def use_full_paths(files: Mapping[str, object], path: str) -> tuple[object, list[str]]:
    """Return a copy of a file whose references use full paths, and the list of files that it references."""
    named: dict[str, None] = {}

    def change(reference: str, way: Way) -> str | None:
        place, mark, fragment = reference.partition("#")
        other = resolve_path(path, place) if place else ""
        if other not in files:
            return None
        if other != path:
            named[other] = None
        return f"{other}{mark}{fragment}"

    return walk_references(files[path], change), list(named)


def resolve_path(file: str, place: str) -> str:
    """Return the full path of a file that another file refers to as ``place``."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), unquote(place)))


def _is_name(way: Way) -> bool:
    """Return whether a path leads to a schema name, rather than a reference, in a discriminator's ``mapping``. In
    specifications bundled by other tools, mappings often contain file names that no longer exist."""
    return way[-1] != "$ref"


class _Bundler:
    def __init__(self, files: SpecFiles) -> None:
        self._files = files
        self._wanted: list[str] = []
        self.complaints: list[Complaint] = []
        self.count = 0

    def run(self) -> JsonObject:
        entry = self._copy(self._files.entry)
        if not isinstance(entry, dict):
            raise SpecError([Complaint("The specification must be an object.", "NO_VERSION")])
        others: JsonObject = {}
        for path in self._wanted:
            others[path] = self._copy(path)
        if others:
            entry[FILES] = others
        self._check(entry)
        return entry

    def _copy(self, path: str) -> object:
        return walk_references(
            self._files.files[path].value, lambda reference, way: self._change(path, reference, way)
        )

    def _complain(self, file: str, way: Way, message: str) -> None:
        self.count += 1
        if len(self.complaints) < MOST:
            shown = "" if file == self._files.entry else file
            line = self._files.files[file].line(way)
            self.complaints.append(Complaint(message, "INVALID_REFERENCE", pointer(way), line, shown))

    def _change(self, file: str, reference: str, way: Way) -> str | None:
        place, _, fragment = reference.partition("#")
        if place and _is_name(way) and resolve_path(file, place) not in self._files.files:
            return None
        if place:
            if re.match(r"[a-z][a-z0-9+.-]*:|//", place, re.I):
                self._complain(
                    file,
                    way,
                    (
                        f"`{reference[:200]}`: references to other hosts and to files on the server aren't"
                        " supported. Upload an archive that contains the specification and this file."
                    ),
                )
                return None
            other = resolve_path(file, place)
            if other not in self._files.files:
                self._complain(
                    file,
                    way,
                    f"`{reference[:200]}`: this file isn't in the archive. Add it to the archive, or"
                    " correct the reference.",
                )
                return None
        else:
            other = file
        if other == self._files.entry:
            return f"#{fragment}"
        if other not in self._wanted:
            self._wanted.append(other)
        return f"{pointer((FILES, other))}{fragment.rstrip('/') if fragment != '/' else ''}"

    def _check(self, whole: Mapping[str, object]) -> None:
        """Check that the target of every reference exists and isn't itself a reference."""

        def look(reference: str, way: Way) -> None:
            if not reference.startswith("#") or _is_name(way):
                return  # already reported or not followed
            followed = reference
            for _ in range(_HOPS):
                try:
                    found = resolve(whole, followed)
                except LookupError:
                    self._complain_at(
                        way, f"`{reference[:200]}`: there is nothing at this location. Correct the reference."
                    )
                    return
                if not isinstance(found, (dict, bool)):
                    self._complain_at(way, f"`{reference[:200]}`: must refer to an object.")
                    return
                if not (isinstance(found, dict) and isinstance(found.get("$ref"), str)):
                    return
                followed = found["$ref"]
            self._complain_at(way, f"`{reference[:200]}`: must not refer to itself.")

        walk_references(whole, look)

    def _complain_at(self, way: Way, message: str) -> None:
        if way[0] == FILES:
            self._complain(str(way[1]), way[2:], message)
        else:
            self._complain(self._files.entry, way, message)


def pointer_keys(reference: str) -> Iterator[str]:
    """Yield the keys of a JSON pointer in a URL fragment."""
    for step in reference.removeprefix("#").split("/")[1:]:
        yield unquote(step).replace("~1", "/").replace("~0", "~")


def resolve(whole: object, reference: str) -> object:
    """Return the target of a reference such as ``#/components/schemas/Pet``. Raises LookupError if it doesn't
    exist."""
    if not reference.startswith("#") or (len(reference) > 1 and reference[1] != "/"):
        raise LookupError(reference)
    here = whole
    for step in pointer_keys(reference):
        if isinstance(here, dict):
            here = here[step]
        elif isinstance(here, list) and step.isdecimal() and len(step) < 10:
            here = here[int(step)]
        else:
            raise LookupError(reference)
    return here
