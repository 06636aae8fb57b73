"""Tests of a space that an API provides page by page, like GitBook: Markdown, nodes, files, and links by id."""

from contextlib import ExitStack, contextmanager

import msgspec
import pytest

from octavo.core.sources import SourceError
from octavo.interchange.readers.scratch import TemporaryFiles
from octavo.interchange.transfer import api_client as asking
from octavo.interchange.transfer.hosted import HostedApi, open_space
from octavo.kit.net.fetch import Fetched, FetchError, Streamed

PARAGRAPH = {
    "object": "block",
    "type": "paragraph",
    "isVoid": False,
    "data": {},
    "nodes": [{"object": "text", "leaves": [{"object": "leaf", "text": "Said in nodes.", "marks": []}]}],
}
PAGES = [
    {"id": "p1", "type": "document", "title": "Start", "path": "", "slug": "start", "pages": []},
    {
        "id": "p2",
        "type": "document",
        "title": "Guides",
        "path": "guides",
        "slug": "guides",
        "description": "How to",
        "pages": [
            {
                "id": "p3",
                "type": "document",
                "title": "In nodes",
                "path": "guides/in-nodes",
                "slug": "in-nodes",
            }
        ],
    },
    {
        "id": "g1",
        "type": "group",
        "title": "More",
        "slug": "more",
        "pages": [
            {
                "id": "l1",
                "type": "link",
                "title": "Away",
                "target": {"kind": "url", "url": "https://example.com"},
            },
            {"id": "c1", "type": "computed", "title": "Made"},
        ],
    },
]
ANSWERS = {
    "/spaces/s1/content": {
        "pages": PAGES,
        "variables": {"version": "1.2"},
        "reusableContents": [{"id": "r1", "title": "Note"}],
    },
    "/spaces/s1/content/files": {
        "items": [
            {"id": "f1", "name": "a/b.png", "downloadURL": "https://files.example.com/f1?alt=media"},
            {"id": "f2", "name": "b.png", "downloadURL": "https://files.example.com/gone"},
        ]
    },
    "/spaces/s1/content/page/p1": {
        "markdown": "# Start\n\n![x](https://files.example.com/f1?alt=media) [in](/pages/p3)\n"
    },
    "/spaces/s1/content/page/p2": {"markdown": "No title of its own.\n"},
    "/spaces/s1/content/page/p3": {"document": {"object": "document", "data": {}, "nodes": [PARAGRAPH]}},
    "/spaces/s1/content/reusable-contents/r1": {"markdown": "Kept in one place.\n"},
}


class Answering:
    """Responses without a network."""

    def __init__(self, answers):
        self.answers = answers
        self.told = {}

    @contextmanager
    def stream(self, url, headers, limits):
        """Return the archive, which only another Octavo server provides."""
        yield Streamed(404, {}, iter(()))

    def fetch(self, url, headers, limits):
        self.told[url] = dict(headers)
        if url == "https://files.example.com/f1?alt=media":
            return Fetched(url, 200, {}, b"image")
        path = url.partition("?")[0].removeprefix("https://api.example.com/v1")
        if path not in self.answers:
            return Fetched(url, 404, {}, b"{}")
        answer = self.answers[path]
        return Fetched(url, 200, {}, answer if isinstance(answer, bytes) else msgspec.json.encode(answer))


def read(tmp_path, fetcher):
    remote = HostedApi("https://api.example.com/", "secret", fetcher, wait=lambda seconds: None)
    with ExitStack() as stack:
        source = open_space(remote, {"id": "s1", "title": "Space"}, TemporaryFiles(tmp_path), stack)
        return source, {path: source.read(path).decode() for path in source.paths()}


def test_a_space_is_assembled_page_by_page(tmp_path):
    fetcher = Answering(ANSWERS)
    source, files = read(tmp_path, fetcher)
    assert files == {
        ".gitbook/assets/a-b.png": "image",
        "README.md": "# Start\n\n![x](.gitbook/assets/a-b.png) [in](guides/in-nodes.md)\n",
        "guides/README.md": "---\ndescription: How to\n---\n\n# Guides\n\nNo title of its own.\n",
        "guides/in-nodes.md": "# In nodes\n\nSaid in nodes.\n",
        ".gitbook/includes/note.md": "---\ntitle: Note\n---\n\nKept in one place.\n",
        ".gitbook/vars.yaml": "version: '1.2'\n",
        "SUMMARY.md": (
            "# Space\n\n* [Start](README.md)\n* [Guides](guides/README.md)\n  * [In nodes](guides/in-nodes.md)\n\n"
            '## More <a href="#more" id="more"></a>\n\n* [Away](https://example.com)\n'
        ),
    }
    assert sorted((one.path, one.code) for one in source.problems) == [
        (".gitbook/assets/b.png", "not_fetched"),
        ("Made", "left_out"),
    ]
    # The file server doesn't receive the token.
    assert fetcher.told["https://files.example.com/f1?alt=media"] == {}
    assert fetcher.told["https://api.example.com/v1/spaces/s1/content"] == {"Authorization": "Bearer secret"}


@pytest.mark.parametrize("answer", [b"[]", b"{", b"<html>", b"[" * 100_000])
def test_invalid_responses_are_reported(tmp_path, answer):
    with pytest.raises(SourceError, match="isn't a JSON object"):
        read(tmp_path, Answering({**ANSWERS, "/spaces/s1/content": answer}))


@pytest.mark.parametrize("field", ["title", "path", "slug", "type", "id", "pages", "git"])
@pytest.mark.parametrize("value", [None, 7, [], {}, "../../x", "a\0b", ["x"]])
def test_unusual_pages_do_no_harm(tmp_path, field, value):
    page = {**PAGES[0], field: value}
    _, files = read(tmp_path, Answering({**ANSWERS, "/spaces/s1/content": {"pages": [page]}}))
    assert not any(".." in path.split("/") or path.startswith("/") for path in files)


def test_an_unresponsive_api_is_abandoned(tmp_path):
    waited = []

    class Silent:
        def fetch(self, url, headers, limits):
            raise FetchError("api.example.com: the response wasn't complete")

    remote = HostedApi("https://api.example.com/v1", "secret", Silent(), wait=waited.append)
    with pytest.raises(SourceError, match="the response wasn't complete"):
        remote.get("/orgs")
    assert waited == [1, 2, 4, 8, 16]


@pytest.mark.parametrize("again", [True, False])
def test_an_endless_list_is_refused(monkeypatch, again):
    monkeypatch.setattr(asking, "MAX_LIST_PAGES", 5)
    asked = []

    class Endless:
        def fetch(self, url, headers, limits):
            asked.append(url)
            place = "same" if again else str(len(asked))
            answer = {"items": [{"id": place}], "next": {"page": place}}
            return Fetched(url, 200, {}, msgspec.json.encode(answer))

    remote = HostedApi("https://api.example.com/v1", "secret", Endless())
    with pytest.raises(
        SourceError, match="the same page of the list twice" if again else "more than 5 pages"
    ):
        list(remote.all("/orgs"))
    assert len(asked) == (2 if again else 5)
