import pytest

from changes.working import Space

from .talking import Talk


@pytest.fixture
def space(world):
    """A fresh space on each engine."""
    return Space(world)


@pytest.fixture
def main(space):
    """The discussion of the space itself."""
    return Talk(space, space.path)


@pytest.fixture(params=["space", "change request"])
def talk(request, space):
    """The discussion of a space, and that of a change request by its number."""
    if request.param == "space":
        return Talk(space, space.path)
    change = space.create()
    return Talk(space, f"{space.path}/change-requests/1", change)
