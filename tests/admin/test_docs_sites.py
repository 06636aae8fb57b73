"""Repositories with a ``docs.yaml`` as sites, and sites as such repositories."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from octavo.core.free_names import free_name
from octavo.core.pages import ranks
from octavo.errors import BadRequest, NotFound
from octavo.kit import ids
from octavo.operations.admin.docs_sites import ImportedSite, export_site_files, import_as_site_or_space
from octavo.operations.admin.import_export import import_space
from octavo.operations.admin.lookup import find_named
from octavo.organization.spaces.store import get_space, insert_space
from octavo.sites.site.creating import create_site
from octavo.sites.site.structure.store import (
    SectionGroupRow,
    SectionRow,
    SiteSpaceRow,
    load_structure,
    put_row,
)

DOCS = """site:
  title: Product
  structure:
    - type: section
      key: guides
      title: Guides
      path: learn
      icon: book
      description: How to
      children:
        - {type: space, key: user, title: User guide, default: true, content: {directory: ./user}}
        - {type: space, key: benutzer, title: Handbuch, path: de, content: {directory: ./de, language: de}}
    - type: section-group
      key: more
      title: More
      children:
        - {type: space, key: api, title: Calls, default: true, content: {directory: api}}
        - type: section
          key: inner
          title: Inner
          draft: true
          condition: visitor.claims.unsigned.beta
          children: [{type: space, key: old, title: Old, content: {directory: old}}]
