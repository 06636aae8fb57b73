from pathlib import Path

import pytest

from octavo.core.import_plan import leading_title, page_of, plan_import, read_pages, unread_in


class Tree:
    def __init__(self, **files):
        self.files = {
            path: text if isinstance(text, bytes) else text.encode() for path, text in files.items()
        }
        self.reads = []

    def paths(self):
        return list(self.files)

    def read(self, path):
        self.reads.append(path)
        return self.files[path]


class Folder:
    def __init__(self, folder):
        self.folder = folder

    def paths(self):
        return [file.relative_to(self.folder).as_posix() for file in self.folder.rglob("*") if file.is_file()]

    def read(self, path):
        return (self.folder / path).read_bytes()


def codes(problems):
    return sorted((problem.path, problem.line, problem.code) for problem in problems)


def test_a_plan_lists_pages_and_files():
    tree = Tree(
        **{
            ".gitbook.yaml": "redirects:\n  old: a.md\n",
            "SUMMARY.md": (
                "# T\n* [Home](README.md)\n* [Short](a.md)\n## Guides <a href='' id=\"g\"></a>\n"
                "* [One](guides/one.md)\n"
                '  * [Two](guides/two/README.md "Link")\n* [One again](guides/one.md#x)\n* [Site](https://e.org)\n'
                "* [Gone](guides/gone.md)\n* Words\n* [Data](data.json)\n* [Case](GUIDES/Three.md)\n"
                "* ```yaml\n  type: builtin:openapi\n"
                "  dependencies: {spec: {ref: {kind: openapi, spec: pets-v2}}}\n  ```\n"
            ),
            "README.md": "# Welcome\n",
            "a.md": "---\nicon: x\n---\n\n# A long *title*\n\nText",
            "guides/one.md": "No heading\n",
            "guides/two/README.md": "\ufeff# Two\r\n",
            "guides/three.md": "Three\n===\n",
            "guides/unlisted.md": "# U\n",
            "data.json": "{}",
            ".gitbook/includes/i.md": "Inc",
            ".gitbook/vars.yaml": "a: 1\n",
            ".gitbook/tags.yaml": "- tag: t\n",
            ".gitbook/assets/x.png": b"\x89",
        }
    )
    plan = plan_import(tree)
    assert not set(tree.reads) & {"README.md", "a.md", "guides/one.md"}
    pages = list(read_pages(plan, tree))
    assert [(p.planned.kind, p.planned.path, p.title, p.link_title) for p in pages] == [
        ("document", "readme", "Home", None),
        ("document", "a", "Short", None),
        ("group", "g", "Guides", None),
        ("document", "g/one", "One", None),
        ("document", "g/one/two", "Two", "Link"),
        ("link", "g", "One again", None),
        ("link", "g", "Site", None),
        ("document", "g/gone", "Gone", None),
        ("document", "g/words", "Words", None),
        ("link", "g", "Data", None),
        ("document", "g/three", "Case", None),
        ("computed", "g/pets-v2", "Pets v2", None),
    ]
    assert codes(plan.problems) == [
        ("SUMMARY.md", 7, "listed_twice"),
        ("SUMMARY.md", 9, "missing_file"),
        ("SUMMARY.md", 12, "case_differs"),
        ("guides/unlisted.md", 0, "not_listed"),
    ]
    assert plan.files == [".gitbook/assets/x.png", "data.json", "guides/unlisted.md"]
    assert plan.includes == [".gitbook/includes/i.md"]
    assert (plan.variables, [tag.tag for tag in plan.tags]) == ({"a": 1}, ["t"])
    assert plan.config.redirects == {"old": "a.md"}
    ids = [f"p{n}" for n in range(len(pages))]
    made = [page_of(page, ids, {"data.json": "f1"}) for page in pages]
    assert [(page.id, page.parent) for page in made[:5]] == [
        ("p0", None),
        ("p1", None),
        ("p2", None),
        ("p3", "p2"),
        ("p4", "p3"),
    ]
    assert [page.target for page in made if page.kind == "link"] == [
        {"kind": "anchor", "anchor": "x", "page": "p3"},
        {"kind": "url", "url": "https://e.org"},
        {"kind": "file", "file": "f1"},
    ]
    children = [page.rank for page in made if page.parent == "p2"]
    assert children == sorted(set(children))


def test_every_file_appears_once():
    tree = Tree(
        **{"README.md": "", "SUMMARY.md": "* [A](README.md)\n* [B](.)", "x/y.md": "", ".gitbook.yaml": ""}
    )
    plan = plan_import(tree)
    placed = [page.file_path for page in plan.pages if page.file_path] + plan.files + plan.includes
    assert sorted([*placed, "SUMMARY.md", ".gitbook.yaml"]) == sorted(tree.files)
    assert [page.to_page for page in plan.pages] == [None, 0]


