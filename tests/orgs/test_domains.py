"""Email domains: anyone can list them, but only verified ones let people in."""

from __future__ import annotations

import msgspec
import pytest

from name_server import NameServer
from octavo.errors import BadRequest, NotFound
from octavo.operations.admin.verification import verify_domain
from octavo.organization.access.members import upsert_member
from octavo.organization.orgs import store
from octavo.settings import SettingsError, load
from world import World

ORG = "/orgs/{organizationId}"
DOMAINS = f"{ORG}/email-domains"


def set_domains(world: World, *domains: str) -> dict:
    answer = world.call("stranger", "PATCH", world.away.path(ORG), json={"emailDomains": domains})
    assert answer.status_code == 200, answer.text
    return answer.json()


def verify(world: World, domain: str):
    return world.call("stranger", "POST", world.away.path(f"{DOMAINS}/{domain}/verify"))


def listed(world: World) -> list[dict]:
    return world.get("stranger", world.away.path(DOMAINS))["items"]


def move_people(world: World, domain: str) -> None:
    """Give the editor of home an email address in a domain."""
    with world.context.db.write() as tx:
        tx.run("UPDATE users SET email = :mail WHERE id = :id", mail=f"e@{domain}", id=world.users["editor"])


def join(world: World) -> int:
    return world.call("editor", "POST", world.away.path(f"{ORG}/join")).status_code


def test_unverified_domains_admit_no_one(world: World) -> None:
    move_people(world, "elsewhere.example")
    shown = set_domains(world, "Elsewhere.example", "example.org", "elsewhere.example")
    assert shown["emailDomains"] == ["elsewhere.example", "example.org"]
    assert shown["verifiedEmailDomains"] == []
    assert world.get("stranger", world.away.path(ORG)) == shown
    assert world.get("stranger", "/orgs")["items"] == [shown]
    assert [(item["domain"], item["verified"], item.get("proof")) for item in listed(world)] == [
        ("elsewhere.example", False, None),
        ("example.org", False, None),
    ]
    assert world.get("editor", "/email-domains/elsewhere.example/orgs")["organizations"] == []
    assert join(world) == 404


def test_a_new_organization_can_name_any_domain(world: World) -> None:
    made = world.post("reader", "/orgs", {"title": "New", "emailDomains": ["other.example", "example.org"]})
    assert made["emailDomains"] == ["other.example", "example.org"] and made["verifiedEmailDomains"] == []


@pytest.mark.parametrize("who", ["administrator", "member"])
def test_an_email_address_in_a_domain_does_not_verify_the_domain(
    world: World, names: NameServer, who: str
) -> None:
    """A stranger with a mailbox in a domain could show their sign-in button to the entire domain."""
    domain = "bigbank.example"
    with world.context.db.write() as tx:
        tx.run(
            "UPDATE users SET email = :mail WHERE id = :id", mail=f"s@{domain}", id=world.users["stranger"]
        )
        role = "admin" if who == "administrator" else "create"
        upsert_member(tx, world.away["organizationId"], world.users["stranger"], "admin", accepted=True)
        upsert_member(tx, world.away["organizationId"], world.users["editor"], role, accepted=True)
    move_people(world, f"x.{domain}")
    assert set_domains(world, domain)["verifiedEmailDomains"] == []
    found = verify(world, domain).json()
    assert found["verified"] is False and "proof" not in found
    assert names.asked == [f"_octavo.{domain}"]
    discovered = world.post("nobody", "/sign-in/discover", {"email": f"victim@{domain}"})
    assert discovered["sso"] == []
    move_reader(world, domain)
    assert world.get("reader", f"/email-domains/{domain}/orgs")["organizations"] == []
    assert world.call("reader", "POST", world.away.path(f"{ORG}/join")).status_code == 404


def move_reader(world: World, domain: str) -> None:
    with world.context.db.write() as tx:
        tx.run("UPDATE users SET email = :mail WHERE id = :id", mail=f"r@{domain}", id=world.users["reader"])


@pytest.mark.parametrize(
    "domain", ["gmail.com", "GMail.com", "yahoo.co.uk", "outlook.de", "proton.me", "qq.com"]
)
def test_domains_of_email_providers_cannot_be_claimed(world: World, names: NameServer, domain: str) -> None:
    """Not by a DNS record, not by the server administrator, and not by old records."""
    organization = world.away["organizationId"]
    refused = world.call("stranger", "PATCH", world.away.path(ORG), json={"emailDomains": [domain]})
    assert refused.status_code == 400 and "email provider" in refused.json()["error"]["message"]
    assert (
        world.call("reader", "POST", "/orgs", json={"title": "A", "emailDomains": [domain]}).status_code
        == 400
    )
    named = domain.lower()
    with world.context.db.write() as tx:
        store.set_email_domains(tx, organization, [named])
    names.texts[f"_octavo.{named}"] = [listed(world)[0]["record"]["value"]]
    assert verify(world, domain).status_code == 400
    with pytest.raises(BadRequest, match="email provider"):
        verify_domain(world.context, organization, domain)
    with world.context.db.write() as tx:
        store.insert_proof(tx, organization, named, "operator")
    move_reader(world, named)
    assert world.get("reader", f"/email-domains/{named}/orgs")["organizations"] == []
    assert world.call("reader", "POST", world.away.path(f"{ORG}/join")).status_code == 404
    assert world.post("nobody", "/sign-in/discover", {"email": f"victim@{named}"})["sso"] == []


