"""Further requests of a renderer: people, API specifications, and blocks of integrations. Visitors have access if a
page shows them."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from octavo.kit.http.operation import PUBLIC, TABLE
from octavo.operations.installation import load_packages
from world import World

from ..contract.samples import SAMPLES, sample_of
from ..integrations.test_installing import install, publish
from ..openapi.specs import SMALL, processed
from .test_locating import Site

load_packages()

pytestmark = pytest.mark.sqlite_first

PAYING = "visitor.claims.paying"
WITH_PETS = SMALL.replace("{}", "{/pets: {get: {tags: [pets], responses: {}}}}")
OPERATION = (
    '{% openapi-operation spec="pets" path="/pets" method="get" %}\n[pets](openapi:pets)\n'
    "{% endopenapi-operation %}"
)
SCRIPT = """
export default { async fetch(request) {
  const event = JSON.parse((await request.formData()).get("event"));
  if (event.type !== "ui_render") return new Response("OK");
  const element = { type: "block", children: [{ type: "text", children: JSON.stringify(event) }] };
  return Response.json({ type: "element", element, state: {}, props: event.props });
} };"""


class Named:
    """Site with adaptive content, whose page More of Plans has variable content."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.site = Site(world)
        claim = {"type": "boolean", "description": "Pays"}
        schema = {"type": "object", "properties": {"paying": claim}, "additionalProperties": False}
        answer = world.call("admin", "PUT", f"{self.site.path}/adaptive-schema", json={"jsonSchema": schema})
        assert answer.status_code == 200, answer.text
        self.site.change("", {"adaptiveContent": {"enabled": True}})
        self.space = self.site.spaces["Plans"]

    def write(self, markdown: str, slug: str, condition: str | None = None) -> str:
        """Add a page to Plans."""
        head = f"---\nif: {condition}\n---\n\n" if condition else ""
        document = {"markdown": f"{head}# {slug}\n\n{markdown}\n"}
        self.site.edit(self.space, {"operation": "insert_page", "slug": slug, "document": document})
        pages = self.world.get("admin", f"/spaces/{self.space}/content/pages")["pages"]
        return str(next(page["id"] for page in pages if page["slug"] == slug))

    def remove(self, page: str) -> None:
        self.site.edit(self.space, {"operation": "delete_page", "page": page})

    def token(self, **claims: Any) -> str:
        visitor = {"jwtToken": self.site.token(**claims)} if claims else None
        return str(self.site.found("", visitor)["apiToken"])

    def other_token(self) -> str:
        """Token of another site of the organization, which shows another space."""
        sites = self.world.home.path("/orgs/{organizationId}/sites")
        made = self.world.post("admin", sites, {"title": "Other", "spaces": [self.site.spaces["Guide"]]})[
            "id"
        ]
        url = self.world.post("admin", f"{sites}/{made}/publish")["urls"]["published"]
        return str(self.world.post("nobody", "/urls/published", {"url": url})["apiToken"])


@pytest.fixture
def named(world: World) -> Named:
    return Named(world)


def spec(named: Named, token: str, rest: str = "latest/content", slug: str = "pets") -> httpx.Response:
    path = named.world.home.path(f"/orgs/{{organizationId}}/openapi/{slug}/versions/{rest}")
    return named.site.read(token, path)


def person(named: Named, token: str, user: str) -> httpx.Response:
    return named.site.read(token, f"/users/{user}")


# --- specifications -------------------------------------------------------------------------------------


def test_specifications_on_a_page_are_returned(named: Named) -> None:
    world = named.world
    processed(world, "pets", {"text": SMALL})
    processed(world, "secret", {"text": SMALL})
    token = named.token()
    assert spec(named, token).status_code == 404
    page = named.write(OPERATION, "api")
    shown = spec(named, token)
    assert shown.status_code == 200, shown.text
    assert shown.json()["filesystem"][0]["specification"]["info"]["title"] == "Small"
    assert shown.json()["urls"]["source"] and shown.json()["urls"]["public"] is None
    assert spec(named, token, "latest").status_code == 200
    version = spec(named, token, "latest").json()["id"]
    refused = [
        spec(named, token, slug="secret"),
        spec(named, token, ""),
        spec(named, token, version),
        spec(named, token, f"{version}/content"),
        named.site.read(token, world.home.path("/orgs/{organizationId}/openapi")),
        named.site.read(token, world.home.path("/orgs/{organizationId}/openapi/pets")),
        named.site.read(
            token, world.away.path("/orgs/{organizationId}/openapi/pets/versions/latest/content")
        ),
        spec(named, named.other_token()),
    ]
    assert {answer.status_code for answer in refused} <= {401, 404}, [one.text for one in refused]
    named.remove(page)
    assert spec(named, token).status_code == 404
    named.write(OPERATION, "again")
    assert spec(named, token).status_code == 200
    named.site.make("unpublish", {})
    assert spec(named, token).status_code == 401, "it is good for nothing any more"


