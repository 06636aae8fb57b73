"""Third-party components that are shipped with Octavo, except the packages in the app (`web/packages.py`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement

SOURCES = Path(__file__).parents[1] / "src"

_CLASSIFIED = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Public Domain": "public domain",
}
_LOOSE = _CLASSIFIED | {"MIT, BSD": "MIT AND BSD-3-Clause", "3-Clause BSD License": "BSD-3-Clause"}


class Component(NamedTuple):
    """Third-party component. ``license``: an SPDX expression if its authors provide one, otherwise their own words;
    empty if they state none."""

    name: str
    version: str
    license: str


def python_components() -> list[Component]:
    """Return the Python packages that Octavo requires on this platform, including optional and indirect ones.
    Raises PackageNotFoundError if one isn't installed."""
    extras = distribution("octavo").metadata.get_all("Provides-Extra") or []
    found: dict[str, set[str]] = {}
    waiting = [("octavo", frozenset(extras))]
    while waiting:
        name, wanted = waiting.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in found and wanted <= found[key]:
            continue
        found.setdefault(key, set()).update(wanted)
        for line in distribution(key).requires or []:
            asked = Requirement(line)
            if asked.marker is None or any(asked.marker.evaluate({"extra": one}) for one in ("", *wanted)):
                waiting.append((asked.name, frozenset(asked.extras)))
    return [
        Component(key, distribution(key).version, _license_of(distribution(key)))
        for key in sorted(found)
        if key != "octavo"
    ]


def _license_of(package: Distribution) -> str:
    said = package.metadata
    if expression := said.get("License-Expression"):
        return expression
    if (name := said.get("License", "")) and len(name) < 60 and "\n" not in name:
        return _LOOSE.get(name, name.strip("()"))
    classified = [
        line.rpartition(" :: ")[2] for line in said.get_all("Classifier") or [] if "License ::" in line
    ]
    return " OR ".join(_CLASSIFIED.get(name, name) for name in classified)


def files_of_others() -> Iterator[tuple[Path, Path]]:
    """Yield third-party fonts and scripts in the sources, each with its license file."""
    for license in sorted(SOURCES.rglob("*.LICENSE")):
        for path in sorted(license.parent.iterdir()):
            if path.name.startswith((f"{license.stem}.", f"{license.stem}-")) and path != license:
                yield path, license
