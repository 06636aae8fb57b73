"""No operation opens a site indirectly: the audience of a site is compared before and after every operation.

A person manages a site and can read only one of its spaces. Whatever they call, no new visitor sees the other
space, no one else signs visitors in or receives them, no other script runs on the pages, and the response
contains no key that opens the site.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey

from octavo.delivery.visits.admission import RedirectBeforeVisit, VisitorRequest
from octavo.delivery.visits.authorization import enter_site
from octavo.errors import NotFound, Unauthorized
from octavo.extensions.integrations import store as integrations
from octavo.extensions.integrations.invoking import signing_secret
from octavo.extensions.integrations.on_sites import sign_in_address
from octavo.extensions.integrations.presenting import open_configuration
from octavo.kit.clock import now
from octavo.kit.http.operation import TABLE, Operation
from octavo.operations.installation import load_packages
from octavo.sites.site.audiences.share_links import share_key
from octavo.sites.site.audiences.visitor_auth import signing_key
from octavo.sites.site.published import own_url
from octavo.sites.site.scripts import list_scripts
from octavo.sites.site.store import SiteRow, find_site
from world import SCRIPT, World, _KeptSqlite

from .samples import TOLD_ELSEWHERE, sample_of, send

load_packages()

WHO = "creator"
SITE = "/orgs/{organizationId}/sites/{siteId}"
INSTALLATION = "/integrations/{integrationName}/installations/{installationId}"
AUDIENCES = ["visitor-auth", "share-link", "public"]
_SECRET = "the-secret-of-the-company"  # noqa: S105
_SCHEMA = {
    "type": "object",
    "properties": {"paying": {"type": "boolean", "description": "Whether"}},
    "additionalProperties": False,
}


class Closed:
    """Published site at its own hostname, with one space that is closed to the person who manages the site.
    ``audience``: if it is everyone, that space has a condition that requires a token."""

    def __init__(self, world: World, audience: str, folder: Path) -> None:
        self.world, self.place, self.audience = world, world.home, audience
        place = self.place

        def call(method: str, path: str, body: Any = None) -> Any:
            answer = world.call("admin", method, place.path(path), **({} if body is None else {"json": body}))
            assert answer.is_success, answer.text
            return answer.json() if answer.content else None

        self.space = call("POST", "/orgs/{organizationId}/spaces", {"title": "Closed"})["id"]
        page = {"operation": "insert_page", "title": "Plans", "document": {"markdown": "We buy them all.\n"}}
        call("POST", f"/spaces/{self.space}/content", {"changes": [page]})
        call("PATCH", f"/spaces/{self.space}", {"defaultLevel": None})
        given = {"role": "read", "users": [world.users[WHO]]}
        call("POST", f"/spaces/{self.space}/permissions", given)
        section = call("POST", f"{SITE}/sections", {"spaceId": self.space, "title": "Closed"})["id"]
        call("PUT", f"{SITE}/adaptive-schema", {"jsonSchema": _SCHEMA})
        if audience == "public":
            call("PATCH", f"{SITE}/sections/{section}", {"condition": "visitor.claims.paying"})
        changed = {"visibility": audience, "hostname": "docs.home.test"}
        adaptive = {"adaptiveContent": {"enabled": audience == "public"}}
        call("PATCH", SITE, {**changed, **adaptive})
        published = {
            "title": "Sign-in",
            "description": "Signs visitors in",
            "organization": place["organizationId"],
            "runtime": "v2",
            "script": SCRIPT,
            "scopes": ["site:visitor:auth", "site:script:inject"],
        }
        call("POST", "/integrations/{integrationName}", published)
        call(
            "POST", "/integrations/{integrationName}/installations", {"organization": place["organizationId"]}
        )
        issuer = {"issuer": "https://company.test/", "secret": _SECRET}
        call("PATCH", f"{INSTALLATION}/sites/{{siteId}}", {"configuration": issuer})
        call("POST", f"{SITE}/publish")
        self._kept = _KeptSqlite(world._folder / "octavo.db", folder / "closed.db", world.context.db)
        self._ids, self._seen = dict(place.ids), world.commits

    def renew(self) -> None:
        """Restore the initial state, if anything was written since."""
        self.place.ids = dict(self._ids)
        if self.world.commits != self._seen:
            self._kept.restore(self.world.context.db)
            self._seen = self.world.commits = self.world.commits + 1

    def close(self) -> None:
        self._kept.close()

    def keys(self) -> set[str]:
        """Return everything that admits visitors, and the secrets of the integration."""
        context, found = self.world.context, {_SECRET}
        with context.db.read() as tx:
            site = find_site(tx, self.place["siteId"])
            if site is None:
                return found
            found.add(signing_key(context.signer, site))
            rows = tx.all("SELECT id FROM share_links WHERE site_id = :site AND active = 1", site=site.id)
            found |= {share_key(context.signer, link_id) for (link_id,) in rows}
            found |= {key for _, key, _ in self._signing(tx)}
        return found

    def _signing(self, tx: Any) -> Iterator[tuple[str, str, Any]]:
        for integration, _, place in integrations.list_places_with_scope(
            tx, self.place["siteId"], "site:visitor:auth"
        ):
            key = (place.installation_id, place.kind, place.place_id)
            yield (
                integration.name,
                signing_secret(self.world.context, integration, *key),
                open_configuration(self.world.context, place),
            )

    def facts(self) -> set[tuple[Any, ...]]:
        """Return what the site shows to whom, as far as the closed space is concerned: its visitors, who is
        redirected to sign in and where, who signs visitors in, the scripts on the pages, and their URLs."""
        context, found = self.world.context, set[tuple[Any, ...]]()
        with context.db.read() as tx:
            site = find_site(tx, self.place["siteId"])
            if site is None:
                return found
            if (address := own_url(context.settings.sites_url, site)) is not None:
                found.add(("at", address))
            found.add(("sends", site.settings.visitor_auth.login_url))
            found.add(("sends", sign_in_address(tx, context, site.id, "/")))
            if site.published:
                found |= {
                    ("runs", one.script, one.content_security_policy)
                    for one in list_scripts(tx, context, site.id)
                }
                found |= {("signs", name, key, repr(how)) for name, key, how in self._signing(tx)}
                found.add(("signs", signing_key(context.signer, site)))
            links = tx.all("SELECT id FROM share_links WHERE site_id = :site", site=site.id)
            for link in ["", *(share_key(context.signer, link_id) for (link_id,) in links)]:
                for claims in (None, {}, {"paying": True}):
                    found.update(self._visit(tx, site, link, claims))
        return found

    def _visit(
        self, tx: Any, site: SiteRow, link: str, claims: dict[str, Any] | None
    ) -> Iterator[tuple[Any, ...]]:
        context = self.world.context
        tokens: list[str | None] = [None]
        if claims is not None:
            keys = [signing_key(context.signer, site), *(key for _, key, _ in self._signing(tx))]
            said = {"exp": now() // 1000 + 600, **claims}
            tokens = [jwt.encode({"alg": "HS256"}, said, OctKey.import_key(key)) for key in keys]
        for token in tokens:
            cookies = {"octavo-visitor": token} if token is not None else {}
            own = own_url(context.settings.sites_url, site)
            host = urlsplit(own).hostname if own and site.hostname else "sites.test"
            path = f"/{link}" if site.hostname else f"/home/{site.basename}/{link}"
            try:
                visit = enter_site(tx, context, host or "", path, VisitorRequest([], cookies, secure=True))
            except (NotFound, Unauthorized, RedirectBeforeVisit):
                continue
            if any(shown.space_id == self.space for shown in visit.outline.site_spaces()):
                yield ("sees", link, repr(claims))


@pytest.fixture(params=["public", *(pytest.param(name, marks=pytest.mark.slow) for name in AUDIENCES[:-1])])
def closed(request: pytest.FixtureRequest, sqlite_world: World, tmp_path: Path) -> Iterator[Closed]:
    made = Closed(sqlite_world, request.param, tmp_path)
    yield made
    made.renew()
    made.close()


def _more() -> dict[str, list[Any]]:
    """Return further bodies, in which another value of a field would open the site."""
    return {
        "updateSiteById": [
            *({"visibility": one} for one in ("public", "unlisted", "share-link", "visitor-auth")),
            {"hostname": "docs.evil.test"},
            {"hostname": None},
            {"proxy": "evil.test/docs"},
            {"adaptiveContent": {"enabled": False}},
        ],
        "updateSiteSectionById": [{"condition": None}, {"condition": "true"}, {"draft": False}],
        "updateIntegrationSiteInstallation": [
            {"configuration": {"issuer": "https://evil.test/"}},
            {"externalIds": ["evil"]},
        ],
        "updateSitePublishingAuthById": [
            {"backend": "custom", "fallbackURL": "https://evil.test/"},
            {"backend": "custom", "fallbackURL": None},
        ],
        "updateSiteShareLinkById": [{"active": True}],
    }


def _bodies(closed: Closed, operation: Operation) -> list[Any]:
    """Return the body of the sample, each of its fields alone, and further bodies."""
    given = sample_of(operation).body_for(closed.place)
    alone = (
        [{name: value} for name, value in given.items()] if isinstance(given, dict) and len(given) > 1 else []
    )
    return [given, *alone, *_more().get(operation.id, [])]


def test_no_operation_widens_the_audience_of_a_site_without_permission(closed: Closed) -> None:
    wrong = []
    as_made = before, _ = closed.facts(), closed.keys()
    assert ("sees", "", "None") not in before
    assert any(fact[0] == "sees" for fact in before)
    assert any(fact[0] == "runs" for fact in before)
    for operation in TABLE.values():
        if operation.id in TOLD_ELSEWHERE:
            continue
        # Who only reads opens nothing, and the keys there are to learn are the same for each audience.
        if operation.method == "GET" and closed.audience != AUDIENCES[0]:
            continue
        sample, number, bodies = sample_of(operation), 0, [None]
        while number < len(bodies):
            closed.renew()
            if sample.before is not None:
                sample.before(closed.world, closed.place)
            # What an administrator did before is no door.
            began = closed.world.commits
            before, keys = (closed.facts(), closed.keys()) if sample.before is not None else as_made
            bodies = _bodies(closed, operation)
            body = bodies[number]
            options = {} if body is None else {"json": body}
            answer = send(closed.world, WHO, operation, closed.place, **options)
            if told := [key for key in keys if key in answer.text]:
                wrong.append(f"{operation.id} {body}: tells {told}")
            if closed.world.commits != began and (new := closed.facts() - before):
                wrong.append(f"{operation.id} {body}: {answer.status_code}, now {sorted(map(str, new))}")
            number += 1
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("closed", ["visitor-auth"], indirect=True)
def test_scripts_cannot_configure_themselves_on_sites_the_caller_cannot_open(closed: Closed) -> None:
    """Scripts handle buttons in configuration forms with their own permissions."""
    world, place = closed.world, closed.place
    context = {"type": "configuration_site", "theme": "light", "siteId": place["siteId"]}
    given = {"componentId": "config", "props": {}, "context": context, "action": {"action": "save"}}

    def render() -> int:
        return world.call(
            WHO, "POST", place.path("/integrations/{integrationName}/render"), json=given
        ).status_code

    def show() -> str:
        return world.get(WHO, place.path(f"{INSTALLATION}/sites/{{siteId}}"))["configuration"].get(
            "secret", ""
        )

    assert (render(), show()) == (403, "")
    body = {"role": "create", "users": [world.users[WHO]]}
    world.post("admin", f"/spaces/{closed.space}/permissions", body)
    assert (render(), show()) == (200, _SECRET)


@pytest.mark.parametrize("closed", ["share-link"], indirect=True)
def test_a_space_in_the_trash_counts_because_it_can_be_restored(closed: Closed) -> None:
    world, place = closed.world, closed.place
    assert world.call("admin", "DELETE", f"/spaces/{closed.space}").status_code == 205
    path = place.path(f"{SITE}/share-links")
    assert world.call(WHO, "POST", path, json={"name": "Mine"}).status_code == 403
    assert world.call("admin", "POST", path, json={"name": "Ours"}).status_code == 201
