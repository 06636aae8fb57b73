"""Computed content: equal sources, seeds, and states give equal results, and nothing is revealed about
invisible inputs."""

import pytest

import computers


@pytest.fixture
def compute(world):
    def ask(what, source, seed="one", who="reader"):
        path = world.home.path("/spaces/{spaceId}/content/computed/") + what
        return world.call(who, "POST", path, json={"source": source, "seed": seed})

    computers.calls.clear()
    return ask


def test_a_document_is_computed_once_for_each_state(world, compute):
    source = computers.source(world.home["spaceId"], text="Look.")
    first = compute("document", source)
    assert first.status_code == 200 and first.json()["object"] == "document"
    assert compute("document", source).content == first.content
    assert computers.calls == ["document"]
    edit = {"operation": "insert_page", "document": {"markdown": "# More\n"}}
    world.post("admin", world.home.path("/spaces/{spaceId}/content"), {"changes": [edit]})
    assert compute("document", source).content != first.content
    assert computers.calls == ["document", "document"]


def test_ids_depend_on_the_seed(compute):
    one, again, two = (
        compute("revision", computers.source(), seed).json()["pages"] for seed in ("one", "one", "two")
    )
    assert one == again and one[0]["id"] != two[0]["id"] and len(one[0]["id"]) == 20
    page = one[0]["pages"][0]
    assert page["path"] == "after/seen" and page["computed"]["type"] == computers.TYPE
    # The page contains everything needed to get its document.
    document = compute("document", page["computed"], page["computedSeed"]).json()
    assert document["nodes"][0]["nodes"][0]["leaves"][0]["text"] == "Seen."


def test_a_hidden_space_is_not_found(world, compute):
    hidden = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Hidden"})["id"]
    world.call("admin", "PATCH", f"/spaces/{hidden}", json={"defaultLevel": None})
    source = computers.source(hidden, text="Look.")
    assert "unknown" not in compute("document", source, who="admin").text
    # A result computed for someone with access isn't returned to someone without.
    assert "unknown" in compute("document", source).text
    foreign = computers.source(world.away["spaceId"], text="Look.")
    assert "unknown" in compute("document", foreign, who="admin").text


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    ("what", "source", "named"),
    [
        ("document", {"type": "builtin:nothing"}, "source.type"),
        ("revision", {"type": "builtin:nothing"}, "source.type"),
        ("document", {"props": {}}, "type"),
        ("document", computers.source(), "source.props.text"),
        ("revision", computers.source(pages=6000), "source.type"),
        ("revision", computers.source(fails=True), "source.type"),
        ("revision", computers.source(lost=True), "source.type"),
        ("document", computers.source(text="word " * 2_000_000), "source.type"),
        (
            "document",
            {**computers.source(), "dependencies": {"x": {"ref": {"kind": "weather"}}}},
            "source.dependencies.x",
        ),
        ("document", {**computers.source(), "dependencies": {"x": {}}}, "source.dependencies.x"),
    ],
)
def test_invalid_sources_are_refused_with_their_path(compute, what, source, named):
    answer = compute(what, source)
    assert answer.status_code == 400 and named in answer.json()["error"]["message"], answer.text
