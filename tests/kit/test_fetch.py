from __future__ import annotations

import gzip
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler

import pytest

from local_server import local_server
from octavo.kit.net.fetch import Fetcher, FetchError, Limits
from octavo.kit.scheduling import deadlines
from octavo.settings import Settings


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status=200, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.server.seen.append(
            (self.command, self.path, {name.lower(): value for name, value in self.headers.items()})
        )
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        path, _, argument = self.path.partition("?")
        if path == "/redirect":
            self.answer(302, b"moved", Location=argument)
        elif path == "/redirect307":
            self.answer(307, b"", Location=argument)
        elif path == "/loop":
            self.answer(302, b"", Location="/loop")
        elif path == "/large":
            self.answer(200, b"x" * 100_001)
        elif path == "/endless":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                self.close_connection = True
        elif path == "/bomb":
            self.answer(200, gzip.compress(bytes(50_000_000)), Content_Encoding="gzip")
        elif path == "/packed":
            self.answer(200, gzip.compress(b"unpacked"), Content_Encoding="gzip")
        elif path == "/slow":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.drip()
        elif path == "/slow-headers":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            self.drip()
        elif path == "/missing":
            self.answer(404, b"nothing")
        else:
            self.answer(200, self.command.encode() + b" " + body)

    do_POST = do_GET

    def drip(self):
        self.close_connection = True
        try:
            while True:
                self.wfile.write(b"x")
                self.wfile.flush()
                time.sleep(0.05)
        except OSError:
            pass


@pytest.fixture(scope="module")
def servers():
    """Return two servers on separate ports."""
    with local_server(Handler) as first, local_server(Handler) as second:
        first.seen, second.seen = [], []
        yield first, second


@pytest.fixture
def server(servers):
    servers[0].seen.clear()
    servers[1].seen.clear()
    return servers[0]


@pytest.fixture
def at(server) -> str:
    return f"127.0.0.1:{server.server_port}"


@pytest.fixture
def fetcher(at) -> Fetcher:
    return Fetcher(Settings(allow_private_fetch=f"example.com:1, {at}").allow_private_fetch)


def test_responses_of_every_status_are_returned(fetcher, at):
    found = fetcher.fetch(f"http://{at}/a?b", "POST", {"X-A": "1", "Host": "evil"}, b"body")
    assert (found.status, found.body, found.url) == (200, b"POST body", f"http://{at}/a?b")
    assert fetcher.fetch(f"http://{at}/missing").status == 404
    assert fetcher.fetch(f"http://{at}/packed").body == b"unpacked"


def test_the_host_header_is_that_of_the_url(fetcher, at, server):
    fetcher.fetch(f"http://{at}/", headers={"Host": "evil", "X-Own": "kept", "user-agent": "Me"})
    headers = server.seen[0][2]
    assert (headers["host"], headers["x-own"], headers["user-agent"]) == (at, "kept", "Me")


PRIVATE = [
    "http://127.0.0.1/",
    "http://127.1.2.3:8080/",
    "http://localhost/",
    "http://0.0.0.0/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://169.254.169.254/latest/meta-data",
    "http://100.64.0.1/",
    "http://192.0.0.1/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://[::1]/",
    "http://[::]/",
    "http://[fe80::1]/",
    "http://[fec0::1]/",
    "http://[fc00::1]/",
    "http://[ff02::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:8.8.8.8]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b:1::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:7f00:1::]/",
    "http://[2001:db8::1]/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://127.0.0.1./",
    "http://0/",
    "http://１２７.0.0.1/",
]


@pytest.mark.parametrize("url", PRIVATE)
def test_private_hosts_are_refused(url):
    with pytest.raises(FetchError, match="n't allowed|must be an http"):
        Fetcher().check_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.com/",
        "gopher://example.com/",
        "//example.com/",
        "example.com",
        "http:///x",
        "",
        "http://[::1",
        "http://a\nb/",
        "http://example.com:99999/",
    ],
)
def test_other_protocols_than_http_are_refused(url):
    with pytest.raises(FetchError):
        Fetcher().check_url(url)


def test_userinfo_is_refused(fetcher, at):
    for url in (f"http://user:password@{at}/", f"http://example.com@{at}/", f"http://:@{at}/x@y"):
        with pytest.raises(FetchError, match="password"):
            fetcher.fetch(url)


def test_public_addresses_are_allowed():
    for host in ("8.8.8.8", "[2606:4700::1111]"):
        target = Fetcher().check_url(f"https://{host}:8443/x")
        assert (target.host, target.port, target.scheme) == (host.strip("[]"), 8443, "https")
        assert target.addresses == (host.strip("[]"),)


def test_the_allow_list_names_host_and_port(servers, fetcher, server, at):
    other = servers[1].server_port
    for url in (f"http://127.0.0.1:{other}/", f"http://localhost:{server.server_port}/", "http://127.0.0.1/"):
        with pytest.raises(FetchError, match="private network"):
            fetcher.fetch(url)
    assert servers[1].seen == []


def test_a_redirect_to_a_private_host_is_refused(servers, fetcher, at):
    target = f"http://127.0.0.1:{servers[1].server_port}/secret"
    with pytest.raises(FetchError, match="private network"):
        fetcher.fetch(f"http://{at}/redirect?{target}")
    with pytest.raises(FetchError, match="must be an http"):
        fetcher.fetch(f"http://{at}/redirect?file:///etc/passwd")
    assert servers[1].seen == []


