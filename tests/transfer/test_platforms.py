"""Tests of Confluence and ReadMe over their HTTP APIs, with responses based on their public descriptions and
served on a socket: pages with all their content, paging, limits, attachments, and expired tokens."""

import base64
from contextlib import ExitStack

import pytest

from octavo.core.sources import SourceError
from octavo.interchange.readers.scratch import TemporaryFiles
from octavo.interchange.transfer.api_client import ResourceMissing, TokenRefused
from octavo.interchange.transfer.confluence import Confluence
from octavo.interchange.transfer.platforms import platform_at
from octavo.interchange.transfer.readme import ReadMe
from octavo.kit.net.fetch import Fetched, Fetcher
from recorded_platforms import CLOUD, CLOUD_PAGES, PNG, SECOND, serve


def fetcher_of(serving):
    return Fetcher(serving.address.partition("://")[2])


def opened(platform, space, tmp_path):
    with ExitStack() as stack:
        source = platform.open(space, TemporaryFiles(tmp_path), stack)
        return source, {path: source.read(path) for path in source.paths()}


# --- Confluence Cloud ---------------------------------------------------------------------------------


@pytest.fixture
def cloud():
    with serve(dict(CLOUD)) as found:
        yield found


def of_cloud(serving, wait=None):
    return Confluence(f"{serving.address}/wiki", "mara@example.com", "t0ken", fetcher_of(serving), wait)


def test_spaces_of_confluence_cloud_are_listed_in_pages(cloud):
    found, is_all = of_cloud(cloud).find_spaces()
    assert [(one.id, one.title) for one in found] == [
        ("DOC", "Handbook"),
        ("OPS", "Operations"),
        ("~me", "Mine"),
    ]
    assert is_all
    assert cloud.told == {"Basic " + base64.b64encode(b"mara@example.com:t0ken").decode()}


def test_a_space_of_confluence_cloud_is_imported_like_an_export(cloud, tmp_path):
    source, files = opened(of_cloud(cloud), "DOC", tmp_path)
    assert source.kind == "confluence"
    texts = {path: data.decode() for path, data in files.items() if path.endswith(".md")}
    tree = [line for line in texts["SUMMARY.md"].splitlines() if line.strip()]
    assert tree[1:3] == ["* [Handbook](handbook.md)", "* [Setup & more](setup-more.md)"]
    assert tree[3].startswith("## Shelf") and tree[4:] == ["* [In a folder](in-a-folder.md)"]
    home = texts["handbook.md"]
    assert home.startswith("---\ntags:\n- all\n- start\n---\n")
    assert "Welcome, @Mara Lind." in home
    assert "[set up](setup-more.md)" in home and "[Setup & more](setup-more.md)" in home
    assert f"[On call]({cloud.address}/wiki/display/OPS/On+call)" in home
    assert '<img src="attachments/plan.png" alt="Plan">' in home and files["attachments/plan.png"] == PNG
    setup = texts["setup-more.md"]
    assert '{% hint style="info" %}\nFirst.\n{% endhint %}' in setup
    assert "```python\nif a < b and c]]>d: pass\n```" in setup
    told = sorted((one.code, one.message) for one in source.problems)
    assert [code for code, _ in told] == ["blog_left_out", "not_fetched"]
    assert told[0][1] == "blog posts were skipped (2)" and "404" in told[1][1]


def test_rate_limits_are_waited_for_and_slow_responses_retried(cloud, tmp_path):
    waited = []
    cloud.instead["/wiki/api/v2/pages/2"] = [(429, {"retry-after": "7"}), (503, {})]
    _, files = opened(of_cloud(cloud, waited.append), "DOC", tmp_path)
    assert waited == [7.0, 2.0] and "setup-more.md" in files


@pytest.mark.parametrize(
    "place", ["/wiki/api/v2/pages/2", "/wiki/rest/api/content/1/child/attachment/att5/download"]
)
def test_an_expired_token_imports_nothing_partially(cloud, tmp_path, place):
    cloud.instead[place] = [(401, {})]
    with pytest.raises(TokenRefused, match="token"):
        opened(of_cloud(cloud), "DOC", tmp_path)


def test_hidden_people_do_not_stop_an_import(cloud, tmp_path):
    cloud.instead["/wiki/rest/api/user"] = [(403, {})]
    _, files = opened(of_cloud(cloud), "DOC", tmp_path)
    assert b"Welcome, @someone." in files["handbook.md"]


def test_a_missing_space_is_reported(cloud, tmp_path):
    with pytest.raises(ResourceMissing, match="NONE"):
        opened(of_cloud(cloud), "NONE", tmp_path)


def test_a_circular_list_is_ended(cloud):
    cloud.answers["/wiki/api/v2/spaces#two"] = {
        "results": [],
        "_links": {"next": "/wiki/api/v2/spaces?cursor=two&limit=250"},
    }
    with pytest.raises(SourceError, match="the same page of the list twice"):
        of_cloud(cloud).find_spaces()


