"""Tests of customization, redirects, MCP servers, the published profile, and search of sites."""

import pytest

from octavo.sites.site.customization.model import Customization


@pytest.fixture
def path(world):
    return world.home.path("/orgs/{organizationId}/sites/{siteId}")


def change(world, path, body, status=200):
    answer = world.call("admin", "PATCH", path, json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


# --- customization ------------------------------------------------------------------------------------


def test_customization_is_always_complete(world, path):
    made = world.get("admin", f"{path}/customization")
    answer = world.call("admin", "PUT", f"{path}/customization", json={})
    assert (answer.status_code, answer.json() | {"updatedAt": ""}) == (200, made | {"updatedAt": ""})
    assert {"styling", "header", "footer", "themes", "insights"} <= set(made)
    assert made["insights"] == {"trackingCookie": False}
    body = {"styling": {"theme": "gradient"}, "pageActions": {"externalAI": False}}
    world.call("admin", "PUT", f"{path}/customization", json=body)
    kept = world.get("admin", f"{path}/customization")
    assert kept["styling"] == {**made["styling"], "theme": "gradient"}
    assert kept["pageActions"]["externalAI"] is False
    # Omitted settings are reset to their defaults.
    world.call("admin", "PUT", f"{path}/customization", json={})
    assert world.get("admin", f"{path}/customization") | {"updatedAt": ""} == made | {"updatedAt": ""}


WHOLE = {
    "styling": {
        "codeTheme": {
            "default": {"light": "github-light", "dark": "dracula"},
            "openapi": {"light": "one-light", "dark": "nord"},
        }
    },
    "socialAccounts": [
        {"platform": "github", "handle": "octavo", "display": {"footer": False, "header": True}},
        {
            "platform": "mastodon",
            "handle": "@octavo@example.org",
            "display": {"footer": True, "header": False},
        },
    ],
    "pageActions": {"items": ["git", "markdown", "assistant"]},
}


def test_settings_of_newer_clients_round_trip(world, path):
    made = world.get("admin", f"{path}/customization")
    assert made["socialAccounts"] == []
    assert made["styling"]["codeTheme"]["openapi"] == {"light": "default-light", "dark": "default-dark"}
    assert made["pageActions"]["items"] == ["assistant", "external-ai", "markdown", "mcp", "pdf"]
    answer = world.call("admin", "PUT", f"{path}/customization", json=WHOLE)
    assert answer.status_code == 200, answer.text
    kept = world.get("admin", f"{path}/customization")
    assert kept["socialAccounts"] == WHOLE["socialAccounts"]
    assert kept["pageActions"]["items"] == WHOLE["pageActions"]["items"]
    assert kept["styling"]["codeTheme"] == WHOLE["styling"]["codeTheme"]
    again = world.call("admin", "PUT", f"{path}/customization", json=kept)
    assert (again.status_code, again.json()) == (200, kept)
    own = world.home.path(f"{path}/site-spaces/{{siteSpaceId}}/customization")
    theme = {name: {"light": "min-light", "dark": "min-dark"} for name in ("default", "openapi")}
    assert change(world, own, {"styling": {"codeTheme": theme}})["styling"]["codeTheme"] == theme
    world.call("admin", "DELETE", own)
    world.call("admin", "PUT", f"{path}/customization", json={})


def test_the_list_of_page_actions_matches_the_switches(world, path):
    def put(body, status=200):
        answer = world.call("admin", "PUT", f"{path}/customization", json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    listed = put({"pageActions": {"items": ["git", "markdown"]}})
    assert listed["git"] == {"showEditLink": True} and listed["pdf"] == {"enabled": False}
    assert listed["pageActions"] == {
        "externalAI": False,
        "markdown": True,
        "mcp": False,
        "items": ["git", "markdown"],
    }
    # An older client changes a switch and sends back the list unchanged.
    switched = put(
        {**listed, "pageActions": {**listed["pageActions"], "mcp": True}, "git": {"showEditLink": False}}
    )
    assert switched["pageActions"]["items"] == ["markdown", "mcp"]
    # A newer one changes the list and sends back the switches unchanged.
    relisted = put({**switched, "pageActions": {**switched["pageActions"], "items": ["pdf"]}})
    assert relisted["pdf"]["enabled"] and not relisted["pageActions"]["mcp"]
    both = {**relisted["pageActions"], "items": ["mcp"], "markdown": True}
    refused = put({**relisted, "pageActions": both}, 400)
    assert "pageActions.markdown" in refused["error"]["message"]
    own = world.home.path(f"{path}/site-spaces/{{siteSpaceId}}/customization")
    assert change(world, own, {"git": {"showEditLink": True}})["pageActions"]["items"] == ["pdf", "git"]
    world.call("admin", "DELETE", own)
    assert put({"pageActions": {"mcp": False}})["pageActions"]["items"] == [
        "assistant",
        "external-ai",
        "markdown",
        "pdf",
    ]
    put({})


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"ai": {"mode": "none", "mood": "Hi"}}, "ai.mood"),
        ({"header": {"mainLink": {"kind": "url", "url": "https://a.test/"}}}, "header.mainLink"),
        ({"motto": "x"}, "motto"),
        ({"footer": {"groups": [{"title": "x", "links": [], "subtitle": {}}]}}, "footer.groups[0]"),
    ],
)
def test_unknown_parts_of_a_customization_are_refused(world, path, body, name):
    own = world.home.path(f"{path}/site-spaces/{{siteSpaceId}}/customization")
    before = world.get("admin", f"{path}/customization")
    for method, where in (("PUT", f"{path}/customization"), ("PATCH", own)):
        answer = world.call("admin", method, where, json=body)
        assert answer.status_code == 400 and answer.json()["error"]["message"], answer.text
    assert name in world.call("admin", "PUT", f"{path}/customization", json=body).text
    assert world.get("admin", f"{path}/customization") == before


