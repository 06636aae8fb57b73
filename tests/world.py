"""The test world: one named cast, two organizations with the same content, the real HTTP stack, both engines.

    def test_reader_cannot_create(world):
        answer = world.call("reader", "POST", world.home.path("/orgs/{organizationId}/spaces"), json={})
        assert answer.status_code == 403

``world`` runs a test on SQLite and on PostgreSQL. It is new for each test: writes of a test are undone before the
next. To add a kind of object, create it here, in ``furnish``, under the name that operations use in their paths
(``spaceId``), so that the contract tests find it in both organizations.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import httpx
import psycopg
import pytest
from argon2 import PasswordHasher
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from light_client import LightClient
from octavo.app import api_app
from octavo.assistants.conversations.jobs import analyze_conversations
from octavo.assistants.translations.store import insert_translation
from octavo.content.revisions.states import main_state
from octavo.interchange.transfer.importing import import_files
from octavo.interchange.transfer.opening import open_source
from octavo.interchange.transfer.store import insert_run
from octavo.kit.clock import now
from octavo.kit.db import turns
from octavo.kit.db.database import Database, Transaction
from octavo.kit.http.operation import Actor, Person
from octavo.kit.http.serving import new_loop
from octavo.kit.work.jobs import enqueue
from octavo.operations.installation import close_context, open_context
from octavo.organization.access.accounts import insert_user, set_password_hash
from octavo.organization.access.members import upsert_member
from octavo.organization.access.tokens import create_token, hash_token
from octavo.organization.identity import passwords, sessions
from octavo.organization.orgs.creating import create_organization
from octavo.settings import Settings
from octavo.sites.openapi.processing import process_spec

if TYPE_CHECKING:
    from conftest import PostgresDatabases

MEMBERS: dict[str, str | None] = {
    "admin": "admin",
    "creator": "create",
    "reviewer": "review",
    "editor": "edit",
    "commenter": "comment",
    "reader": "read",
    "guest": None,
}
"""The members of ``home`` and their roles; a guest is a member without one."""

STRANGER, NOBODY = "stranger", "nobody"
"""The administrator of ``away``, and somebody without a token."""

CAST = (*MEMBERS, STRANGER, NOBODY)

URL = "http://octavo.test"

PRODUCT_HASHER = passwords._HASHER
"""Hasher of the product's passwords. In tests, hashing costs nearly nothing."""
passwords._HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)

turns.PAUSE = 0
"""Pause between short transactions, in which others may write. Tests don't wait for it."""

PASSWORD = "correct horse battery"
"""Password of every account."""

CONTENT = Path(__file__).parent / "handbook"
"""Content of each organization's space: a small real documentation repository."""

PETS = Path(__file__).parent / "pets.yaml"
"""The API specification of each organization."""


class Place:
    """Organization and the ids of its content, by the names in paths."""

    def __init__(self, name: str, roles: dict[str, str | None]) -> None:
        self.name = name
        self.roles = roles
        self.ids: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        return self.ids[name]

    def __repr__(self) -> str:
        return self.name

    @property
    def admin(self) -> str:
        return next(who for who, role in self.roles.items() if role == "admin")

    def path(self, template: str, **ids: str) -> str:
        """``/spaces/{spaceId}`` with the ids of this place; ``ids`` go before them."""
        return template.format_map({**self.ids, **ids})


class Kept(Protocol):
    """The contents of the database after furnishing."""

    def restore(self, database: Database) -> None:
        """Restore the stored state of the database."""

    def digest(self, database: Database) -> str:
        """Return a hash of the whole database, except for the times at which tokens were last used."""

    def close(self) -> None: ...


