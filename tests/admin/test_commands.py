"""The commands of operators, run as they are typed."""

from __future__ import annotations

import json
import logging
import os

import pytest

from octavo.cli.main import main
from octavo.kit.work import jobs
from octavo.operations.installation import close_context, open_context
from octavo.settings import Settings
from serving import free_ports
from serving import octavo as run_command


class Shell:
    """Runs ``octavo`` commands on an installation of its own."""

    def __init__(self, data, capsys) -> None:
        self.data = data
        self._capsys = capsys

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, standard output and standard error."""
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([*arguments, "--data", str(self.data)])
        out, err = self._capsys.readouterr()
        return int(ended.value.code or 0), out, err

    def open(self):
        return open_context(Settings(data=str(self.data)))


@pytest.fixture
def octavo(sqlite_world, tmp_path, capsys):
    # Serving commands configure logging in this process.
    logs = [logging.getLogger(name) for name in ("", "octavo.access")]
    before = [(log, log.level, log.handlers[:]) for log in logs]
    yield Shell(sqlite_world.install(tmp_path / "data"), capsys)
    for log, level, handlers in before:
        log.setLevel(level)
        log.handlers[:] = handlers


def test_jobs_are_listed_parked_first_shown_and_retried(octavo: Shell) -> None:
    context = octavo.open()
    with context.db.write() as tx:
        tx.run("DELETE FROM jobs")
        jobs.enqueue(tx, "makePrint", organization="org", print_id="waiting")
        for name in ("first", "second"):
            jobs.enqueue(tx, "runImport", run=name)
        tx.run(
            "UPDATE jobs SET state = 'parked', attempts = 4, error = :error WHERE kind = 'runImport'",
            error='Traceback:\n  File "x"\nValueError: no such page\n',
        )
    close_context(context)

    code, out, _ = octavo("jobs", "list")
    heading, *rows = out.splitlines()
    assert code == 0
    assert heading.split() == ["ID", "KIND", "STATE", "ORGANIZATION", "ATTEMPTS", "RUN", "AT", "PROBLEM"]
    assert [row.split()[1:3] for row in rows[:3]] == [
        ["runImport", "parked"],
        ["runImport", "parked"],
        ["makePrint", "waiting"],
    ]
    assert rows[0].endswith("ValueError: no such page")
    code, out, _ = octavo("jobs", "list", "--limit", "1")
    assert any(line.startswith("Showing 1 of 3 jobs") for line in out.splitlines())
    listed = json.loads(octavo("jobs", "list", "--state", "parked", "--json")[1])
    assert (listed["count"], len(listed["jobs"])) == (2, 2)

    parked = listed["jobs"][0]["id"]
    shown = json.loads(octavo("jobs", "show", parked, "--json")[1])
    assert shown["payload"]["run"] in ("first", "second")
    assert shown["error"].startswith("Traceback")
    assert "no such page" in octavo("jobs", "show", parked)[1]
    assert octavo("jobs", "show", "nothing")[0] == 1

    assert octavo("jobs", "retry", parked, "--json")[1] == '{"retried": 1}\n'
    assert octavo("jobs", "retry", parked)[0] == 1
    assert octavo("jobs", "retry")[0] == 1
    assert octavo("jobs", "retry", "--all", "--kind", "makePrint")[1] == "0 jobs will run again\n"
    assert octavo("jobs", "retry", "--all")[1] == "1 job will run again\n"
    assert json.loads(octavo("jobs", "list", "--state", "parked", "--json")[1])["count"] == 0


def test_every_command_refuses_a_database_of_a_newer_version(octavo: Shell, tmp_path) -> None:
    context = octavo.open()
    with context.db.write() as tx:
        tx.run(
            "INSERT INTO migrations (number, name, checksum, applied_at)"
            " VALUES (999901010000, 'future', 'unknown', 1)"
        )
    close_context(context)
    file = str(tmp_path / "x.zip")
    port, other = (str(port) for port in free_ports(2))
    serving = [
        ["serve", "--port", port, "--reader-port", other],
        ["api", "--port", port],
        ["reader", "--reader-port", port],
        ["worker"],
    ]
    for command in serving:
        # What serves starts its command again for its workers: here that would be these tests.
        done = run_command(*command, "--data", str(octavo.data))
        assert (done.returncode, done.stdout) == (1, ""), command
        assert "newer version of Octavo (999901010000_future)" in done.stderr, command
        assert "Traceback" not in done.stderr, command
    commands = [
        ["token", "create", "--email", "a@example.org"],
        ["token", "list", "--email", "a@example.org"],
        ["session", "list", "--email", "a@example.org"],
        ["import", str(tmp_path), "--org", "o"],
        ["export", "s", str(tmp_path / "out")],
        ["backup", file],
        ["reindex"],
        ["verify"],
        ["jobs", "list"],
        ["jobs", "show", "x"],
        ["jobs", "retry", "--all"],
    ]
    for command in commands:
        code, out, err = octavo(*command)
        assert (code, out) == (1, ""), command
        assert "newer version of Octavo (999901010000_future)" in err, command
        assert "Traceback" not in err, command
    assert octavo("check")[0] == 1


def test_organizations_are_selected_by_host_name_or_title(octavo: Shell, tmp_path) -> None:
    context = octavo.open()
    with context.db.read() as tx:
        id, title, hostname = tx.all("SELECT id, title, hostname FROM organizations ORDER BY id")[0]
    close_context(context)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "README.md").write_text("# Home\n")
    for turn, name in enumerate((id, title.upper(), hostname)):
        assert octavo("reindex", "--org", name, "--quiet")[0] == 0
        assert octavo("token", "create", "--email", "new@example.com", "--org", name)[0] == 0
        code, out, err = octavo(
            "import",
            str(tmp_path / "docs"),
            "--org",
            name,
            "--title",
            f"Brought {turn}",
            "--quiet",
            "--json",
        )
        assert code == 0, err
        made = json.loads(out)["space"]
        code, out, err = octavo(
            "import", str(tmp_path / "docs"), "--space", f"Brought {turn}", "--quiet", "--json"
        )
        assert (code, json.loads(out)["space"]) == (0, made), err
    for command in (
        ("reindex", "--quiet"),
        ("token", "create", "--email", "new@example.com"),
        ("domain", "verify", "example.com"),
        ("import", str(tmp_path / "docs"), "--quiet"),
    ):
        code, _, err = octavo(*command, "--org", "nothing")
        assert code == 1
        assert "There is no organization 'nothing'. Choose one of these:" in err and id in err
    code, _, err = octavo("import", str(tmp_path / "docs"), "--quiet")
    assert code == 1 and "--org: is required. Choose an organization" in err and id in err


def test_an_import_prints_a_summary_on_a_terminal_and_json_elsewhere(
    octavo: Shell, tmp_path, monkeypatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "README.md").write_text("# Home\n\n{% nothing %}\n")
    context = octavo.open()
    with context.db.read() as tx:
        organization = tx.value("SELECT id FROM organizations ORDER BY id LIMIT 1")
    close_context(context)
    importing = ("import", str(tmp_path / "docs"), "--org", organization, "--quiet")
    piped = json.loads(octavo(*importing)[1])
    assert piped["pages"] == 1
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    shown = octavo(*importing, "--space", piped["space"])[1]
    assert shown.startswith(f"Imported 1 page and 0 files (0 changed) into space {piped['space']}\n")
    assert json.loads(octavo(*importing, "--json")[1])["pages"] == 1
    shown = octavo(*importing, "--preview")[1]
    assert "An import would add 1 page, 0 files, and 0 redirects." in shown and "  Home\n" in shown
    assert "Nothing was imported" in shown


def test_sign_in_links_require_an_account_with_sign_in(octavo: Shell) -> None:
    code, out, _ = octavo("session", "link", "--email", "Reader@example.org")
    assert code == 0 and "/sign-in?link=" in out
    shown = json.loads(octavo("session", "link", "--email", "reader@example.org", "--json")[1])
    assert shown["url"].partition("=")[0] == out.partition("=")[0] and shown["url"] != out.strip()
    code, out, err = octavo("session", "link", "--email", "unknown@example.org")
    assert (code, out) == (1, "") and "no account with the email address" in err


def test_an_integration_is_made_available_by_its_name(octavo: Shell) -> None:
    code, _, err = octavo("integrations", "offer", "home-notes")
    assert code == 1 and "must be a public integration" in err
    context = octavo.open()
    with context.db.write() as tx:
        tx.run("UPDATE integrations SET visibility = 'public' WHERE name = 'home-notes'")
    close_context(context)
    code, out, _ = octavo("integrations", "offer", "home-notes")
    assert (code, out) == (0, "home-notes is now offered to every organization\n")
    shown = octavo("integrations", "offer", "home-notes", "--stop", "--json")[1]
    assert json.loads(shown) == {"integration": "home-notes", "offered": False}
    assert octavo("integrations", "offer", "nothing")[0] == 1


def test_a_token_is_printed_as_json_on_request(octavo: Shell) -> None:
    code, out, _ = octavo("token", "create", "--email", "reader@example.org", "--create", "--json")
    assert code == 0 and list(json.loads(out)) == ["token"]


@pytest.mark.slow
def test_unprintable_characters_are_escaped_in_output(octavo: Shell, tmp_path) -> None:
    """File names that are not Unicode, and letters that the encoding of the output lacks."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "README.md").write_text("# Home\n")
    source, data = str(tmp_path / "source"), str(octavo.data)
    done = run_command("import", source, "--title", "Café", "--org", "home", "--quiet", "--data", data)
    assert done.returncode == 0, done.stderr
    for name, shown in (("caf\xe9", "caf\\xe9"), (os.fsdecode(b"caf\xe9"), "caf\\udce9")):
        for more in ((), ("--json",)):
            out = str(tmp_path / name)
            done = run_command("export", "Café", out, *more, "--data", data, PYTHONIOENCODING="ascii")
            assert done.returncode == 0, done.stderr
            assert json.loads(done.stdout)["files"] if more else f"to {tmp_path / shown}" in done.stdout


