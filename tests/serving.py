"""Octavo as a separate process, started the way an operator starts it."""

from __future__ import annotations

import fcntl
import io
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock
from venv import EnvBuilder

import httpx

from octavo.cli.main import main
from settled import PATIENCE

_START_SECONDS = 120
ROOT = Path(__file__).parents[1]
OCTAVO = str(Path(sys.executable).parent / "octavo")


def octavo(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a person does, with only the given settings."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("OCTAVO_")}
    return subprocess.run(
        [OCTAVO, *arguments],
        env={**environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def octavo_here(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command like ``octavo``, without a separate process, whose start takes most of the time."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("OCTAVO_")}
    output, errors = io.StringIO(), io.StringIO()
    mask = os.umask(0o077)
    try:
        with (
            mock.patch.dict(os.environ, {**environ, **environment}, clear=True),
            redirect_stdout(output),
            redirect_stderr(errors),
        ):
            main(arguments)
    except SystemExit as end:
        code = end.code
    finally:
        os.umask(mask)
    assert isinstance(code, int)
    return subprocess.CompletedProcess(arguments, code, output.getvalue(), errors.getvalue())


def free_ports(count: int) -> list[int]:
    """Return ports that are currently unused."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


class Served:
    """Running ``octavo serve``: its URLs, and its process, which leads a group."""

    def __init__(
        self,
        data: Path,
        *arguments: str,
        port: int = 0,
        through: Sequence[str] = (),
        program: str | Path = OCTAVO,
        **environment: str | None,
    ) -> None:
        """``through``: a program that runs the command behind it; ``program``: the command."""
        free, reader_port = free_ports(2)
        self.data, port = data, port or free
        self.url = f"http://127.0.0.1:{port}"
        self.reader_url = f"http://127.0.0.1:{reader_port}"
        self.output = data.parent / f"{data.name}.log"
        command = [*through, str(program), "serve", "--data", str(data)]
        command += ["--port", str(port), "--reader-port", str(reader_port), *arguments]
        settings = {"OCTAVO_URL": self.url, "OCTAVO_SITES_URL": self.reader_url, **environment}
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                command,
                env={**os.environ, **{name: value for name, value in settings.items() if value is not None}},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait_until_ready(self) -> None:
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until:
            assert self.process.poll() is None, (
                f"ended with {self.process.returncode}: {self.output.read_text()}"
            )
            try:
                if httpx.get(f"{self.url}/readyz").status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.05)
        raise AssertionError(f"not ready after {_START_SECONDS} seconds: {self.output.read_text()}")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send the signal and return the exit code. Raises subprocess.TimeoutExpired if the process doesn't
        end."""
        self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE)

    def kill(self) -> None:
        """Kill all of its processes. A worker that outlived its parent could answer for the server that starts next."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        until = time.monotonic() + PATIENCE
        while running := self.processes():
            assert time.monotonic() < until, running
            time.sleep(0.01)

    def left_behind(self, seconds: float = 3.0) -> list[str]:
        """Return the processes that still run some time after the server stopped."""
        until = time.monotonic() + seconds
        while (running := self.processes()) and time.monotonic() < until:
            time.sleep(0.05)
        return running

    def processes(self) -> list[str]:
        """Return the command lines of all running processes of its group."""
        return list(self._group().values())

    def workers(self, folder: Path | None = None) -> list[int]:
        """Return the ids of the processes that answer requests, of the version in a folder if one is named."""
        started = f"{folder}/bin/" if folder is not None else ""
        return [
            number
            for number, command in self._group().items()
            if number != self.process.pid and " serve " in command and command.startswith(started)
        ]

    def _group(self) -> dict[int, str]:
        found = {}
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[2]) == self.process.pid and fields[0] != "Z":
                    found[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")
            except (OSError, ValueError):  # The process ended in the meantime.
                continue
        return found


@contextmanager
def serving(
    data: Path,
    *arguments: str,
    through: Sequence[str] = (),
    program: str | Path = OCTAVO,
    **environment: str | None,
) -> Iterator[Served]:
    """Octavo serving a data folder until the end of the block; nothing of it is left then."""
    served = Served(data, *arguments, through=through, program=program, **environment)
    try:
        served.wait_until_ready()
        yield served
    finally:
        if served.process.poll() is None:
            served.process.terminate()
            try:
                served.process.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                served.kill()


def install_version(folder: Path, version: str, *, whole: bool = True) -> None:
    """Create a folder with the command of a version, which is this program; without ``whole``, the command is
    missing."""
    EnvBuilder(symlinks=True).create(folder)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    others = sysconfig.get_path("purelib")
    (packages / "octavo.pth").write_text(f"{ROOT / 'src'}\n{others}\n" if whole else "")
    about = packages / f"octavo-{version}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: octavo\nVersion: {version}\n")
    script = folder / "bin" / "octavo"
    script.write_text(f"#!{folder}/bin/python\nfrom octavo.cli.main import main\nmain()\n")
    script.chmod(0o755)


first_starts: list[Path] = []
"""The folder, one at most, that all processes of a run keep first starts in."""


@cache
def _first_started(admin_email: str) -> Path:
    """Return a data folder as a first start leaves it, with the manual published and all of its jobs done;
    created once per run."""
    (folder,) = first_starts
    data = folder / (admin_email or "nobody")
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not data.exists():
            environment = {"OCTAVO_ADMIN_EMAIL": admin_email} if admin_email else {}
            with serving(folder / "made", **environment) as served:
                _finish_jobs(served.data / "octavo.db")
            (folder / "made").rename(data)
    return data


def copy_first_start(data: Path, admin_email: str = "") -> None:
    """Create a data folder, with its SQLite database, as a first start leaves it."""
    shutil.copytree(_first_started(admin_email), data)


def _finish_jobs(database: Path) -> None:
    """Wait for all jobs, also for those that are planned for later: each copy of the server would do them again."""
    until = time.monotonic() + _START_SECONDS
    with closing(sqlite3.connect(database, timeout=_START_SECONDS)) as connection:
        while connection.execute("SELECT count(*) FROM jobs").fetchone() != (0,):
            assert time.monotonic() < until, connection.execute("SELECT kind, error FROM jobs").fetchall()
            with connection:
                connection.execute("UPDATE jobs SET run_at = 0 WHERE state = 'later'")
            time.sleep(0.1)


@contextmanager
def serving_new(data: Path, *arguments: str, **environment: str | None) -> Iterator[Served]:
    """Octavo serving a new installation: a first start took place, which no test looks at and none waits for."""
    if "OCTAVO_DATABASE_URL" not in environment:  # which is not in the folder
        copy_first_start(data, environment.get("OCTAVO_ADMIN_EMAIL") or "")
    with serving(data, *arguments, **environment) as served:
        yield served


class Administrator:
    """The API of a new installation, called as the administrator whom its first start made. ``organization``: the
    one that there is from the start."""

    def __init__(self, served: Served) -> None:
        token = (served.data / "admin-token").read_text().strip()
        headers = {"authorization": f"Bearer {token}"}
        self.client = httpx.Client(base_url=f"{served.url}/v1", headers=headers, timeout=60)
        self.organization = str(self.call("GET", "/orgs")["items"][0]["id"])

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Return the decoded response to a request that must succeed; None for an empty one."""
        answer = self.client.request(method, path, json=body)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def create_space(self, title: str, **more: Any) -> str:
        return str(self.call("POST", f"/orgs/{self.organization}/spaces", {"title": title, **more})["id"])

    def merge_page(self, space_id: str, markdown: str) -> None:
        """Add a page to the space, at ``page``, with a change request."""
        changes = f"/spaces/{space_id}/change-requests"
        change = f"{changes}/{self.call('POST', changes, {'subject': 'A page'})['id']}"
        page = {
            "operation": "insert_page",
            "slug": "page",
            "title": "Page",
            "document": {"markdown": markdown},
        }
        self.call("POST", f"{change}/content", {"changes": [page]})
        self.call("POST", f"{change}/merge")

    def create_site(self, space_id: str) -> str:
        """Create a site with the space, and return its path."""
        sites = f"/orgs/{self.organization}/sites"
        site = f"{sites}/{self.call('POST', sites, {'title': 'Book'})['id']}"
        self.call("POST", f"{site}/site-spaces", {"spaceId": space_id})
        return site

    def publish(self, site: str) -> str:
        """Publish the site, and return its URL."""
        return str(self.call("POST", f"{site}/publish")["urls"]["published"])

    def install(self, name: str, manifest: dict[str, Any]) -> str:
        """Publish and install a new integration, and return the path of the installation in the organization."""
        made = {**manifest, "organization": self.organization, "runtime": "v2"}
        self.call("POST", f"/integrations/{name}", made)
        installations = f"/integrations/{name}/installations"
        return (
            f"{installations}/{self.call('POST', installations, {'organization': self.organization})['id']}"
        )


def import_site(served: Served, docs: Path, *arguments: str) -> str:
    """Import a folder with the command and publish it; return the URL of the site, with a slash at the end."""
    where = ["--data", str(served.data), "--org", Administrator(served).organization]
    settings = {"OCTAVO_URL": served.url, "OCTAVO_SITES_URL": served.reader_url}
    done = octavo_here("import", str(docs), *where, "--json", "--publish", "--quiet", *arguments, **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    return str(json.loads(done.stdout)["site"]).rstrip("/") + "/"
