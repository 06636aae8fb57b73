"""Everything shipped with Octavo has a permitted license, and its license text is included."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "web"), str(ROOT / "packaging")]
import components  # noqa: E402
import packages  # noqa: E402

ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "PSF-2.0",
    "Zlib",
    "Unlicense",
    "CC-BY-4.0",  # icons, with attribution
    "OFL-1.1",  # fonts
    "MPL-2.0",  # certifi, shtab: used unchanged, as separate packages
}
REPLACEABLE = {
    "LGPL-3.0-only": {"psycopg", "psycopg-binary", "psycopg-pool"},
    "LGPL-2.1": {"paramiko"},
    "LGPL v3": {"ldap3"},
}
"""Separate packages that users can replace by another version, as these licenses require."""
REVIEWED = {"docutils": "public domain or BSD-2-Clause, except for an Emacs mode that isn't installed"}


def is_allowed(name: str, expression: str) -> bool:
    """Return whether one of the alternative licenses of a package is allowed."""
    return any(
        all(
            part in ALLOWED or name in REPLACEABLE.get(part, set())
            for part in re.split(r" AND ", way.strip("() "))
        )
        for way in expression.split(" OR ")
    )


@pytest.mark.parametrize(
    ("name", "expression", "allowed"),
    [
        ("a", "MIT", True),
        ("a", "GPL-3.0-only OR MIT", True),
        ("a", "MIT AND GPL-3.0-only", False),
        ("a", "LGPL-3.0-only", False),
        ("psycopg", "LGPL-3.0-only", True),
        ("a", "", False),
    ],
)
def test_alternatives_and_combinations_of_licenses_are_evaluated(
    name: str, expression: str, allowed: bool
) -> None:
    assert is_allowed(name, expression) is allowed


def test_python_packages_have_allowed_licenses() -> None:
    found = components.python_components()
    assert {"msgspec", "psycopg", "uvloop"} <= {one.name for one in found}
    # Test tools are not shipped.
    assert not {"pytest", "mypy"} & {one.name for one in found}
    wrong = [one for one in found if one.name not in REVIEWED and not is_allowed(one.name, one.license)]
    assert not wrong
    assert {one.name for one in found} >= {
        *REVIEWED,
        *(name for names in REPLACEABLE.values() for name in names),
    }


def test_packages_in_the_app_have_allowed_licenses_and_ship_them() -> None:
    if not (ROOT / "web" / "node_modules").exists():
        pytest.skip("the app's packages aren't installed")
    found = packages.shipped()
    names = {one.name for one in found}
    assert {"svelte", "prosemirror-view", "rope-sequence"} <= names and not {"vite", "typescript"} & names
    assert not [one for one in found if not is_allowed(one.name, one.license)]
    assert not [one for one in found if "None" in one.text.split()]
    shipped_texts = packages.licenses()
    assert all(one.text in shipped_texts for one in found)


def test_third_party_files_ship_their_licenses() -> None:
    licensed = dict(components.files_of_others())
    others = [
        path
        for path in (ROOT / "src").rglob("*")
        if path.suffix in (".woff2", ".woff", ".ttf", ".otf") or path.name.endswith(".min.js")
        if "dist" not in path.parts
    ]
    assert others and not [path for path in others if path not in licensed]
    for license in set(licensed.values()):
        assert re.search(
            r"SIL Open Font License|UBUNTU FONT LICENCE|MIT License|Apache License|APACHE LICENSE",
            license.read_text(),
        ), license.name
