import pytest

from transfer.bringing_in import Imports


@pytest.fixture
def imports(world):
    """Yield an empty space on each engine, with shortcuts for imports into it."""
    return Imports(world)
