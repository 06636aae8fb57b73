import pytest

from changes.working import Space


@pytest.fixture
def space(world):
    """A fresh space on each engine."""
    return Space(world)
