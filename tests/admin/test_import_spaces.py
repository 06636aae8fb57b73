"""Import of a repository with several spaces: each becomes a space, and links between them work."""

from __future__ import annotations

from typing import Any

import pytest

from octavo.content.revisions.bodies import get_body
from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.states import main_state
from octavo.errors import BadRequest
from octavo.operations.admin.docs_sites import ImportedSite, import_as_site_or_space
from octavo.operations.admin.import_export import CompletedImport, read_known
from octavo.organization.spaces.store import get_space

DOCS = """site:
  title: Product
  structure:
    - type: section
      key: guides
      title: Guides
      children:
        - type: space
          key: user
          title: User guide
          content:
            directory: ./user
            language: de
        - type: space
          key: away
          content:
            directory: null
    - type: space
      key: api
      title: API
      content:
        directory: /reference
    - type: space
      key: gone
      content:
        directory: nowhere
"""
USER = """# Start

[by key](https://app.gitbook.com/s/api/calls#one) [by id](https://app.gitbook.com/s/OLDapi123/calls)
[by both](https://app.gitbook.com/o/ORG/s/OLDapi123/more) [unknown](https://app.gitbook.com/s/OTHER9/x)
[mapped](https://app.gitbook.com/s/MAPPED7/) [elsewhere](https://example.com/s/OLDapi123/calls)
"""
FILES = {
    "docs.yaml": DOCS,
    "README.md": "# Not part of any space\n",
    "user/SUMMARY.md": "* [Start](README.md)\n* [Calls](https://app.gitbook.com/s/OLDapi123/calls)\n",
    "user/README.md": USER,
    "reference/README.md": "# API\n\nUntouched  \nbytes\n",
    "reference/calls.md": "# Calls\n\n[back](https://app.gitbook.com/s/user)\n",
    "reference/more.md": "# More\n",
}


@pytest.fixture
def repository(tmp_path):
    for path, text in FILES.items():
        (tmp_path / "docs" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / path).write_text(text)
    return tmp_path / "docs"


def brought(world: Any, where: Any, **options: Any) -> Any:
    return import_as_site_or_space(
        world.context, str(where), organization_id=world.home["organizationId"], **options
    )


def texts(world: Any, space: str) -> dict[str, str]:
    with world.context.db.read() as tx:
        pages = list_pages(tx, main_state(tx, space))
        return {page.file_path or "": get_body(tx, page.body) for page in pages if page.body}


def test_each_directory_becomes_a_space_and_links_between_them_work(world, repository, tmp_path):
    mapping = tmp_path / "map.yaml"
    mapping.write_text(f"MAPPED7: {world.home['spaceId']}\n")
    made = brought(world, repository, known=read_known(mapping))
    assert isinstance(made, ImportedSite)
    user, api = (made.spaces[key].outcome.space for key in ("user", "api"))
    assert list(made.spaces) == ["user", "api"]
    assert [problem.code for problem in made.problems] == ["missing_directory", "no_directory"]
    with world.context.db.read() as tx:
        assert [(get_space(tx, id).title, get_space(tx, id).language) for id in (user, api)] == [
            ("User guide", "de"),
            ("API", None),
        ]
    assert made.known == {"OLDapi123": api}
    start = texts(world, user)["README.md"]
    for link in (
        f"(https://app.gitbook.com/s/{api}/calls#one)",
        f"(https://app.gitbook.com/s/{api}/calls)",
        f"(https://app.gitbook.com/o/ORG/s/{api}/more)",
        f"(https://app.gitbook.com/s/{world.home['spaceId']}/)",
        "(https://app.gitbook.com/s/OTHER9/x)",
        "(https://example.com/s/OLDapi123/calls)",
    ):
        assert link in start
    assert texts(world, api)["README.md"] == FILES["reference/README.md"]
    problems = {(p.code, p.path) for p in made.spaces["user"].outcome.problems}
    assert ("unknown_space", "README.md") in problems and len(problems) == 1
    kinds = [
        node["data"]["ref"]["kind"] for node in _links(world, user) if node["data"]["ref"].get("space") == api
    ]
    assert kinds.count("page") == 2


def _links(world: Any, space: str) -> list[Any]:
    id = world.get("admin", f"/spaces/{space}/content/pages")["pages"][0]["id"]
    page = world.get("admin", f"/spaces/{space}/content/page/{id}", params={"format": "document"})
    return [
        node for block in page["document"]["nodes"] for node in block["nodes"] if node.get("type") == "link"
    ]


@pytest.mark.sqlite_first
def test_repeating_an_import_into_the_same_spaces_creates_no_revision(world, repository, tmp_path):
    first = brought(world, repository)
    mapping = tmp_path / "map.yaml"
    spaces = {key: one.outcome.space for key, one in first.spaces.items()} | first.known
    mapping.write_text("".join(f"{key}: {space}\n" for key, space in spaces.items()))
    again = brought(world, repository, known=read_known(mapping))
    assert {key: one.outcome.space for key, one in again.spaces.items()} | first.known == spaces
    assert [one.outcome.changed for one in again.spaces.values()] == [0, 0]


def test_an_ambiguous_space_id_stays_unchanged(world, repository):
    (repository / "user/calls.md").write_text("# Calls\n")
    (repository / "user/more.md").write_text("# More\n")
    (repository / "user/SUMMARY.md").unlink()
    assert brought(world, repository).known == {}


def test_without_docs_yaml_a_source_is_one_space(world, repository):
    made = brought(world, repository / "reference", known={"user": world.home["spaceId"]})
    assert isinstance(made, CompletedImport)
    assert f"/s/{world.home['spaceId']})" in texts(world, made.outcome.space)["calls.md"]


def test_invalid_imports_are_refused_and_create_nothing(world, repository, tmp_path):
    count = f"/orgs/{world.home['organizationId']}/spaces"
    before = world.get("admin", count)["count"]
    with pytest.raises(BadRequest, match="map: x"):
        brought(world, repository, known={"x": "nowhere"})
    with pytest.raises(BadRequest, match="title"):
        brought(world, repository, title="One")
    for text in ("site: [", "site:\n  structure:\n    - content: {directory: ../x}\n", "- a\n"):
        (repository / "docs.yaml").write_text(text)
        with pytest.raises(BadRequest, match=r"docs\.yaml"):
            brought(world, repository)
    for text in ("- a\n", "a: {b: c}\n", "a: [\n"):
        (tmp_path / "map.yaml").write_text(text)
        with pytest.raises(BadRequest, match="map.yaml"):
            read_known(tmp_path / "map.yaml")
    assert world.get("admin", count)["count"] == before
