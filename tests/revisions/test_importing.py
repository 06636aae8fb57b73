"""Imports into spaces: contents of the revision, effects of a second import, and the exported result."""

import shutil
from pathlib import Path

import pytest

from octavo.content.revisions.item_versions import list_items
from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.states import main_state
from octavo.core.document import markdown as blocks
from octavo.core.document import reader
from octavo.errors import BadRequest, NotFound
from octavo.operations.admin.import_export import export_space, import_space

pytestmark = pytest.mark.sqlite_first


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


HANDBOOK = {
    "SUMMARY.md": (
        "# Contents\n\n- [Home](README.md)\n- [Guide](guide.md)\n  - [Deep](guide/deep.md)\n\n## Part\n"
        "\n* [Last](last.md)\n"
    ),
    "README.md": "# Home\n\nHello.\n",
    "guide.md": "---\ndescription: How\nunknown: kept\n---\n\n# Guide\n\nOne.\r\nTwo.  \n",
    "guide/deep.md": "\ufeff# Deep\n\nNo newline at the end",
    "last.md": "Without a title.\n",
    ".gitbook/vars.yaml": "name: Octavo\nlimit: 3\n",
    ".gitbook/includes/note.md": "Noted.\n",
    ".gitbook/assets/a b.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
    + b"\x00\x00\x00\x02\x00\x00\x00\x03"
    + bytes(40),
    "unlisted.md": "# Unlisted\n",
}


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "source", HANDBOOK)


def state_of(world, space):
    with world.context.db.read() as tx:
        base = main_state(tx, space)
        return base, {page.title: page for page in list_pages(tx, base)}


def bring_in(world, folder, **options):
    return import_space(
        world.context, str(folder), organization_id=world.home["organizationId"], **options
    ).outcome


def rows(world, table):
    with world.context.db.read() as tx:
        return tx.value(f"SELECT count(*) FROM {table}")


def test_an_import_is_complete_and_round_trips_byte_for_byte(world, folder, tmp_path):
    outcome = bring_in(world, folder)
    base, pages = state_of(world, outcome.space)
    assert list(pages) == ["Home", "Guide", "Part", "Last", "Deep"] or set(pages) == {
        "Home",
        "Guide",
        "Part",
        "Last",
        "Deep",
    }
    assert pages["Guide"].description == "How"
    assert pages["Deep"].parent == pages["Guide"].id
    assert pages["Part"].kind == "group"
    assert [(p.path, p.code) for p in outcome.problems] == [("unlisted.md", "not_listed")]
    with world.context.db.read() as tx:
        picture = next(i for i in list_items(tx, base, "file") if i.name == "a b.png")
        assert (picture.width, picture.height, picture.content_type) == (2, 3, "image/png")
        assert {i.name: i.content for i in list_items(tx, base, "variable")} == {
            "name": '"Octavo"',
            "limit": "3",
        }
    export_space(world.context, outcome.space, tmp_path / "out")
    assert files_of(tmp_path / "out") == files_of(folder)


def test_an_unchanged_import_creates_no_revision(world, folder):
    first = bring_in(world, folder)
    again = bring_in(world, folder, space_id=first.space)
    assert (again.revision, again.changed) == (first.revision, 0)


def test_one_changed_page_writes_one_row(world, folder):
    first = bring_in(world, folder)
    before = rows(world, "page_versions"), rows(world, "item_versions")
    write(folder, {"last.md": "Changed.\n"})
    again = bring_in(world, folder, space_id=first.space)
    assert again.changed == 1
    assert (rows(world, "page_versions"), rows(world, "item_versions")) == (before[0] + 1, before[1])


def test_pages_that_persist_keep_their_ids(world, folder):
    first = bring_in(world, folder)
    _, before = state_of(world, first.space)
    text = "Without a title, but with many more words than before, so that it is known again by them.\n"
    write(folder, {"last.md": text})
    bring_in(world, folder, space_id=first.space)
    (folder / "last.md").rename(folder / "moved.md")
    (folder / "guide.md").rename(folder / "manual.md")
    write(
        folder,
        {
            "moved.md": text + "One line is new.\n",
            "SUMMARY.md": (
                "# Contents\n\n- [Home](README.md)\n- [Guide](manual.md)\n  - [Deep](guide/deep.md)\n"
                "- [Last](moved.md)\n"
            ),
        },
    )
    bring_in(world, folder, space_id=first.space)
    _, after = state_of(world, first.space)
    for title in ("Home", "Guide", "Deep", "Last"):
        assert after[title].id == before[title].id, title
    assert after["Guide"].file_path == "manual.md"
    assert "Part" not in after


def test_a_new_order_changes_only_moved_entries(world, folder):
    first = bring_in(world, folder)
    summary = HANDBOOK["SUMMARY.md"].replace("- [Home](README.md)\n", "")
    write(folder, {"SUMMARY.md": summary.replace("## Part", "- [Home](README.md)\n\n## Part")})
    before = rows(world, "page_versions")
    bring_in(world, folder, space_id=first.space)
    base, _ = state_of(world, first.space)
    with world.context.db.read() as tx:
        top = [page.title for page in list_pages(tx, base) if page.parent is None]
    assert top == ["Guide", "Home", "Part"]
    assert rows(world, "page_versions") == before + 1


