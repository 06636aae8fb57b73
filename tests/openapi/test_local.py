"""Blocks that show a description in a file of their space."""

from __future__ import annotations

import base64
import re
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from light_client import LightClient
from octavo.content.revisions.deriving import check_derived, rebuild_derived
from octavo.content.revisions.states import main_state
from octavo.content.search.computed import index_computed_pages
from octavo.core.document.text import to_text
from octavo.delivery.reader.app import reader_edge
from octavo.operations.admin.import_export import import_space
from octavo.sites.openapi import local
from octavo.sites.openapi.local import read_descriptions
from octavo.sites.printing.inputs import collect_order
from octavo.sites.printing.order import read_document
from octavo.sites.printing.store import PrintSubject
from world import World

pytestmark = pytest.mark.sqlite_first

PETS = Path(__file__).parents[1] / "pets.yaml"
BLOCK = """{{% openapi src="{path}" path="/pets" method="post" %}}
[pets]({path})
{{% endopenapi %}}
"""
PAGE = "# Blocks\n\n" + BLOCK.format(path=".gitbook/assets/pets.yaml")


class Space:
    """Published space of a folder."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world = world
        self.folder = folder
        self.assets = folder / ".gitbook" / "assets"
        self.assets.mkdir(parents=True)
        shutil.copy(PETS, self.assets)
        (folder / "SUMMARY.md").write_text("* [Home](README.md)\n* [Blocks](blocks.md)\n")
        (folder / "README.md").write_text("# Home\n")
        (folder / "blocks.md").write_text(PAGE)
        self.id = ""

    def bring(self) -> None:
        given: Any = {"organization_id": self.world.home["organizationId"], "title": "Shop", "publish": True}
        brought = import_space(
            self.world.context, str(self.folder), **({"space_id": self.id} if self.id else given)
        )
        self.id = brought.outcome.space
        if brought.site_url:
            self.base = re.sub(r"^https?://[^/]+", "", brought.site_url)

    def read(self) -> None:
        read_descriptions(self.world.context, self.id)

    def get(self, path: str) -> httpx.Response:
        client = LightClient(reader_edge(self.world.context), "http://sites.test")
        return client.ask("GET", self.base + path)

    def jobs(self, kind: str) -> int:
        with self.world.context.db.read() as tx:
            found = tx.all("SELECT payload FROM jobs WHERE kind = :kind", kind=kind)
        return sum(self.id in payload for (payload,) in found)

    def states(self) -> list[tuple[str, str | None]]:
        with self.world.context.db.read() as tx:
            return [
                tuple(row)  # type: ignore[misc]
                for row in tx.all(
                    "SELECT state, complaint FROM openapi_sources WHERE space_id = :id ORDER BY content",
                    id=self.id,
                )
            ]


@pytest.fixture
def space(world: World, tmp_path: Path) -> Space:
    return Space(world, tmp_path / "source")


def test_an_operation_of_a_file_is_rendered(space: Space) -> None:
    space.bring()
    # Until the file has been read, the block shows its name.
    page = space.get("blocks").text
    assert "/pets" in page and "Add a pet" not in page
    assert space.jobs("readDescriptions") == 1
    space.read()
    page = space.get("blocks").text
    assert "Add a pet" in page and "https://eu.pets.example/v1/pets" in page and "What it is called" in page
    assert "**POST** `https://eu.pets.example/v1/pets`" in space.get("blocks.md").text
    address = re.search(r'data-try="([^"]+)"', page)
    assert address is not None
    form = space.get(address[1].replace("&amp;", "&").removeprefix(space.base))
    assert form.status_code == 200 and form.json()["path"] == "/pets"


def test_links_point_only_to_shown_parts_of_the_same_description(space: Space) -> None:
    schemas = '{{% openapi-schemas {source} schemas="Pet,Owner" %}}\n{{% endopenapi-schemas %}}\n'
    (space.folder / "blocks.md").write_text(PAGE + schemas.format(source='spec="nothing"'))
    space.bring()
    space.read()
    page = space.get("blocks").text
    assert "Add a pet" in page
    assert {*re.findall(r'href="?#([^"\s>]+)', page)} <= {*re.findall(r'id="?([^"\s>]+)', page)}


def test_prints_and_search_contain_the_operation(space: Space, tmp_path: Path) -> None:
    space.bring()
    space.read()
    context = space.world.context
    with context.db.read() as tx:
        state = main_state(tx, space.id)
        print_ = tmp_path / "print"
        print_.mkdir()
        wanted = PrintSubject(space.id, state.revision_id, None, False, "")
        order = collect_order(context, tx, state, wanted, print_)
    said = {chapter.title: to_text(read_document(print_, n)) for n, chapter in enumerate(order.chapters)}
    assert "What it is called" in said["Blocks"]
    assert space.jobs("indexComputedPages") == 1
    index_computed_pages(context, space.id)
    hits = space.get("~search.json?q=What+it+is+called").json()["hits"]
    assert [hit["title"] for hit in hits] == ["Blocks"]


def test_each_revision_shows_its_own_file(space: Space) -> None:
    space.bring()
    space.read()
    assert "Add a pet" in space.get("blocks").text
    (space.assets / "pets.yaml").write_text(PETS.read_text().replace("Add a pet", "Take a pet in"))
    space.bring()
    space.read()
    page = space.get("blocks").text
    assert "Take a pet in" in page and "Add a pet" not in page
    with space.world.context.db.read() as tx:
        before = tx.value(
            "SELECT r.id FROM revisions r JOIN branches b ON b.id = r.branch_id WHERE b.space_id = :id"
            " AND r.sequence = b.sequence - 1",
            id=space.id,
        )
    old = space.world.get(
        "admin", f"/spaces/{space.id}/revisions/{before}/page/{_page_id(space)}?format=markdown"
    )
    assert "openapi src" in old["markdown"]
    assert [state for state, _ in space.states()] == ["good", "good"]


def _page_id(space: Space) -> str:
    found: str = space.world.get("admin", f"/spaces/{space.id}/content/path/blocks")["id"]
    return found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("openapi: 3.1.0\ninfo: {title: T\n", "line "),
        ("just: text\n", "must have the key"),
        (
            "openapi: 3.1.0\ninfo: {title: T, version: '1'}\npaths: {/a: {$ref: 'https://x.test/a.yaml'}}\n",
            "x.test",
        ),
        ("openapi: 3.1.0\ninfo: {title: <script>alert(1)</script>}\n", "version"),
    ],
)
def test_errors_of_files_are_shown_in_place_of_the_description(space: Space, text: str, said: str) -> None:
    (space.assets / "pets.yaml").write_text(text)
    space.bring()
    space.read()
    page = space.get("blocks").text
    assert "be shown as an API specification." in page and said in page
    assert "<script>alert" not in page
    assert "pets.yaml can't be shown" in space.get("blocks.md").text


def test_files_without_a_specification_start_no_process(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "compile_apart", lambda data: pytest.fail("was compiled"))
    (space.assets / "pets.yaml").unlink()
    (space.assets / "numbers.json").write_text("[1, 2]")
    (space.assets / "openapi.txt").write_text("openapi: 3.1.0\n")
    space.bring()
    space.read()
    assert [state for state, _ in space.states()] == ["bad"]


def test_identical_files_are_parsed_once(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []
    compile_apart = local.compile_apart
    monkeypatch.setattr(local, "compile_apart", lambda data: read.append(data) or compile_apart(data))
    shutil.copy(PETS, space.assets / "again.yaml")
    space.bring()
    space.read()
    (space.folder / "blocks.md").write_text(f"{PAGE}\nMore.\n")
    space.bring()
    space.read()
    assert len(read) == 1


def test_a_change_request_shows_its_own_file(space: Space) -> None:
    space.bring()
    space.read()
    world = space.world
    change = world.post("admin", f"/spaces/{space.id}/change-requests", {"subject": "More pets"})["id"]
    text = PETS.read_text().replace("Add a pet", "Take a pet in")
    files = [
        {"name": "new.yaml", "base64": base64.b64encode(text.encode()).decode(), "contentType": "text/yaml"}
    ]
    path = f"/spaces/{space.id}/change-requests/{change}"
    world.post("admin", f"{path}/content", {"changes": [{"operation": "insert_files", "files": files}]})
    assert sorted(state for state, _ in space.states()) == ["good", "waiting"]
    space.read()
    assert [state for state, _ in space.states()] == ["good", "good"]


def test_copies_and_lost_data_are_compiled_again(space: Space) -> None:
    space.bring()
    space.read()
    world = space.world
    copy = world.post("admin", f"/spaces/{space.id}/duplicate", {})["id"]
    with world.context.db.read() as tx:
        assert check_derived(tx, copy, ()) == []
        assert tx.value("SELECT state FROM openapi_sources WHERE space_id = :id", id=copy) == "good"
    with world.context.db.write() as tx:
        tx.run("DELETE FROM openapi_sources WHERE space_id = :id", id=space.id)
    with world.context.db.read() as tx:
        assert check_derived(tx, space.id, ()) == ["openapi: 1 file not read"]
    rebuild_derived(world.context.db, space.id, ())
    space.read()
    with world.context.db.read() as tx:
        assert check_derived(tx, space.id, ()) == []
    assert "Add a pet" in space.get("blocks").text
