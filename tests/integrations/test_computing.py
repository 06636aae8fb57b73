"""Pages computed by integrations: in spaces, for readers, and in search; computed again when their sources
change."""

from __future__ import annotations

import json

import pytest

from octavo.extensions.integrations import active, store
from octavo.kit.clock import now

from .test_asking import HANDLER
from .test_delivering import told, work, write
from .test_installing import install, publish

SOURCES = [{"id": "menu", "title": "Menu", "configuration": {"componentId": "configure"}}]
MENU = (
    HANDLER
    % """
  const words = (text, ...more) => ({ object: "block", type: "paragraph", nodes: [
    { object: "text", leaves: [{ object: "leaf", text, marks: [] }] }, ...more] });
  const link = (page) => ({ object: "inline", type: "link", data: { ref: { kind: "page", page } }, nodes: [
    { object: "text", leaves: [{ object: "leaf", text: "the soup", marks: [] }] }] });
  const { type, sourceId, props, dependencies } = event;
  console.log(JSON.stringify(event));
  if (props.fails) return new Response("no", { status: 500 });
  if (type === "content_compute_revision") {
    const page = (id, title, props, pages) => ({ type: "document", id, title, pages, emoji: "1f372",
      computed: { type: "integration:chat:menu", props: { ...props, dish: id } } });
    return Response.json({ pages: [
      { type: "group", id: "dishes", title: "Dishes", pages: [
        page("soup", `${props.name} soup`, {}, [{ type: "link", title: "About", target: { kind: "page", \
page: "salad" } }]),
        page("salad", `Salad of ${environment.installation.configuration?.green ?? "kale"}`, {}) ] },
    ] });
  }
  if (type === "content_compute_document") {
    return Response.json({ document: { object: "document", nodes: [
      words(`Zanzibar ${props.dish} `, link("soup"), { object: "text", leaves: [{ object: "leaf", text: \
".", marks: [] }] }) ] } });
  }
  return new Response("OK");"""
)


def source(**props):
    return {"type": "integration:chat:menu", "props": {"name": "Leek", **props}}


def put_on_page(world, given):
    """Add a computed page, and return its id."""
    made = world.post(
        "admin",
        world.home.path("/orgs/{organizationId}/spaces"),
        {
            "title": "Menus",
            "computedSource": given,
        },
    )
    return made["id"]


def titles(world, space, who="reader"):
    def walk(pages):
        for page in pages:
            yield page["type"], page["title"]
            yield from walk(page.get("pages", []))

    return list(walk(world.get(who, f"/spaces/{space}/content")["pages"]))


PAGES = [
    ("group", "Dishes"),
    ("document", "Leek soup"),
    ("link", "About"),
    ("document", "Salad of kale"),
]


@pytest.fixture
def menu(world):
    publish(world, script=MENU, contentSources=SOURCES)
    return install(world)


def asked(world, kind="revision"):
    return [
        event["payload"] for event, _ in told(world) if event["payload"]["type"] == f"content_compute_{kind}"
    ]


@pytest.mark.sqlite_first
def test_an_integration_computes_the_pages_of_a_space(world, menu):
    space = put_on_page(world, source())
    assert titles(world, space) == [("computed", "Computed")], "nobody waits for a script"
    work(world)
    assert titles(world, space) == PAGES
    (event,) = asked(world)
    assert event == {
        "eventId": event["eventId"],
        "type": "content_compute_revision",
        "installationId": menu["id"],
        "spaceId": space,
        "sourceId": "menu",
        "props": {"name": "Leek"},
        "dependencies": {},
    }
    assert [one["props"] for one in asked(world, "document")] == [{"dish": "soup"}, {"dish": "salad"}]
    soup, salad = world.get("reader", f"/spaces/{space}/content")["pages"][0]["pages"]
    path = f"/spaces/{space}/content/page/{salad['id']}?format=markdown"
    assert "Zanzibar salad [the soup](" in world.get("reader", path)["markdown"]
    (about,) = soup["pages"]
    assert soup["emoji"] == "1f372"
    assert (about["target"]["kind"], about["target"]["page"]) == ("page", salad["id"])
    found = world.get("reader", f"/spaces/{space}/search?query=zanzibar")["items"]
    assert {page["id"] for page in found} == {soup["id"], salad["id"]}
    # Nothing that it depends on has changed, so it isn't requested.
    work(world)
    assert len(asked(world)) == 1


