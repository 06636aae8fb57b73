"""The npm packages that the app has parts of in it, as `deno.lock` names them, and their licences."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

WEB = Path(__file__).parent


class Package(NamedTuple):
    """``licence``: an SPDX expression; empty where the package says nothing. ``text``: what has to be handed on."""

    name: str
    version: str
    licence: str
    text: str


def shipped(web: Path = WEB) -> list[Package]:
    """What the dependencies of `package.json` in the folder ``web`` need, with those themselves; types alone are not
    shipped. Raises FileNotFoundError where packages have not been installed there."""
    locked = json.loads((web / "deno.lock").read_text())["npm"]
    keys = {_split(key)[0]: key for key in locked}
    asked = json.loads((web / "package.json").read_text())["dependencies"]
    waiting = [f"{name}@{version}" for name, version in asked.items()]
    found: dict[str, Package] = {}
    while waiting:
        key = waiting.pop()
        # Others are named with a version only where there are several.
        key = key if key in locked else keys[_split(key)[0]]
        name, version = _split(key)
        if key in found or name.startswith("@types/"):
            continue
        folder = (
            web / "node_modules" / ".deno" / f"{name.replace('/', '+')}@{version}" / "node_modules" / name
        )
        said = json.loads((folder / "package.json").read_text())
        texts = [path.read_text() for path in sorted(folder.iterdir()) if path.stem.lower() == "license"]
        # Few leave the file out, and say in one word whose it is and under which terms.
        authors = said.get("author") or ", ".join(said.get("authors", ()))
        text = "\n".join(texts).strip() or f"By {authors}, as its package says."
        found[key] = Package(name, version, said.get("license", ""), text)
        waiting.extend(locked[key].get("dependencies", []))
    return sorted(found.values())


def licences() -> str:
    """What has to be handed on with the app."""
    return "\n".join(
        f"{one.name} {one.version} ({one.licence})\n\n{one.text}\n\n{'-' * 80}\n" for one in shipped()
    )


def _split(key: str) -> tuple[str, str]:
    """
    >>> _split("@sveltejs/acorn-typescript@1.0.13_acorn@8.19.0")
    ('@sveltejs/acorn-typescript', '1.0.13')
    """
    match = re.match(r"(@?[^@]+)(?:@([^_]+))?", key)
    assert match is not None
    return match[1], match[2] or ""