def test_redirects_are_followed_and_counted(fetcher, at, server):
    found = fetcher.fetch(f"http://{at}/redirect?/b", "POST", {"Authorization": "Bearer x"}, b"data")
    assert (found.url, found.body) == (f"http://{at}/b", b"GET ")
    assert server.seen[1][2]["authorization"] == "Bearer x"
    assert fetcher.fetch(f"http://{at}/redirect307?/b", "POST", None, b"data").body == b"POST data"
    server.seen.clear()
    with pytest.raises(FetchError, match="redirected more than 5 times"):
        fetcher.fetch(f"http://{at}/loop")
    assert len(server.seen) == 6


def test_secrets_do_not_follow_to_another_origin(servers, server, at):
    other = f"127.0.0.1:{servers[1].server_port}"
    fetcher = Fetcher(f"{at},{other}")
    headers = {"Authorization": "Bearer x", "Cookie": "a=b", "X-Signature": "s", "Accept": "text/html"}
    fetcher.fetch(f"http://{at}/redirect?http://{other}/", headers=headers)
    received = servers[1].seen[0][2]
    assert received["accept"] == "text/html"
    assert not {"authorization", "cookie", "x-signature"} & set(received)


def _addresses(*texts):
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (text, 0)) for text in texts]


def test_a_rebinding_name_is_resolved_once(monkeypatch):
    """First public, then private: the second address must never be requested or connected to."""
    answers = iter([_addresses("8.8.8.8"), _addresses("127.0.0.1")])
    connected = []

    def connect(address, *args, **kwargs):
        connected.append(address[0])
        raise OSError("not reachable here")

    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: next(answers))
    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(FetchError, match="not reachable here"):
        Fetcher().fetch("http://rebind.example/")
    assert connected == ["8.8.8.8"]
    assert next(answers) == _addresses("127.0.0.1")


def test_one_private_address_among_public_ones_is_refused(monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: _addresses("8.8.8.8", "10.0.0.1"))
    with pytest.raises(FetchError, match="private network"):
        Fetcher().fetch("http://mixed.example/")


def test_the_next_address_is_tried_if_one_fails(monkeypatch, server):
    real = socket.getaddrinfo

    def resolve(host, *args, **kwargs):
        two = _addresses("127.0.0.9", "127.0.0.1")
        return two if host == "two.example" else real(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    allowed = f"two.example:{server.server_port}"
    assert Fetcher(allowed).fetch(f"http://{allowed}/").status == 200
    assert server.seen[0][2]["host"] == allowed


def test_the_deadline_includes_name_resolution(monkeypatch, server):
    go = threading.Event()
    real = socket.getaddrinfo

    def resolve(host, *args, **kwargs):
        if host == "slow.example":
            go.wait()
        return real("127.0.0.1", *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    try:
        allowed = f"quick.example:{server.server_port},slow.example:80"
        redirect = f"http://quick.example:{server.server_port}/redirect?http://slow.example/"
        for url in ("http://slow.example/", redirect):
            with pytest.raises(FetchError, match=r"slow\.example: .* couldn't be resolved in time"):
                Fetcher(allowed).fetch(url, limits=Limits(seconds=0.3))
    finally:
        go.set()


def test_a_fetch_ends_with_its_job(monkeypatch):
    go = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: go.wait())
    try:
        with deadlines.limited(0.2):
            with pytest.raises(FetchError, match="couldn't be resolved in time"):
                Fetcher().fetch("http://slow.example/")
            with pytest.raises(deadlines.DeadlineExceeded):
                Fetcher().fetch("http://slow.example/")
    finally:
        go.set()


def test_tls_uses_the_host_name_of_the_url(monkeypatch):
    """Pinning the address must not change which certificate is requested and checked."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    hello = []

    def accept():
        connection, _ = listener.accept()
        hello.append(connection.recv(4096))
        connection.close()

    thread = threading.Thread(target=accept)
    thread.start()
    real = socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *a, **k: real("127.0.0.1" if host == "tls.example" else host, *a, **k),
    )
    with pytest.raises(FetchError, match="tls.example"):
        Fetcher(f"tls.example:{port}").fetch(f"https://tls.example:{port}/")
    thread.join()
    listener.close()
    assert b"tls.example" in hello[0]


@pytest.mark.parametrize("path", ["large", "endless", "bomb"])
def test_a_response_that_is_too_large_is_refused(fetcher, at, path):
    with pytest.raises(FetchError, match="larger than 100,000 bytes"):
        fetcher.fetch(f"http://{at}/{path}", limits=Limits(size=100_000))


@pytest.mark.parametrize("path", ["slow", "slow-headers"])
def test_the_deadline_applies_to_slow_responses(fetcher, at, path):
    with pytest.raises(FetchError, match="within 0.3 seconds"):
        fetcher.fetch(f"http://{at}/{path}", limits=Limits(seconds=0.3))


def test_headers_cannot_be_smuggled(fetcher, at, server):
    with pytest.raises(FetchError):
        fetcher.fetch(f"http://{at}/", headers={"X-A": "a\r\nX-B: b"})
    assert server.seen == []


def test_a_closed_port_is_reported():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        at = f"127.0.0.1:{probe.getsockname()[1]}"
    with pytest.raises(FetchError, match="127.0.0.1"):
        Fetcher(at).fetch(f"http://{at}/")
