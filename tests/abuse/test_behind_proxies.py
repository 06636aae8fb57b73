"""The same abuse through the proxies of the manual: neither sees a request where the other sees a body."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from serving import free_ports
from settled import until
from tools import ROOT, absent

from .client import run
from .subjects import Subject

pytestmark = pytest.mark.slow
_PROXIES = ROOT / "packaging" / "proxy"


@contextmanager
def _running(command: list[str], folder: Path, port: int, **environment: str) -> Iterator[None]:
    program = shutil.which(command[0], path="/usr/sbin:/usr/bin:/usr/local/bin") or absent(command[0])
    with (folder / "log").open("a") as log:
        environ = {**os.environ, "HOME": str(folder), **environment}
        process = subprocess.Popen([program, *command[1:]], env=environ, stdout=log, stderr=log)

    def listens() -> bool:
        assert process.poll() is None, (folder / "log").read_text()
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", port)) == 0

    try:
        until(listens)
        yield
    finally:
        process.terminate()
        process.wait()


@contextmanager
def _nginx(folder: Path, port: int, upstream: int) -> Iterator[None]:
    """nginx with the configuration of the manual, without TLS and limits by address: all cases have one address."""
    text = (_PROXIES / "nginx.conf").read_text()
    text = re.sub(r"(?m)^  (ssl_|limit_).*\n", "", text).replace("docs-app.example.com", "127.0.0.1")
    text = text.replace("127.0.0.1:8000", f"127.0.0.1:{upstream}").replace(
        "listen 80", f"listen {free_ports(1)[0]}"
    )
    text = text.replace("listen 443 ssl http2", f"listen 127.0.0.1:{port}")
    places = [
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    ]
    start = f"daemon off;\npid {folder}/pid;\nerror_log stderr;\nevents {{}}\n"
    (folder / "nginx.conf").write_text(
        start
        + "\n".join(
            [
                "http {",
                "log_format seen '$request_method $uri $status';",
                f"access_log {folder}/log seen;",
                *places,
                text,
                "}",
            ]
        )
    )
    with _running(["nginx", "-e", "stderr", "-c", str(folder / "nginx.conf")], folder, port):
        yield


@contextmanager
def _caddy(folder: Path, port: int, upstream: int) -> Iterator[None]:
    text = (_PROXIES / "Caddyfile").read_text().replace("{\n", "{\n\tadmin off\n", 1)
    text = text.replace("\trespond /metrics", "\tlog\n\trespond /metrics")
    (folder / "Caddyfile").write_text(text)
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    sites = f"http://docs.example.com:{port}"
    url = f"http://127.0.0.1:{port}"
    with _running(
        command, folder, port, OCTAVO_URL=url, OCTAVO_SITES_URL=sites, API_UPSTREAM=f"127.0.0.1:{upstream}"
    ):
        yield


def _writes_seen(folder: Path, target: str) -> int:
    """Return the number of writes that the proxy passed on: those with a response, and those whose client had
    left."""
    lines = (folder / "log").read_text(errors="replace").splitlines()
    if lines[0].startswith("{"):  # as Caddy writes it
        entries = [entry for line in lines if "request" in (entry := json.loads(line)) and "status" in entry]
        lines = [f"{one['request']['method']} {one['request']['uri']} {one['status']}" for one in entries]
    return sum(line in {f"POST {target} {status}" for status in (201, 499, 502, 0)} for line in lines)


@pytest.mark.parametrize(("proxy", "seed"), [(_nginx, 2), (_caddy, 3)], ids=["nginx", "caddy"])
def test_no_body_is_executed_as_a_request_behind_a_proxy(
    subject: Subject,
    proxy: Callable[[Path, int, int], AbstractContextManager[None]],
    seed: int,
    tmp_path: Path,
) -> None:
    (port,) = free_ports(1)
    before = subject.written()
    with proxy(tmp_path, port, subject.port):
        problems = run(replace(subject, port=port, is_direct=False), seed, range(4000))
    assert not problems, "\n".join(problems[:20])
    # What Octavo ran, the proxy saw as a request.
    written = len(subject.written() - before)
    assert 0 < written <= _writes_seen(tmp_path, subject.words.write_target)