def test_a_root_folder_without_a_summary_gets_an_inferred_tree():
    tree = Tree(
        **{
            ".gitbook.yaml": "root: ./docs/\n",
            "README.md": "# Code",
            "docs/README.md": "# Docs",
            "docs/b/x.md": "# X",
            "docs/b/x-.md": "",
            "docs/.gitbook/vars.yaml": "v: 1",
        }
    )
    plan = plan_import(tree)
    pages = list(read_pages(plan, tree))
    assert [(page.planned.path, page.title, page.planned.file_path, page.link_title) for page in pages] == [
        ("readme", "Docs", "docs/README.md", None),
        ("b", "B", None, None),
        ("b/x", "X", "docs/b/x.md", None),
        ("b/x-1", "X", "docs/b/x-.md", None),
    ]
    assert plan.files == ["README.md"]
    assert plan.variables == {"v": 1}
    assert plan.summary_text is None
    assert not plan.problems


def test_files_that_cannot_be_pages_become_links_to_files():
    tree = Tree(
        **{
            "SUMMARY.md": "* [A](README.md)\n* [B](b.md)\n  * [C](c.md)",
            "README.md": b"# \xff",
            "b.md": "x" * 101,
            "c.md": "",
            ".gitbook/includes/d.md": b"\xff",
        }
    )
    plan = plan_import(tree, unread_in(tree, 100))
    pages = list(read_pages(plan, tree))
    made = [page_of(page, ["p1", "p2", "p3", "p4"], {"README.md": "f1", "b.md": "f2"}) for page in pages]
    assert [(page.kind, page.title, page.parent, page.target, page.file_path) for page in made] == [
        ("link", "A", None, {"kind": "file", "file": "f1"}, None),
        ("document", "B", None, None, None),
        ("link", "B", "p2", {"kind": "file", "file": "f2"}, None),
        ("document", "C", "p2", None, "c.md"),
    ]
    assert plan.files == [".gitbook/includes/d.md", "README.md", "b.md"] and plan.includes == []
    assert sorted(codes(plan.problems)) == [
        (".gitbook/includes/d.md", 0, "invalid_utf8"),
        ("README.md", 0, "invalid_utf8"),
        ("SUMMARY.md", 2, "link_with_children"),
        ("b.md", 0, "page_too_large"),
    ]


def test_a_link_with_children_becomes_the_first_of_them():
    tree = Tree(
        **{"SUMMARY.md": "* [A](README.md)\n* [B](https://b)\n  * [C](c.md)", "README.md": "", "c.md": ""}
    )
    plan = plan_import(tree)
    assert [(p.kind, p.parent, p.url, p.path) for p in plan.pages[1:]] == [
        ("document", None, None, "b"),
        ("link", 1, "https://b", "b"),
        ("document", 1, None, "b/c"),
    ]
    assert codes(plan.problems) == [("SUMMARY.md", 2, "link_with_children")]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# T", "T"),
        ("\n\n# T #\nx", "T"),
        ("---\na: b\n---\n# T", "T"),
        ("---\n---\n# T", "T"),
        ("T\n===\n", "T"),
        ('# T <a href="#x" id="x"></a>\n', "T"),
        ("# C#", "C#"),
        ("## T", None),
        ("Text\n# T", None),
        ("#T", None),
        ("", None),
        ("#", None),
        ("    # T", None),
        ("---\na: b\n# T", None),
        ("---\r\na: b\r\n---\r\n\r\n# T\r\n", "T"),
        ("\ufeff# `code` &amp; x", "code & x"),
        ("* a\n===", None),
    ],
)
def test_leading_headings_become_titles(text, title):
    assert leading_title(text) == title


def test_every_space_of_the_corpora_is_planned(corpora: Path):
    spaces = [summary.parent for summary in corpora.rglob("SUMMARY.md")]
    assert len(spaces) >= 11
    for folder in spaces:
        files = Folder(folder)
        plan = plan_import(files)
        pages = list(read_pages(plan, files))
        placed = [page.file_path for page in plan.pages if page.file_path] + plan.files + plan.includes
        assert len(placed) == len(set(placed))
        assert {problem.code for problem in plan.problems} <= {
            "listed_twice",
            "heading_level",
            "not_listed",
            "missing_file",
            "link_with_children",
            "no_readme",
            "case_differs",
        }, plan.problems
        assert all(page.title for page in pages)
        documents = [page.planned.path for page in pages if page.planned.kind != "link"]
        assert len(documents) == len(set(documents))
        for page in pages:
            if page.text is not None:
                assert page.text.encode() == files.read(page.planned.file_path)