def test_a_removed_page_stays_in_its_old_revision(world, folder):
    first = bring_in(world, folder)
    write(folder, {"SUMMARY.md": "* [Home](README.md)\n"})
    bring_in(world, folder, space_id=first.space)
    _, pages = state_of(world, first.space)
    assert list(pages) == ["Home"]
    space = f"/spaces/{first.space}"
    assert len(world.get("admin", f"{space}/revisions/{first.revision}/pages")["pages"]) == 3


def test_unreadable_sources_are_refused_without_changes(world, tmp_path):
    before = world.digest()
    with pytest.raises(BadRequest, match="doesn't exist"):
        bring_in(world, tmp_path / "nothing")
    with pytest.raises(NotFound):
        bring_in(world, tmp_path, space_id=world.away["spaceId"])
    with pytest.raises(NotFound):
        bring_in(world, tmp_path, collection_id=world.away["collectionId"])
    with pytest.raises(BadRequest, match="private|public|refused|address"):
        bring_in(world, "http://127.0.0.1:9/repository.git")
    assert world.digest() == before


def test_bad_front_matter_names_path_and_line(world, tmp_path):
    folder = write(tmp_path / "bad", {"README.md": "---\ndescription: [open\nicon: x\n---\n\n# Home\n"})
    outcome = bring_in(world, folder)
    problem = next(p for p in outcome.problems if p.code == "front_matter")
    assert problem.path == "README.md"
    assert problem.line > 1