class World:
    """Server with content. ``home`` and ``away`` are its organizations, ``users`` the ids of the cast. It is
    opened once for all tests; writes of a test are undone before the next."""

    def __init__(self, folder: Path, database_url: str, keep: Callable[[Database], Kept]) -> None:
        """Fill the empty database at the URL, and store its state."""
        self.home = Place("home", MEMBERS)
        self.away = Place("away", {STRANGER: "admin"})
        self.users: dict[str, str] = {}
        self._folder = folder
        self._settings = Settings(
            data=str(folder), database_url=database_url, url=URL, threads=4, admin_email="admin@example.org"
        )
        self.context = open_context(self._settings)
        self.commits, self._renewed, self._digested = 0, 0, (-1, "")
        self._count_commits()
        self._app = api_app(self.context)
        self._loop = new_loop()
        self._client = LightClient(self._app, URL, keeps_cookies=True, loop=self._loop)
        people(self)
        for place in (self.home, self.away):
            furnish(self, place)
        self._ids = [(place, dict(place.ids)) for place in (self.home, self.away)]
        self._files = {
            str(path): path.read_bytes() for path in (folder / "files").rglob("*") if path.is_file()
        }
        self._kept = keep(self.context.db)
        self._renewed = self.commits

    def _count_commits(self) -> None:
        """Count commits: every write uses Database.write, so the count tells whether anything was written. On
        SQLite, transactions that changed no row don't count."""
        write, writer = self.context.db.write, getattr(self.context.db, "_writer", None)

        @contextmanager
        def counted(*, live: bool = False) -> Iterator[Any]:
            changes = writer.total_changes if writer is not None else -1
            with write(live=live) as tx:
                yield tx
            if writer is None or writer.total_changes != changes:
                self.commits += 1

        self.context.db.write = counted  # type: ignore[method-assign]

    # --- opening and closing --------------------------------------------------------------------------

    def renew(self) -> World:
        """Restore the initial world, if anything was written since."""
        for place, ids in self._ids:
            place.ids = dict(ids)
        self.context.settings = self._settings
        self._client.cookies.clear()
        if self.commits != self._renewed:
            for path, content in self._files.items():
                # A test may have swept away files that the furnished database names.
                if _size(path) != len(content):
                    Path(path).write_bytes(content)
            self._kept.restore(self.context.db)
            # The next test's versions are those of this test, with other content.
            self.context.db.caches.clear()
            self.commits += 1
            self._renewed = self.commits
        return self

    def end(self) -> None:
        self._loop.close()
        self._app.close()
        self._kept.close()
        close_context(self.context)

    def install(self, data: Path) -> Path:
        """Copy the world into a data folder that ``octavo serve`` can open (SQLite only)."""
        assert self.context.db.engine == "sqlite"
        data.mkdir(parents=True, exist_ok=True)
        shutil.copy(self._folder / "furnished.db", data / "octavo.db")
        for path, content in self._files.items():
            target = data / Path(path).relative_to(self._folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        shutil.copy(self._folder / "secret-key", data / "secret-key")
        return data

    # --- calling --------------------------------------------------------------------------------------

    def token(self, who: str) -> str:
        """Return the token of a person of the cast, the same in every test."""
        return f"oct_test_{who:_<32}"

    def call(self, who: str, method: str, path: str, **options: Any) -> httpx.Response:
        """Send one request of ``who`` through the whole HTTP stack; ``path`` is below /v1, ``options`` are
        httpx's."""
        headers = dict(options.pop("headers", {}))
        if who != NOBODY:
            headers.setdefault("authorization", f"Bearer {self.token(who)}")
        return self._client.ask(method, _address(path), headers=headers, **options)

    def call_together(self, *calls: tuple[str, str, str, Any]) -> list[int]:
        """Return the statuses of simultaneous requests, given as person, method, path, and body."""

        async def ask(who: str, method: str, path: str, body: Any) -> int:
            headers = {} if who == NOBODY else {"authorization": f"Bearer {self.token(who)}"}
            options = {} if body is None else {"json": body}
            url = _address(path)
            return (await self._client.request(method, url, headers=headers, **options)).status_code

        async def ask_all() -> list[int]:
            return await asyncio.gather(*(ask(*call) for call in calls))

        return self._loop.run_until_complete(ask_all())

    def actor(self, who: str) -> Actor:
        """Return a person of the cast with all of their reach, by their token."""
        with self.context.db.read() as tx:
            token_id = tx.value("SELECT id FROM tokens WHERE hash = :hash", hash=hash_token(self.token(who)))
        return Person(self.users[who], token_id)

    def session(self, who: str, *, organization_id: str | None = None, proved: bool = True) -> dict[str, str]:
        """Start a session and return the headers of its requests. ``organization_id``: the organization whose
        identity provider signed the person in. Without ``proved``, the sign-in was a day ago."""
        with self.context.db.write() as tx:
            method: sessions.Method = "password" if organization_id is None else "saml"
            new = sessions.begin(
                tx, self.users[who], method, client="", agent="", organization_id=organization_id
            )
            if not proved:
                tx.run("UPDATE sessions SET proved_at = :at WHERE id = :id", at=now() - 86_400_000, id=new.id)
        return {"authorization": f"Bearer {new.secret}"}

    def get(self, who: str, path: str, **options: Any) -> Any:
        """Return the decoded response to a GET that must succeed."""
        return self._succeeded(self.call(who, "GET", path, **options))

    def post(self, who: str, path: str, body: Any = None, **options: Any) -> Any:
        """Return the decoded response to a POST that must succeed; None for an empty one."""
        if body is not None:
            options["json"] = body
        return self._succeeded(self.call(who, "POST", path, **options))

    @staticmethod
    def _succeeded(answer: httpx.Response) -> Any:
        assert answer.is_success, f"{answer.request.method} {answer.url}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    # --- looking at what was written ------------------------------------------------------------------

    def digest(self) -> str:
        """Return a hash of the whole database, except for the times at which tokens were last used."""
        if self._digested[0] != self.commits:
            self._digested = (self.commits, self._kept.digest(self.context.db))
        return self._digested[1]

    def written(self) -> int | str:
        """Compared with an earlier one: whether anything was written since. Asked of SQLite it costs nothing."""
        return self.commits if self.context.db.engine == "sqlite" else self.digest()

    def tables(self) -> dict[str, list[str]]:
        """Return the tables of the database, and the names of their columns."""
        with self.context.db.read() as tx:
            return tables_of(tx)


def _size(path: str) -> int:
    """Return the size of a file in bytes; -1 if there is none."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return -1


def _address(path: str) -> str:
    """Return a path below /v1 as a path of the server; whole URLs are unchanged."""
    return path if path.startswith("http") else f"/v1{path}"


def tables_of(tx: Transaction) -> dict[str, list[str]]:
    """Return the tables of a database, sorted by name, and the names of their columns."""
    rows = tx.all(
        """SELECT tables.name, columns.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
           WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite%' ORDER BY 1, 2"""
        if tx.engine == "sqlite"
        else """SELECT table_name, column_name FROM information_schema.columns
                WHERE table_schema = 'public' ORDER BY 1, 2"""
    )
    found: dict[str, list[str]] = {}
    for table, column in rows:
        found.setdefault(table, []).append(column)
    return found


