"""Tests of the ten-minute integration tutorial: each of its commands is run, in order."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from serving import OCTAVO
from tools import ROOT, absent

from .test_commands import developing

PAGE = ROOT / "docs" / "integrations" / "ten-minutes.md"
BLOCKS = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)


class Shell:
    """Shell that runs blocks of commands one after another, keeping variables."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.kept = folder, ""

    def run(self, block: str) -> str:
        mark = "--- variables"
        script = (
            f"set -e\n{self.kept}\n{block}\necho\necho '{mark}'\n"
            f"declare -p OCTAVO TOKEN ORG SPACE 2>/dev/null || true"
        )
        environ = {**os.environ, "PATH": f"{Path(OCTAVO).parent}:{os.environ['PATH']}"}
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
        said, _, self.kept = done.stdout.partition(mark)
        return said


@pytest.mark.slow
def test_every_command_of_the_page_works(installed, tmp_path):
    if shutil.which("jq") is None:
        absent("jq")
    # Next to the installation, which uses other ports here than a first start does.
    (tmp_path / "data").symlink_to(installed.data)
    text = PAGE.read_text().replace("http://127.0.0.1:8000", installed.served.url)
    new, publish, install, dev, change, render, again = BLOCKS.findall(text)
    shell = Shell(tmp_path)
    assert "Created hello." in shell.run(new)
    assert "Published version 1 of hello (private)" in shell.run(publish)
    assert '"status":"active"' in shell.run(install).replace(" ", "")
    assert dev == "octavo integrations dev hello\n"
    with developing(installed, tmp_path / "hello") as wait_for:
        wait_for("hello is running")
        shell.run(change)
        seen = wait_for("info: [starter] the space")
        script = tmp_path / "hello" / "src" / "index.tsx"
        script.write_text(
            script.read_text().replace("the space", "see, the space").replace("Hello ", "Good day, ")
        )
        seen = wait_for("reloaded", seen)
        assert "Good day, Ada" in shell.run(render)
        wait_for("ui_render", seen)
    assert "Published version 2 of hello (private)" in shell.run(again)
    assert "Good day, Ada" in shell.run(render)