def test_a_site_space_overrides_and_resets_settings(world, path):
    own = world.home.path(f"{path}/site-spaces/{{siteSpaceId}}/customization")
    whole = world.get("admin", f"{path}/customization")
    color = {"light": "#111111", "dark": "#eeeeee"}
    body = {"styling": {"theme": "bold", "primaryColor": color}, "internationalization": {"locale": "fr"}}
    found = change(world, own, body)
    assert found["styling"] == {**whole["styling"], "theme": "bold", "primaryColor": color}
    # Settings of the site apply wherever nothing is overridden.
    world.call(
        "admin", "PUT", f"{path}/customization", json={"styling": {"theme": "muted", "corners": "circular"}}
    )
    found = world.get("admin", own)
    assert (found["styling"]["theme"], found["styling"]["corners"]) == ("bold", "circular")
    found = change(world, own, {"styling": {"theme": None}})
    assert (found["styling"]["theme"], found["styling"]["primaryColor"]) == ("muted", color)
    assert found["internationalization"]["locale"] == "fr"
    profile_of = world.home["siteSpaceId"]
    world.post("admin", f"{path}/publish")
    assert set(world.get("admin", f"{path}/published")["customizations"]["siteSpaces"]) == {profile_of}
    assert world.call("admin", "DELETE", own).status_code == 205
    assert world.call("admin", "DELETE", own).status_code == 204
    assert world.get("admin", own)["internationalization"]["locale"] == "en"
    # A site space can do without the icon of its site.
    world.call("admin", "PUT", f"{path}/customization", json={"favicon": {"emoji": "1f4d8"}})
    assert world.get("admin", own)["favicon"] == {"emoji": "1f4d8"}
    assert change(world, own, {"favicon": {}})["favicon"] == {}
    assert world.get("admin", own)["favicon"] == {}
    # Requests that only remove overrides leave nothing behind.
    change(world, own, {"styling": {"theme": None}, "favicon": None, "header": {"links": None}})
    assert world.call("admin", "DELETE", own).status_code == 204


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    "body",
    [
        {"styling": {"primaryColor": {"light": "red;}", "dark": "#000"}}},
        {"styling": {"primaryColor": {"light": "#123456\n", "dark": "#000"}}},
        {"styling": {"theme": "comic"}},
        {"favicon": {"emoji": "<b>"}},
        {"favicon": {"emoji": "1f4d8", "icon": {"light": "https://a.test/x", "dark": "https://a.test/x"}}},
        {"header": {"logo": {"light": "javascript:alert(1)", "dark": "https://a.test/x"}}},
        {"header": {"logo": {"light": "https://a.test/x') }", "dark": "https://a.test/x"}}},
        {"header": {"links": [{"title": "x", "to": {"kind": "url", "url": "javascript:x"}, "links": []}]}},
        {"header": {"links": [{"title": "x", "to": None, "links": [], "condition": "a b"}]}},
        {"footer": {"copyright": "x" * 301}},
        {"announcement": {"enabled": True, "message": "x", "style": "info"}},
        {"socialPreview": {"url": "data:text/html,x"}},
    ],
)
def test_unsafe_values_are_refused(world, path, body):
    before = world.digest()
    answer = world.call("admin", "PUT", f"{path}/customization", json=body)
    assert (answer.status_code, world.digest()) == (400, before), answer.text
    own = world.home.path(f"{path}/site-spaces/{{siteSpaceId}}/customization")
    assert world.call("admin", "PATCH", own, json=body).status_code == 400