# --- what is in the world -----------------------------------------------------------------------------


def people(world: World) -> None:
    """Create the cast, their tokens, and the two organizations."""
    hashed = passwords.hash_password(PASSWORD)
    with world.context.db.write() as tx:
        for who in CAST:
            if who == NOBODY:
                continue
            user = insert_user(tx, f"{who}@example.org", who.title(), verified=True)
            world.users[who] = user.id
            create_token(tx, user.id, name="test", token=world.token(who))
            set_password_hash(tx, user.id, hashed)
        for place, title in ((world.home, "Home"), (world.away, "Away")):
            organization = create_organization(tx, world.users[place.admin], title)
            place.ids["organizationId"] = organization.id
            place.ids["clientId"] = "tab-1"
            for who, role in place.roles.items():
                upsert_member(tx, organization.id, world.users[who], role, accepted=True)
            place.ids["userId"] = world.users[place.admin]


def furnish(world: World, place: Place) -> None:
    """Create one object of each kind in an organization, as its administrator, through the API if possible."""

    def post(path: str, body: Any = None) -> Any:
        return world.post(place.admin, place.path(path), body)

    def get(path: str) -> Any:
        return world.get(place.admin, place.path(path))

    ids = place.ids
    ids["collectionId"] = post("/orgs/{organizationId}/collections", {"title": "Guides"})["id"]
    ids["spaceId"] = post("/orgs/{organizationId}/spaces", {"title": "Handbook"})["id"]
    post("/orgs/{organizationId}/spaces", {"title": "Cookbook", "parent": ids["collectionId"]})

    with open_source(str(CONTENT), allow_url=lambda url: "", local=True) as source:
        outcome = import_files(world.context, source, ids["spaceId"], author=world.users[place.admin])
    assert not outcome.problems, outcome.problems
    ids["revisionId"] = outcome.revision
    ids["emailDomain"] = "example.org"
    ids |= {"accountName": "acme", "repositoryName": "docs", "projectId": "7"}
    ids["resourceType"], ids["schemaId"] = "User", "urn:ietf:params:scim:schemas:core:2.0:Group"
    ids["pagePath"] = "running-it/install/on-a-server"
    ids["pageId"] = get("/spaces/{spaceId}/content/path/{pagePath}")["id"]
    ids["fileId"] = get("/spaces/{spaceId}/content/files")["items"][0]["id"]
    content = get("/spaces/{spaceId}/content")
    ids["reusableContentId"] = content["reusableContents"][0]["id"]

    _furnish_changes(world, place)
    _furnish_comments(world, place)

    account = post("/orgs/{organizationId}/service-accounts", {"name": "Robot", "role": "edit"})
    ids["serviceAccountId"] = account["id"]
    accounts = "/orgs/{organizationId}/service-accounts/{serviceAccountId}"
    ids["tokenId"] = post(f"{accounts}/tokens", {"name": "Robot"})["id"]
    ids["personalTokenId"] = post("/user/tokens", {"name": "Laptop"})["id"]
    provider = {
        "label": "Company",
        "entityID": f"https://idp.test/{place.name}",
        "ssoURL": "https://idp.test/sso",
        "certificate": _certificate(),
    }
    ids["samlProviderId"] = post("/orgs/{organizationId}/saml", provider)["id"]
    with world.context.db.write() as tx:
        ids["sessionId"] = sessions.begin(tx, ids["userId"], "password", client="", agent="").id
    ids["groupId"] = post("/orgs/{organizationId}/scim/v2/Groups", {"displayName": "Staff"})["id"]
    ids["teamId"] = ids["groupId"]
    ada = {"userName": f"ada@{place.name}.test"}
    ids["scimUserId"] = post("/orgs/{organizationId}/scim/v2/Users", ada)["id"]

    for name in ("usedFontKey", "fontKey"):
        font = b"wOF2 of " + name.encode()
        ids[name] = _upload(world, place, "customization_font", f"{name}.woff2", font)
    body = {"fontFamily": "Plain", "fontFaces": [{"weight": 400, "storageKey": ids["usedFontKey"]}]}
    made = world.call(place.admin, "PUT", place.path("/orgs/{organizationId}/fonts"), json=body)
    ids["fontId"] = made.json()["id"]
    for name in ("usedPictureKey", "pictureKey"):
        ids[name] = _upload(world, place, "customization_picture", f"{name}.svg", b"<svg/>" + name.encode())
    picture = {"storageKey": ids["usedPictureKey"]}
    ids["pictureId"] = post("/orgs/{organizationId}/pictures", picture)["id"]
    ids["specSlug"] = "pets"
    spec = {"slug": ids["specSlug"], "source": {"text": PETS.read_text()}}
    made = post("/orgs/{organizationId}/openapi", spec)
    process_spec(world.context, made["id"], 1)
    ids["specId"] = made["id"]
    ids["versionId"] = get("/orgs/{organizationId}/openapi/{specSlug}")["lastVersion"]
    ids["auditEventId"] = get("/orgs/{organizationId}/audit-events")["items"][0]["id"]
    ids["siteId"] = post("/orgs/{organizationId}/sites", {"title": "Docs", "spaces": [ids["spaceId"]]})["id"]
    _furnish_site(world, place)

    _furnish_integrations(world, place)
    _furnish_conversations(world, place)
    _furnish_translation(world, place)

    with world.context.db.write() as tx:
        enqueue(tx, "pruneEvents")
        ids["jobId"] = tx.value("SELECT max(id) FROM jobs WHERE kind = 'pruneEvents'")
        tx.run("UPDATE jobs SET state = 'parked', error = 'It is full.' WHERE id = :id", id=ids["jobId"])
        # Without its job: no worker that opens this world should send requests outside.
        run = insert_run(
            tx,
            organization_id=ids["organizationId"],
            space_id=ids["spaceId"],
            change_id=ids["changeRequestId"],
            page_id=None,
            user_id=ids["userId"],
            source={"type": "website", "url": "https://example.org/"},
        )
        ids["importRunId"] = run.id