@pytest.mark.parametrize("how", ["page", "block", "included", "hidden section"])
def test_conditional_specifications_are_only_returned_to_matching_visitors(named: Named, how: str) -> None:
    processed(named.world, "pets", {"text": SMALL})
    shown = f"{{% if {PAYING} %}}\n{OPERATION}\n{{% endif %}}"
    if how == "page":
        named.write(OPERATION, "api", PAYING)
    elif how == "block":
        named.write(shown, "api")
    elif how == "included":
        item = named.world.post("admin", f"/spaces/{named.space}/change-requests", {"subject": "Reuse"})["id"]
        change = f"/spaces/{named.space}/change-requests/{item}"
        made = named.world.post(
            "admin",
            f"{change}/content",
            {
                "changes": [
                    {
                        "operation": "insert_reusable_content",
                        "title": "Api",
                        "document": {"markdown": OPERATION},
                    }
                ]
            },
        )
        assert made
        named.world.post("admin", f"{change}/merge")
        found = named.world.get("admin", f"/spaces/{named.space}/content")
        reusable = next(one for one in found["reusableContents"] if one["title"] == "Api")
        assert spec(named, named.token(paying=True)).status_code == 404, "nothing includes it yet"
        named.write(f'{{% include "reusable-content:{reusable["id"]}" %}}', "api", PAYING)
    else:
        named.write(OPERATION, "api")
        named.site.change(f"sections/{named.site.plans['id']}", {"condition": PAYING})
    assert spec(named, named.token()).status_code == 404
    assert spec(named, named.token(paying=False)).status_code == 404
    answer = spec(named, named.token(paying=True))
    assert answer.status_code == 200, answer.text


def test_computed_pages_name_their_specification(named: Named) -> None:
    processed(named.world, "pets", {"text": WITH_PETS})
    source = {
        "type": "builtin:openapi",
        "props": {},
        "dependencies": {"spec": {"ref": {"kind": "openapi", "spec": "pets"}}},
    }
    spaces = named.world.home.path("/orgs/{organizationId}/spaces")
    made = named.world.post("admin", spaces, {"title": "Reference", "computedSource": source})["id"]
    assert spec(named, named.token()).status_code == 404
    named.site.make("sections", {"spaceId": made, "title": "Reference"})
    assert spec(named, named.token()).status_code == 200


# --- people -----------------------------------------------------------------------------------------------


def test_mentioned_people_are_returned(named: Named) -> None:
    world = named.world
    user = world.users["editor"]
    with world.context.db.write() as tx:
        tx.run("UPDATE users SET photo_url = 'https://pictures.example/1.png' WHERE id = :id", id=user)
    token = named.token()
    assert person(named, token, user).status_code == 404
    page = named.write(f'By [Ana](user:{user} "mention").', "by", PAYING)
    assert person(named, token, user).status_code == 404
    answer = person(named, named.token(paying=True), user)
    assert answer.status_code == 200, answer.text
    shown = answer.json()
    assert set(shown) == {"object", "id", "displayName", "photoURL", "urls"}
    assert shown["photoURL"] == "https://pictures.example/1.png"
    assert person(named, named.other_token(), user).status_code == 404
    assert person(named, named.token(paying=True), world.users["reader"]).status_code == 404
    for method in ("PATCH", "DELETE"):
        headers = {"authorization": f"Bearer {named.token(paying=True)}"}
        answer = world.call("nobody", method, f"/users/{user}", headers=headers, json={"displayName": "x"})
        assert answer.status_code in (401, 404, 405), answer.text
    named.remove(page)
    assert person(named, named.token(paying=True), user).status_code == 404


