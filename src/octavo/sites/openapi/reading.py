"""Read the files of a specification from untrusted data: JSON or YAML, alone or in a ZIP archive.

The result is plain data. YAML scalars follow the core schema of YAML 1.2 (``yes`` and dates are strings, ``0x1F``
and ``1e-7`` are numbers). Aliases are expanded, and the expanded values count toward the limits, so that a small
file can't expand to a huge value.
"""

from __future__ import annotations

import io
import math
import posixpath
import re
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import yaml
from msgspec import Struct

from octavo.core.json_types import JsonObject
from octavo.errors import format_size

from .problems import ASYNCAPI, Complaint, SpecError, Way, pointer

MAX_BYTES = 16 * 1024 * 1024
"""Maximum size in bytes of a specification, of all files in an archive together, and of the archive
itself."""
MAX_FILES = 1_000
MAX_VALUES = 1_500_000
MAX_DEPTH = 150


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Loader that leaves plain scalars to ``_scalar``, because the library resolves them according to YAML
    1.1."""

    yaml_implicit_resolvers = {None: [("!plain", re.compile(""))]}  # noqa: RUF012


_INTEGER = re.compile(r"[-+]?[0-9]{1,300}\Z")
_BASED = re.compile(r"0(?:x[0-9a-fA-F]{1,250}|o[0-7]{1,300})\Z")
_FLOAT = re.compile(r"[-+]?([0-9]{1,300}(\.[0-9]{0,300})?|\.[0-9]{1,300})([eE][-+]?[0-9]{1,4})?\Z")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
SUFFIXES = (".yaml", ".yml", ".json")
_NAMES = ("openapi", "swagger", "api", "index", "main")


class SourceFile(Struct):
    """File with its text and its value. ``line(way)`` returns the line of a location in the text."""

    text: str
    value: Any
    line: Callable[[Way], int]


class SpecFiles(Struct):
    """All files by path. ``entry``: the path of the specification. The other files are the files that the specification
    refers to."""

    entry: str
    files: dict[str, SourceFile]


def read_files(data: bytes) -> SpecFiles:
    """Read the files of a specification. Raises SpecError if they can't be read."""
    if len(data) > MAX_BYTES:
        raise _refused(f"The specification must be at most {format_size(MAX_BYTES)}.", "TOO_LARGE")
    if data.startswith(b"PK\x03\x04"):
        return _read_archive(data)
    name = "openapi.json" if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") else "openapi.yaml"
    return SpecFiles(name, {name: read_file(data)})


def read_file(data: bytes, name: str = "") -> SourceFile:
    """Read one file. Raises SpecError if it can't be read."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SpecError(
            [
                Complaint(
                    "The specification must be in UTF-8. Save the file as UTF-8.",
                    "INVALID_TEXT",
                    line=line,
                    file=name,
                )
            ]
        ) from None
    if "\0" in text:
        raise _refused(
            "The specification contains NUL or other control characters. Remove them.", "INVALID_TEXT", name
        )
    if text.lstrip().startswith("{"):
        return _read_json(text, name)
    return _read_yaml(text, name)


def _refused(message: str, code: str, file: str = "", line: int = 0) -> SpecError:
    return SpecError([Complaint(message, code, line=line, file=file)])


def _read_json(text: str, name: str) -> SourceFile:
    try:
        value = msgspec.json.decode(text)
    except RecursionError:
        raise _refused(f"Values can be nested at most {MAX_DEPTH} levels deep.", "TOO_DEEP", name) from None
    except msgspec.DecodeError as error:
        at = re.search(r"byte (\d+)", str(error))
        wrong = text.encode()[: int(at[1])].count(b"\n") + 1 if at else 0
        raise _refused(f"The specification isn't valid JSON: {error}.", "INVALID_JSON", name, wrong) from None
    _count(value, name)
    found: list[Any] = []

    def line(way: Way) -> int:
        # JSON is valid YAML, except for tabs. It is parsed as YAML only if line numbers are needed.
        if not found:
            try:
                found.append(yaml.compose(text.replace("\t", " "), Loader=_Loader))
            except (yaml.YAMLError, RecursionError, ValueError):
                found.append(None)
        return _line(found[0], way)

    return SourceFile(text, value, line)


def _count(value: object, name: str) -> None:
    """Raise SpecError if a value is nested too deeply or contains too many values."""
    count = 0
    level = [value]
    depth = 0
    while level:
        count += len(level)
        depth += 1
        if count > MAX_VALUES:
            raise _refused(f"The specification can contain at most {MAX_VALUES:,} values.", "TOO_LARGE", name)
        if depth > MAX_DEPTH:
            raise _refused(f"Values can be nested at most {MAX_DEPTH} levels deep.", "TOO_DEEP", name)
        below: list[Any] = []
        for each in level:
            if type(each) is dict:
                below.extend(each.values())
            elif type(each) is list:
                below.extend(each)
        level = below


def _read_yaml(text: str, name: str) -> SourceFile:
    try:
        node = yaml.compose(text, Loader=_Loader)
        value = None if node is None else _Plain(name).value(node, ())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
        line = mark.line + 1 if mark else 0
        raise _refused(f"The specification isn't valid YAML: {what}.", "INVALID_YAML", name, line) from None
    except (RecursionError, UnicodeEncodeError):
        raise _refused("The specification isn't valid YAML.", "INVALID_YAML", name) from None
    return SourceFile(text, value, lambda way: _line(node, way))


class _Plain:
    """Converter of composed YAML nodes to plain values."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._count = 0
        self._above: set[int] = set()

    def value(self, node: Any, way: Way) -> object:
        line = node.start_mark.line + 1
        self._count += 1
        if self._count > MAX_VALUES:
            raise _refused(
                f"The specification can contain at most {MAX_VALUES:,} values.", "TOO_LARGE", self._name, line
            )
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        if len(way) >= MAX_DEPTH:
            raise _refused(
                f"Values can be nested at most {MAX_DEPTH} levels deep.", "TOO_DEEP", self._name, line
            )
        if id(node) in self._above:
            raise SpecError(
                [
                    Complaint(
                        "A value contains itself through an alias. Remove the alias.",
                        "INVALID_YAML",
                        pointer(way),
                        line,
                        self._name,
                    )
                ]
            )
        self._above.add(id(node))
        found = (
            self._map(node, way)
            if isinstance(node, yaml.MappingNode)
            else [self.value(item, (*way, index)) for index, item in enumerate(node.value)]
        )
        self._above.discard(id(node))
        return found

    def _map(self, node: Any, way: Way) -> JsonObject:
        found: JsonObject = {}
        merged: JsonObject = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise SpecError(
                    [
                        Complaint(
                            "Keys must be strings. Put the key in quotes.",
                            "INVALID_YAML",
                            pointer(way),
                            line,
                            self._name,
                        )
                    ]
                )
            key = str(key_node.value)
            if key == "<<" and not key_node.style:
                parts = value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]
                for part in parts:
                    inherited = self.value(part, (*way, key))
                    merged = {**(inherited if isinstance(inherited, dict) else {}), **merged}
                continue
            if key in found:
                raise SpecError(
                    [
                        Complaint(
                            f"The key {key[:100]!r} is used twice. Remove or rename one of them.",
                            "INVALID_YAML",
                            pointer((*way, key)),
                            line,
                            self._name,
                        )
                    ]
                )
            found[key] = self.value(value_node, (*way, key))
        return {**merged, **found} if merged else found


