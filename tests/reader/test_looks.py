"""Layout of pages, measured in a real browser: problems that real content has shown, in both themes and two widths."""

import struct
import zlib

import pytest

from serving import import_site, serving_new
from settled import until

WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
ICON = (
    '<picture><source srcset="dark.png" media="(prefers-color-scheme: dark)">'
    '<img src="light.png" alt="" data-size="{}"></picture>'
)
SIGNATURE = (
    "create_something(first: int, second: str | None = None, *, third: dict[str, list[int]],"
    " fourth: float = 1.0, fifth: bool = False, sixth: tuple[int, ...] = ()) -> Result[Something, LongErrorName]"
)
LINK = '<a href="https://example.com" class="button {0}">{0}</a>'
FILES = {
    "SUMMARY.md": "* [Home](README.md)\n* [Pictures](pictures.md)\n* [Tables](tables.md)\n* [Blocks](blocks.md)\n"
    "* [Plain](plain.md)\n* [Codes](codes.md)\n* [Cards](cards.md)\n",
    "README.md": "---\nicon: house\nlayout:\n  tableOfContents:\n    visible: false\n---\n\n# Home\n\nWelcome.\n",
    "pictures.md": "# Pictures\n\n{} and {}\n\n| A | B |\n| - | - |\n| {} | b |\n".format(
        *(ICON.format(size) for size in ("line", "original", "line"))
    ),
    "tables.md": "# Tables\n\n## Long\n\n| A | B | C |\n| - | - | - |\n"
    + "| a | b | c |\n" * 60
    + "\n## Two\n\n"
    f"| Name | What it does |\n| - | - |\n| `organization_identifier` | {'Words that have to wrap. ' * 20}|\n"
    f"| `{'very_long_identifier' * 4}` | https://example.com/{'and/on/' * 30} |\n\n"
    '<table><thead><tr><th width="300">A</th><th width="700">B</th></tr></thead>'
    "<tbody><tr><td>a</td><td>b</td></tr></tbody></table>\n",
    "blocks.md": "---\nicon: rocket\n---\n\n# Blocks\n\n## Buttons\n\n"
    f'{LINK.format("primary")}{LINK.format("secondary")}<a class="button primary">off</a>\n\n'
    "$$\n\\sum_{i=1}^n i + \\lim_{x \\to 0} x + \\bigcup_i A_i\n$$\n\n"
    '{% tabs %}\n{% tab title="A" %}\none\n{% endtab %}\n{% tab title="B" %}\ntwo\n{% endtab %}\n{% endtabs %}\n\n'
    '{% updates format="full" %}\n{% update date="2026-01-01" %}\n## In an update\n\nText.\n\n## Another\n\n'
    f"Text.\n{{% endupdate %}}\n{{% endupdates %}}\n\n## `{SIGNATURE}`\n\nText.\n",
    "plain.md": "# Plain\n\nText.\n",
    "codes.md": "# Codes\n\n"
    "| Parameter | Meaning |\n| - | - |\n| `page`, `page_size` | Either `true` or `false`, and words that wrap. |\n\n"
    "| Call | Purpose | Answer | Use it when |\n| - | - | - | - |\n"
    f"| `Client::with_max_response_bytes(max_response_bytes)` | {'It says so. ' * 6} | `Paginated<ResultOfClient>` |"
    f" {'It has to. ' * 6} |\n",
    "cards.md": "---\nlayout:\n  width: wide\n  tableOfContents:\n    visible: false\n---\n\n# Cards\n\n"
    '<table data-view="cards"><thead><tr><th></th></tr></thead><tbody>'
    "<tr><td>a</td></tr><tr><td>b</td></tr><tr><td>c</td></tr></tbody></table>\n",
}