def test_links_target_pages_of_the_site(world, path):
    space = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Apart"})["id"]
    link = {"title": "x", "to": {"kind": "page", "page": "p", "space": space}}
    for body in (
        {"header": {"links": [{**link, "links": []}]}},
        {"footer": {"groups": [{"title": "x", "links": [link]}]}},
    ):
        assert world.call("admin", "PUT", f"{path}/customization", json=body).status_code == 404


def test_defaults_match_the_model(world, path):
    import msgspec

    assert world.get("admin", f"{path}/customization") == msgspec.to_builtins(Customization())


# --- redirects ----------------------------------------------------------------------------------------


def test_redirects_are_found_by_the_most_specific_source(world, path):
    def make(source, target):
        body = {"source": source, "destination": {"kind": "url", "url": target}}
        return world.call("admin", "POST", f"{path}/redirects", json=body)

    def find(source):
        answer = world.call("admin", "GET", f"{path}/redirect", params={"source": source})
        return answer.json()["target"] if answer.is_success else answer.status_code

    for source, target in (
        ("/a/*", "https://x.test/1"),
        ("/a/b/*", "https://x.test/2"),
        ("/A/b/c", "https://x.test/3"),
    ):
        assert make(source, target).status_code == 201
    assert find("/a/x") == "https://x.test/1"
    assert find("/a/b/x/y") == "https://x.test/2"
    assert find("/a/B/c") == "https://x.test/3"
    assert find("/a") == 404
    assert make("/a/B/C", "https://x.test/4").status_code == 409
    listed = world.get("admin", f"{path}/redirects?search=/a/b")
    assert {item["source"] for item in listed["items"]} == {"/a/b/*", "/A/b/c"}


def test_redirects_follow_their_targets(world, path):
    home = world.home
    body = {
        "source": "/start",
        "destination": {"kind": "site-page", "siteSpaceId": home["siteSpaceId"], "pageId": home["pageId"]},
    }
    world.post("admin", f"{path}/redirects", body)

    def target(source):
        return world.get("admin", f"{path}/redirect", params={"source": source})["target"]

    assert target("/start").endswith(f"/docs/{home['pagePath']}")
    change(world, path, {"defaultSiteSpace": home["otherSiteSpaceId"]})
    shown = world.get("admin", f"{path}/site-spaces?default=false")["items"][0]
    assert target("/start").endswith(f"/docs/{shown['path']}/{home['pagePath']}")
    world.call("admin", "DELETE", home.path(f"{path}/site-spaces/{{siteSpaceId}}"))
    assert world.call("admin", "GET", f"{path}/redirect", params={"source": "/start"}).status_code == 404


@pytest.mark.parametrize(
    "source", ["x", "/", "/a b", "/a?b", "//a", "/a//b", "/*", "/a/*/b", "/%zz", "/" + "x" * 512]
)
def test_invalid_sources_of_redirects_are_refused(world, path, source):
    body = {"source": source, "destination": {"kind": "url", "url": "https://x.test/"}}
    assert world.call("admin", "POST", f"{path}/redirects", json=body).status_code == 400


def test_invalid_and_own_urls_are_refused_as_redirect_destinations(world, path):
    for url in (f"{world.context.settings.sites_url}/x", "https://", "http://[", "ftp://x.test"):
        body = {"source": "/x", "destination": {"kind": "url", "url": url}}
        assert world.call("admin", "POST", f"{path}/redirects", json=body).status_code == 400, url


