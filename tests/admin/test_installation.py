"""The installation as those see it who run it."""

from __future__ import annotations

import msgspec
import pytest

from octavo.kit.db.database import Transaction
from octavo.kit.work import jobs
from octavo.kit.work.jobs import enqueue
from octavo.organization.access.accounts import insert_user, set_manager
from octavo.settings import Settings
from world import World


def operate(world: World, who: str = "admin", path: str = "") -> int:
    return world.call(who, "GET", f"/installation{path}", headers=world.session(who)).status_code


def test_server_administration_is_for_sessions_of_listed_administrators(world: World) -> None:
    assert operate(world) == 200
    assert world.call("admin", "GET", "/installation").status_code == 403, "a token, whatever its scopes"
    for who in ("creator", "stranger"):
        assert operate(world, who) == 403
    assert [world.get(who, "/user")["operator"] for who in ("admin", "creator")] == [True, False]


@pytest.mark.parametrize(
    "lost",
    ["email_verified = 0", "managed_by = :org", "email = 'somebody@else.test'"],
)
def test_an_address_counts_only_while_it_is_verified(world: World, lost: str) -> None:
    headers = world.session("admin")
    with world.context.db.write() as tx:
        tx.run(
            f"UPDATE users SET {lost} WHERE id = :id",
            id=world.users["admin"],
            org=world.home["organizationId"],
        )
    assert world.call("admin", "GET", "/installation", headers=headers).status_code == 403


def test_several_addresses_can_administer_a_server() -> None:
    settings = Settings(admin_email="Ines@example.org, mei@example.org")
    assert settings.first_admin == "Ines@example.org"
    assert settings.operators == {"ines@example.org", "mei@example.org"}


def test_no_secrets_are_shown(world: World) -> None:
    settings = msgspec.structs.replace(
        world.context.settings, smtp_url="smtp://octavo:hunter2@mail.test:25", secret_key="s" * 64
    )
    world.context.settings = settings
    try:
        answer = world.call("admin", "GET", "/installation", headers=world.session("admin"))
    finally:
        world.context.settings = world._settings
    assert answer.json()["mail"]["server"] == "smtp://mail.test:25"
    assert "hunter2" not in answer.text
    assert "ssss" not in answer.text


def fail(tx: Transaction, kind: str, **payload: str) -> None:
    enqueue(tx, kind, **payload)
    tx.run("UPDATE jobs SET state = 'parked', error = 'Trace\nIt broke.' WHERE kind = :kind", kind=kind)


def test_parked_jobs_are_listed_first_in_pages_and_retried(world: World) -> None:
    headers = world.session("admin")
    with world.context.db.write() as tx:
        tx.run("DELETE FROM jobs")
        for number in range(3):
            enqueue(tx, "pruneEvents", number=str(number))
        fail(tx, "mailInvitation", id="1")
        fail(tx, "mailInvitation", id="2")

    def listed(**query: str) -> list[str]:
        found, page = [], None
        while True:
            params = {"limit": 2, **query, **({"page": page} if page else {})}
            answer = world.call("admin", "GET", "/installation/jobs", headers=headers, params=params).json()
            found += [one["kind"] for one in answer["items"]]
            assert answer["count"] == (2 if query else 5)
            if "next" not in answer:
                return found
            page = answer["next"]["page"]

    assert listed() == ["mailInvitation"] * 2 + ["pruneEvents"] * 3
    assert listed(state="parked") == ["mailInvitation"] * 2
    one = world.call("admin", "GET", "/installation/jobs?state=parked", headers=headers).json()["items"][0]
    assert one["problem"] == "It broke."
    whole = world.call("admin", "GET", f"/installation/jobs/{one['id']}", headers=headers).json()
    assert (whole["payload"], whole["error"]) == ({"id": "2"}, "Trace\nIt broke.")
    again = f"/installation/jobs/{one['id']}/retry"
    assert world.call("admin", "POST", again, headers=headers).json()["state"] == "waiting"
    assert world.call("admin", "POST", again, headers=headers).status_code == 404
    every = "/installation/jobs/retry"
    assert world.call("admin", "POST", every, headers=headers, json={"kind": "none"}).json() == {"count": 0}
    assert world.call("admin", "POST", every, headers=headers, json={}).json() == {"count": 1}
    with world.context.db.read() as tx:
        assert jobs.list_jobs(tx, state="parked") == ([], 0)


def test_people_and_organizations_are_found(world: World) -> None:
    headers = world.session("admin")
    with world.context.db.write() as tx:
        user = insert_user(tx, "odd_one@example.org", "100 % Ada", verified=False)
        set_manager(tx, user.id, world.home["organizationId"])

    def found(what: str, search: str) -> list[dict[str, object]]:
        answer = world.call(
            "admin", "GET", f"/installation/{what}", headers=headers, params={"search": search}
        )
        items: list[dict[str, object]] = answer.json()["items"]
        assert answer.json()["count"] == len(items)
        return items

    (ada,) = found("users", "0 % a")
    assert (ada["verified"], ada["organizations"], ada["operator"]) == (False, 0, False)
    assert [one["id"] for one in found("users", "odd_one@")] == [user.id]
    (home,) = found("organizations", "HOM")
    assert (home["title"], home["sites"]) == ("Home", 1)


def test_an_email_that_cannot_be_sent_reports_the_reason(world: World) -> None:
    headers = world.session("admin")

    def tried(smtp: str) -> dict[str, object]:
        world.context.settings = msgspec.structs.replace(world.context.settings, smtp_url=smtp)
        try:
            answer: dict[str, object] = world.call(
                "admin", "POST", "/installation/mail-test", headers=headers
            ).json()
            return answer
        finally:
            world.context.settings = world._settings

    assert (
        tried("")["problem"]
        == "This server can't send email, because OCTAVO_SMTP_URL isn't set. Set it, and restart Octavo."
    )
    refused = tried("smtp://u:hunter2@127.0.0.1:9")
    assert refused["sent"] is False
    assert "127.0.0.1" in str(refused["problem"])
    assert "hunter2" not in str(refused["problem"])


def test_the_check_covers_every_part(world: World) -> None:
    answer = world.call("admin", "POST", "/installation/check", headers=world.session("admin"))
    parts = {one["part"]: one["works"] for one in answer.json()["items"]}
    assert {"addresses", "database", "secrets", "files", "integrations", "mail"} <= set(parts)
    assert parts["database"] is parts["files"] is True
