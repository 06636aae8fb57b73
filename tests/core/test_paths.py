"""Names that every file system holds, and names that nothing else has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.core.free_names import free_name
from octavo.core.pages import rank_between, ranks_between
from octavo.core.paths import (
    MAX_FOLDERS,
    MAX_NAME,
    MAX_PATH,
    made_path,
    numbered_path,
    shortened,
    unsafe_path,
)

NAMES = st.text(max_size=300)


@given(st.lists(NAMES, max_size=80), NAMES, st.sets(st.sampled_from(["a", "b", "a-1", "b.md"])))
def test_every_name_becomes_a_valid_path(folders, name, taken):
    folder = "".join(f"{made_path('', each, set().__contains__)}/" for each in folders)
    path = made_path(folder, name, taken.__contains__)
    assert unsafe_path(path) is None and path not in taken
    assert unsafe_path(numbered_path(path, 100_000)) is None
    assert not path.endswith((".", " "))


def test_paths_stay_within_their_root():
    assert (
        made_path(
            "docs/" + "d" * 200 + "/" + "e" * 250 + "/" + "f" * 250 + "/" + "g" * 280 + "/",
            "a.md",
            set().__contains__,
            "docs/",
        )
        == "docs/a.md"
    )


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ("n" * MAX_NAME, None),
        ("n" * (MAX_NAME + 1), "255 bytes"),
        ("文" * 85, None),
        ("文" * 86, "255 bytes"),
        ("/".join(["d" * 199] * 5), None),
        ("/".join(["d" * 199] * 5) + "/e", f"{MAX_PATH:,} bytes"),
        ("/".join(["d"] * MAX_FOLDERS), None),
        ("/".join(["d"] * (MAX_FOLDERS + 1)), "64 folders"),
    ],
)
def test_paths_are_limited(path, wrong):
    assert unsafe_path(path) is None if wrong is None else wrong in unsafe_path(path)


@given(st.sets(st.integers(1, 60)), st.booleans())
def test_a_free_name_is_not_taken(numbers, plain):
    taken = {f"a-{n}" for n in numbers} | ({"a"} if plain else set())
    name = free_name("a", taken.__contains__)
    assert name not in taken and (name == "a") != plain


def test_equal_names_need_few_lookups():
    taken, asked = set(), 0

    def is_taken(name):
        nonlocal asked
        asked += 1
        return name in taken

    for _ in range(2000):
        taken.add(free_name("a", is_taken))
    assert taken == {"a", *(f"a-{n}" for n in range(1, 2000))}
    assert asked < 2000 * 2 * 12


@given(st.text(), st.integers(0, 20))
def test_a_shortened_text_is_a_prefix(text, most):
    found = shortened(text, most)
    assert len(found.encode("utf-8", "replace")) <= max(most, 0) or found == text
    assert text.startswith(found)


@pytest.mark.parametrize(("low", "high"), [(None, None), ("V", None), (None, "V"), ("V", "W"), ("V", "V1")])
def test_many_ranks_between_two_others_stay_short(low, high):
    found = ranks_between(low, high, 5000)
    assert found == sorted(set(found)) and len(found) == 5000
    assert (low is None or found[0] > low) and (high is None or found[-1] < high)
    assert max(map(len, found)) < 12
    assert rank_between(low, found[0]) < found[0]
