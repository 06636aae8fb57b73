"""Parse, validate, and bundle a specification in a separate process: ``python -m octavo.sites.openapi.compiling
FOLDER``.

Because anyone can provide specifications, and the parsers are written in C, the process runs in a sandbox
(``kit.processes.subprocesses``) that contains only this code. The process reads ``source`` and writes
``result.json``."""

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
_COMPLAIN_ABOUT = (
    "The specification is too large or nested too deeply. Split it into several specifications, or nest its"
    " schemas less deeply."
)


class Compiled(Struct):
    """Result of compiling. ``document``: the specification as bundled OpenAPI 3 in JSON. ``files``: the source files by
    path, starting with the specification itself. Both are missing if there are ``errors``. ``count``: the total number
    of errors, if not all of them are listed."""

    errors: list[Complaint] = []
    document: str = ""
    files: dict[str, str] = {}
    count: int = 0


def compile_description(data: bytes) -> Compiled:
    """Compile a specification. Problems with the specification don't raise errors; they are part of the result."""
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
        return Compiled(error.complaints, count=error.count)
    except (RecursionError, MemoryError):
        return Compiled([Complaint(_COMPLAIN_ABOUT, "TOO_LARGE")])


def _validate(entry: SourceFile, version: Version) -> None:
    """Validate a specification. Raises SpecError if it is invalid. Two common, unambiguous mistakes are accepted: a key
    without a value, and the type ``null`` before OpenAPI 3.1."""
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
