"""Validate a specification with the official schemas for each version, and with rules that these schemas can't
express."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from octavo.core.json_types import JsonObject

from .problems import ASYNCAPI, MOST, Complaint, SpecError, pointer
from .reading import SourceFile

Version = Literal["2.0", "3.0", "3.1", "3.2"]

MAX_OPERATIONS = 5_000
_SCHEMAS = Path(__file__).parent / "schemas"
EARLY_WEBHOOKS = "x-webhooks"
"""Extension that authors use instead of ``webhooks`` in OpenAPI 3.0."""
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")


def version_of(document: object) -> Version:
    """Return the version. Raises SpecError if this isn't a specification or its version is unknown."""
    if not isinstance(document, dict):
        raise SpecError([Complaint("The specification must be an object.", "NO_VERSION")])
    swagger, openapi = document.get("swagger"), document.get("openapi")
    if str(swagger) == "2.0":
        return "2.0"
    for version in ("3.0", "3.1", "3.2"):
        if isinstance(openapi, str) and (openapi == version or openapi.startswith(f"{version}.")):
            return version
    if swagger is None and openapi is None:
        if "asyncapi" in document:
            raise SpecError([Complaint(ASYNCAPI, "UNKNOWN_VERSION", pointer(("asyncapi",)))])
        raise SpecError(
            [Complaint("The specification must have the key `openapi` or `swagger`.", "NO_VERSION")]
        )
    raise SpecError(
        [
            Complaint(
                "The version must be Swagger 2.0 or OpenAPI 3.0, 3.1, or 3.2.",
                "UNKNOWN_VERSION",
                pointer(("openapi" if openapi is not None else "swagger",)),
            )
        ]
    )


def validate(file: SourceFile, version: Version) -> None:
    """Raise SpecError with all problems and their locations if the specification isn't valid."""
    document = file.value
    # YAML parses an unquoted version as a number.
    if version == "2.0":
        document = {**document, "swagger": "2.0"}
    info = document.get("info")
    if isinstance(info, dict) and isinstance(info.get("version"), (int, float)):
        document = {**document, "info": {**info, "version": str(info["version"])}}
    validator = _validator(version)
    errors = validator.iter_errors(document)
    complaints = [_complaint(file, error) for error in itertools.islice(errors, MOST)]
    more = sum(1 for _ in errors)
    if version != "2.0":
        of_webhooks, others = _of_early_webhooks(file, validator)
        complaints += of_webhooks
        more += others
    complaints += _check_own_rules(file)
    if complaints:
        raise SpecError(complaints, len(complaints) + more)


def _of_early_webhooks(file: SourceFile, validator: Any) -> tuple[list[Complaint], int]:
    """Return the problems with ``x-webhooks``, which are path items that the official schemas don't cover,
    and the number of problems beyond the maximum."""
    webhooks = file.value.get(EARLY_WEBHOOKS)
    if not isinstance(webhooks, dict):
        return [], 0
    alone = {
        "openapi": file.value.get("openapi"),
        "info": {"title": "", "version": ""},
        "paths": {f"/{name}": item for name, item in webhooks.items()},
    }
    complaints = []
    errors = validator.iter_errors(alone)
    for error in itertools.islice(errors, MOST):
        error = _find_best_error(error)
        # Point to a webhook, which is a path here.
        at = [str(step).removeprefix("/") for step in error.instance_path[1:2]]
        way = (EARLY_WEBHOOKS, *at, *error.instance_path[2:])
        complaints.append(
            Complaint(_shorten_message(error.message), "INVALID_DESCRIPTION", pointer(way), file.line(way))
        )
    return complaints, sum(1 for _ in errors)


def _validator(version: Version) -> Any:
    import jsonschema_rs

    schema = msgspec.json.decode((_SCHEMAS / f"{version}.json").read_bytes())
    kind = jsonschema_rs.Draft4Validator if version in ("2.0", "3.0") else jsonschema_rs.Draft202012Validator
    # Patterns in other dialects and malformed URLs matter only to callers of the API, and Octavo doesn't use
    # them.
    return kind(schema, retriever=_refuse, validate_formats=False)


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri}: remote references aren't fetched")


def _complaint(file: SourceFile, error: Any) -> Complaint:
    error = _find_best_error(error)
    way = tuple(error.instance_path)
    return Complaint(_shorten_message(error.message), "INVALID_DESCRIPTION", pointer(way), file.line(way))


def _find_best_error(error: Any) -> Any:
    """Return the best error to report. If no variant fits, this is the problem with the variant that fits best."""
    import jsonschema_rs

    kinds = jsonschema_rs.ValidationErrorKind
    for _ in range(20):
        kind = error.kind
        if not isinstance(kind, (kinds.AnyOf, kinds.OneOfNotValid)):
            break
        branches = [branch for branch in kind.context if branch]
        if not branches:
            break
        # If there is no reference, authors rarely intended one.
        meant = [b for b in branches if not any("$ref" in e.message for e in b)] or branches
        error = max((min(branch, key=_depth) for branch in meant), key=_depth)
    return error


def _depth(error: Any) -> int:
    return len(error.instance_path)


def _shorten_message(message: str) -> str:
    """Shorten a message in the middle, because its end describes the expected value, and its start may be the entire
    value."""
    return message if len(message) <= 300 else f"{message[:120]} … {message[-170:]}"


def _check_own_rules(file: SourceFile) -> Iterator[Complaint]:
    if sum(1 for _ in _operations(file.value)) > MAX_OPERATIONS:
        yield Complaint(f"The specification can have at most {MAX_OPERATIONS:,} operations.", "TOO_LARGE")


def _operations(document: Mapping[str, object]) -> Iterator[JsonObject]:
    paths = document.get("paths")
    for item in paths.values() if isinstance(paths, dict) else ():
        for method in METHODS:
            if isinstance(item, dict) and isinstance(item.get(method), dict):
                yield item[method]
