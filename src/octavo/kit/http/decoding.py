"""Making msgspec learn all types before threads use them.

What msgspec knows about a type is worked out when a value of the type is first decoded, and two threads that do so
at once may meet a half-made entry, which ends the process with a segmentation fault.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
from collections.abc import Iterator

import msgspec

_prepared: set[str] = set()
"""The names of modules whose types are known."""


def prepare_types(package: str) -> int:
    """Has msgspec learn every type of the modules of ``package`` that were loaded since it was last called; how many
    there are.

    To be called in one thread, after the modules are loaded and before others are started.
    """
    known = 0
    for found in _types(package):
        try:
            msgspec.json.Decoder(found)
        except (TypeError, NameError, AttributeError):
            continue  # not a type that is ever decoded
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