"""
FILES = {
    "docs.yaml": DOCS,
    "user/README.md": "# Start\n\nSee [calls](https://app.gitbook.com/s/api/).\n",
    "de/README.md": "# Anfang\n",
    "api/README.md": "# Calls\n",
    "old/README.md": "# Old\n",
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def read(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def brought(world: Any, where: Path, place: Any = None, **options: Any) -> ImportedSite:
    made = import_as_site_or_space(
        world.context, str(where), organization_id=(place or world.home)["organizationId"], **options
    )
    assert isinstance(made, ImportedSite)
    return made


def shape(world: Any, site: str) -> Any:
    """Return everything that ``docs.yaml`` says about the structure of a site, with its URLs."""
    with world.context.db.read() as tx:
        structure = load_structure(tx, site)

        def variants(section: str | None) -> Any:
            found = []
            for shown in structure.variants(section):
                space = get_space(tx, shown.space_id)
                base = structure.base(shown)
                found.append(
                    (space.title, space.language, shown.path, shown.is_default, shown.condition, base)
                )
            return found

        def nodes(group: str | None) -> Any:
            found: list[Any] = []
            for node in structure.children(group):
                if isinstance(node, SectionGroupRow):
                    found.append((node.title, node.icon, nodes(node.id)))
                else:
                    said = (node.title, node.path, node.description, node.icon, node.condition)
                    found.append((*said, node.is_default, node.draft, variants(node.id)))
            return found

        return nodes(None), variants(None)


@pytest.mark.sqlite_first
def test_a_repository_is_imported_as_a_site_in_one_step(world: Any, tmp_path: Path) -> None:
    made = brought(world, write(tmp_path / "repo", FILES), publish=True)
    assert made.problems == []
    assert shape(world, made.site) == (
        [
            (
                "Guides",
                "learn",
                "How to",
                "book",
                None,
                0,
                0,
                [
                    ("User guide", None, "user-guide", 1, None, "learn/"),
                    ("Handbuch", "de", "de", 0, None, "learn/de/"),
                ],
            ),
            (
                "More",
                None,
                [
                    ("Calls", "calls", None, None, None, 1, 0, [("Calls", None, "calls", 1, None, "")]),
                    (
                        "Inner",
                        "inner",
                        None,
                        None,
                        "visitor.claims.unsigned.beta",
                        0,
                        1,
                        [
                            ("Old", None, "old", 1, None, "inner/"),
                        ],
                    ),
                ],
            ),
        ],
        [],
    )
    site = world.get("admin", world.home.path("/orgs/{organizationId}/sites/") + made.site)
    assert (site["title"], site["published"], site["siteSpaces"]) == ("Product", True, 4)
    assert made.site_url == site["urls"]["published"]


@pytest.mark.sqlite_first
def test_a_repeated_import_updates_the_same_site(world: Any, tmp_path: Path) -> None:
    folder = write(tmp_path / "repo", FILES)
    first = brought(world, folder)
    listed = world.home.path("/orgs/{organizationId}/sites")
    count, before = world.get("admin", listed)["count"], shape(world, first.site)
    with world.context.db.read() as tx:
        rows = load_structure(tx, first.site)
    again = brought(world, folder)
    assert (again.site, shape(world, again.site), again.problems) == (first.site, before, [])
    assert {key: one.outcome.space for key, one in again.spaces.items()} == {
        key: one.outcome.space for key, one in first.spaces.items()
    }
    assert [one.outcome.changed for one in again.spaces.values()] == [0, 0, 0, 0]
    with world.context.db.read() as tx:
        assert load_structure(tx, again.site).is_same(rows)

    # Entries are matched by key, whatever else changes; removed entries are removed from the site.
    changed = DOCS.replace("title: Guides", "title: Learning").replace("path: learn", "path: learning")
    changed = changed.replace("key: old, title: Old", "key: new, title: New").replace("Product", "Product 2")
    (folder / "docs.yaml").write_text(changed.replace("./de, language: de", "./user, language: de"))
    third = brought(world, folder)
    assert third.site == first.site and world.get("admin", listed)["count"] == count
    assert sorted((p.code, p.line) for p in third.problems) == [
        ("listed_twice", 12),
        ("removed", 0),
        ("removed", 0),
    ]
    with world.context.db.read() as tx:
        after = load_structure(tx, first.site)
        assert get_space(tx, first.spaces["old"].outcome.space).deleted_at is None
    assert after.sections.keys() == rows.sections.keys()
    assert third.spaces["user"].outcome.space == first.spaces["user"].outcome.space
    assert third.spaces["new"].outcome.space != first.spaces["old"].outcome.space
    title = world.get("admin", f"{listed}/{first.site}")["title"]
    assert title == "Product 2"


@pytest.mark.sqlite_first
def test_importing_from_another_folder_requires_naming_the_site(world: Any, tmp_path: Path) -> None:
    first = brought(world, write(tmp_path / "repo", FILES))
    other = write(tmp_path / "clone", FILES)
    with pytest.raises(BadRequest, match=f"{first.site}.*--site"):
        brought(world, other)
    assert brought(world, other, site="product").site == first.site
    # Now it is known to be from there.
    assert brought(world, other).site == first.site
    second = brought(world, other, new_site=True)
    assert second.site != first.site
    assert brought(world, other).site == second.site
    with pytest.raises(BadRequest, match="is ambiguous"):
        brought(world, other, site="Product")
    with pytest.raises(BadRequest, match="docs.yaml"):
        brought(world, other / "user", site=first.site)
    assert brought(world, other, world.away).site not in (first.site, second.site)


@pytest.mark.sqlite_first
def test_impossible_paths_are_reported_and_replaced_by_free_ones(world: Any, tmp_path: Path) -> None:
    docs = """site:
  title: Clashes
  structure:
    - {type: section, key: a, title: One, path: same, default: true, children: [
        {type: space, key: v, title: V, content: {directory: user}, default: true},
        {type: space, key: w, title: W, path: other, content: {directory: de}, default: true}]}
    - {type: space, key: b, title: Two, path: same, content: {directory: api}}
    - {type: space, key: c, title: Three, path: other, content: {directory: old}}
    - {type: space, key: d, title: Four, path: llms.txt, content: {directory: old}}
    - {type: section, key: e, title: Empty}