def picture(red: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head, rows = struct.pack(">IIBBBBB", 24, 24, 8, 2, 0, 0, 0), (b"\0" + bytes([red, 0, 99]) * 24) * 24
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """URL of the published space."""
    folder = tmp_path_factory.mktemp("looks")
    (folder / "docs").mkdir()
    for name, text in FILES.items():
        (folder / "docs" / name).write_text(text)
    for name, red in (("light.png", 200), ("dark.png", 20)):
        (folder / "docs" / name).write_bytes(picture(red))
    with serving_new(folder / "data") as served:
        yield import_site(served, folder / "docs")


@pytest.fixture
def look(browser, site):
    """``look(path, script)``: evaluate a script on a page; with ``keep``, return the page itself."""
    contexts = []

    def visit(path, script="", viewport=WIDE, scheme="light", keep=False):
        context = browser.new_context(viewport=viewport, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.goto(site + path)
        return page if keep else page.evaluate(script)

    yield visit
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_one_of_two_theme_images_is_shown(look, scheme):
    shown = """[...document.querySelectorAll('.prose img')].filter(i => i.checkVisibility()).map(i => i.className)"""
    seen = look("pictures", shown, scheme=scheme)
    assert len(seen) == 3 and all(f"only-{scheme}" in name for name in seen)
    page = look("pictures", scheme=scheme, keep=True)
    other = {"light": "dark", "dark": "light"}[scheme]
    page.evaluate(f"document.documentElement.dataset.theme = '{other}'")
    assert all(f"only-{other}" in name for name in page.evaluate(shown))


def test_a_home_with_hidden_contents_has_navigation_on_a_phone(look):
    assert look("", "!document.querySelector('.side').checkVisibility()")
    page = look("", viewport=PHONE, keep=True)
    page.locator("details.menu > summary").click()
    page.get_by_role("link", name="Tables").first.click()
    page.wait_for_url("**/tables")


def test_table_rows_are_not_cut_and_two_columns_wrap(look):
    boxes = """[...document.querySelectorAll('.table')].map(t =>
        [t.scrollHeight <= t.clientHeight, t.querySelector('table').offsetWidth <= t.clientWidth])"""
    for viewport in (WIDE, PHONE):
        (tall, _), *two = look("tables", boxes, viewport=viewport)
        assert tall and two == [[True, True]] * 2
        words = """[...document.querySelectorAll('.pair td')].every(c => c.scrollWidth <= c.clientWidth)"""
        assert look("tables", words, viewport=viewport)


def test_code_in_cells_leaves_room_for_text(look):
    fits = """[...document.querySelectorAll('.table')].map(t => t.querySelector('table').offsetWidth <= \
t.clientWidth)"""
    assert look("codes", fits) == [True, True]
    assert look("codes", fits, viewport=PHONE)[0]


def test_three_cards_fill_their_row(look):
    left = """(() => { const cards = document.querySelector('.cards');
        return cards.getBoundingClientRect().right - cards.lastElementChild.getBoundingClientRect().right; })()"""
    assert look("cards", "document.querySelector('.cards').offsetWidth") > 936  # room for a fourth
    assert abs(look("cards", left)) < 1


def test_buttons_have_gaps_and_one_without_a_target_is_not_primary(look):
    first, second, off = look(
        "blocks",
        """[...document.querySelectorAll('p > .button')].map(b => [b.getBoundingClientRect().left,
            b.getBoundingClientRect().right, getComputedStyle(b).backgroundColor])""",
    )
    assert second[0] - first[1] >= 8 and off[0] - second[1] >= 8
    assert off[2] != first[2]


def test_text_has_the_same_position_with_and_without_an_outline(look):
    place = (
        "[document.querySelector('.page').getBoundingClientRect().left, "
        "document.querySelector('.page').offsetWidth]"
    )
    assert look("plain", place) == look("tables", place)


def test_headings_of_updates_are_below_those_of_the_page(look):
    page, update, gap = look(
        "blocks",
        """(() => { const [first, second] = document.querySelectorAll('.update-body > h2');
            const size = (e) => parseFloat(getComputedStyle(e).fontSize);
            return [size(document.querySelector('.prose > h2')), size(first),
                second.getBoundingClientRect().top - second.previousElementSibling.getBoundingClientRect().\
bottom]; })()""",
    )
    assert update < page and gap >= 24


def test_limits_are_above_and_below_the_operator(look):
    below = look(
        "blocks",
        """[...document.querySelectorAll('.math :is(munder, munderover)')].map(m =>
            m.children[1].getBoundingClientRect().top >= m.children[0].getBoundingClientRect().bottom - 2)""",
    )
    assert below == [True] * 3


def test_a_title_and_its_icon_are_aligned(look):
    apart = look(
        "blocks",
        """(() => { const h = document.querySelector('h1'), range = document.createRange();
            range.selectNodeContents(h.lastChild);
            const middle = (r) => (r.top + r.bottom) / 2;
            return Math.abs(middle(range.getBoundingClientRect())
                - middle(h.querySelector('svg').getBoundingClientRect())); })()""",
    )
    assert apart < 2


def test_long_signatures_use_up_to_three_lines_of_the_outline(look):
    height, fits = look(
        "blocks",
        """(() => { const a = [...document.querySelectorAll('.outline a')].at(-1);
            return [a.getBoundingClientRect().height / parseFloat(getComputedStyle(a).lineHeight),
                a.scrollWidth <= a.clientWidth]; })()""",
    )
    assert round(height) == 3 and fits


def test_the_title_of_a_phone_has_the_whole_width(look):
    room = """[document.querySelector('h1').clientWidth - parseFloat(getComputedStyle(document.\
querySelector('h1')).paddingRight),
        document.querySelector('.page').clientWidth, document.querySelector('main').contains(document.\
querySelector('.actions'))]"""
    title, page, inside = look("blocks", room, viewport=PHONE)
    assert title == page and inside


def test_panels_of_other_tabs_are_no_tab_stops(look):
    page = look("blocks", keep=True)
    stops = "[...document.querySelectorAll('[role=tabpanel]')].map(p => p.tabIndex)"
    assert page.evaluate(stops) == [0, -1]
    page.get_by_role("tab", name="B").click()
    until(lambda: page.evaluate(stops) == [-1, 0])