SCRIPT = """
export default { async fetch(request) {
  const event = JSON.parse((await request.formData()).get("event"));
  if (event.type !== "ui_render") return new Response("OK");
  const element = { type: "block", children: [{ type: "text", children: "Hello" }] };
  return Response.json({ type: "element", element, state: {}, props: event.props });
} };"""
"""Script of the integrations in the test world."""


def _furnish_integrations(world: World, place: Place) -> None:
    """Create a private integration of the organization, installed in it, in its space, and on its site; and a
    webhook."""

    def post(path: str, body: Any) -> Any:
        return world.post(place.admin, place.path(path), body)

    ids = place.ids
    ids["integrationName"] = f"{place.name}-notes"
    published = {
        "title": "Notes",
        "description": "Notes beside pages",
        "organization": ids["organizationId"],
        "runtime": "v2",
        "script": SCRIPT,
        "scopes": ["space:metadata:read"],
        "blocks": [{"id": "note", "title": "Note"}],
    }
    post("/integrations/{integrationName}", published)
    integration = "/integrations/{integrationName}/installations"
    made = post(integration, {"organization": ids["organizationId"]})
    ids["installationId"] = made["id"]
    post(f"{integration}/{{installationId}}/spaces", {"space": ids["spaceId"]})
    post(f"{integration}/{{installationId}}/sites", {"siteId": ids["siteId"]})
    hook = {"url": "https://93.184.216.34/hook", "events": ["change_request_merged"]}
    ids["webhookId"] = post("/orgs/{organizationId}/webhooks", hook)["id"]
    ids["deliveryId"] = post("/orgs/{organizationId}/webhooks/{webhookId}/test", None)["id"]
    with world.context.db.write() as tx:
        # As if a worker had notified the script and the webhook: no worker that opens this world should
        # notify anyone.
        tx.run("DELETE FROM jobs WHERE kind = 'deliverEvents'")
        tx.run("UPDATE deliveries SET status = 'success', attempts = 1")
    ids["eventId"] = world.get(place.admin, place.path("/integrations/{integrationName}/events"))["items"][0][
        "id"
    ]


