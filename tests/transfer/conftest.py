import pytest

from transfer.bringing_in import Imports


@pytest.fixture
def imports(world):
    """A space without content on each engine, and short ways to import into it."""
    return Imports(world)
