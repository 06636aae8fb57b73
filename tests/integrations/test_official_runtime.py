"""An integration written with the public runtime library, built as its authors build it, runs here unmodified."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from octavo.errors import Unavailable
from octavo.extensions.integrations import invoking
from octavo.kit.net.fetch import Fetched
from octavo.operations.developing.bundling import bundle, install_packages
from octavo.operations.developing.examples import builtin_folder
from tools import absent

from .test_asking import endpoint, visit
from .test_delivering import told, work
from .test_installing import install, publish

SOURCE = Path(__file__).with_name("integration.tsx")


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> str:
    """Return the script, as one module."""
    folder = tmp_path_factory.mktemp("integration")
    for file in (builtin_folder() / "package.json", builtin_folder() / "package-lock.json", SOURCE):
        shutil.copy(file, folder)
    try:
        install_packages(folder, print)
        return bundle(folder / SOURCE.name)
    except Unavailable as error:
        absent(f"the public runtime library: {error.message}")


@pytest.fixture
def api(world, monkeypatch):
    """Send API requests of scripts to the application of the test."""

    def fetch(self, url, method="GET", headers=None, body=None, limits=None):
        answer = world.call("nobody", method, url, headers=dict(headers or {}), content=body)
        return Fetched(url, answer.status_code, httpx.Headers(answer.headers), answer.content)

    monkeypatch.setattr(invoking.Fetcher, "fetch", fetch)


def test_an_integration_is_published_installed_notified_and_rendered(world, api, built):
    scopes = ["space:metadata:read"]
    publish(world, "greetings", title="Greetings", script=built, scopes=scopes)
    made = install(world, "greetings")
    path = f"/integrations/greetings/installations/{made['id']}/spaces"
    space = world.post("admin", path, {"space": world.home["spaceId"]})
    work(world)
    (setup, logs), (placed, _) = told(world, "greetings")
    assert (setup["status"], placed["status"]) == ("success", "success"), (
        "406 for one without a handler is normal"
    )
    assert any(f"installed as active in {world.home['organizationId']}" in line for line in logs)

    context = {"type": "document", "theme": "light", "spaceId": world.home["spaceId"], "editable": False}
    asked = {"componentId": "greeting", "props": {"name": "Ada"}, "context": context}
    first = world.post("reader", "/integrations/greetings/render", asked)
    assert first["state"] == {"name": "Ada", "times": 0}
    assert first["element"]["children"][0]["title"] == "Hello Ada"
    again = {**asked, "state": first["state"], "action": {"action": "again"}}
    assert world.post("reader", "/integrations/greetings/render", again)["state"]["times"] == 1
    unknown = world.call(
        "reader", "POST", "/integrations/greetings/render", json={**asked, "componentId": "x"}
    )
    assert unknown.status_code == 404

    public = endpoint(space["urls"]["publicEndpoint"])
    answer = visit(world, "PUT", f"{public}/hello", content="from outside")
    assert (answer.status_code, answer.text) == (200, "PUT Handbook from outside")
    refused = visit(world, "GET", f"{public}/refuse")
    assert (refused.status_code, refused.json()) == (403, {"error": "not here"})
    work(world)
    tasks = [
        (event, lines) for event, lines in told(world, "greetings") if event["payload"]["type"] == "task"
    ]
    assert tasks[0][0]["status"] == "success" and 'task {"greet":"Handbook"}' in str(tasks[0][1])


def test_an_integration_signs_visitors_in_and_adds_a_script(world, api, built):
    scopes = ["site:metadata:read", "site:visitor:auth", "site:script:inject"]
    publish(world, "greetings", title="Greetings", script=built, scopes=scopes)
    made = install(world, "greetings")
    site = world.home.path("/orgs/{organizationId}/sites/{siteId}")
    path = f"/integrations/greetings/installations/{made['id']}/sites"
    placed = world.post("admin", path, {"siteId": world.home["siteId"]})
    world.call("admin", "PATCH", site, json={"visibility": "visitor-auth"})
    base = world.post("admin", f"{site}/publish")["urls"]["published"]

    asked = visit(world, "GET", f"{endpoint(base)}welcome/first?x=1")
    begin = urlsplit(asked.headers["location"])
    assert asked.status_code == 307 and parse_qs(begin.query) == {"location": ["/welcome/first"]}
    sent = visit(world, "GET", f"{begin.path}?{begin.query}")
    provider = urlsplit(sent.headers["location"])
    assert (sent.status_code, provider.netloc) == (302, "idp.example.com")
    told = parse_qs(provider.query)
    assert told == {
        "redirect_uri": [f"{placed['urls']['publicEndpoint']}/visitor-auth/response"],
        "state": ["welcome/first"],
    }
    back = visit(world, "GET", f"{endpoint(told['redirect_uri'][0])}?code=1&state={told['state'][0]}")
    assert back.headers["location"].startswith(f"{base}welcome/first?jwt_token="), back.text
    arrived = visit(world, "GET", endpoint(back.headers["location"]))
    assert (arrived.status_code, arrived.headers["location"]) == (307, f"{endpoint(base)}welcome/first")
    cookie = arrived.headers["set-cookie"].partition(";")[0]
    home = visit(world, "GET", endpoint(base), headers={"cookie": cookie}, follow=True)
    assert home.status_code == 200 and "private" in home.headers["cache-control"]
    forged = visit(world, "GET", endpoint(base), headers={"cookie": f"{cookie}x"})
    assert forged.status_code == 307

    (script,) = world.get("admin", f"{site}/integration-scripts")
    assert script["cookies"] is False and world.get("admin", f"{site}/published")["scripts"] == [script]
    loaded = visit(world, "GET", endpoint(script["script"]))
    assert loaded.headers["content-type"].startswith("text/javascript")
    assert loaded.text == f'console.log("on {world.home["siteId"]}")'


@pytest.mark.parametrize("name", ["~sign-in", "~script.js"])
def test_platform_requests_require_the_scope(world, name):
    publish(world)
    made = install(world)
    path = f"/integrations/chat/installations/{made['id']}/sites"
    placed = world.post("admin", path, {"siteId": world.home["siteId"]})
    assert visit(world, "GET", f"{endpoint(placed['urls']['publicEndpoint'])}/{name}").status_code == 404
    assert (
        world.get("admin", world.home.path("/orgs/{organizationId}/sites/{siteId}/integration-scripts")) == []
    )
