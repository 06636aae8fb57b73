"""The first start: what it creates, and that the next start completes an interrupted one."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec import structs

from octavo.app import api_app
from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.states import main_state
from octavo.errors import Conflict, NotFound
from octavo.kit.context import Context
from octavo.kit.http.edge import Edge
from octavo.operations.admin import first_start as starting
from octavo.operations.admin.credentials import sign_in_link
from octavo.operations.admin.first_start import first_start, opening_address, token_for, update_manual
from octavo.operations.admin.import_export import import_space
from octavo.operations.installation import close_context, load_packages, open_context
from octavo.organization.access.accounts import is_operator
from octavo.organization.access.tokens import hash_token
from octavo.settings import load
from world import CONTENT

PASSWORD = "correct horse battery"


@pytest.fixture
def context(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    load_packages()
    # A small manual is published as the large one is.
    monkeypatch.setattr(starting, "find_manual", lambda: CONTENT)
    data = tmp_path / "data"
    opened = open_context(load(environ={"OCTAVO_DATA": str(data), "OCTAVO_DATABASE_URL": database_url}))
    yield opened
    close_context(opened)


class CutOff(Exception):
    pass


def _cut_off(*_: object, **__: object) -> None:
    raise CutOff


@pytest.mark.sqlite_first
@pytest.mark.parametrize("step", ["_kept_token", "create_organization", "create_token", "_publish_manual"])
def test_an_interrupted_first_start_is_completed(
    context: Context, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    with monkeypatch.context() as cut, pytest.raises(CutOff):
        cut.setattr(starting, step, _cut_off)
        first_start(context)
    done = first_start(context)
    assert done is not None and done.site_url is not None
    assert (context.settings.data_folder / "admin-token").read_text().strip() == done.token
    with context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM organizations") == 1
        assert tx.value("SELECT count(*) FROM spaces") == 1
        assert tx.value("SELECT count(*) FROM tokens WHERE hash = :hash", hash=hash_token(done.token)) == 1
    assert first_start(context) is None


@pytest.mark.parametrize("folders", [1, 2])
def test_processes_that_start_together_set_up_one_server(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folders: int
) -> None:
    load_packages()
    monkeypatch.setattr(starting, "find_manual", lambda: CONTENT)
    same = {"OCTAVO_DATABASE_URL": database_url, "OCTAVO_SECRET_KEY": "5" * 64}
    data = [str(tmp_path / f"data{number % folders}") for number in range(3)]
    contexts = [open_context(load(environ={**same, "OCTAVO_DATA": folder})) for folder in data]
    with ThreadPoolExecutor(len(contexts)) as threads:
        done = list(threads.map(first_start, contexts))
    [started] = [one for one in done if one is not None]
    with contexts[0].db.read() as tx:
        for table in ("organizations", "spaces", "tokens", "users"):
            assert tx.value(f"SELECT count(*) FROM {table}") == 1
        assert tx.value("SELECT hash FROM tokens") == hash_token(started.token)
    for context in contexts:
        close_context(context)


def test_an_existing_installation_stays_unchanged(context: Context) -> None:
    assert first_start(context) is not None
    assert first_start(context) is None
    with context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM organizations") == 1


def test_the_first_start_prints_the_url_of_the_app(context: Context) -> None:
    assert first_start(context) is not None
    address = opening_address(context)
    base, _, secret = address.replace("/sign-in?link=", "/~/first#").partition("/~/first#")
    assert base == context.settings.url
    call = partial(_post, api_app(context), context.settings.url)
    signed_in = call("/v1/sign-in/link/use", {"link": secret, "cookie": True})
    assert signed_in.status_code == 200 and "set-cookie" in signed_in.headers
    assert call("/v1/sign-in/link/use", {"link": secret}).status_code == 401
    # Who signed in once finds the way back alone.
    assert opening_address(context) == f"{context.settings.url}/"


def test_the_first_administrator_chooses_name_email_and_password(context: Context) -> None:
    started = first_start(context)
    assert started is not None
    call = partial(_send, api_app(context), context.settings.url)
    session = _sign_in_first(context, call)
    assert call("GET", "/v1/user", token=session).json()["emailNeeded"] is True
    wanted = {"displayName": "Ines Okafor", "email": "Ines@Example.org", "password": PASSWORD}
    for wrong, problem in (
        ({"email": None}, "email: is required"),
        ({"password": "short"}, "password: must be"),
        ({"password": "ines@example.org"}, "password: is too easy to guess"),
        ({"displayName": " "}, "displayName"),
    ):
        refused = call("PUT", "/v1/user/setup", {**wanted, **wrong}, token=session)
        assert refused.status_code == 400 and problem in refused.text, refused.text
    token_for(context, email="taken@example.org")
    taken = call("PUT", "/v1/user/setup", {**wanted, "email": "taken@example.org"}, token=session)
    assert taken.status_code == 409 and taken.json()["error"]["message"].startswith("email: is already used")
    # A token can't change how its owner signs in.
    assert call("PUT", "/v1/user/setup", wanted, token=started.token).status_code == 403
    assert call("PUT", "/v1/user/setup", wanted, token=session).status_code == 204
    user = call("GET", "/v1/user", token=session).json()
    assert (user["displayName"], user["email"]) == ("Ines Okafor", "ines@example.org")
    assert user["operator"] is True and user["emailNeeded"] is False
    people = call("GET", "/v1/installation/users", token=session).json()["items"]
    assert {person["user"]["email"]: person["operator"] for person in people} == {
        "ines@example.org": True,
        "taken@example.org": False,
    }
    credentials = {"email": "ines@example.org", "password": PASSWORD}
    assert call("POST", "/v1/sign-in", credentials).json()["status"] == "signed-in"
    again = call("PUT", "/v1/user/setup", wanted, token=session)
    assert again.status_code == 409 and "already set up" in again.text
    assert opening_address(context) == f"{context.settings.url}/"


def test_the_email_of_the_first_administrator_can_be_a_setting(context: Context) -> None:
    context.settings = structs.replace(context.settings, admin_email="ines.okafor@example.org")
    assert first_start(context) is not None
    call = partial(_send, api_app(context), context.settings.url)
    session = _sign_in_first(context, call)
    assert call("GET", "/v1/user", token=session).json()["emailNeeded"] is False
    wanted = {"displayName": "Ines", "password": PASSWORD}
    other = call("PUT", "/v1/user/setup", {**wanted, "email": "other@example.org"}, token=session)
    assert other.status_code == 400 and "OCTAVO_ADMIN_EMAIL" in other.text
    assert call("PUT", "/v1/user/setup", wanted, token=session).status_code == 204
    user = call("GET", "/v1/user", token=session).json()
    assert (user["displayName"], user["email"], user["operator"]) == ("Ines", "ines.okafor@example.org", True)


def test_only_settings_add_server_administrators(context: Context) -> None:
    """The first administrator is one only as long as the settings name no one."""
    assert first_start(context) is not None
    token_for(context, email="mei@example.org")

    def operators() -> set[str]:
        with context.db.read() as tx:
            users = tx.all("SELECT id, email FROM users")
            return {email for id, email in users if is_operator(tx, context.settings, id)}

    assert operators() == {"admin@octavo.local"}
    context.settings = structs.replace(context.settings, admin_email="mei@example.org")
    assert operators() == {"mei@example.org"}


def test_a_used_setup_url_is_never_valid_again(context: Context) -> None:
    """This includes people without a password whose sessions have ended: otherwise a start would print a
    working link to the log."""
    assert first_start(context) is not None
    secret = opening_address(context).rpartition("#")[2].rpartition("link=")[2]
    unused = opening_address(context).rpartition("#")[2].rpartition("link=")[2]
    call = partial(_post, api_app(context), context.settings.url)
    session = call("/v1/sign-in/link/use", {"link": secret}).json()
    with context.db.write() as tx:
        assert tx.run("DELETE FROM sessions") == 1, session
        assert tx.value("SELECT password_hash FROM users") is None
    assert opening_address(context) == f"{context.settings.url}/"
    assert call("/v1/sign-in/link/use", {"link": unused}).status_code == 401
    assert first_start(context) is None
    # The operator creates another one with a command, for a person who can sign in.
    link = sign_in_link(context, context.settings.first_admin)
    assert link.startswith(f"{context.settings.url}/sign-in?link=")
    assert call("/v1/sign-in/link/use", {"link": link.rpartition("=")[2]}).status_code == 200
    assert call("/v1/sign-in/link/use", {"link": link.rpartition("=")[2]}).status_code == 401
    assert opening_address(context) == f"{context.settings.url}/"
    with context.db.write() as tx:
        tx.run("UPDATE users SET disabled = 1")
    for email in (context.settings.first_admin, "nobody@example.com"):
        with pytest.raises((Conflict, NotFound)):
            sign_in_link(context, email)


def test_older_setup_urls_end_with_the_first_sign_in(context: Context) -> None:
    assert first_start(context) is not None
    older, newer = (opening_address(context).rpartition("#")[2].rpartition("link=")[2] for _ in range(2))
    call = partial(_post, api_app(context), context.settings.url)
    assert call("/v1/sign-in/link/use", {"link": newer}).status_code == 200
    assert call("/v1/sign-in/link/use", {"link": older}).status_code == 401


def _sign_in_first(context: Context, call: Callable[..., httpx.Response]) -> str:
    """Return the session that the printed URL starts."""
    secret = opening_address(context).rpartition("#")[2].rpartition("link=")[2]
    return str(call("POST", "/v1/sign-in/link/use", {"link": secret}).json()["token"])


def _post(app: Edge, url: str, path: str, body: dict[str, Any]) -> httpx.Response:
    return _send(app, url, "POST", path, body)


def _send(
    app: Edge, url: str, method: str, path: str, body: dict[str, Any] | None = None, *, token: str = ""
) -> httpx.Response:
    headers = {"origin": url} | ({"authorization": f"Bearer {token}"} if token else {})

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app.application)
        async with httpx.AsyncClient(transport=transport, base_url=url) as client:
            return await client.request(method, path, json=body, headers=headers)

    return asyncio.run(ask())


def test_the_published_manual_is_updated_with_an_upgrade(
    context: Context, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Only while it is as an earlier version published it: edits of people are kept."""
    manual = tmp_path / "manual"
    shutil.copytree(CONTENT, manual)
    monkeypatch.setattr(starting, "find_manual", lambda: manual)

    def titles() -> set[str]:
        with context.db.read() as tx:
            space = tx.value("SELECT id FROM spaces")
            return {page.title for page in list_pages(tx, main_state(tx, space))}

    assert first_start(context) is not None
    assert not update_manual(context), "nothing is new"
    with (manual / "SUMMARY.md").open("a") as summary:
        summary.write("\n* [Quite new](new.md)\n")
    (manual / "new.md").write_text("# Quite new\n\nHello.\n")
    assert update_manual(context) and "Quite new" in titles()
    assert not update_manual(context)
    with context.db.read() as tx:
        space = tx.value("SELECT id FROM spaces")
    import_space(context, str(CONTENT), space_id=space)
    (manual / "new.md").write_text("# Quite new\n\nHello again.\n")
    assert not update_manual(context) and "Quite new" not in titles(), "somebody changed it"
    (context.settings.data_folder / "manual.json").write_text("{")
    assert not update_manual(context)