def test_an_operator_verifies_a_domain_in_their_own_session(world: World, names: NameServer) -> None:
    set_domains(world, "elsewhere.example")
    path = world.away.path(f"{DOMAINS}/elsewhere.example/verify")
    before = world.context.settings
    operator = msgspec.structs.replace(before, admin_email="stranger@example.org")
    try:
        world.context.settings = operator
        # Another person can use a token.
        assert verify(world, "elsewhere.example").json()["verified"] is False
        session = world.session("stranger")
        assert world.call("nobody", "POST", path, headers=session).json()["proof"] == "operator"
    finally:
        world.context.settings = before


def test_a_dns_record_verifies_a_domain(world: World, names: NameServer) -> None:
    move_people(world, "elsewhere.example")
    set_domains(world, "elsewhere.example")
    record = listed(world)[0]["record"]
    assert (record["name"], record["type"]) == ("_octavo.elsewhere.example", "TXT")
    names.texts[record["name"]] = ["v=spf1 -all", "octavo-domain=somebody-elses"]
    assert verify(world, "elsewhere.example").json() == {
        "domain": "elsewhere.example",
        "verified": False,
        "record": record,
    }
    assert join(world) == 404
    names.texts[record["name"]].append(record["value"])
    found = verify(world, "Elsewhere.example").json()
    assert (found["verified"], found["proof"]) == (True, "dns") and found["verifiedAt"].endswith("Z")
    assert names.asked == [record["name"]] * 2
    assert join(world) == 204
    event = world.get("stranger", world.away.path(f"{ORG}/audit-events"))["items"]
    assert ("organization.domain-proved", {"elsewhere.example": "dns"}) in [
        (one["action"], one.get("after")) for one in event
    ]


def test_a_dns_record_only_verifies_domains_of_its_organization(world: World, names: NameServer) -> None:
    set_domains(world, "elsewhere.example")
    path = world.home.path(ORG)
    assert world.call("admin", "PATCH", path, json={"emailDomains": ["elsewhere.example"]}).status_code == 200
    record = listed(world)[0]["record"]
    names.texts[record["name"]] = [record["value"]]
    answer = world.call("admin", "POST", world.home.path(f"{DOMAINS}/elsewhere.example/verify"))
    assert answer.status_code == 200 and answer.json()["verified"] is False


def test_unresponsive_name_servers_are_not_waited_for(
    world: World, names: NameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("octavo.kit.net.names._SECONDS", 0.2)
    set_domains(world, "elsewhere.example")
    names.silent = True
    answer = verify(world, "elsewhere.example")
    assert answer.status_code == 503
    assert "_octavo.elsewhere.example" in answer.json()["error"]["message"]
    assert names.asked


def test_unlisted_domains_cannot_be_verified(world: World, names: NameServer) -> None:
    assert verify(world, "elsewhere.example").status_code == 404
    long = ".".join(["a" * 62] * 3 + ["b" * 55, "com"])
    set_domains(world, long)
    assert verify(world, long).json()["verified"] is False
    assert names.asked == []


def test_a_verification_ends_when_the_domain_is_removed(world: World) -> None:
    set_domains(world, "elsewhere.example")
    verify_domain(world.context, world.away["organizationId"], "ELSEWHERE.example")
    assert listed(world)[0]["proof"] == "operator"
    assert set_domains(world)["verifiedEmailDomains"] == []
    assert set_domains(world, "elsewhere.example")["verifiedEmailDomains"] == []


def test_the_operator_verifies_only_listed_domains(world: World) -> None:
    with pytest.raises(NotFound, match="emailDomains"):
        verify_domain(world.context, world.away["organizationId"], "elsewhere.example")
    with pytest.raises(NotFound):
        verify_domain(world.context, "0VbbPKfLF4mQ72JCT942", "elsewhere.example")


def test_providers_are_only_offered_for_verified_domains(world: World) -> None:
    place = world.home
    path = place.path(ORG)
    assert world.call("admin", "PATCH", path, json={"emailDomains": ["elsewhere.example"]}).status_code == 200
    discover = {"email": "somebody@elsewhere.example"}
    before = world.post("nobody", "/sign-in/discover", discover)["sso"]
    verify_domain(world.context, place["organizationId"], "elsewhere.example")
    after = world.post("nobody", "/sign-in/discover", discover)["sso"]
    assert before == [] and len(after) == 1


@pytest.mark.parametrize("servers", ["dns.example:53", "192.0.2.1", "192.0.2.1:0"])
def test_name_servers_are_ip_addresses(servers: str) -> None:
    with pytest.raises(SettingsError, match="OCTAVO_DNS_SERVERS"):
        load(environ={"OCTAVO_DNS_SERVERS": servers})
