"""Sign-in and groups from a real LDAP server, and servers that hang, lie, or send garbage."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from octavo.kit.net import ldap
from octavo.kit.work import jobs
from octavo.kit.work.worker import Worker
from octavo.organization.access.accounts import set_password_hash
from octavo.organization.identity import directory_sign_in, passwords
from slapd import ADMIN, GROUPS, PEOPLE, SECRET, Slapd
from world import NOBODY, World

PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slapd]:
    running = Slapd(tmp_path_factory.mktemp("slapd"))
    yield running
    running.stop()


@pytest.fixture
def directory(world: World, server: Slapd) -> Iterator[World]:
    """Return the world with the LDAP server as its directory, without cookies."""
    before = world.context.settings
    world.context.settings = msgspec.structs.replace(
        before,
        ldap_url=server.url,
        ldap_require_tls=False,
        ldap_user=ADMIN,
        ldap_password=SECRET,
        ldap_people=PEOPLE,
        ldap_groups=GROUPS,
        ldap_organization=world.home["organizationId"],
    )
    world._client.cookies.clear()
    yield world
    world._client.cookies.clear()
    world.context.settings = before


@pytest.fixture
def person(server: Slapd) -> Iterator[str]:
    """Ada, whose distinguished name has other letters than ASCII."""
    dn = server.add_person("ada", PASSWORD, email="Ada@Example.org", cn="Ada Lovelace (née Byron)")
    server.rename(dn, "cn=Ada Lovelace (née Byron)*")
    yield f"cn=Ada Lovelace (née Byron)*,{PEOPLE}"
    try:
        server.delete(f"cn=Ada Lovelace (née Byron)*,{PEOPLE}")
    except OSError:
        server.delete(f"cn=Ada King,{PEOPLE}")


def sign_in(world: World, email: str = "ada@example.org", password: str = PASSWORD) -> Any:
    return world.call(NOBODY, "POST", "/sign-in", json={"email": email, "password": password})


def user_of(world: World, answer: Any) -> Any:
    assert answer.status_code == 200, answer.text
    headers = {"authorization": f"Bearer {answer.json()['token']}"}
    return world.call(NOBODY, "GET", "/user", headers=headers).json()


def synchronize(world: World) -> None:
    """Run all batches of a synchronization."""
    with world.context.db.write() as tx:
        jobs.enqueue(tx, "syncDirectory")
    Worker(world.context.db, world.context).run_pending()


def teams_of(world: World, user_id: str) -> set[str]:
    with world.context.db.read() as tx:
        return {
            title
            for (title,) in tx.all(
                "SELECT t.title FROM teams t JOIN team_members m ON m.team_id = t.id WHERE m.user_id = :user",
                user=user_id,
            )
        }


@pytest.mark.sqlite_first
def test_a_person_of_the_directory_gets_an_account_membership_and_teams(
    directory: World, server: Slapd, person: str
) -> None:
    writers = server.add_group("Writers", person)
    try:
        found = user_of(directory, sign_in(directory, "ADA@example.org"))
    finally:
        server.delete(writers)
    assert (found["email"], found["displayName"]) == ("ada@example.org", "Ada Lovelace (née Byron)")
    assert teams_of(directory, found["id"]) == {"Writers"}
    members = directory.get("admin", directory.home.path("/orgs/{organizationId}/members"))["items"]
    assert found["id"] in {member["id"] for member in members}
    # The group is gone, and so is the membership of its team.
    assert user_of(directory, sign_in(directory))["id"] == found["id"]
    assert teams_of(directory, found["id"]) == set()


@pytest.mark.parametrize("password", ["wrong password", " "])
def test_a_wrong_password_and_an_unknown_address_get_the_same_response(
    directory: World, person: str, password: str
) -> None:
    wrong = sign_in(directory, password=password)
    unknown = sign_in(directory, "nobody@example.org", password)
    assert wrong.status_code == unknown.status_code == 401
    assert wrong.json() == unknown.json()


@pytest.mark.parametrize("email", ["*@example.org", "ada@example.org)(uid=*", "a\\2a@example.org"])
def test_addresses_are_escaped_in_filters(directory: World, person: str, email: str) -> None:
    assert sign_in(directory, email).status_code in (400, 401)


def test_an_empty_password_is_never_sent() -> None:
    directory = ldap.Directory("ldap://127.0.0.1:1", "", "", PEOPLE, "(mail={email})", "", "", False)
    assert directory.authenticate("ada@example.org", "") is None


@pytest.mark.sqlite_first
def test_a_renamed_person_keeps_their_account(directory: World, server: Slapd, person: str) -> None:
    found = user_of(directory, sign_in(directory))
    server.rename(person, "cn=Ada King")
    server.change(f"cn=Ada King,{PEOPLE}", mail=["king@example.org"])
    assert sign_in(directory).status_code == 401
    again = user_of(directory, sign_in(directory, "king@example.org"))
    assert (again["id"], again["email"]) == (found["id"], "king@example.org")


@pytest.mark.sqlite_first
def test_the_directory_replaces_a_local_password(directory: World, person: str) -> None:
    found = user_of(directory, sign_in(directory))
    with directory.context.db.write() as tx:
        set_password_hash(tx, found["id"], passwords.hash_password("another good password"))
    assert sign_in(directory, password="another good password").status_code == 401
    token = {"authorization": f"Bearer {sign_in(directory).json()['token']}"}
    changed = directory.call(
        NOBODY, "PUT", "/user/password", json={"password": "yet another password"}, headers=token
    )
    assert changed.status_code == 409, changed.text


@pytest.mark.sqlite_first
def test_people_without_an_entry_use_their_own_password(directory: World) -> None:
    with directory.context.db.write() as tx:
        set_password_hash(tx, directory.users["reader"], passwords.hash_password(PASSWORD))
    assert user_of(directory, sign_in(directory, "reader@example.org"))["id"] == directory.users["reader"]


@pytest.mark.sqlite_first
def test_a_deleted_person_is_deactivated_and_activated_again(
    directory: World, server: Slapd, person: str
) -> None:
    answer = sign_in(directory)
    found = user_of(directory, answer)
    server.change(person, mail=["ada@example.org"])
    server.delete(person)
    synchronize(directory)
    headers = {"authorization": f"Bearer {answer.json()['token']}"}
    assert directory.call(NOBODY, "GET", "/user", headers=headers).status_code == 401
    with directory.context.db.write() as tx:
        # The entry comes back with the ID that it had, as it does from the trash of Active Directory.
        dn = server.add_person("ada", PASSWORD, email="ada@example.org")
        server.rename(dn, "cn=Ada King")
        entry = directory_sign_in.find_directory(directory.context.settings)
        assert entry is not None
        back = entry.find_person("ada@example.org")
        assert back is not None
        tx.run(
            "UPDATE external_identities SET subject = :new WHERE user_id = :id",
            new=back.subject,
            id=found["id"],
        )
    synchronize(directory)
    assert user_of(directory, sign_in(directory))["id"] == found["id"]


@pytest.mark.sqlite_first
@pytest.mark.parametrize("why", ["server administrator", "last administrator"])
def test_administrators_missing_in_the_directory_stay_active(
    directory: World, server: Slapd, person: str, why: str
) -> None:
    found = user_of(directory, sign_in(directory))
    if why == "server administrator":
        directory.context.settings = msgspec.structs.replace(
            directory.context.settings, admin_email="ada@example.org"
        )
    else:
        with directory.context.db.write() as tx:
            tx.run(
                "UPDATE members SET role = CASE WHEN user_id = :user THEN 'admin' ELSE 'read' END"
                " WHERE organization_id = :org",
                user=found["id"],
                org=directory.home["organizationId"],
            )
    server.rename(person, "cn=Ada King")
    server.delete(f"cn=Ada King,{PEOPLE}")
    synchronize(directory)
    server.rename(server.add_person("ada", PASSWORD, email="ada@example.org"), "cn=Ada King")
    with directory.context.db.read() as tx:
        assert not tx.value("SELECT disabled FROM users WHERE id = :id", id=found["id"])
        assert not tx.value("SELECT count(*) FROM audit_events WHERE action = 'account.deactivated'")


@pytest.mark.sqlite_first
def test_a_directory_that_lost_nearly_everyone_deactivates_no_one(
    directory: World, server: Slapd, person: str
) -> None:
    found = user_of(directory, sign_in(directory))
    with directory.context.db.write() as tx:
        for number in range(20):
            tx.run(
                """INSERT INTO external_identities (provider, subject, user_id, created_at)
                   VALUES ('ldap', :subject, :user, 0)""",
                subject=f"entryUUID:{number:02x}",
                user=directory.users["reader"],
            )
    synchronize(directory)
    with directory.context.db.read() as tx:
        assert not tx.value("SELECT disabled FROM users WHERE id = :id", id=directory.users["reader"])
        assert not tx.value("SELECT disabled FROM users WHERE id = :id", id=found["id"])


@pytest.mark.sqlite_first
def test_referrals_to_other_servers_are_not_followed(directory: World, server: Slapd, person: str) -> None:
    elsewhere = f"ou=elsewhere,{PEOPLE}"
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.settimeout(0.1)
        url = f"ldap://127.0.0.1:{other.getsockname()[1]}/{PEOPLE}"
        server.add(elsewhere, ["referral", "extensibleObject"], ou="elsewhere", ref=url)
        try:
            assert sign_in(directory).status_code == 200
            synchronize(directory)
            assert sign_in(directory).status_code == 200
        finally:
            server.delete(elsewhere)
        with pytest.raises(TimeoutError):
            other.accept()


@pytest.mark.sqlite_first
def test_many_people_are_compared_in_batches(directory: World, server: Slapd) -> None:
    names = [f"person{number:03}" for number in range(directory_sign_in._BATCH + 5)]
    for name in names:
        server.add_person(name, PASSWORD, email=f"{name}@example.org")
    try:
        with directory.context.db.write() as tx:
            found = directory_sign_in.find_directory(directory.context.settings)
            assert found is not None
            for name in names:
                entry = found.find_person(f"{name}@example.org")
                assert entry is not None
                directory_sign_in._find_or_create_person(tx, entry)
        server.delete(f"uid={names[-1]},{PEOPLE}")
        synchronize(directory)
        with directory.context.db.read() as tx:
            disabled = [
                row[0] for row in tx.all("SELECT email FROM users WHERE disabled = 1 AND kind = 'person'")
            ]
        assert f"{names[-1]}@example.org" in disabled and f"{names[0]}@example.org" not in disabled
    finally:
        for name in names[:-1]:
            server.delete(f"uid={name},{PEOPLE}")


@pytest.mark.slow
def test_a_directory_of_100000_people_with_one_group_of_all_works(directory: World, tmp_path: Path) -> None:
    large = Slapd(tmp_path, people=100_000)
    try:
        directory.context.settings = msgspec.structs.replace(directory.context.settings, ldap_url=large.url)
        home = directory.home["organizationId"]
        directory.call("admin", "PUT", f"/orgs/{home}/teams", json={"title": "everyone"})
        user = user_of(directory, sign_in(directory, "person77777@example.org", "person77777"))
        assert teams_of(directory, user["id"]) == {"everyone"}
        large.change(f"cn=everyone,{GROUPS}", member=[f"uid=person1,{PEOPLE}"])
        large.rename(f"uid=person77777,{PEOPLE}", "uid=Ängström")
        synchronize(directory)
        assert teams_of(directory, user["id"]) == set()
        with directory.context.db.read() as tx:
            assert tx.value("SELECT disabled FROM users WHERE id = :id", id=user["id"]) == 0
    finally:
        large.stop()


@pytest.mark.sqlite_first
@pytest.mark.parametrize("secure", [False, True], ids=["StartTLS", "LDAPS"])
def test_passwords_are_only_sent_to_a_server_with_a_trusted_certificate(
    directory: World, server: Slapd, person: str, secure: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory.context.settings = msgspec.structs.replace(
        directory.context.settings,
        ldap_url=server.secure_url if secure else server.url,
        ldap_require_tls=True,
    )
    assert sign_in(directory).status_code == 503
    entry = directory_sign_in.find_directory(directory.context.settings)
    assert entry is not None
    with pytest.raises(ldap.DirectoryUnavailable) as refused:
        entry.find_person("nobody@example.org")
    assert "self-signed certificate. Set SSL_CERT_FILE" in refused.value.detail
    trusting = ssl.create_default_context(cafile=str(server.certificate))
    monkeypatch.setattr(ldap, "outgoing_tls", lambda: trusting)
    assert sign_in(directory).status_code == 200


class _Liar:
    """A server that answers every connection with the same bytes, or with nothing."""

    def __init__(self, answer: bytes | None) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"ldap://127.0.0.1:{self._listener.getsockname()[1]}"
        self._answer = answer
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        held = []
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            held.append(connection)
            if self._answer is not None:
                connection.sendall(self._answer)

    def close(self) -> None:
        self._listener.close()


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(None, id="hangs"),
        pytest.param(b"HTTP/1.1 400 Bad Request\r\n\r\n", id="another protocol"),
        pytest.param(b"\x30\x84\xff\xff\xff\xff", id="an endless message"),
        pytest.param(b"\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x00\x04\x00\x04\xff", id="a broken message"),
    ],
)
def test_a_bad_directory_is_unavailable_and_others_still_sign_in(
    directory: World, answer: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    liar = _Liar(answer)
    monkeypatch.setattr(ldap, "_ANSWER_SECONDS", 1)
    directory.context.settings = msgspec.structs.replace(directory.context.settings, ldap_url=liar.url)
    try:
        assert sign_in(directory).status_code == 503
        with directory.context.db.write() as tx:
            set_password_hash(tx, directory.users["reader"], passwords.hash_password(PASSWORD))
        assert sign_in(directory, "reader@example.org").status_code == 200
        synchronize(directory)
    finally:
        liar.close()


def test_active_directory_marks_disabled_accounts() -> None:
    values = {
        "objectguid": [bytes(range(16))],
        "mail": [b"not an address", b"ada@example.org"],
        "cn": ["Ädä".encode()],
        "useraccountcontrol": [b"514"],
    }
    entry = ldap._Entry(f"cn=Ada,{PEOPLE}", values)
    found = ldap._person(entry)
    assert found is not None
    assert found.disabled and found.email == "ada@example.org" and found.name == "Ädä"
    assert ldap._id_filter(found.subject).startswith("objectGUID=\\00\\01\\02")
