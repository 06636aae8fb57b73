"""Outgoing connections trust a company's own certificate authority if configured, and no other."""

from __future__ import annotations

import datetime
import http.server
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import urllib3
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from octavo.app import begin_traces
from octavo.errors import Unavailable
from octavo.kit.http.metrics import Metrics
from octavo.kit.net.fetch import Fetcher, FetchError
from octavo.kit.net.git_http import GuardedPool
from octavo.kit.observability import tracing
from octavo.kit.tls import certificate_days, outgoing_tls
from octavo.operations.admin import diagnosis
from octavo.settings import Settings, load


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _certificate(folder: Path) -> tuple[Path, Path]:
    """Create a certificate authority, and a certificate of it for 127.0.0.1 with its key."""
    authority, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    moment = datetime.datetime.now(datetime.UTC)

    def signed(subject: str, public: ec.EllipticCurvePublicKey, extension: x509.ExtensionType) -> bytes:
        made = (
            x509.CertificateBuilder()
            .subject_name(_name(subject))
            .issuer_name(_name("A company"))
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(moment - datetime.timedelta(hours=1))
            .not_valid_after(moment + datetime.timedelta(hours=1))
            .add_extension(extension, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()), critical=False
            )
            .sign(authority, hashes.SHA256())
        )
        return made.public_bytes(serialization.Encoding.PEM)

    root = signed("A company", authority.public_key(), x509.BasicConstraints(ca=True, path_length=0))
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    own = signed("here", key.public_key(), here)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "root.pem").write_bytes(root)
    (folder / "server.pem").write_bytes(own + secret)
    return folder / "root.pem", folder / "server.pem"


class _Answering(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "5")
        self.end_headers()
        self.wfile.write(b"works")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.do_GET()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def company(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """Return the file with the authority, and a server with a certificate of it."""
    root, own = _certificate(tmp_path)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Answering)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield root, f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()


@pytest.fixture(autouse=True)
def anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    outgoing_tls.cache_clear()
    yield
    outgoing_tls.cache_clear()


def test_only_configured_processes_trust_a_certificate_authority(
    company: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, host = company
    with pytest.raises(FetchError, match="certificate verify failed"):
        Fetcher(host).fetch(f"https://{host}/")
    outgoing_tls.cache_clear()
    monkeypatch.setenv("SSL_CERT_FILE", str(root))
    assert Fetcher(host).fetch(f"https://{host}/").body == b"works"
    pool = GuardedPool(lambda url: "127.0.0.1", 1000)
    assert pool.request("GET", f"https://{host}/").data == b"works"
    # Those that browsers trust are trusted still.
    assert len(outgoing_tls().get_ca_certs()) > 50


def test_unknown_certificates_are_refused(company: tuple[Path, str]) -> None:
    with pytest.raises(urllib3.exceptions.MaxRetryError, match="certificate verify failed"):
        GuardedPool(lambda url: "127.0.0.1", 1000).request("GET", f"https://{company[1]}/")


def test_an_unreadable_certificate_file_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "absent.pem"))
    with pytest.raises(Exception, match="SSL_CERT_FILE: there is no file"):
        load({"OCTAVO_DATA": str(tmp_path)})
    (tmp_path / "odd.pem").write_text("no certificate")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "odd.pem"))
    with pytest.raises(Unavailable, match="SSL_CERT_FILE"):
        outgoing_tls()


def test_traces_are_sent_to_collectors_that_the_authority_certifies(
    company: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, host = company
    monkeypatch.setenv("SSL_CERT_FILE", str(root))
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"https://{host}")
    metrics = Metrics()
    begin_traces(metrics)
    span = tracing.start("a request", "server")
    assert span is not None
    span.end()
    tracing.end()
    assert 'octavo_spans_total{outcome="sent"} 1.0' in metrics.text().decode()


def test_a_check_reports_when_certificates_expire(
    company: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, host = company
    settings = Settings(url=f"https://{host}", sites_url="http://127.0.0.1:1")
    ((part, works, told),) = diagnosis._certificates(settings)
    assert (part, works) == ("certificates", False) and "issuer" in told
    monkeypatch.setenv("SSL_CERT_FILE", str(root))
    outgoing_tls.cache_clear()
    assert 0 < certificate_days("127.0.0.1", int(host.rpartition(":")[2]), 5) < 0.1
    assert diagnosis._certificates(settings) == [
        ("certificates", False, "127.0.0.1: the certificate expires in 0 days and hasn't been renewed")
    ]
    monkeypatch.setattr(diagnosis, "_RENEWED", 0)
    assert diagnosis._certificates(settings) == [
        ("certificates", True, "127.0.0.1: the certificate is valid for 0 days")
    ]
    away = Settings(url="https://127.0.0.1:1", sites_url="http://127.0.0.1:2")
    assert diagnosis._certificates(away) == [
        ("certificates", True, "127.0.0.1: the certificate can't be checked from this machine")
    ]
    assert diagnosis._certificates(Settings()) == []
