"""The format's own tags, attributes and HTML forms, whole and half: all of them can be searched, shown,
rendered, printed, and written without errors."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octavo.core.document import containing, tag_reader
from octavo.core.document.evaluating import close_conditions, show_document
from octavo.core.document.html import render
from octavo.core.document.json import from_json, to_json
from octavo.core.document.keys import assign_keys
from octavo.core.document.nodes import Block
from octavo.core.document.reader import read
from octavo.core.document.references import references
from octavo.core.document.text import outline, sections, to_text
from octavo.core.document.typst import to_typst
from octavo.core.document.writing import write
from octavo.core.expressions import NOBODY, Shown
from octavo.core.import_plan import TextCheck, plan_import
from octavo.core.links import resolve

TAGS = sorted(
    {
        *tag_reader.TAGS,
        *tag_reader.VOID_TAGS,
        "tab",
        "step",
        "column",
        "update",
        "endif",
        "else",
        "elif a",
        "@a/b",
        "swagger",
    }
)
ATTRIBUTES = [
    *(
        f"{name}="
        for name in (
            "style",
            "title",
            "icon",
            "url",
            "src",
            "spec",
            "path",
            "method",
            "schemas",
            "name",
            "width",
            "start",
            "date",
            "tags",
            "level",
            "format",
            "page",
            "caption",
            "expanded",
            "overflow",
            "lineNumbers",
            "required",
            "verticalAlignment",
            "collapsedLineCount",
            "fullWidth",
            "status",
            "id",
            "href",
            "alt",
            "height",
            "align",
            "srcset",
            "media",
            "class",
            "data-view",
            "data-type",
            "data-card-cover",
            "data-card-target",
            "data-hidden",
            "data-max",
            "data-code",
            "data-tag",
            "data-icon",
            "data-action",
            "data-query",
            "data-slug",
            "data-search",
            "data-size",
            "data-multiple",
            "data-object-fit",
            "data-full-width",
            "data-title",
            "data-footnote-ref",
            "data-mention",
            "data-option",
            "colspan",
            "rowspan",
            "valign",
            "value",
            "label",
            "color",
            "open",
            "checked",
            "data-column-title-hidden",
        )
    ),
]
VALUES = [
    '""',
    '"x"',
    "'y'",
    '"',
    "'",
    "",
    '"1"',
    '"-1"',
    '"99999999999999999999"',
    '"50%"',
    '"0"',
    '"true"',
    '"a,,b"',
    '"#user-content-fn-1"',
    '"#user-content-fn-"',
    '"#"',
    '"http://["',
    '"http://[::1"',
    '"//"',
    '"javascript:x"',
    '"https://x.example/a b"',
    '"../a.md#x"',
    '".gitbook/includes/a.md"',
    '"/broken/pages/x"',
    '"button secondary"',
    '"fa-star"',
    '"language-js"',
    '"gitbook-drawing"',
    '"cards"',
    '"select"',
    '"rating"',
    '"users"',
    '"files"',
    '"image"',
    '"content-ref"',
    '"number"',
    '"checkbox"',
    '"emoji"',
    '"1f600"',
    '"110000-d800"',
    '"(prefers-color-scheme: dark)"',
    '"2026-13-40"',
    '"&#0;&#xd800;"',
    '"{{ a }}"',
    '"color:red;"',
    '"\u0001\u202e"',
    '"a{% if x %}"',
    '"center"',
]
ELEMENTS = [
    "a",
    "p",
    "div",
    "center",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "select",
    "option",
    "ul",
    "ol",
    "li",
    "input",
    "figure",
    "figcaption",
    "img",
    "picture",
    "source",
    "pre",
    "code",
    "strong",
    "mark",
    "i",
    "span",
    "button",
    "details",
    "summary",
    "h1",
    "h3",
    "blockquote",
    "hr",
    "br",
    "kbd",
    "sup",
    "host",
    "script",
    "svg",
    "dl",
    "dt",
]
TEXTS = [
    "x",
    " ",
    "\n",
    "\n\n",
    "[^1]",
    "[^1]: note\n",
    "[^1]: [^1]\n",
    "[a](b)",
    "[x](#user-content-fn-1)",
    "![](y.png)",
    "[a](http://[)",
    "<http://[>",
    "https://[::1",
    "# h\n",
    "- ",
    "> ",
    "1. ",
    "- [ ] ",
    "| a | b |\n|---|---|\n| ",
    "|",
    "```js\n",
    "```\n",
    "$$",
    "`",
    "**",
    "<!--",
    "-->",
    "<",
    ">",
    "{%",
    "%}",
    "{{ visitor.claims.x }}",
    ":smile:",
    "---\n",
    "\\",
    '<code class="expression">visitor.x.y</code>',
    '<code class="expression">"\\ud83d"</code>',
    '<code class="expression">"\U0001f600".slice(0, 1)</code>',
    '<code class="expression">"\U0001f600"[1]</code>',
    '<code class="expression">(</code>',
    '<a data-footnote-ref href="#user-content-fn-1">x</a>',
    '<a data-footnote-ref href="#user-content-fn-2">x</a>',
    '<span data-tag="emoji" data-code="d800"></span>',
    "[@a](mention)",
    '[a](b "mention")',
    "&#xd800;",
    "\u0000",
    "é漢",
]


def _tag(random: Random) -> str:
    attributes = "".join(
        f" {random.choice(ATTRIBUTES)}{random.choice(VALUES)}" for _ in range(random.randint(0, 3))
    )
    form = random.random()
    if form < 0.5:
        name = random.choice(TAGS)
        made = f"{{% {name}{attributes} %}}\n" if random.random() < 0.8 else f"{{% end{name} %}}\n"
    else:
        name = random.choice(ELEMENTS)
        made = f"<{name}{attributes}>" if random.random() < 0.6 else f"</{name}>"
    # One of eight is broken off somewhere.
    return made if random.random() < 0.88 else made[: random.randint(1, len(made))]


def _text(random: Random) -> str:
    return "".join(
        _tag(random) if random.random() < 0.6 else random.choice(TEXTS) for _ in range(random.randint(1, 14))
    )


class _NoFiles:
    """A source in which there is nothing."""

    def paths(self) -> list[str]:
        return []

    def size(self, path: str) -> int:
        return 0

    def read(self, path: str) -> bytes:
        return b""


class _Nothing:
    """An empty target for link lookups."""

    def _find(self, _: str) -> None:
        return None

    find_page = find_page_by_path = find_page_by_id = find_file = find_file_by_id = find_reusable = _find


def go_through(text: str) -> None:
    """Do everything with a page that doesn't need a database."""
    document = read(text)
    assert write(document) == text
    written = read(text)
    for block in written.nodes:
        block.source = None
    read(write(written))  # rewritten as a whole
    from_json(msgspec.json.decode(msgspec.json.encode(to_json(read(text)))))
    for found in references(assign_keys(read(text))):
        resolve(str(found.ref.get("url", "")), _Nothing(), "a/b.md")
    closed = close_conditions(read(text))
    sections(closed), outline(closed), to_text(closed)
    TextCheck(plan_import(_NoFiles()), lambda space: False, ("x.example",)).check("a.md", text)
    shown = show_document(close_conditions(read(text)), Shown({}, {}, NOBODY))
    write(shown).encode()
    render(show_document(close_conditions(read(text)), Shown({}, {}, NOBODY))).body.encode()
    to_typst(show_document(close_conditions(read(text)), Shown({}, {}, NOBODY))).code.encode()


