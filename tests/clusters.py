"""Servers of PostgreSQL that a test may stop, copy and promote, each in a folder of its own, reached by a
socket in it."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest


def binaries() -> Path:
    """Return the folder of an installed server: the Python package has no base backups."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_basebackup"))
    if not found:
        pytest.skip("no server of PostgreSQL is installed with its tools")
    return found[-1].parent


class Server:
    """One server. ``folder`` holds its data, its socket and its log."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._binaries = binaries()
        self._user: str | None = None
        if os.getuid() == 0:  # it refuses to run as root
            self._user = "postgres" if "postgres" in {each.pw_name for each in pwd.getpwall()} else "nobody"
            shutil.chown(folder, self._user)

    @property
    def url(self) -> str:
        return f"postgresql:///postgres?host={self.folder}&user=postgres"

    def run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self._binaries / program), *arguments],
            user=self._user,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{program}: {done.stdout}"

    def create(self) -> None:
        self.run("initdb", "-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")

    def copy_of(self, other: Server, *more: str) -> None:
        """Take a base backup of another server."""
        self.run(
            "pg_basebackup", "-h", str(other.folder), "-U", "postgres", "-D", "data", "-c", "fast", *more
        )

    def start(self, **settings: str) -> None:
        given = {"listen_addresses": "", "fsync": "off", "shared_buffers": "32MB", **settings}
        options = " ".join(f"-c {name}='{value}'" for name, value in given.items())
        log = str(self.folder / "log")
        self.run("pg_ctl", "-D", "data", "-o", f"-k {self.folder} {options}", "-l", log, "-w", "start")

    def ask(self, statement: str) -> Any:
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement)
            row = cursor.fetchone() if cursor.description else None
            return row[0] if row else None

    def set(self, **settings: str) -> None:
        """Change settings of a running server."""
        for name, value in settings.items():
            self.ask(f"ALTER SYSTEM SET {name} = '{value}'")
        self.ask("SELECT pg_reload_conf()")

    def wait_for(self, statement: str, seconds: float = 30) -> None:
        """Until a statement gives true."""
        until = time.monotonic() + seconds
        while not self.ask(statement):
            assert time.monotonic() < until, statement
            time.sleep(0.02)

    def promote(self) -> None:
        self.run("pg_ctl", "-D", "data", "-w", "promote")

    def kill(self) -> None:
        """Stop the server like a lost machine: nothing is finished or written."""
        self.run("pg_ctl", "-D", "data", "-m", "immediate", "-w", "stop")

    def is_running(self) -> bool:
        return (self.folder / "data" / "postmaster.pid").exists()


@contextmanager
def servers(count: int) -> Iterator[list[Server]]:
    """Return servers that aren't created yet; none runs afterward."""
    folder = Path(tempfile.mkdtemp(prefix="postgresql-", dir="/tmp"))  # paths of sockets are short
    folder.chmod(0o755)
    made = []
    for number in range(count):
        part = folder / str(number)
        part.mkdir()
        made.append(Server(part))
    try:
        yield made
    finally:
        for server in made:
            if server.is_running():
                server.kill()
        shutil.rmtree(folder, ignore_errors=True)
