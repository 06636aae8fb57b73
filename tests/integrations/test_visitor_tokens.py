"""Visitors who sign in through an integration are the same visitors wherever a token is read."""

from __future__ import annotations

from joserfc import jwt
from joserfc.jwk import OctKey

from octavo.extensions.integrations import on_sites
from octavo.kit.clock import iso, now

from .test_asking import endpoint, visit
from .test_installing import install, publish

AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"


def test_a_visitor_token_works_for_pages_renderers_and_insights(world):
    publish(world, scopes=["site:visitor:auth"])
    made = install(world)
    site = world.home.path("/orgs/{organizationId}/sites/{siteId}")
    path = f"/integrations/chat/installations/{made['id']}/sites"
    world.post("admin", path, {"siteId": world.home["siteId"]})
    claim = {"type": "boolean", "description": "x"}
    schema = {"type": "object", "properties": {"paying": claim}, "additionalProperties": False}
    change = {"visibility": "visitor-auth", "adaptiveContent": {"enabled": True}}
    assert (
        world.call("admin", "PUT", f"{site}/adaptive-schema", json={"jsonSchema": schema}).status_code == 200
    )
    assert world.call("admin", "PATCH", site, json=change).status_code == 200
    base = world.post("admin", f"{site}/publish")["urls"]["published"]
    with world.context.db.read() as tx:
        found = on_sites._find_sign_in(tx, world.context, world.home["siteId"])
    token = jwt.encode(
        {"alg": "HS256"}, {"paying": True, "exp": now() // 1000 + 600}, OctKey.import_key(found.key)
    )

    def read_page():
        cookie = {"cookie": f"octavo-visitor={token}"}
        return visit(world, "GET", endpoint(base), headers=cookie, follow=True).status_code

    def resolve():
        body = {"url": base, "visitor": {"jwtToken": token, "unsignedClaims": {}}}
        return world.call("nobody", "POST", "/urls/published", json=body).status_code

    def track():
        session = {
            "visitorId": "v",
            "sessionId": "s",
            "userAgent": AGENT,
            "language": None,
            "referrer": None,
            "cookies": {},
            "visitorAuthToken": token,
        }
        location = {
            "url": base,
            "siteSection": None,
            "siteSpace": None,
            "siteShareKey": None,
            "space": None,
            "revision": None,
            "page": None,
        }
        event = {"type": "page_view", "session": session, "location": location, "timestamp": iso(now())}
        world.call("nobody", "POST", f"{site}/insights/events", json={"events": [event]})
        segments = world.get("admin", f"{site}/insights/visitor-segments")["items"]
        return [(segment["claims"], segment["events"]) for segment in segments]

    assert (read_page(), resolve(), track()) == (200, 200, [({"paying": "true"}, 1)])
    # A site that needs no token and evaluates its claims.
    world.call("admin", "PATCH", site, json={"visibility": "public"})
    assert (read_page(), resolve()) == (200, 200)
    # If the owner signs visitors in, no one else does.
    world.call("admin", "PATCH", site, json={"visibility": "visitor-auth"})
    auth = {"backend": "custom", "fallbackURL": "https://login.example.com/"}
    assert world.call("admin", "PATCH", f"{site}/publishing/auth", json=auth).status_code == 200
    assert (
        visit(world, "GET", endpoint(base), headers={"cookie": f"octavo-visitor={token}"})
        .headers["location"]
        .startswith("https://login.example.com/")
    )
    assert (resolve(), track()) == (401, [({"paying": "true"}, 1)])