@pytest.mark.parametrize("name", ["elsa-guides", pytest.param("phantasma-phoenix", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_corpora_round_trip_byte_for_byte(world, corpora, tmp_path, name):
    outcome = bring_in(world, corpora / name)
    export_space(world.context, outcome.space, tmp_path / "out")
    given = {path: data for path, data in files_of(corpora / name).items() if not path.startswith(".git/")}
    assert files_of(tmp_path / "out") == given
    shutil.rmtree(tmp_path / "out")


ODD = {
    "SUMMARY.md": (
        "# Contents\n\n"
        "*   [Start here](README.md)\n"
        "* [The guide](Guide.md 'How')\n"
        "- [By folder](folder/)\n"
        "* [By name](plain)\n"
        "* [At a part](last.md#part)\n"
        "* [Gone](gone.md)\n"
        "* [Gone too](gone/too/)\n"
        "* [Gone once more](gone.md)\n"
        "* [Data](data/all.csv)\n"
        "* [Site](https://example.org/a_b)\n"
        "  * [Below a link](below.md)\n"
        "* [](untitled.md)\n"
        "* [Not text](raw.md)\n\n"
        "<!-- between -->\n"
        '## Group <a href="#first-one" id="first-one"></a>\n\n'
        "* [A](a.md)\n"
        "* [Same](https://example.org)\n"
        "* [Same](https://example.com)\n\n"
        "## Group\n"
        "* [B](b.md)\n"
    ),
    "README.md": "# Welcome\n\nHello.\n",
    "guide.md": "# Guide\n",
    "folder/README.md": "# Folder\n",
    "plain.md": "# Plain\n",
    "last.md": "No heading.\n",
    "data/all.csv": "a,b\n",
    "below.md": "# Below\n",
    "untitled.md": "# Said by the file\n",
    "raw.md": b"# \xff",
    "a.md": "# A\n",
    "b.md": "# B\n",
}


@pytest.fixture
def odd(tmp_path):
    return write(tmp_path / "source", ODD)


def exported(world, space, folder):
    shutil.rmtree(folder, ignore_errors=True)
    export_space(world.context, space, folder)
    return files_of(folder)


def change_content(world, space, **change):
    world.post("admin", f"/spaces/{space}/content?compat=false", {"changes": [change]})


def test_titles_are_those_of_the_navigation_and_nothing_is_rewritten(world, odd, tmp_path):
    outcome = bring_in(world, odd)
    _, pages = state_of(world, outcome.space)
    assert {"Start here", "The guide", "At a part", "Gone", "Said by the file", "Not text"} <= set(pages)
    assert pages["The guide"].link_title == "How"
    assert exported(world, outcome.space, tmp_path / "out") == files_of(odd)
    again = bring_in(world, odd, space_id=outcome.space)
    assert (again.revision, again.changed) == (outcome.revision, 0)


def test_an_edited_title_changes_only_the_heading_and_the_navigation(world, odd, tmp_path):
    space = bring_in(world, odd).space
    _, pages = state_of(world, space)
    start = pages["Start here"]
    change_content(
        world,
        space,
        operation="update_page",
        page=start.id,
        document={"markdown": "# Welcome\n\nOther words.\n"},
    )
    assert state_of(world, space)[1]["Start here"].id == start.id
    changed = exported(world, space, tmp_path / "out")
    assert changed == {**files_of(odd), "README.md": b"# Welcome\n\nOther words.\n"}
    change_content(world, space, operation="update_page", page=start.id, title="Begin")
    changed = exported(world, space, tmp_path / "out")
    assert changed["README.md"] == b"# Begin\n\nOther words.\n"
    summary = ODD["SUMMARY.md"].replace("*   [Start here](README.md)", "* [Begin](README.md)")
    assert changed["SUMMARY.md"].decode() == summary


def test_an_edited_heading_becomes_the_title(world, odd):
    space = bring_in(world, odd).space
    _, pages = state_of(world, space)
    page = pages["The guide"].id
    change_content(world, space, operation="update_page", page=page, document={"markdown": "# All of it\n"})
    assert state_of(world, space)[1]["All of it"].id == page


def test_a_missing_page_added_later_is_at_the_position_of_its_entry(world, odd, tmp_path):
    space = bring_in(world, odd).space
    _, pages = state_of(world, space)
    page = pages["Gone"].id
    change_content(
        world, space, operation="update_page", page=page, document={"markdown": "# Gone\n\nBack.\n"}
    )
    # A file that can't be a page is kept as a file, with a link in its place.
    change = {"operation": "update_page", "page": pages["Not text"].id, "document": {"markdown": "# Text\n"}}
    refused = world.call("admin", "POST", f"/spaces/{space}/content", json={"changes": [change]})
    assert refused.status_code == 400 and "a link can't have a document" in refused.text
    changed = exported(world, space, tmp_path / "out")
    assert changed["gone.md"] == b"# Gone\n\nBack.\n"
    assert changed["raw.md"] == ODD["raw.md"]
    assert changed["SUMMARY.md"].decode() == ODD["SUMMARY.md"]


def test_headings_are_titles_without_a_summary(world, tmp_path):
    files = {"README.md": "# Home\n", "a.md": "# Said\n", "some-name.md": "Nothing said.\n"}
    outcome = bring_in(world, write(tmp_path / "source", files))
    assert set(state_of(world, outcome.space)[1]) == {"Home", "Said", "Some name"}


def test_a_page_with_too_much_content_is_kept_and_reported(world, tmp_path, monkeypatch):
    for module in (blocks, reader):
        monkeypatch.setattr(module, "MAX_NODES", 300)
    text = "# Home\n\n" + "a\n\n" * 200 + "Last.\n"
    outcome = bring_in(world, write(tmp_path / "source", {"README.md": text, "small.md": "# Small\n\nb\n"}))
    (problem,) = [p for p in outcome.problems if p.code != "not_listed"]
    assert (problem.path, problem.code) == ("README.md", "too_many_parts")
    assert text.splitlines()[problem.line - 1] == "a" and 100 < problem.line < 250
    assert exported(world, outcome.space, tmp_path / "out")["README.md"].decode() == text


def test_unsupported_content_is_listed_as_problems(world, tmp_path):
    neighbour = bring_in(world, write(tmp_path / "other", {"README.md": "# Other\n"})).space
    files = {
        ".gitbook.yaml": "root: ./\n\u200bstructure:\n  readme: README.md\nstucture: {}\n",
        "README.md": (
            "---\nicon: x\n---\n\n# Home\n\n{% hint style='info' %}\nopen\n\n{% tabs %}\n{% endtabs %}\n\n"
            "```\n{% endhint %}\n```\n\n</details>\n\n"
            f"[a](https://app.gitbook.com/s/{neighbour}/x) [b](https://app.gitbook.com/o/org/s/elsewhere/y)\n"
        ),
    }
    problems = bring_in(world, write(tmp_path / "source", files)).problems
    assert [(p.path, p.line, p.code) for p in problems] == [
        (".gitbook.yaml", 4, "unknown_key"),
        ("README.md", 7, "unclosed_tag"),
        ("README.md", 17, "unclosed_tag"),
        ("README.md", 19, "unknown_space"),
    ]


def test_bold_words_that_markdown_shows_with_asterisks_are_problems(world, tmp_path):
    text = (
        "# Home\n\nClick **Edit **to begin.\n\n* **One **two and **three **four\n\n**Right** and **bold** here.\n\n"
        "```\n**a **b\n```\n\nA `**b **c`, \\**d **e, 2 ** 3 **4.\n"
    )
    problems = bring_in(world, write(tmp_path / "source", {"README.md": text})).problems
    found = [
        (p.line, p.code, p.message.partition(" is shown")[0]) for p in problems if p.code != "not_listed"
    ]
    assert found == [
        (3, "unread_bold", "**Edit **"),
        (5, "unread_bold", "**One **"),
        (5, "unread_bold", "**three **"),
    ]


def test_a_broken_configuration_is_a_problem(world, tmp_path):
    files = {".gitbook.yaml": "root: [\n", "README.md": "# Home\n"}
    (problem,) = bring_in(world, write(tmp_path / "source", files)).problems
    assert (problem.path, problem.code) == (".gitbook.yaml", "invalid_yaml")
