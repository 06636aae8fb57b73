"""Prepare msgspec's types before threads use them.

msgspec analyzes a type when it first decodes a value of that type. If two threads do this at the same time, one of them
may see an unfinished result, which crashes the process with a segmentation fault.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
from collections.abc import Iterator

import msgspec

_prepared: set[str] = set()
"""Names of the modules whose types have been prepared."""


def prepare_types(package: str) -> int:
    """Prepare all types in the modules of ``package`` that were loaded since the last call, and return the number
    of types.

    Call it in one thread, after the modules are loaded and before other threads start.
    """
    known = 0
    for found in _types(package):
        try:
            msgspec.json.Decoder(found)
        except (TypeError, NameError, AttributeError):
            continue  # Not a type that is ever decoded.
        known += 1
    return known


def _types(package: str) -> Iterator[type]:
    for name, module in sorted(sys.modules.items()):
        if name in _prepared or (name != package and not name.startswith(f"{package}.")):
            continue
        _prepared.add(name)
        for found in list(vars(module).values()):
            if isinstance(found, type) and found.__module__ == name and _is_described(found):
                yield found


def _is_described(found: type) -> bool:
    return (
        issubclass(found, (msgspec.Struct, enum.Enum))
        or dataclasses.is_dataclass(found)
        or (issubclass(found, (tuple, dict)) and hasattr(found, "__annotations__"))
    )
