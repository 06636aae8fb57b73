"""Everything that a worker needs, loaded: imported by the process that workers are forked from."""

from __future__ import annotations

import gc

from . import app
from .installation import load_packages

__all__ = ["app"]

load_packages()
# Workers share these pages for as long as nobody writes to them, which the collector would.
gc.collect()
gc.freeze()
