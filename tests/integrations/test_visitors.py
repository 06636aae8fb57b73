"""Visitor events for integrations: limited to the data that insights store, and sent only on request."""

from __future__ import annotations

import pytest

from octavo.extensions.integrations.delivering import VIEWS_WAIT

from .test_delivering import ECHO, told, work
from .test_installing import install, publish

AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"


def event(type, **more):
    session = {
        "visitorId": "v",
        "sessionId": "v-1",
        "ip": "203.0.113.9",
        "cookies": {"secret": "cookie", "__gitbook_cookie_granted": "yes"},
        "userAgent": AGENT,
        "language": "en",
        "referrer": "https://search.test/?q=x",
    }
    location = {
        "url": "https://docs.test/a?token=1",
        "siteSection": None,
        "siteSpace": None,
        "siteShareKey": None,
        "space": None,
        "revision": None,
        "page": None,
    }
    return {"type": type, "session": session, "location": location, **more}


def test_views_and_ratings_reach_integrations_with_the_scopes(world):
    path = world.home.path("/orgs/{organizationId}/sites/{siteId}")
    world.post("admin", f"{path}/publish")
    body = {
        "events": [
            event("page_view"),
            event("page_post_feedback", feedback={"rating": "good"}),
            event("page_post_feedback_comment", feedback={"rating": "bad", "comment": "Why?"}),
            event("search_open"),
        ]
    }

    def track():
        assert world.call("nobody", "POST", f"{path}/insights/events", json=body).status_code == 204
        work(world)

    def count():
        with world.context.db.read() as tx:
            return tx.value("SELECT count(*) FROM events WHERE type IN ('site_view', 'page_feedback')")

    publish(world, "counts", script=ECHO % "", scopes=["site:views:read"])
    publish(world, "listens", script=ECHO % "", scopes=["page:feedback:read"])
    publish(world, "deaf", script=ECHO % "", scopes=["site:metadata:read"])
    install(world, "deaf")
    track()
    assert count() == 0, "nothing is written where nobody is told"
    install(world, "counts"), install(world, "listens")
    track()
    assert [made["payload"]["type"] for made, _ in told(world, "deaf")] == ["installation_setup"]
    (view,) = [made["payload"] for made, _ in told(world, "counts")][1:]
    visitor = view.pop("visitor")
    assert visitor.keys() == {"anonymousId", "cookies", "userAgent", "ip", "language"}
    assert visitor["cookies"] == {"__gitbook_cookie_granted": "yes"}
    assert view["url"] == "https://docs.test/a" and view["referrer"] == "https://search.test/"
    assert (view["type"], view["siteId"]) == ("site_view", world.home["siteId"])
    rated = [made["payload"] for made, _ in told(world, "listens")][1:]
    assert [one["feedback"] for one in rated] == [{"rating": "good"}, {"rating": "bad", "comment": "Why?"}]
    everything = str([told(world, name) for name in ("counts", "listens")])
    assert not any(kept in everything for kept in ("203.0.113.9", 'cookie"', "Firefox", "token=1"))


@pytest.mark.sqlite_first
def test_views_do_not_wait_for_days(world, clock):
    path = world.home.path("/orgs/{organizationId}/sites/{siteId}")
    world.post("admin", f"{path}/publish")
    failing = ECHO % "if (event.type !== 'installation_setup') throw new Error('not today');"
    publish(world, script=failing, scopes=["site:views:read", "page:feedback:read"])
    install(world)
    rating = event("page_post_feedback", feedback={"rating": "good"})

    def track(*events):
        answer = world.call("nobody", "POST", f"{path}/insights/events", json={"events": list(events)})
        assert answer.status_code == 204
        work(world)

    def waiting():
        with world.context.db.read() as tx:
            query = "SELECT type, count(*) FROM deliveries WHERE status = 'waiting' GROUP BY type"
            return dict(tx.all(query))

    track(event("page_view"), rating, event("page_view"))
    assert waiting() == {"site_view": 2, "page_feedback": 1}
    clock.advance(VIEWS_WAIT + 1000)
    track(event("page_view"))
    assert waiting() == {"site_view": 1, "page_feedback": 1}
    publish(world, script=ECHO % "", scopes=["site:views:read", "page:feedback:read"])
    clock.advance(VIEWS_WAIT - 1000)
    work(world)
    types = [made["payload"]["type"] for made, _ in told(world)]
    assert types == ["installation_setup", "page_feedback", "site_view"]


def test_visits_to_restricted_pages_are_left_out(sqlite_world):
    world = sqlite_world
    path = world.home.path("/orgs/{organizationId}/sites/{siteId}")
    world.post("admin", f"{path}/publish")
    publish(world, script=ECHO % "", scopes=["site:views:read", "page:feedback:read"])
    install(world)
    rule = [{"kind": "administrators"}, {"kind": "sites"}]
    change = {"operation": "update_page", "page": world.home["pageId"], "visibleTo": rule}
    content = world.home.path("/spaces/{spaceId}/content")
    shown = world.get("admin", f"{path}/site-spaces")["items"]
    (here,) = (one["id"] for one in shown if one["space"]["id"] == world.home["spaceId"])

    def track():
        events = [event("page_view"), event("page_post_feedback", feedback={"rating": "good"})]
        for one in events:
            place = {"siteSpace": here, "space": world.home["spaceId"], "page": world.home["pageId"]}
            one["location"].update(place)
        answer = world.call("nobody", "POST", f"{path}/insights/events", json={"events": events})
        assert answer.status_code == 204
        with world.context.db.read() as tx:
            return tx.value("SELECT count(*) FROM events WHERE type IN ('site_view', 'page_feedback')")

    assert track() == 2
    world.post("admin", content, {"changes": [change]})
    assert track() == 2
    # Other visits name neither the page they come from nor an address without a page.
    other = next(
        one["id"] for one in world.get("admin", content)["pages"] if one["id"] != world.home["pageId"]
    )
    for page in (other, None):
        visit = event("page_view")
        visit["session"]["referrer"] = "https://docs.test/secret"
        visit["location"].update(siteSpace=here, space=world.home["spaceId"], page=page)
        answer = world.call("nobody", "POST", f"{path}/insights/events", json={"events": [visit]})
        assert answer.status_code == 204
    with world.context.db.read() as tx:
        found = [str(row) for row in tx.all("SELECT payload FROM events WHERE type = 'site_view'")]
    assert len(found) == 2 and "https://docs.test/" in found[1] and "secret" not in found[1]