def test_many_redirects_are_imported_as_a_table(world, path):
    home = world.home
    shown = world.get("admin", f"{path}/site-spaces?default=false")["items"][0]["path"]
    published = world.post("admin", f"{path}/publish")["urls"]["published"]
    table = f"""\ufeffsource,destination,intent
/a,/{home["pagePath"]},live
/b,/{shown}/,
/c,"https://x.test/?a,b",publish
/d,{published}{home["pagePath"]},
/A,https://x.test/other,
/e,/nothing/here,
/f,javascript:alert(1),
/g,https://x.test/,later
no path,https://x.test/,
/old,,
"""

    def take(content, status=200):
        answer = world.call("admin", "POST", f"{path}/redirects/import", json={"csv": content})
        assert answer.status_code == status, answer.text
        return answer.json()

    done = take(table)
    assert {name: done[name] for name in ("created", "updated", "removed", "unchanged")} == {
        "created": 4,
        "updated": 0,
        "removed": 1,
        "unchanged": 0,
    }
    assert [(error["row"], error["source"]) for error in done["errors"]] == [
        (6, "/A"),
        (7, "/e"),
        (8, "/f"),
        (9, "/g"),
        (10, "no path"),
    ]
    kinds = {
        item["source"]: item["destination"]["kind"]
        for item in world.get("admin", f"{path}/redirects")["items"]
    }
    assert kinds == {"/a": "site-page", "/b": "site-space", "/c": "external", "/d": "site-page"}
    done = take('source,destination\n/a,https://x.test/\n/c,"https://x.test/?a,b"\n')
    assert (done["updated"], done["unchanged"], done["errors"]) == (1, 1, [])
    row = "/{},https://x.test/\n"
    for wrong in (
        "a,b\n",
        "",
        'source,destination\n"open',
        "source,destination\n" + "".join(map(row.format, range(501))),
    ):
        take(wrong, 400)


# --- MCP servers, profile, search -----------------------------------------------------------------------


def test_headers_of_mcp_servers_are_encrypted_and_visible_to_site_managers(world, path):
    body = {"name": "Wiki", "url": "https://wiki.test/mcp", "headers": {"authorization": "Bearer hush-hush"}}
    made = world.post("admin", f"{path}/mcp-servers", body)
    assert world.get("admin", f"{path}/mcp-servers/{made['id']}")["headers"] == body["headers"]
    with world.context.db.read() as tx:
        rows = tx.all("SELECT headers FROM site_mcp_servers") + tx.all(
            "SELECT before_state, after_state FROM audit_events"
        )
    assert "hush-hush" not in str(rows)
    assert world.call("reader", "GET", f"{path}/mcp-servers").status_code == 403
    for headers in ({"a b": "x"}, {"a": "x\r\ny: z"}, {"a": ""}, {"a": "\u00e9"}):
        assert change(world, f"{path}/mcp-servers/{made['id']}", {"headers": headers}, 400)


def test_mcp_servers_have_a_transport_and_a_condition(world, path):
    body = {"name": "Wiki", "url": "https://wiki.test/mcp", "headers": {}}
    made = world.post("admin", f"{path}/mcp-servers", body)
    assert made["transport"] == "sse" and "condition" not in made
    server = f"{path}/mcp-servers/{made['id']}"
    for_some = {"transport": "http", "condition": "visitor.claims.beta"}
    changed = change(world, server, for_some, 200)
    assert for_some.items() <= changed.items()
    assert change(world, server, {"condition": "visitor.("}, 400)
    assert change(world, server, {"transport": "carrier"}, 400)
    assert "condition" not in change(world, server, {"condition": None}, 200)
    assert world.get("admin", server)["transport"] == "http"


def test_only_published_sites_have_a_profile(world, path):
    assert world.call("admin", "GET", f"{path}/published").status_code == 404
    world.post("admin", f"{path}/publish")
    found = world.get("admin", f"{path}/published")
    assert found["structure"] == world.get("admin", f"{path}/structure")
    assert (found["site"]["id"], found["scripts"]) == (world.home["siteId"], [])
    link = world.get("admin", f"{path}/share-links")["items"][0]["urls"]["published"]
    key = link.rstrip("/").rpartition("/")[2]
    found = world.get("admin", f"{path}/published", params={"shareKey": key})
    assert found["structure"]["structure"][0]["urls"]["published"].startswith(link)
    for place in ("published", "structure", "sections", "site-spaces"):
        assert world.call("admin", "GET", f"{path}/{place}", params={"shareKey": "x"}).status_code == 404


