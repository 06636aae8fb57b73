"""The modules of the app that `web/build.py` makes of the tables."""

from __future__ import annotations

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

WEB = Path(__file__).parents[2] / "web"


def load_build(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(WEB), *sys.path])
    spec = spec_from_file_location("build", WEB / "build.py")
    assert spec is not None and spec.loader is not None
    build = module_from_spec(spec)
    spec.loader.exec_module(build)
    return build


def give_texts(build: Any, monkeypatch: pytest.MonkeyPatch, folder: Path, **texts: str) -> None:
    """Add texts to the app. ``folder``: an empty folder to write them to."""
    words = json.loads((WEB / "shared" / "words" / "en.json").read_text())
    given = folder / "shared" / "words" / "en.json"
    given.parent.mkdir(parents=True)
    given.write_text(json.dumps({**words, **texts}))
    monkeypatch.setattr(build, "WEB", folder)
