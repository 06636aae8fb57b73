"""Fixtures that every package's tests may use."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of real documentation named by OCTAVO_TEST_CORPORA, or beside the checkout."""
    named = os.environ.get("OCTAVO_TEST_CORPORA")
    folder = Path(named) if named else Path(__file__).parents[2].parent / "shared" / "corpora"
    if not folder.is_dir():
        pytest.skip("the corpora are absent (OCTAVO_TEST_CORPORA)")
    return folder