def _upload(world: World, place: Place, kind: str, name: str, data: bytes) -> str:
    file = {"name": name, "type": "application/octet-stream", "size": len(data)}
    path = place.path("/orgs/{organizationId}/storage/upload")
    upload = world.post(place.admin, path, {"file": file, "kind": kind})
    assert world.call(NOBODY, "PUT", upload["url"], content=data).is_success
    return str(upload["key"])


def _furnish_changes(world: World, place: Place) -> None:
    """Create two change requests of a colleague, whom the cast can review: one open, one with a conflict."""
    colleague = f"{place.name}-colleague"
    with world.context.db.write() as tx:
        user = insert_user(tx, f"{colleague}@example.org", "Colleague", verified=True)
        create_token(tx, user.id, name="test", token=world.token(colleague))
        upsert_member(tx, place["organizationId"], user.id, "edit", accepted=True)
    world.users[colleague] = user.id

    def post(who: str, path: str, body: Any = None) -> Any:
        return world.post(who, place.path(path), body)

    def edit(page_id: str, **fields: Any) -> dict[str, Any]:
        return {"changes": [{"operation": "update_page", "page": page_id, **fields}]}

    ids = place.ids
    requests = "/spaces/{spaceId}/change-requests"
    writing = world.get(place.admin, place.path("/spaces/{spaceId}/content/path/writing"))["id"]
    ids["conflictingChangeRequestId"] = post(colleague, requests, {"subject": "Warmer words"})["id"]
    conflicting = f"{requests}/{{conflictingChangeRequestId}}"
    post(colleague, f"{conflicting}/content", edit(writing, description="To a friend"))
    post(place.admin, "/spaces/{spaceId}/content", edit(writing, description="To a stranger"))
    post(colleague, f"{conflicting}/update")
    conflicts = world.get(place.admin, place.path(f"{conflicting}/conflicts"))["items"]
    ids["conflictId"] = conflicts[0]["id"]
    revisions = world.get(place.admin, place.path("/spaces/{spaceId}/revisions"))["items"]
    ids["latestRevisionId"] = revisions[0]["id"]

    ids["changeRequestId"] = post(colleague, requests, {"subject": "How to install"})["id"]
    change = f"{requests}/{{changeRequestId}}"
    post(
        colleague,
        f"{change}/content",
        edit(ids["pageId"], document={"markdown": f"# On a server\n\nNow shorter, {place.name}.\n"}),
    )
    shorter = world.get(colleague, place.path(f"{change}/content/page/{{pageId}}"))
    ids["changeRevisionId"] = world.get(colleague, place.path(change))["revision"]
    ids["documentId"] = shorter["documentId"]
    post(colleague, f"{change}/requested-reviewers", {"users": [ids["userId"]]})
    ids["reviewId"] = post(place.admin, f"{change}/reviews", {"status": "approved"})["id"]


