"""The tutorial of the manual: each of its commands is run, in its order, as by somebody who copies them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import httpx

from serving import OCTAVO, serving
from tools import ROOT, absent

PAGE = ROOT / "docs" / "tutorial.md"
BLOCKS = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)


def test_every_command_of_the_tutorial_does_what_it_says(tmp_path: Path) -> None:
    for program in ("curl", "jq"):
        if shutil.which(program) is None:
            absent(program)
    with serving(tmp_path / "data") as served:
        blocks = BLOCKS.findall(PAGE.read_text().replace("http://127.0.0.1:8000", served.url))
        done = subprocess.run(
            ["bash", "-c", "set -eo pipefail\n" + "\necho '=== end of a block'\n".join(blocks)],
            cwd=tmp_path,
            env={**os.environ, "PATH": f"{Path(OCTAVO).parent}:{os.environ['PATH']}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        said = done.stdout.split("=== end of a block\n")
        assert len(said) == len(blocks) > 10
        told = "\n".join(said)
        assert '"problems": []' in told and "the same" in told
        assert "null" not in told
        assert '"open"' in told and '"approved"' in told and '"merge"' in told
        assert "model" in said[-1]
        site = re.findall(r'"site": "([^"]+)"', told)[0]
        assert "It takes a minute." in httpx.get(f"{site}guides/install").text
        assert "/boil" in httpx.get(f"{site}boil").text
