import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.core.links import Target, relative_href, resolve, space_href


class Space:
    def __init__(self, pages=(), files=()):
        self.pages = {path: f"page:{path}" for path in pages}
        self.files = {path: f"file:{path}" for path in files}

    def find_page(self, file_path):
        return self.pages.get(file_path)

    def find_page_by_path(self, path):
        return {"": "page:README.md", "guides/start": "page:guides/start.md"}.get(path)

    def find_page_by_id(self, page):
        return {"p1": "p1"}.get(page)

    def find_file(self, path):
        return self.files.get(path)

    def find_file_by_id(self, file):
        return {"f1": "f1"}.get(file)


SPACE = Space(
    ["README.md", "guides/README.md", "guides/start.md", "guides/a b.md", "docs/x.md", "100%.md"],
    [".gitbook/assets/a b.png", "guides/data.json", "docs/.gitbook/assets/i.svg"],
)


def page(path, anchor=None):
    return Target("page", page=f"page:{path}", anchor=anchor)


def broken(href):
    return Target("broken", url=href)


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("start.md#part-one", page("guides/start.md", "part-one")),
        ("./start.md", page("guides/start.md")),
        ("../README.md", page("README.md")),
        ("/guides/start.md", page("guides/start.md")),
        ("a%20b.md", page("guides/a b.md")),
        ("a b.md", page("guides/a b.md")),
        ("/100%.md", page("100%.md")),
        ("../guides/", page("guides/README.md")),
        ("../guides", page("guides/README.md")),
        ("start", page("guides/start.md")),
        ("/", page("README.md")),
        ("/guides/start", page("guides/start.md")),
        ("start.md?x=1#y", page("guides/start.md", "y")),
        ("#here%20too", Target("anchor", anchor="here too")),
        ("#", broken("#")),
        ("", broken("")),
        ("../.gitbook/assets/a%20b.png", Target("file", file="file:.gitbook/assets/a b.png")),
        ("data.json", Target("file", file="file:guides/data.json")),
        ("/files/f1", Target("file", file="f1")),
        ("/files/f2", broken("/files/f2")),
        ("/pages/p1#a", Target("page", page="p1", anchor="a")),
        ("broken-reference", broken("broken-reference")),
        ("broken-reference/", broken("broken-reference/")),
        ("/broken/pages/abc", broken("/broken/pages/abc")),
        ("gone.md", broken("gone.md")),
        ("../../../etc/passwd", broken("../../../etc/passwd")),
        ("..%2f..%2f..%2fetc/passwd", broken("..%2f..%2f..%2fetc/passwd")),
        ("start.md%00", broken("start.md%00")),
        ("..\\README.md", broken("..\\README.md")),
        ("https://example.org/a?b#c", Target("url", url="https://example.org/a?b#c")),
        ("//example.org/a", Target("url", url="https://example.org/a")),
        ("mailto:a@example.org", Target("url", url="mailto:a@example.org")),
        ("https://[bad", broken("https://[bad")),
        ("https://app.gitbook.com/s/abc123/", Target("space", space="abc123")),
        (
            "https://app.gitbook.com/o/org/s/abc123/a/b#c",
            Target("page", space="abc123", path="a/b", anchor="c"),
        ),
        (
            "https://app.gitbook.com/s/abc123/~/changes/3",
            Target("in-app", url="https://app.gitbook.com/s/abc123/~/changes/3"),
        ),
        ("https://app.gitbook.com/account", Target("in-app", url="https://app.gitbook.com/account")),
        (
            "https://app.gitbook.com.evil.org/s/abc",
            Target("url", url="https://app.gitbook.com.evil.org/s/abc"),
        ),
    ],
)
def test_references_resolve_to_their_targets(href, target):
    assert resolve(href, SPACE, "guides/start.md") == target


def test_references_resolve_in_a_folder_of_the_source():
    assert resolve("/x.md", SPACE, "docs/y.md", root="docs/") == page("docs/x.md")
    assert (
        resolve(".gitbook/assets/i.svg", SPACE, "docs/y.md", root="docs/").file
        == "file:docs/.gitbook/assets/i.svg"
    )
    assert resolve("/guides/start.md", SPACE, "docs/y.md", root="docs/").kind == "broken"


def test_references_have_a_status():
    assert resolve("gone.md", SPACE).status == "broken"
    assert resolve("README.md", SPACE).status == "ok"
    assert resolve("https://octavo.test/x", SPACE, app_hosts=("octavo.test",)).status == "in-app"


NAME = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/\\"), min_size=1, max_size=6
).filter(lambda name: name.strip() == name and name not in (".", ".."))
PATH = st.lists(NAME, min_size=1, max_size=4).map(lambda parts: "/".join(parts) + ".md")


@given(PATH, PATH, st.none() | NAME)
def test_written_references_resolve_to_their_target(path, source, anchor):
    found = resolve(relative_href(path, source, anchor), Space([path, source]), source)
    if path == source and anchor:
        assert found == Target("anchor", anchor=anchor)
    else:
        assert found == page(path, anchor)


@given(st.text(max_size=60), PATH)
def test_any_reference_resolves(href, source):
    assert resolve(href, SPACE, source).status in ("ok", "broken", "in-app")


def test_references_to_other_spaces_resolve():
    href = space_href("abc123", "a b/c", "d")
    assert href == "https://app.gitbook.com/s/abc123/a%20b/c#d"
    assert resolve(href, SPACE) == Target("page", space="abc123", path="a b/c", anchor="d")
    assert resolve(space_href("abc123"), SPACE) == Target("space", space="abc123")
