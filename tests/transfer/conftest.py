import pytest

from transfer.bringing_in import Imports


@pytest.fixture
def imports(world):
    """An empty space on each engine, with shortcuts for imports into it."""
    return Imports(world)
