"""Listing and revoking tokens and sessions on the command line."""

import json

import pytest

from octavo.cli.main import main
from world import NOBODY, PASSWORD


def run(capsys, data, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--data", str(data)])
    told = capsys.readouterr()
    return ended.value.code, told.out, told.err


@pytest.fixture
def data(sqlite_world, tmp_path, monkeypatch):
    monkeypatch.delenv("OCTAVO_DATABASE_URL", raising=False)
    return sqlite_world.install(tmp_path / "data")


def test_tokens_are_listed_and_revoked(data, capsys):
    code, out, _ = run(capsys, data, "token", "list", "--email", "Reader@example.org", "--json")
    found = json.loads(out)
    assert (code, [token["name"] for token in found]) == (0, ["test"])
    assert "hash" not in found[0]
    code, out, _ = run(capsys, data, "token", "list", "--email", "reader@example.org")
    assert found[0]["id"] in out
    code, _, err = run(capsys, data, "token", "revoke", "--email", "editor@example.org", found[0]["id"])
    assert code == 1 and "has no token" in err
    assert run(capsys, data, "token", "revoke", "--email", "reader@example.org", found[0]["id"])[0] == 0
    assert json.loads(run(capsys, data, "token", "list", "--email", "reader@example.org", "--json")[1]) == []


def test_sessions_are_listed_and_ended(data, capsys):
    found = json.loads(run(capsys, data, "session", "list", "--email", "admin@example.org", "--json")[1])
    assert [session["method"] for session in found] == ["password"]
    code, out, _ = run(capsys, data, "session", "revoke", "--email", "admin@example.org", "--all", "--json")
    assert (code, json.loads(out)) == (0, {"ended": 1})
    left = run(capsys, data, "session", "list", "--email", "admin@example.org")[1]
    assert len(left.splitlines()) == 1, "nothing but the headings"


def test_an_account_is_deleted_after_a_preview(data, capsys):
    ask = ("account", "delete", "--email", "editor@example.org")
    code, out, _ = run(capsys, data, *ask, "--json")
    told = json.loads(out)
    assert code == 0 and not told["deleted"] and told["ends"]["organizations"] == 1
    assert "Nothing was deleted" in run(capsys, data, *ask)[1]
    assert run(capsys, data, *ask, "--yes")[0] == 0
    code, _, err = run(capsys, data, *ask)
    assert code == 1 and "no account" in err
    code, _, err = run(capsys, data, "account", "delete", "--email", "admin@example.org", "--yes")
    assert code == 1 and ("last administrator" in err or "is a server administrator's" in err)


@pytest.mark.parametrize(
    "arguments", [("--email", "who@example.org", "--all"), ("--email", "admin@example.org")]
)
def test_missing_accounts_and_credentials_are_reported(data, capsys, arguments):
    code, _, err = run(capsys, data, "session", "revoke", *arguments)
    assert code == 1 and err.startswith("octavo: ")


def test_a_token_from_the_command_line_demotes_no_last_administrator(data, capsys, sqlite_world):
    organization = sqlite_world.home["organizationId"]
    make = ("token", "create", "--email", "admin@example.org", "--org", organization)
    code, _, err = run(capsys, data, *make, "--role", "read")
    assert code == 1 and "last administrator" in err
    assert run(capsys, data, *make)[0] == 0


def test_ending_sessions_as_operator_is_audited(world):
    from octavo.operations.admin.credentials import end_sessions

    world.call(NOBODY, "POST", "/sign-in", json={"email": "reader@example.org", "password": PASSWORD})
    assert end_sessions(world.context, "reader@example.org", None) == 1
    path = world.home.path("/orgs/{organizationId}/audit-events")
    event = world.get("admin", path)["items"][0]
    assert (event["action"], event["client"]) == ("session.ended", "command line")
    assert event["actor"] == {"type": "system", "id": "system"}
