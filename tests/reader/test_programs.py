"""Resources of a site for agents: Markdown by Accept, the index and its parts, the tree, skills, and cards."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import urlsplit

import pytest

from octavo.delivery.reader import full_text as whole
from octavo.delivery.reader import machine_files as programs
from octavo.delivery.reader.forms import prefers_markdown
from octavo.delivery.visits.admission import VisitorRequest
from octavo.delivery.visits.authorization import enter_site
from octavo.operations.admin.import_export import import_space
from visiting import Visitor

FILES = {
    "README.md": (
        "---\ndescription: All about it.\n---\n\n# Home\n\n"
        "[Blocks](blocks.md#part), [gone](gone.md), [rooted](/x.md)\n"
    ),
    "blocks.md": '# Blocks\n\n## Part\n\n{% hint style="warning" %}\nMind the gap.\n{% endhint %}\n\n'
    '{% tabs %}\n{% tab title="Linux" %}\napt\n{% endtab %}\n{% tab title="Mac" %}\nbrew\n'
    "{% endtab %}\n{% endtabs %}\n\n"
    '{% code title="a.toml" lineNumbers="true" %}\n```toml\nx = 1\n```\n{% endcode %}\n\n'
    "<details>\n\n<summary>More</summary>\n\nFolded text.\n\n</details>\n\n"
    '{% content-ref url="README.md" %}\n[README.md](README.md)\n{% endcontent-ref %}\n\n'
    '<mark style="color:red;">red</mark> <i class="fa-heart">:heart:</i> :rocket:\n\n'
    '<table data-view="cards"><thead><tr><th></th><th data-card-target '
    'data-type="content-ref"></th></tr></thead><tbody>'
    '<tr><td><h3>A card</h3></td><td><a href="README.md">x</a></td></tr></tbody></table>\n\n'
    "{% if visitor.claims.never %}\n\nSecret.\n\n{% endif %}\n",
    "sitemap.md": "# Sitemap\n\nA page of this very name.\n",
    "SUMMARY.md": "* [Home](README.md)\n\n## Parts\n\n* [Blocks](blocks.md)\n",
}


@pytest.fixture
def site(world, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for name, text in FILES.items():
        (source / name).write_text(text)
    brought = import_space(
        world.context,
        str(source),
        organization_id=world.home["organizationId"],
        title="Of Programs",
        publish=True,
    )
    return Visitor(world.context), urlsplit(brought.site_url).path, brought


@pytest.mark.parametrize(
    ("accepted", "wanted"),
    [
        ("text/markdown", True),
        ("text/markdown, text/html, */*", True),
        ("text/markdown;q=1.0, text/x-markdown;q=0.9, text/plain;q=0.8, text/html;q=0.7, */*;q=0.1", True),
        ("TEXT/Markdown ; variant=GFM ; Q=0.9 , text/html;q=0.8", True),
        ("text/markdown;q=0.2, */*", True),
        ("text/html, text/markdown;q=0.9", False),
        ("text/markdown;q=0", False),
        ("text/markdown;q=0.0001", False),
        ("text/markdown;q=nan", False),
        ("text/markdown;q=", False),
        ("text/markdown;q=2", False),
        ("text/*", False),
        ("*/*", False),
        ("", False),
        ("text/markdownish", False),
        (",;=,;q=1,,markdown", False),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", False),
    ],
)
def test_the_accept_header_selects_markdown(accepted, wanted):
    assert prefers_markdown(accepted) is wanted


@pytest.mark.sqlite_first
def test_one_url_has_both_formats_which_are_cached_separately(site):
    visitor, base, _ = site
    for _ in range(2):
        for path in ("", "parts/blocks"):
            html = visitor.get(f"{base}{path}", accept="text/html")
            assert html.headers["content-type"].startswith("text/html")
            text = visitor.get(f"{base}{path}", accept="text/markdown")
            assert text.headers["content-type"] == "text/markdown; charset=utf-8"
            for answer in (html, text):
                assert "accept" in [name.strip().lower() for name in answer.headers["vary"].split(",")]
            assert html.headers["etag"] != text.headers["etag"]
            tag = html.headers["etag"]
            again = visitor.get(f"{base}{path}", accept="text/markdown", **{"if-none-match": tag})
            assert (again.status_code, again.content) == (200, text.content)
            same = visitor.get(
                f"{base}{path}", accept="text/markdown", **{"if-none-match": text.headers["etag"]}
            )
            assert same.status_code == 304
    by_address = visitor.get(f"{base}parts/blocks.md")
    assert by_address.text == visitor.get(f"{base}parts/blocks", accept="text/markdown").text
    links = visitor.get(f"{base}parts/blocks").headers["link"]
    assert f'{base}parts/blocks.md>; rel="alternate"; type="text/markdown"' in links and "llms.txt" in links
    assert 'rel="canonical"' in by_address.headers["link"]
    lost = visitor.get(f"{base}nowhere", accept="text/markdown")
    assert lost.status_code == 404 and "llms.txt" in lost.text and "<" not in lost.text


def test_markdown_matches_the_page(site):
    visitor, base, _ = site
    text = visitor.get(f"{base}parts/blocks.md").text.partition("blocks.md)\n\n")[2]
    assert "{%" not in text and "<mark" not in text and "Secret" not in text and "fa-heart" not in text
    for said in (
        "> **Warning**\n>\n> Mind the gap.",
        "**Linux**\n\napt",
        "**a.toml**\n\n```toml\nx = 1\n```",
        "More\n\nFolded text.",
        "red  🚀",
        "* A card",
    ):
        assert said in text, said
    assert text.count(f"[Home](http://127.0.0.1:8001{base})") == 2
    home = visitor.get(base, accept="text/markdown").text
    assert f"[Blocks](http://127.0.0.1:8001{base}parts/blocks#part), gone, rooted" in home


def test_the_note_for_agents_comes_first_and_is_not_visible(site):
    visitor, base, _ = site
    html = visitor.get(base).text
    note = re.search(r"<p class=\"hidden-text\"([^>]*)>For AI agents: (.*?)</p>", html)
    assert note and 'aria-hidden="true"' in note[1] and note[2].count('tabindex="-1"') == 2
    assert f'href="{base}llms.txt"' in note[2] and f'href="{base}readme.md"' in note[2]
    assert html.index("For AI agents") < html.index("<header") < html.index("<main") < html.index("<aside")


def test_the_index_is_grouped_and_split(world, site, monkeypatch):
    visitor, base, _ = site
    index = visitor.get(f"{base}llms.txt").text
    assert index.startswith("# Of Programs\n\n> All about it.\n")
    assert "\n## Of Programs\n" in index and "\n## Parts\n" in index
    assert visitor.get(f"{base}~llms/1.txt").status_code == 404
    monkeypatch.setattr(programs, "_MAX_INDEX", 60)
    made = []
    with world.context.db.read() as tx:
        visit = enter_site(tx, world.context, "127.0.0.1", base, VisitorRequest([], {}, False))
        whole = programs.llms_text(tx, visit, None)
        numbers = re.findall(r"~llms/(\d+)\.txt", whole)
        for number in numbers:
            part = programs.llms_part(tx, visit, f"{number}.txt")
            made += re.findall(r"\]\((\S+)\)", part)
        for wrong in ("0.txt", "01.txt", "9.txt", "1", "x.txt", "²" + ".txt", "9" * 400 + ".txt"):
            assert programs.llms_part(tx, visit, wrong) is None
    assert numbers == ["1", "2"] and len(made) == 2


def test_the_text_of_all_pages_is_streamed_in_cached_parts(world, site, monkeypatch):
    visitor, base, _ = site
    text = visitor.get(f"{base}llms-full.txt").text
    sources = re.findall(r"^Source: (\S+)$", text, re.M)
    assert len(sources) == 2 and text.startswith("# Of Programs\n\nSource: ")
    monkeypatch.setattr(whole, "PAGES", 1)
    written = []
    write = whole._write

    def noted(context, visit, pages, build):
        written.append([page.title for _, page in pages])
        return write(context, visit, pages, build)

    monkeypatch.setattr(whole, "_write", noted)
    other = Visitor(world.context)
    assert other.get(f"{base}llms-full.txt").text == text and [len(titles) for titles in written] == [1, 1]
    assert other.get(f"{base}llms-full.txt").text == text and len(written) == 2
    plain = other.get(f"{base}llms-full.txt", **{"accept-encoding": "identity"})
    assert plain.text == text and "content-encoding" not in plain.headers
    packed = other.get(f"{base}llms-full.txt", **{"accept-encoding": "gzip"})
    assert packed.text == text and packed.headers["content-encoding"] == "gzip"
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
    with world.context.db.write() as tx:
        tx.run("UPDATE site_versions SET version = version + 1")
    assert other.get(f"{base}llms-full.txt").text == text and len(written) == 4


def test_tree_skill_and_agent_cards_are_served(site):
    visitor, base, _ = site
    tree = visitor.get(f"{base}sitemap.md").text
    assert f"- [Blocks](http://127.0.0.1:8001{base}parts/blocks)" in tree
    skill = visitor.get(f"{base}skill.md").text
    assert skill.startswith("---\nname: of-programs\n") and f"{base}llms.txt" in skill
    index = visitor.get(f"{base}.well-known/agent-skills/index.json").json()
    (one,) = index["skills"]
    served = visitor.get(urlsplit(one["url"]).path)
    assert one["digest"] == f"sha256:{hashlib.sha256(served.content).hexdigest()}" and served.text == skill
    card = visitor.get(f"{base}.well-known/mcp/server-card.json").json()
    assert card["transport"]["endpoint"].endswith(f"{base}~gitbook/mcp")
    for nothing in (".well-known/none", ".well-known/", ".well-known/skills/x/SKILL.md"):
        assert visitor.get(f"{base}{nothing}").status_code == 404


def test_a_page_with_the_same_name_takes_precedence(world, site):
    visitor, base, brought = site
    space = brought.outcome.space
    change = {
        "operation": "insert_page",
        "slug": "sitemap",
        "title": "Sitemap",
        "document": {"markdown": "Own.\n"},
    }
    world.post("admin", f"/spaces/{space}/content", {"changes": [change]})
    assert "Own." in visitor.get(f"{base}sitemap.md").text


SPLIT = {
    "README.md": "# Home\n\nFor everybody.\n\n{% if visitor.agent %}\n\n## Callable\n\n"
    "Call the zebra operation.\n\n{% endif %}\n\n"
    "{% if !visitor.agent %}\n\n## Pressable\n\nPress the walrus button.\n\n{% endif %}\n",
    "calls.md": "---\nif: visitor.agent\n---\n\n# Calls\n\nOnly the antelope calls.\n",
    "presses.md": '---\nif: "!visitor.agent"\n---\n\n# Presses\n\nOnly the flamingo presses.\n',
}
FOR_PROGRAMS, FOR_PEOPLE = {"zebra", "antelope"}, {"walrus", "flamingo"}


def _words(text):
    return {word for word in FOR_PROGRAMS | FOR_PEOPLE if word in text.lower()}


@pytest.mark.sqlite_first
def test_content_for_people_and_agents_is_separated(world, tmp_path):
    for name, text in SPLIT.items():
        (tmp_path / name).write_text(text)
    brought = import_space(
        world.context,
        str(tmp_path),
        organization_id=world.home["organizationId"],
        title="Split",
        publish=True,
    )
    visitor, base = Visitor(world.context), urlsplit(brought.site_url).path

    def read(path, accept="text/html"):
        return visitor.get(f"{base}{path}", accept=accept)

    # Twice and alternately: cached answers are never given to the other kind.
    for _ in range(2):
        assert _words(read("").text) == {"walrus"}
        assert _words(read("", "text/markdown").text) == {"zebra"}
        assert read("calls").status_code == 404
        assert _words(read("calls", "text/markdown").text) == {"antelope"}
        assert _words(read("presses").text) == {"flamingo"}
        assert read("presses", "text/markdown").status_code == 404
        assert _words(read("calls.md").text) == {"antelope"}
        assert read("presses.md").status_code == 404
    assert _words(read("llms-full.txt").text) == FOR_PROGRAMS
    for path in ("llms.txt", "sitemap.md"):
        assert "calls" in read(path).text
        assert "presses" not in read(path).text
    listed = read("sitemap-pages.xml").text
    assert "presses" in listed
    assert "calls" not in listed
    for word in FOR_PROGRAMS | FOR_PEOPLE:
        hits = visitor.get(f"{base}~search.json?q={word}").json()["hits"]
        assert bool(hits) is (word in FOR_PEOPLE), word
        asked = {"name": "search", "arguments": {"query": word}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
        found = visitor.send(f"{base}~mcp", message, accept="application/json, text/event-stream").text
        assert (f"{word} " in found.lower()) is (word in FOR_PROGRAMS), word