def test_maintenance_is_turned_on_shown_and_turned_off(octavo: Shell) -> None:
    code, out, _ = octavo("maintenance", "show")
    assert (code, out) == (0, "No maintenance or announcement is active or planned\n")
    code, out, _ = octavo("maintenance", "on", "--message", "New disks", "--json")
    told = json.loads(out)["maintenance"]
    assert (code, told["on"], told["message"], told["overdue"]) == (0, True, "New disks", False)
    code, out, _ = octavo("announcement", "set", "Docs day", "--end", "2099-01-01T00:00")
    assert code == 0
    assert [line.split()[:2] for line in out.splitlines()[1:]] == [
        ["announcement", "on"],
        ["maintenance", "on"],
    ]
    assert octavo("announcement", "set", " ")[0] == 1
    code, _, problem = octavo("maintenance", "on", "--end", "2001-01-01T00:00")
    assert code == 1 and problem.startswith("octavo: --end: ")
    assert json.loads(octavo("maintenance", "off", "--json")[1]) == {"ended": True}
    assert octavo("announcement", "remove")[1] == "Announcement removed\n"
    assert octavo("maintenance", "off")[1] == "No maintenance or announcement was active or planned\n"


def test_limits_are_shown_in_readable_units_and_exact_in_json(octavo: Shell) -> None:
    context = octavo.open()
    with context.db.read() as tx:
        id, title = tx.all("SELECT id, title FROM organizations ORDER BY id")[0]
    close_context(context)
    code, out, err = octavo("limits", "set", "--org", id, "--storage", "52GB", "--pages", "12000")
    assert (code, out) == (0, f"Limits for {title} changed\n"), err
    out = octavo("limits", "show", "--org", id)[1]
    assert "52.0 GB" in out and "12,000" in out
    shown = {
        each["resource"]: each for each in json.loads(octavo("limits", "show", "--org", id, "--json")[1])
    }
    assert shown["storage"]["limit"] == 52_000_000_000 and shown["members"]["limit"] is None
    assert octavo("limits", "set", "--org", id, "--storage", "none")[0] == 0
    assert "unlimited" in next(
        line for line in octavo("limits", "show", "--org", id)[1].splitlines() if line.startswith("storage")
    )
    err = octavo("limits", "set", "--org", id, "--pages", "0")[2]
    assert f"{title} already has" in err and "no more can be added" in err
    code, _, err = octavo("limits", "set", "--org", id, "--storage", "much")
    assert code == 2 and "500MB" in err


def test_an_argument_that_is_no_text_is_refused(octavo: Shell) -> None:
    code, _, err = octavo("account", "list", "--search", "\udce9")
    assert code == 1 and "not valid UTF-8" in err and "Traceback" not in err