def test_a_source_is_computed_again_when_its_dependencies_change(world, menu):
    space = put_on_page(world, source())
    work(world)
    path = f"/integrations/chat/installations/{menu['id']}"
    world.call("admin", "PATCH", path, json={"configuration": {"green": "rocket"}})
    assert titles(world, space) == PAGES, "an answer stays until there is another one"
    work(world)
    assert titles(world, space)[-1] == ("document", "Salad of rocket")
    publish(world, script=MENU.replace("Zanzibar", "Pemba"), contentSources=SOURCES)
    work(world)
    assert world.get("reader", f"/spaces/{space}/search?query=pemba")["items"]
    assert not world.get("reader", f"/spaces/{space}/search?query=zanzibar")["items"]
    publish(world, script="export default { fetch() { throw 1; } };", contentSources=SOURCES)
    work(world)
    assert len(titles(world, space)) == 4, "what fails takes nothing away"
    world.call("admin", "DELETE", path)
    work(world)
    assert titles(world, space) == [("computed", "Computed")]
    assert not world.get("reader", f"/spaces/{space}/search?query=pemba")["items"]


@pytest.mark.sqlite_first
def test_source_spaces_are_passed_with_their_revision(world, menu):
    home = world.home["spaceId"]
    given = {**source(), "dependencies": {"of": {"ref": {"kind": "space", "space": home}}}}
    put_on_page(world, given)
    work(world)
    before = len(asked(world))
    # Visitors of a site don't see the other space; people who see what the installation sees do.
    assert {json.dumps(one["dependencies"]["of"]["value"] is None) for one in asked(world)} == {
        "true",
        "false",
    }
    revision = write(world, "Other words")["revision"]
    work(world)
    (more,) = asked(world)[before:]
    assert more["dependencies"]["of"]["value"] == {"object": "space", "id": home, "revision": revision}


@pytest.mark.sqlite_first
def test_a_failed_computation_is_retried(world, menu, clock):
    publish(world, script="export default { fetch() { throw 1; } };", contentSources=SOURCES)
    space = put_on_page(world, source())
    work(world)
    assert len(asked(world)) == 1 and titles(world, space) == [("computed", "Computed")]
    clock.advance(61_000)
    work(world)
    assert len(asked(world)) == 2
    publish(world, script=MENU, contentSources=SOURCES)
    work(world)
    assert titles(world, space) == PAGES


@pytest.mark.sqlite_first
def test_a_source_without_a_page_is_computed_immediately(world, menu):
    path = world.home.path("/spaces/{spaceId}/content/computed/")
    found = world.post("reader", f"{path}revision", {"source": source(), "seed": "one"})
    soup, salad = found["pages"][0]["pages"]
    given = {"source": salad["computed"], "seed": salad["computedSeed"]}
    document = world.post("reader", f"{path}document", given)
    assert document["nodes"][0]["nodes"][1]["data"]["ref"] == {"kind": "page", "page": soup["id"]}
    again = world.post("reader", f"{path}revision", {"source": source(), "seed": "one"})
    assert again == found and len(asked(world)) == 1