def test_a_search_of_a_site_only_covers_visible_spaces(world, path):
    space = world.home["spaceId"]

    def found(who, **body):
        answer = world.call(who, "POST", f"{path}/search", json={"query": "install", **body})
        assert answer.status_code == 200, answer.text
        return [item["id"] for item in answer.json()["items"]]

    assert found("reader", scope={"mode": "all"}) == [space]
    assert found("reader", mode="current", siteSpaceId=world.home["siteSpaceId"]) == [space]
    assert found("reader", mode="specific", siteSpaceIds=[world.home["otherSiteSpaceId"]]) == []
    change(world, f"/spaces/{space}", {"defaultLevel": None})
    assert found("reader", scope={"mode": "default"}) == []
    answer = world.call(
        "reader",
        "POST",
        f"{path}/search",
        json={"query": "x", "mode": "current", "siteSpaceId": world.home["siteSpaceId"]},
    )
    assert answer.status_code == 404
    assert world.call("reader", "POST", f"{path}/search", json={"query": "x"}).status_code == 400


def test_a_search_stays_within_its_scope(world):
    sites = world.home.path("/orgs/{organizationId}/sites")
    path = f"{sites}/{world.post('admin', sites, {'title': 'Scopes'})['id']}"
    shown = {}

    def add(name, language, where=None):
        space = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": name})["id"]
        change(world, f"/spaces/{space}", {"language": language})
        draft = world.post("admin", f"/spaces/{space}/change-requests", {"subject": "Fill"})["id"]
        edit = {"operation": "insert_page", "document": {"markdown": f"# {name}\n\nzebra\n"}}
        world.post("admin", f"/spaces/{space}/change-requests/{draft}/content", {"changes": [edit]})
        world.post("admin", f"/spaces/{space}/change-requests/{draft}/merge")
        if where is None:
            made = world.post("admin", f"{path}/sections", {"spaceId": space, "title": name})
            shown[name] = made["siteSpaces"][0]["id"]
        else:
            made = world.post("admin", f"{path}/site-spaces", {"spaceId": space, "sectionId": where})
            shown[name] = made["id"]
        titles[space] = name
        return made["id"]

    titles = {}
    guide = add("Guide", "en")
    add("Führer", "de", guide)
    reference = add("Reference", "en")
    add("Referenz", "de", reference)
    add("Old", "en", guide)

    def found(**body):
        answer = world.call("admin", "POST", f"{path}/search", json={"query": "zebra", **body})
        assert answer.status_code == 200, answer.text
        return {titles[item["id"]] for item in answer.json()["items"]}

    def by_default(current=None, restricted=None):
        asked = {"mode": "default", "currentSiteSpace": shown.get(current), "restrictTo": restricted}
        return found(scope={name: value for name, value in asked.items() if value is not None})

    assert found(scope={"mode": "all"}) == set(shown)
    assert by_default() == {"Guide", "Reference"}
    assert by_default("Führer") == {"Führer", "Referenz"}
    assert by_default("Old") == {"Old", "Reference"}
    assert by_default("Führer", "currentSiteSpace") == {"Führer"}
    assert by_default("Führer", "otherSiteSpaces") == {"Referenz"}
    assert found(scope={"mode": "specific", "siteSpaceIds": [shown["Old"]]}) == {"Old"}
    assert found(mode="current", siteSpaceId=shown["Führer"]) == {"Führer", "Referenz"}
    for scope in (
        {"mode": "default", "restrictTo": "currentSiteSpace"},
        {"mode": "all", "currentSiteSpace": shown["Old"], "restrictTo": "currentSiteSpace"},
        {"mode": "default", "currentSiteSpace": shown["Old"], "restrictTo": "elsewhere"},
    ):
        body = {"query": "zebra", "scope": scope}
        assert world.call("admin", "POST", f"{path}/search", json=body).status_code == 400
    world.call("admin", "DELETE", path)