def test_people_in_table_cells_are_returned(named: Named) -> None:
    """A renderer requests the content of such a cell. Text that isn't an id returns 404."""
    user = named.world.users["editor"]
    token = named.token()
    cells = f'<td><a href="{user}">Ana</a>, <a href="{named.world.users["stranger"]}">x</a></td><td>Ada</td>'
    table = (
        f'<table><thead><tr><th data-type="users" data-multiple>A</th><th '
        f'data-type="users">B</th></tr></thead><tbody><tr>{cells}</tr></tbody></table>'
    )
    assert person(named, token, user).status_code == 404
    page = named.write(table, "people")
    given = named.site.read(token, f"/spaces/{named.space}/content/page/{page}").json()
    assert user in str(given["document"])
    answer = person(named, token, user)
    assert answer.status_code == 200 and "email" not in answer.json(), answer.text
    for other in (named.world.users["stranger"], named.world.users["reader"], "Ada", "%20"):
        assert person(named, token, other).status_code == 404, other
    named.remove(page)
    assert person(named, token, user).status_code == 404


def test_api_blocks_stay_blocks(named: Named) -> None:
    """The renderer draws them from the specification; one in a file of the space is drawn here."""
    processed(named.world, "pets", {"text": WITH_PETS})
    schemas = (
        '{% openapi-schemas spec="pets" schemas="Pet" grouped="true" %}\n[pets](openapi:pets)\n'
        "{% endopenapi-schemas %}"
    )
    page = named.write(f"{OPERATION}\n\n{schemas}\n\nAfter.", "api")
    token = named.token()
    nodes = named.site.read(token, f"/spaces/{named.space}/content/page/{page}").json()["document"]["nodes"]
    blocks = [node for node in nodes if node["type"].startswith("openapi")]
    assert [block["type"] for block in blocks] == ["openapi-operation", "openapi-schemas"]
    assert (
        blocks[0]["data"].items()
        >= {
            "ref": {"kind": "openapi", "spec": "pets"},
            "path": "/pets",
            "method": "get",
        }.items()
    )
    source = {
        "type": "builtin:openapi",
        "props": {},
        "dependencies": {"spec": {"ref": {"kind": "openapi", "spec": "pets"}}},
    }
    spaces = named.world.home.path("/orgs/{organizationId}/spaces")
    made = named.world.post("admin", spaces, {"title": "Reference", "computedSource": source})["id"]
    named.site.make("sections", {"spaceId": made, "title": "Reference"})
    token = named.token()
    pages = named.site.read(token, f"/spaces/{made}/content/pages").json()["pages"]
    told = ""
    for one in pages:
        answer = named.site.read(token, f"/spaces/{made}/content/page/{one['id']}")
        told += answer.text
    assert '"openapi-operation"' in told and '"path":"/pets"' in told


def test_people_of_other_organizations_are_not_named(named: Named) -> None:
    """Authors can't publish names of people with whom they share no organization."""
    stranger = named.world.users["stranger"]
    named.write(f'By [Ana](user:{stranger} "mention").', "by")
    answer = person(named, named.token(), stranger)
    assert answer.status_code == 404 and "displayName" not in answer.text


# --- blocks of integrations ---------------------------------------------------------------------------------


def render(named: Named, token: str, block: str = "card", props: Any = None, **more: Any) -> httpx.Response:
    context = {"type": "document", "theme": "dark", "spaceId": named.space, "editable": False}
    asked = {"componentId": block, "props": {"n": "1"} if props is None else props, "context": context} | more
    headers = {"authorization": f"Bearer {token}"}
    return named.world.call("nobody", "POST", "/integrations/chat/render", headers=headers, json=asked)


def with_blocks(named: Named) -> Any:
    blocks = [
        {"id": "card", "title": "Card"},
        {"id": "film", "title": "Film", "urlUnfurl": ["https://films.example/"]},
    ]
    publish(named.world, script=SCRIPT, blocks=blocks)
    return install(named.world)


