"""The ``octavo`` command: its output, errors, and side effects."""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import shlex
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from octavo.cli.main import create_command_parser
from octavo.cli.output import progress
from octavo.kit.texts import counted
from serving import Served, octavo, octavo_here, serving
from settled import PATIENCE
from tools import ROOT, absent
from world import World

READING = [
    ("token", "list", "--email", "a@example.com"),
    ("token", "revoke", "--email", "a@example.com", "--all"),
    ("session", "list", "--email", "a@example.com"),
    ("export", "0000", "out"),
    ("publish", "0000", "out"),
    ("check-site", "0000"),
    ("backup", "out.zip"),
    ("verify",),
    ("check",),
]


@pytest.mark.parametrize("arguments", READING, ids=lambda arguments: " ".join(arguments[:2]))
def test_reading_commands_create_no_data(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    data = tmp_path / "data"
    done = octavo_here(*arguments, "--data", str(data))
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
def test_mistakes_are_reported_in_a_sentence(
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
def test_wrong_usage_is_reported(arguments: tuple[str, ...]) -> None:
    done = octavo_here(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_version_and_completion_are_printed() -> None:
    assert octavo("--version").stdout.startswith("octavo 0.")
    for shell in ("bash", "fish", "zsh", "tcsh"):
        assert "octavo" in octavo_here("completion", shell).stdout


def test_completion_in_fish_covers_every_command_and_option() -> None:
    script = octavo_here("completion", "fish").stdout
    assert "-n 'not __fish_seen_subcommand_from serve api " in script
    assert (
        "complete -c octavo -n '__fish_seen_subcommand_from token; and not __fish_seen_subcommand_from create list"
        " revoke' -a create -d 'Create an access token and print it.'\n" in script
    )
    assert (
        "'__fish_seen_subcommand_from serve' -l reader-port -r -d 'port of published sites (default: 8001)'"
        in script
    )
    assert "-l role -r -a 'admin create review edit comment read guest'" in script
    # Every line is one command whose quotes are closed.
    assert all(
        shlex.split(line.replace("\\'", ""))[:3] == ["complete", "-c", "octavo"]
        for line in script.splitlines()
    )


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("imprt", "."), "import"),
        (("token", "creat", "--email", "a@b.c"), "create"),
        (("import", ".", "--pulish"), "--publish"),
        (("integrations", "publsh"), "publish"),
        (("completion", "fsh"), "fish"),
        (("xyzzy",), None),
        (("check", "--nothing-like-it"), None),
    ],
)
def test_mistyped_commands_get_suggestions(arguments: tuple[str, ...], meant: str | None) -> None:
    done = octavo_here(*arguments)
    assert done.returncode == 2
    assert ("did you mean" in done.stderr) is (meant is not None), done.stderr
    assert meant is None or f"did you mean {meant}?" in done.stderr


def test_counts_and_names_are_formatted_and_json_uses_api_names(sqlite_world: World, tmp_path: Path) -> None:
    data = str(sqlite_world.install(tmp_path / "data"))
    assert "2 organizations" in octavo_here("check", "--data", data).stdout
    assert (counted(1, "file"), counted(0, "file"), counted(2, "file")) == ("1 file", "0 files", "2 files")
    found = octavo_here("token", "list", "--email", "admin@example.org", "--data", data, "--json")
    assert "createdAt" in found.stdout and "created_at" not in found.stdout


def test_comparing_missing_files_is_not_a_breaking_change(tmp_path: Path) -> None:
    there = tmp_path / "pets.yaml"
    there.write_text((Path(__file__).parent / "pets.yaml").read_text())
    assert octavo_here("openapi", "diff", str(there), str(there)).returncode == 0
    for pair in ((there, tmp_path / "none"), (tmp_path / "none", there), (there, tmp_path)):
        done = octavo_here("openapi", "diff", *map(str, pair))
        assert done.returncode == 2 and str(tmp_path) in done.stderr


def test_an_ambiguous_name_means_the_space_for_files(sqlite_world: World, tmp_path: Path) -> None:
    data = str(sqlite_world.install(tmp_path / "data"))
    (tmp_path / "Twins").mkdir()
    (tmp_path / "Twins" / "README.md").write_text("# Twins\n")
    org = sqlite_world.home["organizationId"]
    done = octavo_here(
        "import", str(tmp_path / "Twins"), "--org", org, "--publish", "--quiet", "--data", data
    )
    assert done.returncode == 0, done.stderr
    out = tmp_path / "out"
    done = octavo_here("export", "Twins", str(out), "--data", data)
    assert done.returncode == 0, done.stderr
    assert (out / "README.md").read_text() == "# Twins\n"


@pytest.mark.parametrize("name", ["page.html", "page.htm", "page.md", "PAGE.HTML"])
def test_a_single_file_is_imported_as_a_page(sqlite_world: World, tmp_path: Path, name: str) -> None:
    data = str(sqlite_world.install(tmp_path / "data"))
    content = "# Hello\n\nWorld.\n" if name.endswith(".md") else "<h1>Hello</h1><p>World.</p>"
    (tmp_path / name).write_text(content)
    org = sqlite_world.home["organizationId"]
    done = octavo_here("import", str(tmp_path / name), "--org", org, "--quiet", "--data", data)
    assert done.returncode == 0, done.stderr
    brought = json.loads(done.stdout)
    assert brought["pages"] == 1
    out = tmp_path / "out"
    assert octavo_here("export", brought["space"], str(out), "--data", data).returncode == 0
    assert any("World." in path.read_text() for path in out.glob("*.md"))


