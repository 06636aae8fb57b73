"""Programs that the service starts get nothing of its environment that they do not need."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from octavo.kit.processes.children import run_child, start_child
from octavo.kit.processes.helper_process import HelperProcess
from octavo.kit.runtime.process import ScriptProcess
from octavo.operations.developing import bundling
from settled import until

SECRETS = {
    "OCTAVO_SECRET_KEY": "a passphrase of the key",
    "OCTAVO_DATABASE_URL": "postgresql://octavo:secret@db/octavo",
    "OCTAVO_ADMIN_TOKEN": "gb_api_secret",
    "OCTAVO_SMTP_URL": "smtp://me:secret@mail",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "OTEL_EXPORTER_OTLP_HEADERS": "authorization=secret",
    "PGPASSWORD": "secret",
}
SHOW = "import json, os, sys; sys.stdout.write(json.dumps(dict(os.environ)))"


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)


def environment_of(pid: int) -> set[str]:
    where = Path(f"/proc/{pid}/environ")
    # It is empty for the moment in which the program is loaded.
    until(where.read_bytes)
    data = where.read_bytes()
    return {part.partition(b"=")[0].decode() for part in data.split(b"\0") if part}


def test_a_program_gets_only_the_environment_it_is_given(tmp_path: Path) -> None:
    done = run_child(
        [sys.executable, "-c", SHOW], environment={"HOME": str(tmp_path)}, folder=tmp_path, seconds=60
    )
    ran = msgspec.json.decode(done.stdout, type=dict[str, str])
    with start_child([sys.executable, "-c", SHOW], environment={"HOME": str(tmp_path)}) as child:
        started = msgspec.json.decode(child.communicate()[0], type=dict[str, str])
    for found in (ran, started):
        assert set(found) == {"PATH", "LC_ALL", "HOME"} and found["HOME"] == str(tmp_path)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="absent: /proc")
def test_long_running_processes_have_no_secrets() -> None:
    """The lexers of code blocks and the scripts of integrations process untrusted text and code."""
    script = ScriptProcess()
    listings = HelperProcess("octavo.kit.processes.highlighting").start()
    try:
        assert environment_of(listings.pid) == {"PATH", "LC_ALL"}
        assert environment_of(script._process.pid) == {"PATH", "LC_ALL", "DENO_DIR", "NO_COLOR"}
    finally:
        script.kill()
        listings.kill()
        listings.communicate()


def test_fetching_packages_only_keeps_settings_of_the_registry() -> None:
    network = ("https_proxy", "NO_PROXY", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "NPM_CONFIG_REGISTRY")
    kept = ("PATH", "HOME", "DENO_DIR", *network)
    assert all(bundling._INSTALL_VARIABLES.fullmatch(name) for name in kept)
    assert not any(bundling._INSTALL_VARIABLES.fullmatch(name) for name in SECRETS)