@pytest.mark.parametrize("field", ["id", "title", "parentId", "body", "labels", "position", "parentType"])
@pytest.mark.parametrize("value", [None, 7, [], {}, "../../x", "a\0b</object>"])
def test_unusual_pages_of_confluence_cloud_do_no_harm(cloud, tmp_path, field, value):
    odd = {**CLOUD_PAGES[2], field: value}
    cloud.answers["/wiki/api/v2/spaces/77/pages#more"] = {"results": [odd], "_links": {}}
    cloud.answers["/wiki/api/v2/pages/2"] = odd
    _, files = opened(of_cloud(cloud), "DOC", tmp_path)
    assert "handbook.md" in files
    assert not any(".." in path.split("/") or path.startswith("/") for path in files)


# --- Confluence Data Center ---------------------------------------------------------------------------


def content_of(id, title, above, body, **more):
    return {
        "id": id,
        "type": "page",
        "status": "current",
        "title": title,
        "ancestors": [{"id": one} for one in above],
        "body": {"storage": {"value": body, "representation": "storage"}},
        "extensions": {"position": "none"},
        "metadata": {
            "labels": {
                "results": [{"prefix": "global", "name": "howto"}],
                "start": 0,
                "limit": 200,
                "size": 1,
            }
        },
        **more,
    }


CENTER = {
    "/docs/rest/api/space": {
        "results": [{"id": 1, "key": "DEV", "name": "Development", "type": "global"}],
        "start": 0,
        "limit": 100,
        "size": 1,
        "_links": {"base": "https://site.example/docs", "context": "/docs"},
    },
    "/docs/rest/api/space/DEV": {
        "id": 1,
        "key": "DEV",
        "name": "Development",
        "homepage": {"id": "10", "title": "Home"},
    },
    "/docs/rest/api/content": {
        "results": [
            content_of(
                "10",
                "Home",
                [],
                '<p><a href="https://site.example/docs/pages/viewpage.action?pageId=11">by number</a></p>',
            ),
        ],
        "start": 0,
        "limit": 50,
        "size": 1,
        "_links": {
            "next": "/rest/api/content?spaceKey=DEV&type=page&limit=1&start=1",
            "base": "https://site.example/docs",
            "context": "/docs",
        },
    },
    "/docs/rest/api/content#1": {
        "results": [
            content_of(
                "11", "Build", ["10"], '<p>See <ac:link><ri:attachment ri:filename="a b.txt"/></ac:link></p>'
            ),
        ],
        "start": 1,
        "limit": 50,
        "size": 1,
        "_links": {},
    },
    "/docs/rest/api/content#posts": {"results": []},
    "/docs/rest/api/content/10/child/attachment": {"results": [], "_links": {}},
    "/docs/rest/api/content/11/child/attachment": {
        "results": [
            {
                "id": "att9",
                "title": "a b.txt",
                "_links": {"download": "/download/attachments/11/a%20b.txt?version=1&api=v2"},
            },
        ],
        "_links": {},
    },
    "/docs/download/attachments/11/a%20b.txt": b"text",
}


def test_a_space_of_confluence_data_center_only_needs_a_token(tmp_path):
    with serve(dict(CENTER)) as center:
        platform = platform_at("confluence", f"{center.address}/docs/", None, "pat", fetcher_of(center), None)
        assert [one.id for one in platform.find_spaces()[0]] == ["DEV"]
        source, files = opened(platform, "DEV", tmp_path)
        assert center.told == {"Bearer pat"}
    assert files["home.md"].decode() == "---\ntags:\n- howto\n---\n\n# Home\n\n[by number](build.md)\n"
    assert (
        files["attachments/a b.txt"] == b"text"
        and "[a b.txt](attachments/a%20b.txt)" in files["build.md"].decode()
    )
    assert source.problems == ()


# --- ReadMe, second version ---------------------------------------------------------------------------


class Mixed:
    """The API from a socket, and images from nowhere."""

    def __init__(self, fetcher):
        self.fetcher, self.told = fetcher, {}

    def fetch(self, url, headers, limits):
        if url.startswith("https://files.readme.io/"):
            self.told[url] = headers
            return Fetched(url, 200 if "plan" in url else 404, {}, PNG)
        return self.fetcher.fetch(url, headers=headers, limits=limits)