def test_empty_and_invalid_sources_are_not_imported(sqlite_world: World, tmp_path: Path) -> None:
    data = str(sqlite_world.install(tmp_path / "data"))
    empty = tmp_path / "empty"
    empty.mkdir()
    (tmp_path / "broken.docx").write_text("no document")
    for source, said in ((empty, "there is nothing to import"), (tmp_path / "broken.docx", "")):
        before = octavo_here("export", "no such", "x", "--data", data).stderr
        done = octavo_here(
            "import", str(source), "--org", sqlite_world.home["organizationId"], "--quiet", "--data", data
        )
        if said:
            assert done.returncode == 1 and said in done.stderr, done.stderr
            assert octavo_here("export", "no such", "x", "--data", data).stderr == before, "no space was made"
        assert "Traceback" not in done.stderr


def test_only_the_reader_listens_at_its_port(sqlite_world: World, tmp_path: Path) -> None:
    parsed = create_command_parser().parse_args(["reader", "--port", "9000"])
    assert parsed.reader_port == 9000
    assert create_command_parser().parse_args(["reader", "--reader-port", "9001"]).reader_port == 9001
    both = create_command_parser().parse_args(["serve", "--port", "9000"])
    assert (both.port, both.reader_port) == (9000, 8001)


def test_tables_have_headers_and_json_has_none(sqlite_world: World, tmp_path: Path) -> None:
    data = str(sqlite_world.install(tmp_path / "data"))
    email = "admin@example.org"
    for arguments in (("token", "list", "--email", email), ("operations",), ("check",)):
        shown = octavo_here(*arguments, "--data", data)
        assert shown.stdout.splitlines()[0].isupper(), shown.stdout + shown.stderr
        assert isinstance(json.loads(octavo_here(*arguments, "--data", data, "--json").stdout), list)


def test_links_use_the_url_of_the_running_server(sqlite_world: World, tmp_path: Path) -> None:
    data = sqlite_world.install(tmp_path / "data")
    source = tmp_path / "pages"
    source.mkdir()
    (source / "README.md").write_text("# Home\n")
    with serving(data, OCTAVO_URL=None, OCTAVO_SITES_URL=None) as served:
        org = sqlite_world.home["organizationId"]
        done = octavo_here("import", str(source), "--org", org, "--publish", "--quiet", "--data", str(data))
        site = json.loads(done.stdout)["site"]
        assert site.startswith(served.reader_url)
        assert httpx.get(site, follow_redirects=True).status_code == 200
        space = json.loads(done.stdout)["space"]
        again = octavo_here("import", str(source), "--space", space, "--quiet", "--data", str(data))
        assert json.loads(again.stdout)["space"] == space


def test_a_site_is_published_to_a_folder(sqlite_world: World, tmp_path: Path) -> None:
    data, out = sqlite_world.install(tmp_path / "data"), tmp_path / "www"
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "README.md").write_text("# Home\n")
    org = sqlite_world.home["organizationId"]
    source = ("import", str(tmp_path / "pages"), "--org", org, "--publish", "--quiet")
    space = json.loads(octavo_here(*source, "--data", str(data)).stdout)["space"]
    with sqlite3.connect(data / "octavo.db") as database:
        query = "SELECT site_id FROM site_spaces WHERE space_id = ?"
        site = database.execute(query, (space,)).fetchone()[0]
    done = octavo_here("publish", site, str(out), "--json", "--quiet", "--data", str(data))
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
        until = time.monotonic() + PATIENCE
        while not (data / "first-start").exists() and time.monotonic() < until:
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.8))
        if served.process.poll() is None and (data / "first-start").exists():
            killed += 1
        served.kill()
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


def test_the_wheel_contains_everything_for_serving(tmp_path: Path) -> None:
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
    # The wheel takes precedence over the source that these tests run on; the dependencies are those of the tests.
    with serving(tmp_path / "data", PYTHONPATH=str(installed)) as served:
        headers = {"authorization": f"Bearer {(tmp_path / 'data' / 'admin-token').read_text().strip()}"}
        (org,) = httpx.get(f"{served.url}/v1/orgs", headers=headers).json()["items"]
        (site,) = httpx.get(f"{served.url}/v1/orgs/{org['id']}/sites", headers=headers).json()["items"]
        home = httpx.get(site["urls"]["published"], follow_redirects=True)
        assert home.status_code == 200 and "octavo.css" in home.text
        for path in ("/docs", "/openapi.json", "/sign-in"):
            assert httpx.get(f"{served.url}{path}").status_code == 200


@pytest.mark.parametrize(
    "arguments", [("serve",), ("worker",), ("completion", "bash"), ("integrations", "dev", ".")]
)
def test_commands_without_output_have_no_json_option(arguments: tuple[str, ...]) -> None:
    done = octavo_here(*arguments, "--json")
    assert done.returncode == 2 and "--json" in done.stderr


def test_each_command_has_a_description() -> None:
    helps = octavo_here("token", "create", "--help").stdout
    assert "Create an access token and print it." in helps and "--hand-over" in helps
    assert "OCTAVO_WORKERS" in octavo_here("serve", "--help").stdout


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "given", "shows"),
    [
        (_Terminal, {}, True),
        (io.StringIO, {}, False),
        (_Terminal, {"quiet": True}, False),
        (io.StringIO, {"quiet": False}, True),
    ],
)
def test_progress_is_shown(
    monkeypatch, stream: type[io.StringIO], given: dict[str, bool], shows: bool
) -> None:
    """Is shown where ``--quiet`` could hide it and is not given; elsewhere on a terminal."""
    monkeypatch.setattr("sys.stderr", errors := stream())
    with progress(argparse.Namespace(**given), "Backing up") as advance:
        advance(1, 2)
    assert ("Backing up" in errors.getvalue()) is shows