"""
    made = brought(world, write(tmp_path / "repo", {**FILES, "docs.yaml": docs}))
    assert sorted((p.code, p.line) for p in made.problems) == [
        ("bad_path", 9),
        ("bad_value", 6),
        ("path_taken", 6),
        ("path_taken", 7),
    ]
    with world.context.db.read() as tx:
        structure = load_structure(tx, made.site)
    bases = [structure.base(shown) for shown in structure.ordered_site_spaces()]
    assert bases == ["", "w/", "two/", "other/", "four/"]
    assert made.spaces["c"].outcome.space == made.spaces["d"].outcome.space


@pytest.mark.sqlite_first
def test_invalid_docs_sites_create_nothing(world: Any, tmp_path: Path) -> None:
    listed = world.home.path("/orgs/{organizationId}/spaces")
    before = world.get("admin", listed)["count"]
    many = "".join(f"    - {{type: section, key: s{n}, title: S{n}}}\n" for n in range(201))
    for text in (DOCS.replace("user}", "../user}"), "site: [", f"site:\n  structure:\n{many}", "\xff"):
        folder = write(tmp_path / "repo", FILES)
        (folder / "docs.yaml").write_bytes(text.encode("latin-1") if text != DOCS else b"")
        if "../user" in text:
            assert [p.code for p in brought(world, folder).problems][:1] == ["bad_path"]
            before = world.get("admin", listed)["count"]
            continue
        with pytest.raises(BadRequest, match=r"docs\.yaml"):
            brought(world, folder)
    assert world.get("admin", listed)["count"] == before


# --- there and back ---------------------------------------------------------------------------------------

WORDS = [
    "Guide",
    "API reference",
    "été",
    "Ünïcode ☃",
    "क्या है",
    "yes",
    "12:30",
    "null",
    "- a: b",
    "'\"#",
    "x" * 50,
    "G",
]


def random_site(world: Any, random: Random, tmp_path: Path) -> str:
    """Return a site of any structure that the API can create."""
    context, organization = world.context, world.home["organizationId"]
    spaces = []
    for n in range(random.randint(1, 5)):
        with context.db.write() as tx:
            space = insert_space(
                tx,
                organization_id=organization,
                collection_id=None,
                title=random.choice(WORDS)[:50],
                created_by=None,
                language=random.choice([None, "de", "ar"]),
            ).id
        spaces.append(space)
        link = f"[x](https://app.gitbook.com/s/{random.choice(spaces)}/more)"
        folder = write(
            tmp_path / f"{random.random()}",
            {"README.md": f"# S{n}\n\nend  \n{link}", "more.md": "# More\r\n\r\nx"},
        )
        if random.random() < 0.5:
            write(folder, {"SUMMARY.md": "* [Title](README.md)\n  * [More](more.md)\n"})
        import_space(context, str(folder), space_id=space)
    with context.db.write() as tx:
        site = create_site(tx, organization_id=organization, title=random.choice(WORDS)[:50] + "s")
        groups: list[str | None] = [None]
        depth = {None: 0}
        order = iter(ranks(100))
        for _ in range(random.choice([0, 0, 2, 4])):
            parent = random.choice([one for one in groups if depth[one] < 4])
            group = SectionGroupRow(
                ids.new_id(), site, parent, next(order), random.choice(WORDS), random.choice([None, "gear"])
            )
            groups.append(group.id)
            depth[group.id] = depth[parent] + 1  # type: ignore[index]
            put_row(tx, group)
        paths: set[str] = set()

        def path() -> str:
            found = free_name(random.choice(["api", "v1", "è", "x.y"]), paths.__contains__)
            paths.add(found)
            return found

        sections: list[str | None] = [None]
        if random.random() < 0.7:
            sections = [ids.new_id() for _ in range(random.randint(1, 5))]
            default = random.choice(sections)
            for id in sections:
                put_row(
                    tx,
                    SectionRow(
                        id or "",
                        site,
                        random.choice(groups),
                        next(order),
                        path(),
                        random.choice(WORDS)[:40] + "ss",
                        random.choice([None, "About: it"]),
                        random.choice([None, "book"]),
                        random.choice([None, None, "visitor.claims.unsigned.a == 'x'"]),
                        int(id == default),
                        random.randint(0, 1),
                    ),
                )
        for section in sections:
            # Each space is somewhere: ids of others mean nothing elsewhere.
            least = 0 if section is not sections[0] else len(spaces)
            shown = random.sample(spaces, random.randint(least, len(spaces)))
            default = random.choice(shown) if shown else None
            for space in shown:
                condition = random.choice([None, None, "visitor.claims.pro"])
                put_row(
                    tx,
                    SiteSpaceRow(
                        ids.new_id(),
                        site,
                        space,
                        section,
                        next(order),
                        path(),
                        int(space == default),
                        condition,
                    ),
                )
    return site


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 24))]
)
def test_exporting_and_importing_a_site_round_trips(world: Any, tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    site = random_site(world, random, tmp_path)
    export_site_files(world.context, site, tmp_path / "out")
    made = brought(world, tmp_path / "out", world.away)
    assert made.problems == []
    assert shape(world, made.site) == shape(world, site)
    export_site_files(world.context, made.site, tmp_path / "again")
    assert read(tmp_path / "again") == read(tmp_path / "out")
    # And into itself it changes nothing but that every part has the key by which it was written.
    before = shape(world, site)
    with world.context.db.read() as tx:
        kept = set(load_structure(tx, site).site_spaces)
    itself = brought(world, tmp_path / "out", site=site)
    assert (itself.site, shape(world, site), itself.problems) == (site, before, [])
    assert all(one.outcome.changed == 0 for one in itself.spaces.values())
    with world.context.db.read() as tx:
        assert set(load_structure(tx, site).site_spaces) == kept


@pytest.mark.sqlite_first
def test_a_repository_round_trips(world: Any, tmp_path: Path) -> None:
    made = brought(world, write(tmp_path / "repo", FILES))
    exported = export_site_files(world.context, made.site, tmp_path / "out")
    files = read(tmp_path / "out")
    assert exported["files"] == len(files) == len(FILES)
    assert {path: text for path, text in files.items() if path != "docs.yaml"} == {
        path: text.encode() for path, text in FILES.items() if path != "docs.yaml"
    }


def test_a_space_of_the_whole_repository_does_not_contain_docs_yaml(world: Any, tmp_path: Path) -> None:
    docs = "site:\n  title: Whole\n  structure:\n    - {type: space, key: all, title: All, content: {directory: ./}}\n"
    folder = write(tmp_path / "repo", {"docs.yaml": docs, "README.md": "# One\n", "more.md": "# Page\n"})
    made = brought(world, folder)
    assert (made.problems, made.spaces["all"].outcome.pages) == ([], 2)
    export_site_files(world.context, made.site, tmp_path / "out")
    assert set(read(tmp_path / "out")) == {"docs.yaml", "README.md", "more.md"}


# --- names ------------------------------------------------------------------------------------------------


def test_sites_and_spaces_are_found_by_their_usual_names(world: Any, tmp_path: Path) -> None:
    made = brought(world, write(tmp_path / "repo", FILES), publish=True)
    listed = world.home.path("/orgs/{organizationId}/sites")
    site = world.get("admin", f"{listed}/{made.site}")
    address = site["urls"]["published"]
    for given in (
        made.site,
        "Product",
        "product",
        address,
        address.rstrip("/"),
        address.split("://")[1],
        "product/",
    ):
        assert find_named(world.context, given, ["site"]).id == made.site, given
    api = made.spaces["api"].outcome.space
    assert find_named(world.context, "calls", ["site", "space"]).id == api
    assert find_named(world.context, api, ["site", "space"]).kind == "space"
    with pytest.raises(NotFound, match=f"Choose one of these:\n(.*\n)*.*{made.site}  Product"):
        find_named(world.context, "nothing", ["site"])
    world.post("admin", listed, {"title": "Product"})
    with pytest.raises(BadRequest, match=f"is ambiguous.*\n.*{made.site}"):
        find_named(world.context, "Product", ["site"])
    assert find_named(world.context, address, ["site"]).id == made.site