def _furnish_site(world: World, place: Place) -> None:
    """Create two sections, the first in a group and with two variants; a share link and a redirect."""
    ids = place.ids

    def post(path: str, body: Any) -> Any:
        return world.post(place.admin, place.path(f"/orgs/{{organizationId}}/sites/{{siteId}}/{path}"), body)

    cookbook = world.get(place.admin, place.path("/collections/{collectionId}/spaces"))["items"][0]["id"]
    ids["otherSiteSectionId"] = post("sections", {"spaceId": cookbook, "title": "Recipes"})["id"]
    structure = world.get(place.admin, place.path("/orgs/{organizationId}/sites/{siteId}/structure"))
    ids["siteSectionId"] = structure["structure"][0]["id"]
    ids["siteSpaceId"] = structure["structure"][0]["siteSpaces"][0]["id"]
    body = {"spaceId": cookbook, "sectionId": ids["siteSectionId"]}
    ids["otherSiteSpaceId"] = post("site-spaces", body)["id"]
    group = {"title": "Manuals", "sections": [ids["siteSectionId"]]}
    ids["siteSectionGroupId"] = post("section-groups", group)["id"]
    link = {"title": "Forum", "url": "https://forum.test/", "draft": True}
    ids["siteExternalLinkId"] = post("external-links", link)["id"]
    ids["shareLinkId"] = post("share-links", {"name": "Friends"})["id"]
    to = {"kind": "site-space", "siteSpaceId": ids["otherSiteSpaceId"]}
    ids["siteRedirectId"] = post("redirects", {"source": "/old", "destination": to})["id"]
    server = {"name": "Tickets", "url": "https://mcp.test/", "headers": {"authorization": "Bearer secret"}}
    ids["siteMcpServerId"] = post("mcp-servers", server)["id"]
    said = {"input": [{"role": "user", "content": "How is it installed?"}]}
    path = place.path("/orgs/{organizationId}/sites/{siteId}/ai/response")
    first = world.call(place.admin, "POST", path, json=said).text.partition("\n")[0]
    ids["siteResponseId"] = json.loads(first.removeprefix("data: "))["messageId"]
    ids["hostname"] = f"docs.{place.name}.test"
    ids["subdomain"] = world.get(place.admin, place.path("/orgs/{organizationId}"))["hostname"]


def _furnish_comments(world: World, place: Place) -> None:
    """Create a comment of the colleague with a reply, on a page of the space and in the open change request."""
    colleague, ids = f"{place.name}-colleague", place.ids
    for name, path in (
        ("comment", "/spaces/{spaceId}/comments"),
        ("changeRequestComment", "/spaces/{spaceId}/change-requests/{changeRequestId}/comments"),
    ):
        said = {"body": {"markdown": "Is this still so?"}, "page": ids["pageId"]}
        ids[f"{name}Id"] = world.post(colleague, place.path(path), said)["id"]
        replies = place.path(f"{path}/{{{name}Id}}/replies")
        ids[f"{name}ReplyId"] = world.post(colleague, replies, {"body": {"markdown": "It is."}})["id"]
    # And an edit of a block that they suggest there.
    content = place.path("/spaces/{spaceId}/change-requests/{changeRequestId}/content/page/{pageId}")
    block = world.get(colleague, content, params={"format": "document"})["document"]["nodes"][0]["key"]
    suggested = {"body": "", "page": ids["pageId"], "node": block, "suggestion": {"markdown": "Better."}}
    comments = place.path("/spaces/{spaceId}/change-requests/{changeRequestId}/comments")
    ids["suggestionCommentId"] = world.post(colleague, comments, suggested)["id"]


def _furnish_conversations(world: World, place: Place) -> None:
    """Create two analyzed conversations about one subject, and a task created from them."""
    ids = place.ids
    asked = ("How do I install it on a server?", "Installing on a server fails, how do I install it?")
    inputs = [
        {"id": f"ticket-{number}", "parts": [{"type": "message", "role": "user", "body": body}]}
        for number, body in enumerate(asked)
    ]
    world.post(place.admin, place.path("/orgs/{organizationId}/conversations"), inputs)
    analyze_conversations(world.context, ids["organizationId"])
    with world.context.db.write() as tx:
        # The job that just was done.
        tx.run("DELETE FROM jobs WHERE kind = 'analyzeConversations'")

    def first(path: str) -> Any:
        return world.get(place.admin, place.path(path))["items"][0]

    ids["conversationId"] = first("/orgs/{organizationId}/conversations")["id"]
    ids["issueId"] = first("/orgs/{organizationId}/conversations-issues")["issue"]["id"]
    ids["clusterId"] = first("/orgs/{organizationId}/conversations-clusters")["id"]
    task = {"space": ids["spaceId"], "cluster": ids["clusterId"]}
    ids["agentTaskId"] = world.post(place.admin, place.path("/orgs/{organizationId}/agent-tasks"), task)["id"]


