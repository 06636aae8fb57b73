"""The npm packages in the app, as listed in `deno.lock`, with their licenses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

WEB = Path(__file__).parent


class Package(NamedTuple):
    """Package in the app. ``license``: an SPDX expression; empty if the package states none. ``text``: the license
    text that must be distributed with it."""

    name: str
    version: str
    license: str
    text: str


def shipped(web: Path = WEB) -> list[Package]:
    """Return the direct and indirect dependencies in the `package.json` of the folder ``web``, except packages that
    contain only types. Raises FileNotFoundError if the packages aren't installed there."""
    locked = json.loads((web / "deno.lock").read_text())["npm"]
    keys = {_split(key)[0]: key for key in locked}
    asked = json.loads((web / "package.json").read_text())["dependencies"]
    waiting = [f"{name}@{version}" for name, version in asked.items()]
    found: dict[str, Package] = {}
    while waiting:
        key = waiting.pop()
        # Dependencies have a version only if there are several versions of a package.
        key = key if key in locked else keys[_split(key)[0]]
        name, version = _split(key)
        if key in found or name.startswith("@types/"):
            continue
        folder = (
            web / "node_modules" / ".deno" / f"{name.replace('/', '+')}@{version}" / "node_modules" / name
        )
        said = json.loads((folder / "package.json").read_text())
        texts = [path.read_text() for path in sorted(folder.iterdir()) if path.stem.lower() == "license"]
        # A few packages have no license file and state only the author and the license.
        authors = said.get("author") or ", ".join(said.get("authors", ()))
        text = "\n".join(texts).strip() or f"By {authors}, according to its package."
        found[key] = Package(name, version, said.get("license", ""), text)
        waiting.extend(locked[key].get("dependencies", []))
    return sorted(found.values())


def licenses() -> str:
    """Return the license texts that must be distributed with the app."""
    return "\n".join(
        f"{one.name} {one.version} ({one.license})\n\n{one.text}\n\n{'-' * 80}\n" for one in shipped()
    )


def _split(key: str) -> tuple[str, str]:
    """Split a key of the lock file into name and version.

    >>> _split("@sveltejs/acorn-typescript@1.0.13_acorn@8.19.0")
    ('@sveltejs/acorn-typescript', '1.0.13')
    """
    match = re.match(r"(@?[^@]+)(?:@([^_]+))?", key)
    assert match is not None
    return match[1], match[2] or ""
