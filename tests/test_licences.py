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
    "CC-BY-4.0",  # icons, which name their authors
    "OFL-1.1",  # fonts
    "MPL-2.0",  # certifi, shtab: used unchanged, as packages of their own
}
REPLACEABLE = {
    "LGPL-3.0-only": {"psycopg", "psycopg-binary", "psycopg-pool"},
    "LGPL-2.1": {"paramiko"},
    "LGPL v3": {"ldap3"},
}
"""Packages of their own that anybody can replace by another version, which is what these licences ask for."""
LOOKED_AT = {
    "docutils": "in the public domain or BSD-2-Clause but for a mode of Emacs, which is not installed"
}


def is_allowed(name: str, expression: str) -> bool:
    """Whether one of the ways in which it is licensed is allowed as a whole."""
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
def test_how_licences_are_judged(name: str, expression: str, allowed: bool) -> None:
    assert is_allowed(name, expression) is allowed


def test_packages_of_python_have_licences_that_are_allowed() -> None:
    found = components.python_components()
    assert {"msgspec", "psycopg", "uvloop"} <= {one.name for one in found}
    # Tools of tests do not ship.
    assert not {"pytest", "mypy"} & {one.name for one in found}
    wrong = [one for one in found if one.name not in LOOKED_AT and not is_allowed(one.name, one.licence)]
    assert not wrong
    assert {one.name for one in found} >= {
        *LOOKED_AT,
        *(name for names in REPLACEABLE.values() for name in names),
    }


def test_packages_in_the_app_have_licences_that_are_allowed_and_handed_on() -> None:
    if not (ROOT / "web" / "node_modules").exists():
        pytest.skip("the packages of the app are not installed")
    found = packages.shipped()
    names = {one.name for one in found}
    assert {"svelte", "prosemirror-view", "rope-sequence"} <= names and not {"vite", "typescript"} & names
    assert not [one for one in found if not is_allowed(one.name, one.licence)]
    assert not [one for one in found if "None" in one.text.split()]
    handed_on = packages.licences()
    assert all(one.text in handed_on for one in found)


def test_files_of_others_come_with_their_licences() -> None:
    licensed = dict(components.files_of_others())
    others = [
        path
        for path in (ROOT / "src").rglob("*")
        if path.suffix in (".woff2", ".woff", ".ttf", ".otf") or path.name.endswith(".min.js")
        if "dist" not in path.parts
    ]
    assert others and not [path for path in others if path not in licensed]
    for licence in set(licensed.values()):
        assert re.search(
            r"SIL Open Font License|UBUNTU FONT LICENCE|MIT License|Apache License|APACHE LICENSE",
            licence.read_text(),
        ), licence.name