@pytest.fixture
def failures(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Exception]]:
    """Return the contained failures, for tests that expect none."""
    found: list[Exception] = []
    monkeypatch.setattr(containing, "_reports", [lambda stage, error, count: found.append(error)])
    yield found
    assert not found, repr(found)


@pytest.mark.usefixtures("failures")
@pytest.mark.parametrize(
    "text",
    [
        '<a data-footnote-ref href="#user-content-fn-1">x</a>\n',
        '| a |\n|---|\n| <a data-footnote-ref href="#user-content-fn-1">x</a> |\n\n[^1]: note\n',
        '<table><tr><td><a data-footnote-ref href="#user-content-fn-1">x</a></td></tr></table>\n\n[^1]: note\n',
        'a[^1]\n\n[^1]: <a data-footnote-ref href="#user-content-fn-1">x</a>\n',
    ],
)
def test_the_html_form_of_a_mark_needs_no_definition(text: str) -> None:
    go_through(text)


def test_a_mark_without_a_definition_is_shown_as_text() -> None:
    html = render(read('a <a data-footnote-ref href="#user-content-fn-1">word</a> b\n')).body
    assert "word" in html


@given(st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_any_mix_of_tags_and_elements_round_trips(seed: int) -> None:
    found: list[Exception] = []
    kept, containing._reports[:] = (
        list(containing._reports),
        [lambda stage, error, count: found.append(error)],
    )
    try:
        go_through(_text(Random(seed)))
    finally:
        containing._reports[:] = kept
    assert not found, (found, _text(Random(seed)))


@pytest.mark.slow
@pytest.mark.usefixtures("failures")
def test_ten_thousand_mixes_of_tags_round_trip() -> None:
    for number in range(10_000):
        text = _text(Random(number))
        try:
            go_through(text)
        except Exception as error:
            raise AssertionError(f"case {number}: {text!r}") from error


def _explode(*args: object) -> None:
    raise KeyError("a defect")


def test_an_unreadable_block_is_kept_as_source(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int]] = []
    monkeypatch.setattr(containing, "_reports", [lambda stage, error, count: told.append((stage, count))])
    monkeypatch.setitem(tag_reader.TAGS, "hint", _explode)
    monkeypatch.setitem(tag_reader.VOID_TAGS, "embed", _explode)
    text = '# a\n\n{% hint style="info" %}\nkept words\n{% endhint %}\n\n> {% embed url="u" %}\n\nlast\n'
    document = read(text)
    assert write(document) == text
    assert [block.type for block in document.nodes] == ["heading-1", "unknown", "blockquote", "paragraph"]
    assert document.failed == [2, 6]
    assert told == [("read", 2)]
    html = render(document).body
    assert "kept words" in html
    assert "last" in html


def test_an_unreadable_page_is_kept_as_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("octavo.core.document.reader.parse_blocks", _explode)
    document = read("a\n\nb\n")
    assert document.nodes == [Block("unknown", {"source": "a\n\nb\n", "kind": "text"}, source="a\n\nb\n")]
    assert write(document) == "a\n\nb\n"
    assert document.failed == [0]


def test_unreadable_blocks_are_located_in_few_attempts() -> None:
    text = "\n\n".join(f"p{number}" for number in range(2000))
    tries = 0

    def work(document: object) -> str:
        nonlocal tries
        tries += 1
        said = to_text(document)  # type: ignore[arg-type]
        if "p777" in said and not any(block.type == "unknown" for block in document.nodes):  # type: ignore[attr-defined]
            raise KeyError("p777")
        return said

    made = containing.contained("test", lambda: read(text), work)
    assert made.count("\n") == 1999
    assert tries < 40