def test_blocks_of_integrations_are_returned(named: Named) -> None:
    world, token = named.world, named.token()
    made = with_blocks(named)
    assert render(named, token).status_code == 404, "nothing stands there"
    page = named.write('{% @chat/card n="1" %}', "card", PAYING)
    assert render(named, token).status_code == 404
    token = named.token(paying=True)
    answer = render(named, token)
    assert answer.status_code == 200, answer.text
    assert (
        '\\"editable\\":false' in answer.text and "userId" not in answer.text and "paying" not in answer.text
    )
    asked = len(world.get("admin", "/integrations/chat/events")["items"])
    assert render(named, token).status_code == 200
    assert len(world.get("admin", "/integrations/chat/events")["items"]) == asked, "it was kept"
    here = {"type": "document", "theme": "dark", "spaceId": named.space, "editable": False}
    guide = here | {"spaceId": named.site.spaces["Guide"]}
    forms: list[dict[str, Any]] = [
        {"props": {"n": "2"}},
        {"block": "film"},
        {"state": {"open": True}},
        {"action": {"action": "delete"}},
        {"context": guide},
        {"context": here | {"editable": True}},
        {"context": here | {"spaceId": world.home["spaceId"]}},
        {"context": here | {"spaceId": world.away["spaceId"]}},
        {"context": {"type": "configuration_space", "theme": "dark", "spaceId": named.space}},
        {"context": {"type": "configuration_site", "theme": "dark", "siteId": named.site.id}},
        {
            "context": {
                "type": "configuration_account",
                "theme": "dark",
                "organizationId": world.home["organizationId"],
            }
        },
    ]
    for form in forms:
        assert render(named, token, **form).status_code in (401, 404), form
    assert render(named, named.other_token()).status_code == 401
    headers = {"authorization": f"Bearer {token}"}
    answer = world.call(
        "nobody", "GET", "/integrations/chat/render", headers=headers, params={"request": "{}"}
    )
    assert answer.status_code in (401, 404)
    named.remove(page)
    assert render(named, token).status_code == 404
    named.write('{% @chat/card n="1" %}', "again")
    assert render(named, token).status_code == 200
    world.call("admin", "DELETE", f"/integrations/chat/installations/{made['id']}")
    assert render(named, token).status_code == 404


def test_urls_of_integration_blocks_are_returned(named: Named) -> None:
    with_blocks(named)
    named.write('{% embed url="https://films.example/one" %}', "film")
    token = named.token()

    def unfurl(url: str, block: str = "film") -> int:
        return render(named, token, block, {}, action={"action": "@link.unfurl", "url": url}).status_code

    assert unfurl("https://films.example/one") == 200
    assert unfurl("https://films.example/two") == 404
    assert unfurl("https://films.example/one", "card") == 404
    assert render(named, token, "film", {}).status_code == 404


# --- everything else ------------------------------------------------------------------------------------------


def open_to_visitors() -> set[str]:
    load_packages()
    return {operation.id for operation in TABLE.values() if operation.visit_type is not None}


def test_operations_open_to_visitors_are_read_only() -> None:
    open_ones = open_to_visitors()
    assert len(open_ones) == 30
    # Operations for visitors change nothing; those with a body only ask.
    writes = {id for id in open_ones if TABLE[id].method != "GET"}
    assert writes == {
        "prewarmSiteSearch",
        "searchSiteContent",
        "streamAskInSite",
        "streamAIResponseInSite",
        "renderIntegrationUIWithPost",
    }


@pytest.mark.slow
def test_no_other_operation_is_open_to_visitors(sqlite_world: World) -> None:
    """With the ids of the token's own site, and with those of another organization."""
    world = sqlite_world
    wrong, headers, before = [], dict[str, str](), ""
    asked = [op for op in TABLE.values() if op.needs is not PUBLIC and op.id in SAMPLES]
    for operation, place in ((op, place) for op in asked for place in (world.home, world.away)):
        if place is world.home and operation.visit_type is not None:
            continue
        sample = sample_of(operation)
        if sample.before is not None or not headers:
            world.renew()
            site = world.home.path("/orgs/{organizationId}/sites/{siteId}")
            url = world.post("admin", f"{site}/publish")["urls"]["published"]
            token = world.post("nobody", "/urls/published", {"url": url})["apiToken"]
            if sample.before is not None:
                sample.before(world, place)
            headers, before = {"authorization": f"Bearer {token}"}, world.digest()
        answer = world.call(
            "nobody",
            operation.method,
            sample.ids(place, operation.path),
            headers=headers,
            params=sample.query_for(place),
            json=sample.body_for(place),
        )
        if answer.status_code not in (401, 404, 204) or (answer.content and answer.status_code == 204):
            wrong.append(f"{operation.id} in {place}: {answer.status_code} {answer.text[:200]}")
        if world.digest() != before:
            wrong.append(f"{operation.id} changed something")
            headers = {}
    assert not wrong, "\n".join(wrong)
