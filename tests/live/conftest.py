import pytest

from live.writing import Writing


@pytest.fixture
def live(world):
    """Yield a page that is edited live, on each engine."""
    return Writing(world)
