"""Layered mappings are as dictionaries that were changed in the same way."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from octavo.core import layered_mapping
from octavo.core.layered_mapping import Layered

changes = st.dictionaries(st.integers(0, 8), st.none() | st.integers(0, 3), max_size=4)


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.dictionaries(st.integers(0, 8), st.integers(0, 3)), st.lists(changes, max_size=6), st.integers(0, 5)
)
def test_a_layered_mapping_behaves_like_a_dictionary(first, all_changes, most):
    before, layered_mapping._MOST = layered_mapping._MOST, most
    try:
        plain, found = dict(first), Layered(first)
        for some in all_changes:
            earlier, was = found, dict(plain)
            found = found.changed(some)
            plain = {key: value for key, value in {**plain, **some}.items() if value is not None}
            for key in range(9):
                assert found.get(key) == plain.get(key)
                assert (key in found) == (key in plain)
            assert (len(found), dict(found)) == (len(plain), plain)
            assert dict(earlier) == was
    finally:
        layered_mapping._MOST = before


def test_a_change_does_not_copy_lower_layers():
    below = dict.fromkeys(range(100), "x")
    found = Layered(below)
    for n in range(50):
        found = found.changed({n: "y"})
    assert found._below is below
