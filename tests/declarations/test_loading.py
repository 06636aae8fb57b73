"""Everything that declares a job, a schedule, or a hook is loaded with the packages, whatever else is imported."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

SRC = Path(__file__).parents[2] / "src"
_DECLARES = re.compile(r"^(?:@(?:jobs\.)?job\(|@?(?:jobs\.)?schedule\(|on_\w+\(|@on_\w+$)", re.MULTILINE)


def test_modules_that_declare_something_are_loaded() -> None:
    program = "import json, sys\nfrom octavo.operations.installation import load_packages\nload_packages()\n"
    program += "print(json.dumps([name for name in sys.modules if name.startswith('octavo.')]))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    declaring = {
        ".".join(path.relative_to(SRC).with_suffix("").parts)
        for path in SRC.rglob("*.py")
        if _DECLARES.search(path.read_text())
    }
    assert len(declaring) > 40
    assert sorted(declaring - loaded) == []
