"""Every output of the reader shows exactly what the visitor can see, computed in two ways.

Random spaces with nested conditions, expressions, comments, hidden pages, and includes; each output is
compared with a slow reference that was computed while the space was written.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import pypdf
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conditional_spaces import COMMON, ConditionalSpace, MadePage, words_of
from octavo.content.references.inclusions import MAX_INCLUDED
from octavo.content.revisions.states import main_state
from octavo.operations.admin.import_export import import_space
from octavo.sites.printing.inputs import collect_order
from octavo.sites.printing.print_job import compile_order
from octavo.sites.printing.store import PrintSubject
from reader.test_sites import Visitor

pytestmark = pytest.mark.sqlite_first


class Published:
    """Generated space on a site, with its outputs and the allowed content."""

    def __init__(self, world: Any, folder: Path, seed: int) -> None:
        self.space = ConditionalSpace(Random(seed))
        source = folder / f"source-{seed}"
        for name, text in self.space.files.items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(text)
        brought = import_space(
            world.context, str(source), organization_id=world.home["organizationId"], publish=True
        )
        self.world = world
        self.space_id = brought.outcome.space
        self.base = re.sub(r"^https?://[^/]+", "", str(brought.site_url))
        self.visitor = Visitor(world.context)
        self.seen = [page for page in self.space.pages if page.seen]
        self.listed = {page.word for page in self.seen if page.listed}

    def get(self, path: str, status: int = 200) -> str:
        answer = self.visitor.get(self.base + path)
        assert answer.status_code == status, (path, answer.status_code)
        return str(answer.text)

    def path(self, page: MadePage) -> str:
        return "" if page is self.space.pages[0] else page.path

    # --- allowed content -------------------------------------------------------------------------------

    def of_page(self, page: MadePage) -> set[str]:
        return page.shown | {page.word, page.about}

    def around(self, page: MadePage) -> set[str]:
        """Return what the frame of a page contains about other pages."""
        below = {other.word for other in self.seen if other.parent is page and other.listed}
        return self.listed | {above.word for above in page.above} | below | page.linked

    @property
    def searched(self) -> list[MadePage]:
        return [page for page in self.seen if page.listed and page.indexed]

    @property
    def findable(self) -> set[str]:
        # Search indexes a page's own file, not included content.
        return {word for page in self.searched for word in page.own | {page.word, page.about}}


def check_pages(published: Published) -> None:
    for page in published.space.pages:
        if not page.seen:
            for path in (page.path, f"{page.path}.md"):
                assert words_of(published.get(path, 404)) <= published.listed | {
                    page.word for page in page.above
                }
            continue
        path = published.path(page)
        html, text = words_of(published.get(path)), words_of(published.get(f"{page.path}.md"))
        assert published.of_page(page) <= html <= published.of_page(page) | published.around(page)
        # The address of a page, which its Markdown names, has the titles above it.
        above = {above.word for above in page.above}
        assert published.of_page(page) <= text <= published.of_page(page) | page.linked | above


def check_lists(published: Published) -> None:
    told = [page for page in published.seen if page.listed and page.told]
    paths = {word for page in told for word in words_of(published.path(page))}
    assert words_of(published.get("sitemap.xml")) == paths
    said = {page.word for page in told} | {page.about for page in told}
    assert words_of(published.get("~feed.xml")) == paths | said
    assert said <= words_of(published.get("llms.txt")) <= said | {a.word for page in told for a in page.above}


def check_search(published: Published, random: Random) -> None:
    may = published.findable | {above.word for page in published.searched for above in page.above}
    unknown = sorted(published.space.words - published.findable)
    wrong = [word[:-1] + "z" for word in random.sample(unknown, min(6, len(unknown)))]
    asked = [
        COMMON,
        f"{COMMON} {unknown[0]}",
        "zq",
        unknown[0][:6],
        *wrong,
        *unknown,
        *random.sample(sorted(published.findable), min(6, len(published.findable))),
    ]
    for query in asked:
        found = json.loads(published.get(f"~search.json?q={quote(query)}"))
        assert found.pop("query") == query
        assert words_of(json.dumps(found)) <= may, query
        if query in published.findable:
            assert query in words_of(json.dumps(found))
        if query in unknown:
            assert not found["hits"]
    for query in (COMMON, *wrong[:2]):
        assert words_of(published.get(f"~search?q={quote(query)}")) <= may | published.listed | {query}


def printed(published: Published) -> list[MadePage]:
    return [page for page in published.seen if page.listed]


def check_print(published: Published, folder: Path, *, compiled: bool) -> None:
    folder.mkdir()
    with published.world.context.db.read() as tx:
        state = main_state(tx, published.space_id)
        order = collect_order(
            published.world.context, tx, state, PrintSubject(state.space_id, state.revision_id), folder
        )
    if compiled:
        assert compile_order(order, folder).plain == []
        pages = pypdf.PdfReader(folder / "print.pdf").pages
        text = "\n".join(page.extract_text() for page in pages)
    else:
        # Input of the typesetting process.
        text = "\n".join(path.read_text() for path in sorted(folder.glob("*.json")))
        text += order.title + "".join(c.title + c.description for c in order.chapters)
        text += "".join(f"{place.title}{place.description}" for place in order.places)
    expected = {word for page in printed(published) for word in published.of_page(page)}
    assert expected <= words_of(text)
    assert words_of(text) <= expected | {word for page in printed(published) for word in page.linked}


@settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.integers(0, 10**9))
def test_every_output_matches_the_visible_content(world: Any, tmp_path_factory: Any, seed: int) -> None:
    folder = tmp_path_factory.mktemp("space")
    published = Published(world, folder, seed)
    check_pages(published)
    check_lists(published)
    check_search(published, Random(seed))
    check_print(published, folder / "print", compiled=False)


def test_a_pdf_matches_the_visible_content(sqlite_world: Any, tmp_path: Path) -> None:
    published = Published(sqlite_world, tmp_path, 7)
    check_print(published, tmp_path / "print", compiled=True)


def test_members_find_conditional_content(world: Any, tmp_path: Path) -> None:
    """The API's search is for members of the space, who see everything."""
    published = Published(world, tmp_path, 11)
    texts = [published.space.files[page.file] for page in published.space.pages]
    hidden = re.findall(r"\{% if space\.vars\.no %\}\s+(?:everywhere )?(zq[a-z]{8})", "\n".join(texts))
    assert hidden, texts
    found = world.get("admin", f"/spaces/{published.space_id}/search", params={"query": hidden[0]})
    assert found["count"] == 1
    assert hidden[0] in json.dumps(found)


