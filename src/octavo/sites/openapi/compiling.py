"""Reading, checking and bundling a description, as a process of its own: ``python -m octavo.sites.openapi.compiling FOLDER``.

A description may come from anywhere, and parsers in C read it. So this runs apart (``kit.apart``), with nothing of the
service's but this code. It reads ``source`` and leaves ``result.json``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from .bundling import bundle, drop_empty_keys
from .converting import from_swagger
from .problems import Complaint, SpecError
from .reading import SourceFile, read_files
from .validating import Version, validate, version_of

_NULL_TYPE = '"null" is not one of'
_COMPLAIN_ABOUT = "The description could not be read: it is too large, or nested too deeply."


class Compiled(Struct):
    """``document``: the description as OpenAPI 3, bundled, as JSON. ``files``: the texts it was made of, by path,
    the description itself first. With ``errors`` there is neither."""

    errors: list[Complaint] = []
    document: str = ""
    files: dict[str, str] = {}


def compile_description(data: bytes) -> Compiled:
    """Never raises for what is wrong with the description."""
    try:
        files = read_files(data)
        entry = files.files[files.entry]
        version = version_of(entry.value)
        _validate(entry, version)
        document: dict[str, Any] = bundle(files)
        if version == "2.0":
            document = from_swagger(document)
        others = {path: file.text for path, file in files.files.items() if path != files.entry}
        return Compiled([], msgspec.json.encode(document).decode(), {files.entry: entry.text, **others})
    except SpecError as error:
        return Compiled(error.complaints)
    except (RecursionError, MemoryError):
        return Compiled([Complaint(_COMPLAIN_ABOUT, "TOO_LARGE")])


def _validate(entry: SourceFile, version: Version) -> None:
    """Raises SpecError. Two slips that many descriptions have mean what they say, and are no errors: a key with nothing
    behind it, and the type ``null`` before OpenAPI 3.1."""
    try:
        validate(entry, version)
    except SpecError as error:
        if drop_empty_keys(entry.value):
            _validate(entry, version)
        elif version == "3.0" and all(_NULL_TYPE in each.message for each in error.complaints):
            validate(msgspec.structs.replace(entry, value={**entry.value, "openapi": "3.1.0"}), "3.1")
        else:
            raise


def main(arguments: Sequence[str]) -> None:
    folder = Path(arguments[0])
    compiled = compile_description((folder / "source").read_bytes())
    (folder / "result.json").write_bytes(msgspec.json.encode(compiled))


if __name__ == "__main__":
    main(sys.argv[1:])
