"""Everything derived from a permission ends with it: test each background activity against every way in which
its creator loses the permission."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import octavo
from octavo.kit.clock import now
from octavo.organization.access.tokens import create_token
from octavo.organization.identity.removal import disable_member
from octavo.sites.printing.links import PATH as PRINT_PATH
from octavo.sites.printing.links import open_print
from visiting import Visitor
from world import NOBODY, World

SITE = "/orgs/{organizationId}/sites/{siteId}"
INSTALLATION = "/integrations/{integrationName}/installations/{installationId}"
WHO = "reviewer"
Works = Callable[[], bool]


class Derived:
    """Access of a member to a closed space by a token or session, and credentials derived from it."""

    def __init__(self, world: World, by: str) -> None:
        self.world, self.place, self.by = world, world.home, by
        self.space = world.post("admin", self.path("/orgs/{organizationId}/spaces"), {"title": "Closed"})[
            "id"
        ]
        page = {"operation": "insert_page", "title": "Plans", "document": {"markdown": "We buy them all.\n"}}
        world.post("admin", f"/spaces/{self.space}/content", {"changes": [page]})
        world.call("admin", "PATCH", f"/spaces/{self.space}", json={"defaultLevel": None})
        self.grant("create")
        body = {"title": "Shown", "spaces": [self.space]}
        self.site = world.post("admin", self.path("/orgs/{organizationId}/sites"), body)["id"]
        self.visitor = Visitor(world.context)
        if by == "token":
            with world.context.db.write() as tx:
                secret = create_token(tx, world.users[WHO], name="lent", expires_at=now() + 1_800_000)
            self.headers = {"authorization": f"Bearer {secret}"}
        else:
            self.headers = world.session(WHO)

    def path(self, template: str) -> str:
        return self.place.path(template)

    def grant(self, role: str | None) -> None:
        body = {"role": role, "users": [self.world.users[WHO]]}
        self.world.post("admin", f"/spaces/{self.space}/permissions", body)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        options = {} if body is None else {"json": body}
        answer = self.world.call(NOBODY, method, self.path(path), headers=self.headers, **options)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    # --- derived by members -----------------------------------------------------------------------------------

    def preview(self) -> str:
        address: str = self.ask("GET", f"/orgs/{{organizationId}}/sites/{self.site}/publishing/preview")[
            "url"
        ]
        return address

    def preview_address(self) -> Works:
        parts = urlsplit(self.preview())
        return lambda: self.visitor.get(f"{parts.path}?{parts.query}").status_code == 307

    def preview_cookie(self) -> Works:
        parts = urlsplit(self.preview())
        cookie = f"octavo-preview={parts.query.partition('=')[2]}"
        return lambda: self.visitor.get(parts.path, cookie=cookie).status_code == 200

    def preview_token(self) -> Works:
        return self.reads(self.preview().partition("preview_token=")[2])

    def renderer_token(self) -> Works:
        body = {"url": f"https://preview/{self.site}/"}
        headers = {"authorization": f"Bearer {self.preview().partition('preview_token=')[2]}"}
        answer = self.world.call(NOBODY, "POST", "/urls/published", json=body, headers=headers)
        return self.reads(answer.json()["apiToken"])

    def reads(self, token: str) -> Works:
        path, headers = f"/spaces/{self.space}/content/pages", {"authorization": f"Bearer {token}"}
        return lambda: self.world.call(NOBODY, "GET", path, headers=headers).status_code == 200

    def link_to_a_print(self) -> Works:
        parts = urlsplit(self.ask("GET", f"/spaces/{self.space}/pdf")["url"])
        return lambda: self.opens(parts.path)

    def opens(self, path: str) -> bool:
        token = path.removeprefix(PRINT_PATH).partition("/")[0]
        return open_print(self.world.context, token) is not None


KINDS: dict[str, Callable[[Derived], Works]] = {
    "address of a preview": Derived.preview_address,
    "cookie of a preview": Derived.preview_cookie,
    "token of a preview": Derived.preview_token,
    "renderer's token of a preview": Derived.renderer_token,
    "link to a print": Derived.link_to_a_print,
}


def leave(derived: Derived) -> None:
    path = derived.path("/orgs/{organizationId}/members/") + derived.world.users[WHO]
    assert derived.world.call("admin", "DELETE", path).is_success


def disabled(derived: Derived) -> None:
    with derived.world.context.db.write() as tx:
        disable_member(tx, derived.place["organizationId"], derived.world.users[WHO])


def account_disabled(derived: Derived) -> None:
    with derived.world.context.db.write() as tx:
        tx.run("UPDATE users SET disabled = 1 WHERE id = :id", id=derived.world.users[WHO])


def shut_out(derived: Derived) -> None:
    derived.grant(None)


def taken_back(derived: Derived) -> None:
    with derived.world.context.db.write() as tx:
        owner = derived.world.users[WHO]
        tx.run("UPDATE tokens SET revoked_at = :at WHERE user_id = :id AND name = 'lent'", at=now(), id=owner)
        tx.run("DELETE FROM sessions WHERE user_id = :id", id=owner)


LOSSES = [leave, disabled, account_disabled, shut_out, taken_back]


@pytest.mark.parametrize("by", ["token", "session"])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
@pytest.mark.parametrize("kind", KINDS)
def test_credentials_derived_from_a_role_end_with_it(world: World, kind: str, loss: Any, by: str) -> None:
    derived = Derived(world, by)
    works = KINDS[kind](derived)
    assert works()
    loss(derived)
    assert not works()


@pytest.mark.parametrize("kind", KINDS)
def test_credentials_derived_from_a_token_end_with_it(sqlite_world: World, clock: Any, kind: str) -> None:
    works = KINDS[kind](Derived(sqlite_world, "token"))
    clock.advance(1_790_000)
    assert works()
    clock.advance(20_000)
    assert not works()


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    "kind", ["renderer's token of a preview", "token of a preview", "cookie of a preview"]
)
def test_a_preview_omits_content_that_is_closed_later(world: World, kind: str) -> None:
    derived = Derived(world, "token")
    works = KINDS[kind](derived)
    assert works()
    other = world.post("admin", derived.path("/orgs/{organizationId}/spaces"), {"title": "Other"})["id"]
    world.call("admin", "PATCH", f"/spaces/{other}", json={"defaultLevel": None})
    path = derived.path(f"/orgs/{{organizationId}}/sites/{derived.site}/site-spaces")
    world.post("admin", path, {"spaceId": other})
    assert not works()


# --- derived by administrators --------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["role", "token", "leaves"])
def test_an_installation_token_ends_with_the_permission_of_its_creator(world: World, loss: str) -> None:
    path = world.home.path("/orgs/{organizationId}/members/") + world.users[WHO]
    assert world.call("admin", "PATCH", path, json={"role": "admin"}).is_success
    derived = Derived(world, "token")
    made = derived.ask("POST", f"{INSTALLATION}/tokens")["token"]
    headers = {"authorization": f"Bearer {made}"}

    def works() -> bool:
        return world.call(NOBODY, "GET", world.home.path(INSTALLATION), headers=headers).status_code == 200

    assert works()
    if loss == "role":
        assert world.call("admin", "PATCH", path, json={"role": "create"}).is_success
    elif loss == "token":
        taken_back(derived)
    else:
        leave(derived)
    assert not works()


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    "loss", [leave, disabled, account_disabled, taken_back], ids=lambda one: one.__name__
)
def test_an_upload_url_ends_with_the_access_of_its_creator(world: World, loss: Any) -> None:
    derived = Derived(world, "token")
    file = {"name": "a.md", "type": "text/markdown", "size": 3}
    body = {"file": file, "kind": "import_file"}

    def upload() -> str:
        url: str = derived.ask("POST", "/orgs/{organizationId}/storage/upload", body)["url"]
        return url

    first, second = upload(), upload()
    assert world.call(NOBODY, "PUT", first, content=b"# A").status_code == 200
    loss(derived)
    assert world.call(NOBODY, "PUT", second, content=b"# A").status_code == 404


# --- all signed values are covered ----------------------------------------------------------------------

ASKED_AGAIN = {
    "site preview": "KINDS",
    "print": "KINDS",
    "integration-token": "test_an_installation_token_ends_with_the_permission_of_its_creator",
    "upload": "test_an_upload_url_ends_with_the_access_of_its_creator",
}
NO_RIGHT = {
    "device": "says that a device was seen, and lets nobody in",
    "second-factor": "is good for minutes beside the code of a second factor, which is asked of the account",
    "block": "is an offer on a page, and taken at a visit to it",
    "unsubscribe": "ends mails to one person, and shows nothing",
    "consent of a visitor": "protects a form that works only at a visit of the same visitor to the site",
}


def test_every_purpose_of_signatures_is_known() -> None:
    """Every value signed anywhere in the code has a purpose from one of these lists."""
    found = set()
    for file in Path(next(iter(octavo.__path__))).rglob("*.py"):
        text = file.read_text()
        for given in re.findall(r"signer\.sign\(\s*([^\s,]+)\s*,", text):
            constant = re.search(rf'^{given} = "([^"]+)"', text, re.M)
            found.add(given.strip('"') if constant is None else constant[1])
    assert found == ASKED_AGAIN.keys() | NO_RIGHT.keys()
