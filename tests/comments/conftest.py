import pytest

from changes.working import Space

from .talking import Talk


@pytest.fixture
def space(world):
    """Yield a fresh space on each engine."""
    return Space(world)


@pytest.fixture
def main(space):
    """Return the discussion of the space."""
    return Talk(space, space.path)


@pytest.fixture(params=["space", "change request"])
def talk(request, space):
    """Return the discussion of a space, and the discussion of a change request by its number."""
    if request.param == "space":
        return Talk(space, space.path)
    change = space.create()
    return Talk(space, f"{space.path}/change-requests/1", change)