def _scalar(node: Any) -> object:
    text = str(node.value)
    return text if node.style or node.tag.endswith(":str") else plain_value(text)


def plain_value(text: str) -> object:
    """Return the value of an unquoted scalar, according to the core schema of YAML 1.2."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.match(text):
        return int(text)
    if _BASED.match(text):
        return int(text, 0)
    if _FLOAT.match(text) and math.isfinite(float(text)):
        return float(text)
    return text


def _line(node: Any, way: Way) -> int:
    """Return the line of a location, or of its closest existing ancestor."""
    if node is None:
        return 0
    line = node.start_mark.line + 1
    for step in way:
        if isinstance(node, yaml.MappingNode):
            entry = next(((k, v) for k, v in node.value if getattr(k, "value", None) == str(step)), None)
            if entry is None:
                break
            line, node = entry[0].start_mark.line + 1, entry[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
        else:
            break
    return int(line)


def _read_archive(data: bytes) -> SpecFiles:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            texts = _extract(archive)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, ValueError, EOFError):
        raise _refused(
            "The ZIP archive is damaged or encrypted. Create it again without a password.", "INVALID_ARCHIVE"
        ) from None
    except Exception as error:
        if isinstance(error, SpecError):
            raise
        raise _refused(
            "The ZIP archive is damaged or encrypted. Create it again without a password.", "INVALID_ARCHIVE"
        ) from None
    files = {path: read_file(raw, path) for path, raw in texts.items()}
    return SpecFiles(_entry(files), files)


def _extract(archive: zipfile.ZipFile) -> dict[str, bytes]:
    infos = archive.infolist()
    if len(infos) > MAX_FILES:
        raise _refused(f"The archive can contain at most {MAX_FILES:,} files.", "TOO_LARGE")
    texts: dict[str, bytes] = {}
    left = MAX_BYTES
    for info in infos:
        path = safe_path(info.filename)
        is_link = info.external_attr >> 28 == 0xA
        if path is None or is_link or info.is_dir() or not path.lower().endswith(SUFFIXES):
            continue
        if path.startswith("__MACOSX/"):
            continue
        if path in texts:
            raise _refused(
                f"The archive contains two files with the path {path!r}. Remove one of them.",
                "INVALID_ARCHIVE",
            )
        with archive.open(info) as opened:
            raw = opened.read(left + 1)
        left -= len(raw)
        if left < 0:
            raise _refused(
                f"The files in the archive must be at most {format_size(MAX_BYTES)} in total.", "TOO_LARGE"
            )
        texts[path] = raw
    return texts


def safe_path(name: str) -> str | None:
    """Return the path of a file in an archive; None if the path points outside the archive."""
    if "\\" in name or "\0" in name or name.startswith("/"):
        return None
    path = posixpath.normpath(name)
    return None if path in (".", "..") or path.startswith("../") else path


def _entry(files: Mapping[str, SourceFile]) -> str:
    """Return the main specification: the file closest to the top level, preferably with a common name."""

    def order(path: str) -> tuple[int, int, str]:
        stem = posixpath.basename(path).rpartition(".")[0].lower()
        return path.count("/"), _NAMES.index(stem) if stem in _NAMES else len(_NAMES), path

    found = [
        path
        for path, file in files.items()
        if isinstance(file.value, dict) and ("openapi" in file.value or "swagger" in file.value)
    ]
    if not found:
        if any(isinstance(file.value, dict) and "asyncapi" in file.value for file in files.values()):
            raise _refused(ASYNCAPI, "UNKNOWN_VERSION")
        raise _refused("The archive must contain a file with the key `openapi` or `swagger`.", "NO_VERSION")
    return min(found, key=order)
