"""The IP address of clients behind proxies: only trusted proxies can set it."""

import pytest

from octavo.kit.http.proxies import address_key, client_address
from octavo.settings import SettingsError, load, parse_networks

OURS = parse_networks("10.0.0.0/8, fd00::/8, 192.0.2.1")


@pytest.mark.parametrize(
    ("peer", "forwarded", "found"),
    [
        ("203.0.113.7", "6.6.6.6", "203.0.113.7"),
        ("10.1.1.1", "203.0.113.7", "203.0.113.7"),
        ("10.1.1.1", "6.6.6.6, 203.0.113.7", "203.0.113.7"),
        ("10.1.1.1", "6.6.6.6, 203.0.113.7, 192.0.2.1", "203.0.113.7"),
        ("10.1.1.1", "10.2.2.2, 10.3.3.3", "10.2.2.2"),
        ("10.1.1.1", "", "10.1.1.1"),
        ("10.1.1.1", "203.0.113.7, unknown", "10.1.1.1"),
        ("10.1.1.1", "203.0.113.7,\x00<script>", "10.1.1.1"),
        ("::ffff:10.1.1.1", "2001:db8::1", "2001:db8::1"),
        ("fd00::1", "203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "", "203.0.113.7"),
        ("::FFFF:cb00:7107", "6.6.6.6", "203.0.113.7"),
        ("10.1.1.1", "::ffff:203.0.113.7", "203.0.113.7"),
        ("", "203.0.113.7", ""),
    ],
)
def test_only_trusted_proxies_are_accepted(peer, forwarded, found):
    assert client_address(peer, forwarded, OURS) == found


def test_no_proxy_is_trusted_unless_configured():
    assert client_address("127.0.0.1", "6.6.6.6", parse_networks("")) == "127.0.0.1"


def test_callers_over_both_kinds_of_sockets_are_distinguished():
    callers = [client_address(f"::ffff:203.0.113.{n}", "", []) for n in (7, 8)]
    assert len({address_key(caller) for caller in callers}) == 2


def test_a_wrong_setting_is_reported():
    assert load(environ={"OCTAVO_TRUSTED_PROXIES": "10.0.0.0/8"}).trusted_proxies == "10.0.0.0/8"
    with pytest.raises(SettingsError, match="OCTAVO_TRUSTED_PROXIES"):
        load(environ={"OCTAVO_TRUSTED_PROXIES": "our proxy"})
