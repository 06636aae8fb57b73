import pytest

from changes.working import Space


@pytest.fixture
def space(world):
    """Yield a fresh space on each engine."""
    return Space(world)