ANSWERS = [
    ("revision", "'no JSON'", "returned an invalid response"),
    ("revision", "JSON.stringify({ pages: [{ type: 'document', title: '' }] })", "$.pages[0].title"),
    ("revision", "JSON.stringify({ pages: [{ type: 'song', title: 'x' }] })", "song"),
    (
        "revision",
        "JSON.stringify({ pages: [{ type: 'document', title: 'x', id: '../x' }] })",
        "$.pages[0].id",
    ),
    (
        "revision",
        "JSON.stringify({ pages: [{ type: 'document', title: 'x', emoji: 'x' }] })",
        "pages[0].emoji",
    ),
    ("revision", "JSON.stringify({ pages: [{ type: 'group', title: 'x', pages: [] }] })", "$.pages[0].pages"),
    (
        "revision",
        "JSON.stringify({ pages: [{ type: 'link', title: 'x', target: { kind: 'page', page: {} } }] })",
        "pages[0].target",
    ),
    (
        "revision",
        """'{"pages":' + '[{"type":"document","title":"x","pages":'.repeat(40) + '[]' + '}]'.repeat(40) + '}'""",
        "32 levels deep",
    ),
    ("revision", "JSON.stringify({ files: [{ name: 'x' }] })", "$.files"),
    (
        "revision",
        "JSON.stringify({ pages: [1, 1].map(() => ({ type: 'document', title: 'x', id: 'x' })) })",
        "unique ID and path",
    ),
    (
        "revision",
        "JSON.stringify({ pages: Array(5001).fill({ type: 'document', title: 'x' }) })",
        "more than 5,000",
    ),
    ("revision", "'['.repeat(100000)", "returned an invalid response"),
    (
        "revision",
        """'{"pages":' + '[{"type":"document","title":"x","pages":'.repeat(3000) + '[]' + '}]'.repeat(3000) + '}'""",
        "returned an invalid response",
    ),
    ("revision", "'x'.repeat(8400000)", "8 MB"),
    ("document", "JSON.stringify({ pages: [] })", "document"),
    (
        "document",
        "JSON.stringify({ document: { nodes: [{ object: 'block', type: 'volcano' }] } })",
        "volcano",
    ),
    ("document", "JSON.stringify([])", "document"),
]


@pytest.mark.sqlite_first
def test_invalid_computed_content_is_refused_with_its_path(world):
    cases = ", ".join(f"() => {answer}" for _, answer, _ in ANSWERS)
    script = HANDLER % f"return new Response([{cases}][event.props.case]());"
    publish(world, script=script, contentSources=SOURCES)
    install(world)
    path = world.home.path("/spaces/{spaceId}/content/computed/")
    for n, (what, _, named) in enumerate(ANSWERS):
        given = {"source": source(case=n), "seed": "one"}
        refused = world.call("reader", "POST", f"{path}{what}", json=given)
        assert refused.status_code == 400 and named in refused.json()["error"]["message"], refused.text


@pytest.mark.sqlite_first
def test_only_installed_integrations_compute_content(world, menu):
    path = world.home.path("/spaces/{spaceId}/content/computed/revision")
    for type in ("integration:chat:none", "integration:none:menu", "integration:chat", "integration:"):
        refused = world.call("reader", "POST", path, json={"source": {"type": type}, "seed": "one"})
        assert refused.status_code == 400 and "source.type" in refused.json()["error"]["message"]
    failing = world.call("reader", "POST", path, json={"source": source(fails=True), "seed": "one"})
    assert failing.status_code == 502
    other = world.away.path("/spaces/{spaceId}/content/computed/revision")
    assert world.call("admin", "POST", other, json={"source": source(), "seed": "one"}).status_code in (
        400,
        404,
    )


def test_unused_computed_content_is_deleted(world, menu, clock):
    space = put_on_page(world, source())
    work(world)
    with world.context.db.write() as tx:
        row = store.AnswerRow("x", "x", "{}")
        store.put_answer(tx, "old", menu["id"], space, row)
        store.keep_answers(tx, space, [], now() - 1000)
        assert store.find_answer(tx, "old") == row
        store.keep_answers(tx, space, [], now() + 1000)
        assert store.find_answer(tx, "old") is None


@pytest.mark.sqlite_first
def test_integrations_reach_a_private_space_only_if_selected_there(world, menu):
    home = world.home
    hidden = world.post("admin", home.path("/orgs/{organizationId}/spaces"), {"title": "Hidden"})["id"]
    world.call("admin", "PATCH", f"/spaces/{hidden}", json={"defaultLevel": None})

    def names():
        return [one["name"] for one in world.get("admin", f"/spaces/{hidden}/integrations")["items"]]

    def found():
        with world.context.db.read() as tx:
            row = store.find_integration(tx, "chat")
            return active.find_active(tx, row, home["organizationId"], hidden)

    assert names() == [] and found() is None
    world.post("admin", f"/integrations/chat/installations/{menu['id']}/spaces", {"space": hidden})
    assert names() == ["chat"] and found() is not None
