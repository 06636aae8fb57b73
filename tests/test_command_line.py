"""The ``octavo`` command as a person meets it: what it prints, what it refuses, what it leaves alone."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from serving import Served, octavo, octavo_here, serving
from tools import ROOT, absent
from world import World

READING = [
    ("token", "list", "--email", "a@example.com"),
    ("token", "revoke", "--email", "a@example.com", "--all"),
    ("session", "list", "--email", "a@example.com"),
    ("export", "0000", "out"),
    ("publish", "0000", "out"),
    ("backup", "out.zip"),
    ("verify",),
    ("check",),
]


@pytest.mark.parametrize("arguments", READING, ids=lambda arguments: " ".join(arguments[:2]))
def test_reading_makes_no_installation(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    data = tmp_path / "data"
    done = octavo(*arguments, "--data", str(data))
    assert done.returncode == (0 if arguments == ("check",) else 1)
    assert "octavo serve" in done.stderr + done.stdout
    assert not data.exists()


WRONG = [
    ({"OCTAVO_WOKERS": "2"}, ("check",)),
    ({"OCTAVO_DATABASE_URL": "sqlite:///relative.db"}, ("check",)),
    ({}, ("export", "--organization", "nobody", "/proc/forbidden")),
    ({}, ("import", "/nowhere", "--org", "nobody")),
    ({}, ("import", ".")),
    ({}, ("publish", "nothing", "out")),
    ({}, ("verify", "/nowhere.zip")),
    ({}, ("operations", "nothing")),
    ({}, ("check", "--config", "/nowhere.toml")),
]


@pytest.mark.parametrize(("environment", "arguments"), WRONG)
def test_mistakes_get_a_sentence(
    sqlite_world: World, tmp_path: Path, environment: dict[str, str], arguments: tuple[str, ...]
) -> None:
    data = sqlite_world.install(tmp_path / "data")
    done = octavo_here(*arguments, **{"OCTAVO_DATA": str(data), **environment})
    assert done.returncode == 1
    assert "octavo:" in done.stderr
    assert "Traceback" not in done.stderr and "panicked" not in done.stderr


@pytest.mark.parametrize(
    "arguments", [(), ("no-such-command",), ("serve", "--port", "70000"), ("serve", "--reader-port", "x")]
)
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    done = octavo(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_version_and_completion() -> None:
    assert octavo("--version").stdout.startswith("octavo 0.")
    for shell in ("bash", "zsh", "tcsh"):
        assert "octavo" in octavo("completion", shell).stdout


def test_tables_have_headings_and_json_has_none(sqlite_world: World, tmp_path: Path) -> None:
    data = str(sqlite_world.install(tmp_path / "data"))
    email = "admin@example.org"
    for arguments in (("token", "list", "--email", email), ("operations",), ("check",)):
        shown = octavo_here(*arguments, "--data", data)
        assert shown.stdout.splitlines()[0].isupper(), shown.stdout + shown.stderr
        assert isinstance(json.loads(octavo_here(*arguments, "--data", data, "--json").stdout), list)


def test_links_are_those_of_the_running_server(sqlite_world: World, tmp_path: Path) -> None:
    data = sqlite_world.install(tmp_path / "data")
    source = tmp_path / "pages"
    source.mkdir()
    (source / "README.md").write_text("# Home\n")
    with serving(data, OCTAVO_URL=None, OCTAVO_SITES_URL=None) as served:
        org = sqlite_world.home["organizationId"]
        done = octavo("import", str(source), "--org", org, "--publish", "--quiet", "--data", str(data))
        site = json.loads(done.stdout)["site"]
        assert site.startswith(served.reader_url)
        assert httpx.get(site, follow_redirects=True).status_code == 200
        space = json.loads(done.stdout)["space"]
        again = octavo("import", str(source), "--space", space, "--quiet", "--data", str(data))
        assert json.loads(again.stdout)["space"] == space


def test_publishing_to_a_folder(sqlite_world: World, tmp_path: Path) -> None:
    data, out = sqlite_world.install(tmp_path / "data"), tmp_path / "www"
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "README.md").write_text("# Home\n")
    org = sqlite_world.home["organizationId"]
    source = ("import", str(tmp_path / "pages"), "--org", org, "--publish", "--quiet")
    space = json.loads(octavo(*source, "--data", str(data)).stdout)["space"]
    with sqlite3.connect(data / "octavo.db") as database:
        query = "SELECT site_id FROM site_spaces WHERE space_id = ?"
        site = database.execute(query, (space,)).fetchone()[0]
    done = octavo("publish", site, str(out), "--json", "--quiet", "--data", str(data))
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["pages"] == 1
    assert "Home" in (out / "index.html").read_text()
    # A web server, which is another user, reads it.
    assert all(path.stat().st_mode & 0o004 for path in out.rglob("*") if not path.name.startswith("."))


@pytest.mark.slow
def test_a_first_start_that_was_killed_is_completed(tmp_path: Path) -> None:
    chance = random.Random(7)
    killed = 0
    for turn in range(5):
        data = tmp_path / f"data{turn}"
        served = Served(data)
        until = time.monotonic() + 30
        while not (data / "first-start").exists() and time.monotonic() < until:
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.8))
        if served.process.poll() is None and (data / "first-start").exists():
            killed += 1
        os.killpg(served.process.pid, signal.SIGKILL)
        served.process.wait()
        with serving(data) as again:
            headers = {"authorization": f"Bearer {(data / 'admin-token').read_text().strip()}"}
            (org,) = httpx.get(f"{again.url}/v1/orgs", headers=headers).json()["items"]
            spaces = httpx.get(f"{again.url}/v1/orgs/{org['id']}/spaces", headers=headers).json()["items"]
            assert [space["title"] for space in spaces] == ["Octavo manual"]
            sites = httpx.get(f"{again.url}/v1/orgs/{org['id']}/sites", headers=headers).json()["items"]
            assert [site["published"] for site in sites] == [True]
            page = httpx.get(sites[0]["urls"]["published"], follow_redirects=True)
            assert page.status_code == 200
            assert not (data / "first-start").exists()
    assert killed >= 2


def test_the_wheel_has_everything_that_serving_needs(tmp_path: Path) -> None:
    uv = ROOT / ".uv" / "bin" / "uv"
    if not uv.exists():
        absent("uv, which `make setup` installs")
    build = [str(uv), "build", "--quiet", "--wheel", "--out-dir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, timeout=300)
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    subprocess.run(
        [str(uv), "pip", "install", "--quiet", "--no-deps", "--target", str(installed), str(wheel)],
        check=True,
        timeout=300,
    )
    environ = {**os.environ, "PYTHONPATH": str(installed)}
    where = [sys.executable, "-c", "import octavo; print(octavo.__file__)"]
    found = subprocess.run(where, env=environ, capture_output=True, text=True, check=True).stdout
    assert found.startswith(str(installed))
    # The wheel comes before the source that these tests run on; the dependencies are those of the tests.
    with serving(tmp_path / "data", PYTHONPATH=str(installed)) as served:
        headers = {"authorization": f"Bearer {(tmp_path / 'data' / 'admin-token').read_text().strip()}"}
        (org,) = httpx.get(f"{served.url}/v1/orgs", headers=headers).json()["items"]
        (site,) = httpx.get(f"{served.url}/v1/orgs/{org['id']}/sites", headers=headers).json()["items"]
        home = httpx.get(site["urls"]["published"], follow_redirects=True)
        assert home.status_code == 200 and "octavo.css" in home.text
        for path in ("/docs", "/openapi.json", "/sign-in"):
            assert httpx.get(f"{served.url}{path}").status_code == 200