def _furnish_translation(world: World, place: Place) -> None:
    """Create a translation between the two spaces that was never run, and a term of the glossary."""
    ids = place.ids
    cookbook = world.get(place.admin, place.path("/collections/{collectionId}/spaces"))["items"][0]["id"]
    with world.context.db.write() as tx:
        translation = insert_translation(
            tx,
            organization_id=ids["organizationId"],
            source_id=ids["spaceId"],
            space_id=cookbook,
            source_language="en",
            language="de",
            instructions='{"object":"document","data":{"schemaVersion":1},"nodes":[]}',
            revision=main_state(tx, cookbook).revision_id,
            run_by=ids["userId"],
        )
    ids["translationId"] = translation.id
    glossary = place.path("/orgs/{organizationId}/translations-glossary")
    words = {"operations": [{"type": "insert", "translations": {"en": "space", "de": "Bereich"}}]}
    assert world.call(place.admin, "PUT", glossary, json=words).is_success
    ids["glossaryEntryId"] = world.get(place.admin, glossary)["items"][0]["id"]


def _certificate() -> str:
    """Return a signing certificate of an identity provider, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "idp.test")])
    moment = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(moment)
        .not_valid_after(moment + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    return made.public_bytes(Encoding.PEM).decode()


# --- a world for each test ----------------------------------------------------------------------------


def _compared(database: Database) -> dict[str, str]:
    """Return by table the SQL of the compared columns."""
    with database.read() as tx:
        tables = tables_of(tx)
    tables["tokens"].remove("last_used_at")
    return {table: ", ".join(f'"{name}"' for name in columns) for table, columns in tables.items()}


class _KeptSqlite:
    """Copy of the database in memory, which is written back page by page, so that no connection has to be
    opened again. And another copy in a file, for other installations."""

    def __init__(self, path: Path, file: Path, database: Database) -> None:
        self._live, self._kept = (sqlite3.connect(name, isolation_level=None) for name in (path, ":memory:"))
        # What a test writes needs to survive no loss of power.
        for connection in (self._live, database._writer):  # type: ignore[attr-defined]
            connection.execute("PRAGMA synchronous=OFF")
            # Each copy is as long as the log after which SQLite would write the log into the database.
            connection.execute("PRAGMA wal_autocheckpoint=10000")
        self._live.backup(self._kept)
        with closing(sqlite3.connect(file)) as copy:
            self._kept.backup(copy)
        (self._schema,) = self._live.execute("PRAGMA schema_version").fetchone()
        # Of its own, so that what asks for every table takes no place among the statements that the database keeps.
        self._reader = sqlite3.connect(path, isolation_level=None, cached_statements=1000)
        self._questions = [
            (table, f'SELECT {columns} FROM "{table}"') for table, columns in _compared(database).items()
        ]

    def restore(self, database: Database) -> None:
        with database.write():
            pass  # Wait for running writers, but not forever.
        self._kept.backup(self._live)
        # A copy counts as another schema, which each connection would read again, in some milliseconds; it is
        # the same.
        self._live.execute(f"PRAGMA schema_version={self._schema}")

    def digest(self, database: Database) -> str:
        found = hashlib.sha256()
        self._reader.execute("BEGIN")
        for table, question in self._questions:
            rows = self._reader.execute(question).fetchall()
            if rows:
                found.update(f"{table}{sorted(map(repr, rows))}\n".encode())
        self._reader.execute("COMMIT")
        return found.hexdigest()

    def close(self) -> None:
        for connection in (self._live, self._kept, self._reader):
            connection.close()


_RESTORE = """
  IF (SELECT count(*) <> {count} OR count(*) FILTER (WHERE xmin::text::bigint <= since) <> {count}
      FROM public."{table}") THEN
    DELETE FROM public."{table}";
    INSERT INTO public."{table}" SELECT * FROM kept."{table}";
  END IF;"""
_DIGEST = """
  IF (SELECT count(*) <> {count} OR count(*) FILTER (WHERE xmin::text::bigint <= since) <> {count}
      FROM public."{table}") THEN
    SELECT sum(hashtextextended(compared::text, 0)) INTO sum
    FROM (SELECT {columns} FROM public."{table}") AS compared;
    IF sum IS DISTINCT FROM {sum} THEN found := found || ' {table} ' || coalesce(sum, 0); END IF;
  END IF;"""


class _KeptPostgresql:
    """Copies of the tables in a schema of their own, from where those that were changed are filled again.

    A table was changed when it has another number of rows, or a row of a later transaction than ``_since``. What
    asks is a function on a connection of its own, whose statements are planned once.
    """

    def __init__(self, url: str, database: Database) -> None:
        parts: dict[str, list[str]] = {_RESTORE: [], _DIGEST: []}
        self._connection = psycopg.connect(url, autocommit=True)
        # Like replication: rows are written as they are, in any order of tables.
        self._connection.execute("SET session_replication_role = replica; SET lock_timeout = '10s'")
        self._connection.execute("CREATE SCHEMA kept")
        for table, columns in _compared(database).items():
            self._connection.execute(f'CREATE TABLE kept."{table}" AS TABLE public."{table}"')
            query = (
                "SELECT count(*), sum(hashtextextended(compared::text, 0))"
                f' FROM (SELECT {columns} FROM public."{table}") AS compared'
            )
            count, sum = self._connection.execute(query).fetchall()[0]
            for part, made in parts.items():
                made.append(part.format(table=table, columns=columns, count=count, sum=sum or "NULL"))
        self._connection.execute(
            f"""CREATE TABLE kept._sequences AS
            SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = 'public';
            CREATE FUNCTION kept.restore(since BIGINT) RETURNS BIGINT LANGUAGE plpgsql AS $$
            BEGIN {"".join(parts[_RESTORE])}
              PERFORM setval(quote_ident(sequencename)::regclass, coalesce(last_value, 1),
                last_value IS NOT NULL) FROM kept._sequences;
              RETURN pg_current_xact_id()::text::bigint;
            END $$;
            CREATE FUNCTION kept.digest(since BIGINT) RETURNS TEXT LANGUAGE plpgsql AS $$
            DECLARE sum NUMERIC; found TEXT := '';
            BEGIN {"".join(parts[_DIGEST])}
              RETURN found;
            END $$;"""
        )
        self._since = self._ask("SELECT pg_current_xact_id()::text::bigint")

    def _ask(self, query: str, *parameters: Any) -> Any:
        row = self._connection.execute(query, parameters).fetchone()
        assert row is not None
        return row[0]

    def restore(self, database: Database) -> None:
        self._since = self._ask("SELECT kept.restore(%s)", self._since)
        with database.write():
            pass  # which drops whatever was cached

    def digest(self, database: Database) -> str:
        return str(self._ask("SELECT kept.digest(%s)", self._since))

    def close(self) -> None:
        self._connection.close()


def _sqlite_world(folder: Path, template: Path) -> World:
    path = folder / "octavo.db"
    shutil.copy(template, path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        # All pages are copied thousands of times, and most hold a table or an index with hardly anything in it.
        for statement in ("PRAGMA journal_mode=DELETE", "PRAGMA page_size=1024", "VACUUM"):
            connection.execute(statement)

    def keep(database: Database) -> Kept:
        return _KeptSqlite(path, folder / "furnished.db", database)

    return World(folder, f"sqlite:///{path}", keep)


def _postgresql_world(folder: Path, databases: PostgresDatabases) -> World:
    url = databases.create("furnished")
    return World(folder, url, partial(_KeptPostgresql, url))


@pytest.fixture(params=["sqlite", "postgresql"])
def world(request: pytest.FixtureRequest) -> World:
    """Return the initial world on each engine."""
    furnished: World = request.getfixturevalue(f"_{request.param}_once")
    return furnished.renew()


@pytest.fixture
def sqlite_world(_sqlite_once: World) -> World:
    """Return the initial world on SQLite only, for tests that don't depend on the engine."""
    return _sqlite_once.renew()


@pytest.fixture(scope="session")
def _sqlite_once(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[World]:
    made = _sqlite_world(tmp_path_factory.mktemp("world"), sqlite_template)
    yield made
    made.end()


@pytest.fixture(scope="session")
def _postgresql_once(
    tmp_path_factory: pytest.TempPathFactory, postgres_databases: PostgresDatabases
) -> Iterator[World]:
    made = _postgresql_world(tmp_path_factory.mktemp("world"), postgres_databases)
    yield made
    made.end()
