"""Tests of how much of the URLs in events is stored."""

import pytest

from octavo.sites.insights.collecting import _without_key


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://a.example/docs/KEY/guide", "https://a.example/docs/guide"),
        ("https://a.example/docs/KEY/", "https://a.example/docs/"),
        ("https://a.example/docs/KEY", "https://a.example/docs"),
        ("https://a.example/docs/KEYS/guide", "https://a.example/docs/KEYS/guide"),
    ],
)
def test_the_key_of_a_share_link_is_not_stored(url: str, kept: str) -> None:
    assert _without_key(url, "KEY") == kept
    assert _without_key(url, None) == url
