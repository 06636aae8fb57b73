"""References have the same meaning in every output: the index, the API's documents, sites, and print."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from changes.working import update
from octavo.content.references.lookup import Owner
from octavo.content.references.resolving import NobodyViewer, state_resolver
from octavo.content.revisions.states import main_state
from octavo.core.links import app_hosts
from octavo.operations.admin.import_export import import_space
from octavo.sites.printing.inputs import collect_order
from octavo.sites.printing.store import PrintSubject
from octavo.sites.site.creating import create_site
from octavo.sites.site.store import set_published
from printing.test_compiling import png
from reader.test_sites import Visitor
from references.test_index import Linked

ELSEWHERE = "https://app.gitbook.com/s/elsewhere123/some/page"


@pytest.fixture
def two(world: Any, tmp_path: Path) -> tuple[Linked, Linked]:
    """Create a space, and another one to whose pages it links."""
    (tmp_path / "other").mkdir()
    return Linked(world, tmp_path), Linked(world, tmp_path / "other")


def links_of(node: Any) -> list[dict[str, Any]]:
    """Return the references of all links and cards of a document, in order."""
    found: list[dict[str, Any]] = []
    stack = [node]
    while stack:
        here = stack.pop()
        if isinstance(here, dict):
            if here.get("type") in ("link", "content-ref", "mention"):
                found.append(here["data"]["ref"])
            stack.extend(reversed(list(here.values())))
        elif isinstance(here, list):
            stack.extend(reversed(here))
    return found


def document(linked: Linked, page: str, who: str = "admin") -> Any:
    query = {"format": "document"}
    return linked.world.get(who, f"{linked.path}/content/page/{page}", params=query)["document"]


def hide(linked: Linked) -> None:
    """Hide it from everyone except administrators."""
    with linked.world.context.db.write() as tx:
        tx.run("UPDATE spaces SET default_level = NULL WHERE id = :id", id=linked.id)


# --- the API --------------------------------------------------------------------------------------------


@pytest.mark.sqlite_first
def test_documents_link_to_pages_of_other_spaces(two: tuple[Linked, Linked]) -> None:
    linked, other = two
    there, start = f"https://octavo.test/s/{other.id}", other.page("Start")
    home = linked.write(
        "Home", f"[a]({there}/guides/start) [b]({there}/guides#First_Steps) [c]({there}) [d]({there}/no)"
    )
    assert links_of(document(linked, home)) == [
        {"kind": "page", "page": start, "space": other.id},
        {"kind": "anchor", "anchor": "first-steps", "page": other.page("Guide"), "space": other.id},
        {"kind": "space", "space": other.id},
        {"kind": "url", "url": f"{there}/no"},
    ]
    kinds = [item["targetReference"]["kind"] for item in linked.links(home)["items"]]
    assert sorted(kinds) == ["page", "page", "space", "url"]


@pytest.mark.sqlite_first
def test_a_link_to_the_first_heading_of_a_page_is_a_link_to_the_page(two: tuple[Linked, Linked]) -> None:
    """Where pages are read as files, their title is a heading with an ID, and others link to it."""
    linked, other = two
    there = f"https://octavo.test/s/{other.id}"
    home = linked.write("Home", f"[a]({there}/guides/start#Start) [b](#home) [c]({there}/guides/start#begin)")
    titled = {"kind": "page", "page": other.page("Start"), "space": other.id}
    assert links_of(document(linked, home))[0] == titled
    statuses = [item["status"] for item in linked.links(home)["items"]]
    assert sorted(statuses) == ["broken", "ok", "ok"]
    other.edit(update(other.page("Start"), title="Begin", slug="start"))
    statuses = [item["status"] for item in linked.links(home)["items"]]
    assert sorted(statuses) == ["broken", "ok", "ok"]
    assert links_of(document(linked, home))[2] == titled


@pytest.mark.sqlite_first
def test_links_in_documents_follow_changes_of_the_other_space(two: tuple[Linked, Linked]) -> None:
    linked, other = two
    there, start = f"https://octavo.test/s/{other.id}/guides/start", other.page("Start")
    home = linked.write("Home", f"[a]({there})")
    as_page, as_url = {"kind": "page", "page": start, "space": other.id}, {"kind": "url", "url": there}
    assert links_of(document(linked, home)) == [as_page]
    other.edit(update(start, slug="begin"))
    assert links_of(document(linked, home)) == [as_url]
    other.edit(update(start, slug="start"))
    assert links_of(document(linked, home)) == [as_page]


@pytest.mark.sqlite_first
def test_documents_reveal_no_hidden_space(two: tuple[Linked, Linked]) -> None:
    linked, other = two
    there = f"https://octavo.test/s/{other.id}"
    home = linked.write("Home", f"[a]({there}/guides/start) [b]({there}/never) [c]({there})")
    assert len({ref["kind"] for ref in links_of(document(linked, home, "reader"))}) == 3
    hide(other)
    for who, kinds in (("reader", ["url"] * 3), ("admin", ["page", "url", "space"])):
        assert [ref["kind"] for ref in links_of(document(linked, home, who))] == kinds
    # Nor for one of another organization.
    away = f"https://octavo.test/s/{linked.world.away['spaceId']}"
    home = linked.write("Home", f"[a]({away}/writing) [b]({away})")
    assert [ref["kind"] for ref in links_of(document(linked, home))] == ["url", "url"]


@pytest.mark.sqlite_first
def test_documents_round_trip_with_their_links(two: tuple[Linked, Linked]) -> None:
    linked, other = two
    there = f"https://octavo.test/s/{other.id}"
    text = f"See [a]({there}/guides/start), [b](guides/README.md#First_Steps), [c](user:nobody)."
    home = linked.write("Home", text)
    nodes = document(linked, home)["nodes"]
    linked.edit(update(home, document={"document": [*nodes, nodes[0]]}))
    source = linked.world.get("admin", f"{linked.path}/content/page/{home}", params={"format": "markdown"})
    assert source["markdown"].count(text) == 2
    # A link on another page is written as the URL of its target.
    guide = linked.page("Guide")
    linked.edit(update(guide, document={"document": nodes}))
    assert [ref["kind"] for ref in links_of(document(linked, guide))] == ["page", "anchor", "user"]
    hide(other)
    refused = linked.world.call(
        "editor",
        "POST",
        f"{linked.path}/content",
        params={"compat": "false"},
        json={"changes": [update(linked.page("Start"), document={"document": nodes})]},
    )
    assert refused.status_code == 400
    assert other.id not in refused.text.replace(f"{other.page('Start')}", "")


def test_hosts_are_passed_in_and_not_cached(world: Any, tmp_path: Path) -> None:
    linked = Linked(world, tmp_path)
    ref = {"kind": "url", "url": f"https://docs.one.test/s/{linked.id}/guides"}
    with world.context.db.read() as tx:
        state = main_state(tx, linked.id)

        def meant(url: str) -> str:
            resolver = state_resolver(tx, state, app_hosts(url), NobodyViewer())
            return str(resolver.content_ref(Owner("x", "page", "x.md"), ref, "link")["kind"])

        assert [meant(f"https://docs.{name}.test") for name in ("one", "two", "one")] == [
            "page",
            "url",
            "page",
        ]
    assert app_hosts("http://localhost:8000") == ("app.gitbook.com",)


# --- sites ----------------------------------------------------------------------------------------------


class Site:
    """Published site of some spaces, the first as its default, as a visitor sees it."""

    def __init__(self, *spaces: Linked) -> None:
        context, home = spaces[0].world.context, spaces[0].world.home
        with context.db.write() as tx:
            site = create_site(
                tx, organization_id=home["organizationId"], title="Docs", spaces=[s.id for s in spaces]
            )
            set_published(tx, site, True)
            self.base = "/{}/{}/".format(
                *tx.one(
                    """SELECT o.hostname, s.basename FROM sites s JOIN organizations o ON o.id = s.organization_id
                       WHERE s.id = :id""",
                    id=site,
                )
            )
            self.paths = dict(tx.all("SELECT space_id, path FROM site_spaces WHERE site_id = :id", id=site))
        self._visitor = Visitor(context)

    def get(self, path: str = "") -> str:
        answer = self._visitor.get(self.base + path)
        assert answer.status_code == 200, answer.text
        return str(answer.text)


@pytest.mark.sqlite_first
def test_an_unknown_space_is_linked_by_its_url(two: tuple[Linked, Linked]) -> None:
    linked, other = two
    there = f"https://octavo.test/s/{other.id}/guides/start"
    linked.write(
        "Home",
        f'[a]({ELSEWHERE}) [b]({there})\n\n{{% content-ref url="{ELSEWHERE}" %}}\n[Label]({ELSEWHERE})\n'
        "{% endcontent-ref %}\n",
    )
    home = Site(linked).get()
    assert f'<a href="{ELSEWHERE}" rel="noopener">a</a>' in home
    assert f'<a href="{there}" rel="noopener">b</a>' in home
    assert f'class="ref" href="{ELSEWHERE}"' in home
    assert 'class="broken"' not in home


@pytest.mark.sqlite_first
def test_a_space_of_the_same_site_is_linked_on_the_site(two: tuple[Linked, Linked]) -> None:
    linked, other = two
    there = f"https://octavo.test/s/{other.id}"
    linked.write(
        "Home", f"[a]({there}/guides/start) [b]({there}) [c]({there}/guides#FIRST_steps) [d]({there}/gone)"
    )
    site = Site(linked, other)
    base = f"{site.base}{site.paths[other.id]}/"
    home = site.get()
    assert f'<a href="{base}guides/start">a</a>' in home
    assert f'<a href="{base}">b</a>' in home
    assert f'<a href="{base}guides#first-steps">c</a>' in home
    assert f'<a href="{there}/gone" rel="noopener">d</a>' in home
    # The page reflects the other space although its own text is unchanged.
    other.edit(update(other.page("Start"), slug="begin"))
    assert f'<a href="{there}/guides/start" rel="noopener">a</a>' in site.get()


def test_navigation_links_to_other_spaces(world: Any, tmp_path: Path) -> None:
    files = {"SUMMARY.md": f"* [Home](README.md)\n* [Away]({ELSEWHERE})\n", "README.md": "# Home\n"}
    assert f'href="{ELSEWHERE}"' in Site(Linked(world, tmp_path, files)).get()


ANCHORED = {
    "SUMMARY.md": "* [Home](README.md)\n* [Guide](guide.md)\n",
    "guide.md": "# Guide\n\n## 1. Install Node.js\n\n<details>\n\n<summary>More to read</summary>\n\nText.\n\n"
    "</details>\n\n"
    'A <a name="Old.Anchor"></a> place.\n\n{% include ".gitbook/includes/help.md" %}\n\n## Ask us\n\n'
    '{% updates format="full" %}\n{% update date="2026-02-03" %}\nNew.\n{% endupdate %}\n{% endupdates %}\n',
    ".gitbook/includes/help.md": "## Ask us\n\nMail.\n",
}
SPELLINGS = [
    "1-install-nodejs",
    "id-1.-install-node.js",
    "1_Install_Node.js",
    "1~install~nodejs",
    "MORE-TO-READ",
    "more.to.read",
    "old-anchor",
    "Old.Anchor",
    "ask-us",
    "Ask_us-1",
    "2026.02.03",
]


def test_every_valid_anchor_exists_on_the_page(world: Any, tmp_path: Path) -> None:
    text = "".join(f"[x](guide.md#{spelling})\n" for spelling in SPELLINGS)
    linked = Linked(world, tmp_path, {**ANCHORED, "README.md": f"# Home\n\n{text}\n"})
    found = linked.links(linked.page("Home"))
    assert {item["status"] for item in found["items"]} == {"ok"}
    site = Site(linked)
    ids = set(re.findall(r' id="([^"]*)"', site.get("guide")))
    meant = re.findall(r'href="[^"]*guide#([^"]*)"', site.get())
    assert len(meant) == len(SPELLINGS)
    assert set(meant) <= ids
    assert meant[-3:] == ["ask-us", "ask-us-1", "2026-02-03"]
    documents = [ref["anchor"] for ref in links_of(document(linked, linked.page("Home")))]
    assert documents == meant


# --- prints ---------------------------------------------------------------------------------------------


def test_prints_resolve_files_like_pages(world: Any, tmp_path: Path) -> None:
    names = ["image (1).png", "a b.png", "plain.png", "(2).png", "100%.png"]
    shown = [
        "![](<.gitbook/assets/image (1).png>)",
        '<figure><img src=".gitbook/assets/a%20b.png" alt=""></figure>',
        "![](.gitbook/assets/plain.png)",
        '<div align="left"><img src=".gitbook/assets/(2).png"></div>',
        "![](.gitbook/assets/100%.png)",
    ]
    source = tmp_path / "source"
    (source / ".gitbook/assets").mkdir(parents=True)
    for width, name in enumerate([*names, "unused.png"], 1):
        (source / ".gitbook/assets" / name).write_bytes(png(width))
    (source / "README.md").write_text("# Home\n\n" + "\n\n".join(shown) + "\n")
    brought = import_space(
        world.context, str(source), organization_id=world.home["organizationId"], publish=True
    )
    folder = tmp_path / "print"
    folder.mkdir()
    with world.context.db.read() as tx:
        state = main_state(tx, brought.outcome.space)
        order = collect_order(
            world.context, tx, state, PrintSubject(state.space_id, state.revision_id), folder
        )
    assert sorted(file.name for file in order.files) == sorted(names)
    assert all(file.image is not None and (folder / file.image).exists() for file in order.files)
    page = Visitor(world.context).get(re.sub(r"^https?://[^/]+", "", str(brought.site_url))).text
    assert page.count("<img") == len(names)


# --- includes and assets beside their files -------------------------------------------------------------

NESTED = {
    "SUMMARY.md": "* [Home](README.md)\n* [Part](part/page.md)\n",
    "README.md": '# Home\n\n{% include ".gitbook/includes/top.md" %}\n\n{% include ".gitbook/includes/gone.md" %}\n\n'
    '```\n{% include "only/an/example.md" %}\n```\n',
    "part/page.md": '# Part\n\n{% include ".gitbook/includes/inner.md" %}\n\n![](.gitbook/assets/dot.png)\n',
    ".gitbook/includes/top.md": "Top words.\n",
    "part/.gitbook/includes/inner.md": "Inner words, see [home](../../../README.md).\n",
}


def test_nested_folders_are_resolved_from_the_file(world: Any, tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name, text in NESTED.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    (source / "part/.gitbook/assets").mkdir()
    (source / "part/.gitbook/assets/dot.png").write_bytes(png())
    brought = import_space(
        world.context, str(source), organization_id=world.home["organizationId"], publish=True
    )
    problems = [(p.path, p.line, p.code) for p in brought.outcome.problems]
    assert problems == [("README.md", 5, "missing_include")]
    visitor, base = Visitor(world.context), re.sub(r"^https?://[^/]+", "", str(brought.site_url))
    home, part = visitor.get(base).text, visitor.get(f"{base}page").text
    assert "Top words." in home
    assert f'Inner words, see <a href="{base}">home</a>.' in part
    assert "dot.png" in part
    # Writers see that something is missing; readers don't.
    assert "gone.md" not in home + visitor.get(f"{base}readme.md").text
    found = world.get("admin", f"/spaces/{brought.outcome.space}/links", params={"status": "broken"})
    assert [item["targetReference"]["url"] for item in found["items"]] == [".gitbook/includes/gone.md"]
    # Links in included content are relative to its own file; in Markdown they are URLs.
    assert f"see [home]({world.context.settings.sites_url}{base})" in visitor.get(f"{base}page.md").text


GONE = (
    "---\ncover: .gitbook/assets/no-cover.png\n---\n\n# Gone\n\n"
    "![](<.gitbook/assets/no (1).png>) ![](../part/.gitbook/assets/dot.png) ![](https://example.org/far.png)\n\n"
    '<figure><img src=".gitbook/assets/no&amp;no.png" alt=""></figure>\n\n`![](only-an-example.png)`\n\n'
    '{% file src=".gitbook/assets/no.pdf" %}\n\n![](.gitbook/assets/no\\_such.png)\n\n'
    '<table data-view="cards"><thead><tr><th></th><th data-card-cover data-type="files"></th></tr></thead><tbody>'
    '<tr><td><a href="page.md">A</a></td><td><a href=".gitbook/assets/no-card.png">x</a></td></tr></tbody></table>\n'
)


def test_missing_files_that_are_shown_are_problems(world: Any, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "part/.gitbook/assets").mkdir(parents=True)
    (source / "part/.gitbook/assets/dot.png").write_bytes(png())
    (source / "README.md").write_text("# Home\n")
    (source / "part/gone.md").write_text(GONE)
    brought = import_space(world.context, str(source), organization_id=world.home["organizationId"])
    problems = [(p.path, p.line, p.code) for p in brought.outcome.problems]
    assert problems == [("part/gone.md", line, "missing_file") for line in (7, 9, 13, 15, 17, 0)]
