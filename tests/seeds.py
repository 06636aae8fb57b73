"""The seed of random tests: always the same in `make test`, a new one in each `make test-all`."""

from __future__ import annotations

import os


def seed() -> int:
    """Return `OCTAVO_TEST_SEED`, which repeats a run; without it, the seed of `make test`."""
    return int(os.environ.get("OCTAVO_TEST_SEED", "730090"))