def test_no_output_includes_more_than_a_page_can_have(world: Any, tmp_path: Path) -> None:
    most = MAX_INCLUDED // 8_000
    source = tmp_path / "source"
    (source / ".gitbook/includes").mkdir(parents=True)
    (source / ".gitbook/includes/part.md").write_text("## Part\n\nIncluded words.\n")
    (source / "README.md").write_text(
        "# Home\n\n" + '{% include ".gitbook/includes/part.md" %}\n\n' * (most + 3)
    )
    (source / "other.md").write_text(
        f"# Other\n\n[a](README.md#part-{most - 1}) [b](README.md#part-{most})\n"
    )
    brought = import_space(
        world.context, str(source), organization_id=world.home["organizationId"], publish=True
    )
    base, visitor = re.sub(r"^https?://[^/]+", "", str(brought.site_url)), Visitor(world.context)
    folder = tmp_path / "print"
    folder.mkdir()
    with world.context.db.read() as tx:
        state = main_state(tx, brought.outcome.space)
        collect_order(world.context, tx, state, PrintSubject(state.space_id, state.revision_id), folder)
        kept = tx.all(
            "SELECT anchor, status FROM content_references WHERE space_id = :id AND type = 'link' ORDER BY place",
            id=state.space_id,
        )
    html = visitor.get(base).text
    in_print = "".join(path.read_text() for path in folder.glob("*.json"))
    # Its first sentence is also the description in the page's head.
    for output in (html.partition("<body")[2], visitor.get(f"{base}readme.md").text, in_print):
        assert output.count("Included words.") == most
        assert output.count("Not shown: the content included in this page") == 3
    assert f'id="part-{most - 1}"' in html
    assert f'id="part-{most}"' not in html
    assert f"#part-{most - 1}" in visitor.get(f"{base}other").text
    assert kept == [(f"part-{most - 1}", "ok"), (f"part-{most}", "broken")]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 140))
def test_every_output_of_many_more_spaces_matches_the_visible_content(
    sqlite_world: Any, tmp_path: Path, seed: int
) -> None:
    published = Published(sqlite_world, tmp_path, seed)
    check_pages(published)
    check_lists(published)
    check_search(published, Random(seed))
    check_print(published, tmp_path / "print", compiled=seed % 5 == 0)
