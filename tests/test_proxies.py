"""Reverse proxy configurations: the manual shows the shipped files, and the proxies can parse them."""

from __future__ import annotations

import datetime
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tools import ROOT

FOLDER = ROOT / "packaging" / "proxy"
PAGE = ROOT / "docs" / "running" / "proxies.md"


def test_the_manual_shows_the_proxy_configurations() -> None:
    shown = re.findall(r"^```\w*\n(# /etc/.*?)^```$", PAGE.read_text(), re.M | re.S)
    assert sorted(shown) == sorted(path.read_text() for path in FOLDER.iterdir())


def test_no_client_can_forge_its_ip_address() -> None:
    nginx, haproxy = (FOLDER / "nginx.conf").read_text(), (FOLDER / "haproxy.cfg").read_text()
    assert re.findall(r"X-Forwarded-For (\S+);", nginx) == ["$remote_addr"]
    assert re.findall(r"(\S+) X-Forwarded-For (\S+)\n", haproxy) == [("set-header", "%[src]")]
    # Caddy and Traefik replace it unless they are configured to trust a proxy.
    assert "trusted" not in (FOLDER / "Caddyfile").read_text()
    assert "forwardedHeaders" not in (FOLDER / "traefik.yaml").read_text()


def test_routes_of_traefik_name_existing_services() -> None:
    routes = yaml.safe_load((FOLDER / "traefik-routes.yaml").read_text())["http"]
    points = yaml.safe_load((FOLDER / "traefik.yaml").read_text())["entryPoints"]
    for router in routes["routers"].values():
        assert set(router["entryPoints"]) <= set(points)
        assert set(router["middlewares"]) <= set(routes["middlewares"])
        assert router["service"] in routes["services"]


def test_compose_puts_the_proxy_in_front() -> None:
    services = yaml.safe_load((ROOT / "packaging" / "compose.yaml").read_text())["services"]
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    assert "./proxy/Caddyfile:/etc/caddy/Caddyfile:ro" in services["proxy"]["volumes"]
    asked = set(re.findall(r"\{\$(\w+):", (FOLDER / "Caddyfile").read_text()))
    assert asked == set(services["proxy"]["environment"])


def _write_certificate(folder: Path) -> Path:
    """Write a key and a self-signed certificate into one file."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    moment = datetime.datetime.now(datetime.UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(moment).not_valid_after(moment + datetime.timedelta(days=1))
    form = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "certificate.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, *form)
        + made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    )
    return folder / "certificate.pem"


@pytest.mark.parametrize(
    ("tool", "name", "command"),
    [
        ("nginx", "nginx.conf", ["-t", "-c"]),
        ("caddy", "Caddyfile", ["validate", "--adapter", "caddyfile", "--config"]),
        ("haproxy", "haproxy.cfg", ["-c", "-f"]),
    ],
)
def test_a_proxy_can_read_its_configuration(tool: str, name: str, command: list[str], tmp_path: Path) -> None:
    program = shutil.which(tool, path="/usr/sbin:/usr/bin:/usr/local/bin")
    if program is None:
        pytest.skip(f"{tool} is not installed")
    text = (FOLDER / name).read_text()
    certificate = _write_certificate(tmp_path)
    for place in ("/etc/ssl/octavo/fullchain.pem", "/etc/ssl/octavo/privkey.pem", "/etc/haproxy/certs/"):
        text = text.replace(place, str(certificate))
    if tool == "nginx":
        text = f"events {{}}\npid {tmp_path}/pid;\nhttp {{\n{text}\n}}\n"
    (tmp_path / name).write_text(text)
    done = subprocess.run(
        [program, *command, str(tmp_path / name)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