# --- schemas ------------------------------------------------------------------------------------------


def closed(**properties):
    return {"type": "object", "properties": properties, "additionalProperties": False}


def deep(levels):
    claim = {"type": "boolean", "description": "x"}
    for _ in range(levels):
        claim = {"description": "x", **closed(a=claim)}
    return closed(a=claim)


@pytest.mark.parametrize(
    "schema",
    [
        {**closed(), "additionalProperties": True},
        {**closed(), "required": ["a"]},
        {"type": "array", "properties": {}, "additionalProperties": False},
        closed(a={"type": "boolean"}),
        closed(a={"type": "integer", "description": "x"}),
        closed(a={"type": "string", "description": "x", "pattern": "(a+)+"}),
        closed(a={"type": "array", "description": "x", "items": {"description": "x", **closed()}}),
        closed(**{"a-b": {"type": "boolean", "description": "x"}}),
        closed(unsigned={"type": "boolean", "description": "x"}),
        closed(unsigned={"description": "Anything else.", **closed()}),
        {**closed(), "$schema": "http://json-schema.org/draft-04/schema#"},
        {"$ref": "#", **closed()},
        deep(8),
        deep(200),
    ],
)
def test_unsupported_schemas_are_refused(world, path, schema):
    answer = world.call("admin", "PUT", f"{path}/adaptive-schema", json={"jsonSchema": schema})
    assert answer.status_code == 400, answer.text


def test_template_conditions_are_valid(world, path):
    word = {"type": "string", "description": "Plan", "enum": ["a", 'b"\\c']}
    nested = {"description": "Who", **closed(staff={"type": "boolean", "description": "Staff"})}
    schema = closed(plan=word, who=nested, name={"type": "string", "description": "Name"})
    answer = world.call("admin", "PUT", f"{path}/adaptive-schema", json={"jsonSchema": schema})
    assert answer.json()["jsonSchema"] == schema
    items = world.get("admin", f"{path}/adaptive-schema/template-conditions")["items"]
    assert [item["condition"] for item in items] == [
        'visitor.claims.plan == "a"',
        'visitor.claims.plan == "b\\"\\\\c"',
        "visitor.claims.who.staff == true",
    ]
    section = world.home.path(f"{path}/sections/{{siteSectionId}}")
    for item in items:
        change(world, section, {"condition": item["condition"]})


def test_a_site_has_the_icon_of_its_customization(world, path):
    assert world.get("admin", path)["icon"] is None
    for favicon in (
        {"icon": {"light": "https://a.test/l.png", "dark": "https://a.test/d.png"}},
        {"emoji": "1f4d8"},
    ):
        world.call("admin", "PUT", f"{path}/customization", json={"favicon": favicon})
        assert world.get("admin", path)["icon"] == favicon
        sites = world.get("admin", path.rpartition("/")[0])["items"]
        assert favicon in [site["icon"] for site in sites]
    world.call("admin", "PUT", f"{path}/customization", json={})
    assert world.get("admin", path)["icon"] is None


def test_a_space_contains_its_publishing_state(world):
    spaces, sites = (world.home.path(f"/orgs/{{organizationId}}/{kind}") for kind in ("spaces", "sites"))
    space = world.post("admin", spaces, {"title": "Shown"})["id"]
    site = f"{sites}/{world.post('admin', sites, {'title': 'Shows', 'spaces': [space]})['id']}"

    def shown():
        return world.get("admin", f"/spaces/{space}")

    assert not {"public", "published"} & set(shown()["urls"])
    published = world.post("admin", f"{site}/publish")["urls"]["published"]
    assert shown()["urls"]["public"] == shown()["urls"]["published"] == published
    assert "visitorAuth" not in shown()
    change(world, site, {"visibility": "unlisted"})
    assert "public" not in shown()["urls"] and shown()["urls"]["published"] == published
    change(world, site, {"visibility": "visitor-auth"})
    assert shown()["visitorAuth"] == {"backend": "custom"}
    listed = next(one for one in world.get("admin", spaces)["items"] if one["id"] == space)
    assert listed["visitorAuth"] == {"backend": "custom"} and "public" not in listed["urls"]
    world.call("admin", "DELETE", site)
