"""The app's initial load before first paint stays small."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from octavo.delivery.studio.serving import SHELL, find_missing
from tools import absent

SCRIPTS, STYLES = 40 * 1024, 15 * 1024
"""Bytes as they are sent."""


@pytest.fixture(scope="module")
def loaded() -> dict[str, list[str]]:
    missing = find_missing()
    if missing is not None:
        absent(missing)
    named = re.findall(r'(?:src|href)="/assets/([^"]+)"', SHELL.read_text())
    assert named
    return {ending: [name for name in named if name.endswith(ending)] for ending in (".js", ".css")}


@pytest.mark.parametrize(("ending", "most"), [(".js", SCRIPTS), (".css", STYLES)])
def test_the_shell_is_small(loaded: dict[str, list[str]], ending: str, most: int) -> None:
    sizes = {name: (SHELL.parent / "assets" / f"{name}.br").stat().st_size for name in loaded[ending]}
    assert 0 < sum(sizes.values()) <= most, sizes


def test_no_other_host_is_requested(loaded: dict[str, list[str]]) -> None:
    assert "http" not in re.sub(r"http://www\.w3\.org/\S+", "", SHELL.read_text())


def test_files_loaded_by_styles_are_built(loaded: dict[str, list[str]]) -> None:
    assets = SHELL.parent / "assets"
    for name in loaded[".css"]:
        files = re.findall(r"url\(\"?([^)\"#]+)", (assets / name).read_text())
        missing = [
            file for file in files if not file.startswith("data:") and not (assets / Path(file).name).exists()
        ]
        assert missing == [], name