def test_a_version_of_readme_is_imported_like_its_repository(tmp_path):
    with serve(dict(SECOND)) as serving:
        fetcher = Mixed(fetcher_of(serving))
        readme = ReadMe(serving.address, "rdme", fetcher, None)
        assert [(one.id, one.title) for one in readme.find_spaces()[0]] == [
            ("1.0", "Acme 1.0"),
            ("2.0", "Acme 2.0"),
        ]
        source, files = opened(readme, "1.0", tmp_path)
        assert serving.told == {"Bearer rdme"}
    assert source.kind == "readme"
    # The image server doesn't receive the token.
    assert list(fetcher.told.values()) == [{}]
    texts = {path: data.decode() for path, data in files.items() if path.endswith(".md")}
    welcome = next(text for text in texts.values() if "Good to know" in text)
    assert "description: Begin here" in welcome and '{% hint style="info" %}' in welcome
    assert welcome.count("limits.md)") == 2
    (image,) = [path for path in files if path.endswith("plan.png")]
    assert files[image] == PNG and image.rpartition("/")[2] in welcome
    summary = texts["SUMMARY.md"]
    assert "Getting-Started" in summary and "[Forum](https://forum.example.com)" in summary
    assert "[First]" in summary and any("ask()" in text and "## Ask" in text for text in texts.values())
    assert sorted(one.code for one in source.problems) == ["api_left_out", "blog_left_out", "not_fetched"]


def test_all_versions_of_readme_become_variants(tmp_path):
    answers = {
        **SECOND,
        "/v2/branches/2.0/categories/guides": {"data": [{"title": "New"}]},
        "/v2/branches/2.0/categories/guides/New/pages": {
            "data": [{"slug": "hello", "parent": {"uri": None}}]
        },
        "/v2/branches/2.0/categories/reference": {"data": []},
        "/v2/branches/2.0/guides/hello": {"data": {"title": "Hello", "content": {"body": "Hi.\n"}}},
    }
    with serve(answers) as serving:
        readme = ReadMe(serving.address, "rdme", Mixed(fetcher_of(serving)), None)
        source = readme.open_all(readme.project(), TemporaryFiles(tmp_path))
    assert sorted(entry.title for entry in source.structure) == ["v1.0", "v2.0"] and len(source.parts) == 2


def test_the_api_of_an_older_project_is_reported(tmp_path):
    with (
        serve({"/v2/projects/me": {"data": {"name": "Acme", "subdomain": "acme"}}}) as serving,
        pytest.raises(SourceError, match="dash.readme.com/api/v1"),
    ):
        ReadMe(f"{serving.address}/v2", "rdme", fetcher_of(serving), None).find_spaces()


# --- ReadMe, first version ----------------------------------------------------------------------------

FIRST = {
    "/api/v1/": {"name": "Old", "subdomain": "old", "baseUrl": "https://docs.example.com"},
    "/api/v1/version": [{"version": "0.9", "is_stable": False}, {"version": "1.0.0", "is_stable": True}],
    "/api/v1/categories#1": [
        {"title": f"Part {number}", "slug": f"part-{number}", "reference": False} for number in range(100)
    ],
    "/api/v1/categories#2": [{"title": "Calls", "slug": "calls", "reference": True}],
    **{f"/api/v1/categories/part-{number}/docs": [] for number in range(1, 100)},
    "/api/v1/categories/calls/docs": [{"slug": "call", "order": 1, "children": []}],
    "/api/v1/categories/part-0/docs": [
        {"slug": "second", "order": 2, "children": []},
        {"slug": "first", "order": 1, "children": [{"slug": "below", "order": 999, "children": []}]},
    ],
    "/api/v1/docs/first": {
        "title": "First",
        "type": "basic",
        "excerpt": "One",
        "body": '[block:callout]\n{"type": "warning", "title": "Mind", "body": "It is hot."}\n[/block]\n',
    },
    "/api/v1/docs/second": {"title": "Second", "type": "link", "link_url": "https://example.com", "body": ""},
    "/api/v1/docs/below": {
        "title": "Below",
        "type": "basic",
        "hidden": True,
        "body": "[up](https://docs.example.com/docs/first)",
    },
    "/api/v1/docs/call": {"title": "Call", "type": "endpoint", "body": ""},
    "/api/v1/custompages": [
        {"title": "Own", "slug": "own", "htmlmode": True, "html": "<b>x</b>", "body": ""}
    ],
    "/api/v1/changelogs": [],
}


def test_an_older_project_is_imported_too(tmp_path):
    with serve(dict(FIRST)) as serving:
        readme = platform_at("readme", f"{serving.address}/api/v1", None, "rdme", fetcher_of(serving), None)
        assert [one.id for one in readme.find_spaces()[0]] == ["1.0.0", "0.9"]
        source, files = opened(readme, "1.0.0", tmp_path)
        assert serving.told == {"Basic " + base64.b64encode(b"rdme:").decode()}
    texts = {path: data.decode() for path, data in files.items() if path.endswith(".md")}
    assert any('{% hint style="warning" %}' in text and "It is hot." in text for text in texts.values())
    assert any(
        "[up](" in text and "first.md)" in text or "[up](README.md)" in text for text in texts.values()
    )
    order = texts["SUMMARY.md"]
    assert order.index("First") < order.index("Second") and "https://example.com" in order
    assert sorted(one.code for one in source.problems) == ["api_left_out", "pages_left_out"]
