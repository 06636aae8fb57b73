"""Documents as Typst: every document is typeset, and text is never executed as code."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
import typst
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import document_strategies as documents
from octavo.core.document.nodes import Block, Document, Fragment, Inline, Leaf, Text
from octavo.core.document.reader import read
from octavo.core.document.typst import (
    Picture,
    Printing,
    TypstTarget,
    literal,
    place_of,
    plain_typst,
    to_typst,
)

LOOK = Path(__file__).parents[3] / "src" / "octavo" / "sites" / "printing" / "octavo.typ"
FONTS = typst.Fonts(include_system_fonts=False)
RED = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9" fill="red"/></svg>'

HOSTILE = [
    '#read("/etc/passwd")',
    '#import "@preview/x:1.0.0"',
    '#include "known.json"',
    "#{panic()}",
    "#panic()",
    '"); panic(); ("',
    '\\"); panic(); (\\"',
    "\\",
    '\\\\"',
    '"',
    "$x$",
    "$",
    "`",
    "```\n#panic()\n```",
    "<label>",
    "@label",
    "@known",
    "= Heading",
    "- item",
    "/ term: x",
    "// comment",
    "/* comment",
    "*/",
    "\\u{41}",
    "*a",
    "_a",
    "~",
    "---",
    "'",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    ";",
    "#",
    "#;",
    "\x00",
    "\x1b[0m",
    "\ud800",
    "\u2028",
    "\u202e",
    "\ufeff",
    "\uffff",
    "a" * 300,
    "/" * 300,
    "日本語",
    "👩‍👩‍👧",
    "\n",
    "\r\n",
    "\t",
    "${x}",
    "%",
    "&",
    "\U000e0041",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("print")
    (made / "octavo.typ").write_bytes(LOOK.read_bytes())
    (made / "known.json").write_text(msgspec.json.encode(KNOWN).decode())
    (made / "red.svg").write_bytes(RED)
    return made


KNOWN = {
    "lang": "en",
    "places": {"p": "p"},
    "broken": [],
    "colors": {},
    "logo": None,
    "families": {"text": [], "mono": []},
}
PRINTING = Printing(
    page="p",
    link=lambda ref: (
        TypstTarget(page="p", anchor="x", title="Title")
        if ref.get("kind") == "page"
        else TypstTarget(url=ref.get("url"))
    ),
    file=lambda ref: Picture(path="red.svg", name="red.svg", width=9, height=9),
    icon=lambda name: "red.svg",
)


def whole(code: str) -> bytes:
    return f'#import "octavo.typ": *\n#show: book.with(title: "T")\n#title(1, "p", "T", "")\n#{{\n{code}}}\n'.encode()


def compile(folder: Path, code: str, **inputs: str) -> bytes:
    compiler = typst.Compiler(input=whole(code), root=str(folder), font_paths=FONTS, sys_inputs=inputs)
    return bytes(compiler.compile(format="pdf"))  # type: ignore[arg-type]


def compile_or_loosen(folder: Path, code: str) -> bytes:
    """Compile like a printed page: titles can be separated from what follows if Typst fails otherwise."""
    try:
        return compile(folder, code)
    except typst.TypstError:
        return compile(folder, code, loose="yes")


def stripped(code: str) -> str:
    """Return the code without its string literals."""
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', code)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(documents.documents)
def test_every_document_is_typeset(folder: Path, document: Document) -> None:
    assert compile_or_loosen(folder, to_typst(document, PRINTING).code).startswith(b"%PDF")


@pytest.mark.slow
@settings(
    max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(documents.documents)
def test_very_many_documents_are_typeset(folder: Path, document: Document) -> None:
    assert compile_or_loosen(folder, to_typst(document, PRINTING).code).startswith(b"%PDF")


@given(st.text())
def test_a_literal_contains_only_its_text(text: str) -> None:
    assert re.fullmatch(r'"(?:[^"\\\n]|\\[\\"nt])*"', literal(text))


def test_a_literal_is_read_back_by_typst(folder: Path) -> None:
    texts = [t for t in HOSTILE if t.isprintable()]
    code = f"[#metadata(({', '.join(literal(t) for t in texts)}))<said>]"
    found = typst.Compiler(input=whole(code), root=str(folder), font_paths=FONTS).query(
        "<said>", field="value", one=True
    )
    assert msgspec.json.decode(found) == texts


def with_text(text: str) -> Document:
    """Return documents with the text in every possible position."""
    leaf = Text([Leaf(text)])
    ref = {"kind": "url", "url": text}
    line = Block("code-line", {"highlighted": True}, [Text([Leaf(text)])])
    caption = Fragment("caption", [Block("paragraph", {}, [leaf])])
    note = Inline("annotation", {}, [leaf], [Fragment("1", [Block("paragraph", {}, [leaf])])])
    inlines = [
        leaf,
        Inline("link", {"ref": ref, "title": text}, [leaf]),
        Inline("expression", {"expression": text}),
        Inline("inline-math", {"formula": text}),
        Inline("inline-image", {"ref": ref, "alt": text, "caption": text}),
        Inline("mention", {"ref": ref, "label": text}),
        Inline("button", {"label": text, "kind": "primary", "ref": ref}),
        Inline("icon", {"icon": text, "color": text}),
        Inline("emoji", {"code": text}),
        note,
    ]
    return Document(
        [
            Block("paragraph", {"align": text}, [*inlines]),
            Block("heading-1", {"id": text}, [leaf]),
            Block("code", {"syntax": text, "title": text, "lineNumbers": True}, [line]),
            Block("math", {"formula": text}),
            Block("images", {"align": text}, [Block("image", {"ref": ref, "alt": text}, [], [caption])]),
            Block("file", {"ref": ref}, [], [caption]),
            Block("embed", {"url": text}, [], [caption]),
            Block("embed", {"url": f"https://x.example/{text}"}),
            Block("content-ref", {"ref": ref, "label": text}),
            Block("hint", {"style": text, "icon": text}, [Block("paragraph", {}, [leaf])]),
            Block("tabs", {}, [Block("tabs-item", {"title": text, "icon": text}, [])]),
            Block("updates", {}, [Block("update", {"date": text, "tags": [text]}, [])]),
            Block("prompt", {"description": text}, [Block("code", {}, [line])]),
            Block("swagger", {"ref": ref, "path": text, "method": text}),
            Block("openapi-schemas", {"ref": ref, "schemas": [text]}),
            Block(
                "integration", {"integration": text, "block": text, "props": {"content": text, "url": text}}
            ),
            Block("api-method", {"method": text, "host": text, "path": text, "summary": text}),
            Block("api-part", {"name": text, "type": text}),
            Block("unknown", {"source": text, "kind": "html"}),
            Block(
                "table",
                {
                    "view": {"type": "grid", "columns": ["a", "b"]},
                    "definition": {
                        "a": {
                            "title": text,
                            "type": "select",
                            "options": [{"value": "v", "label": text, "color": text}],
                        },
                        "b": {"title": text, "type": "users"},
                    },
                    "records": {"r": {"orderIndex": "1", "values": {"a": ["v", text], "b": [text]}}},
                },
            ),
        ]
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_is_code(folder: Path, text: str) -> None:
    document = with_text(text)
    code = to_typst(document, Printing(page="p")).code
    plain = to_typst(with_text("word"), Printing(page="p")).code
    # Every call that is outside of literals is one of ours.
    calls = set(re.findall(r"[\w-]+(?=\()", stripped(code)))
    ours = set(re.findall(r"^#let ([\w-]+)", LOOK.read_text(), re.M))
    assert calls <= ours | {
        "linebreak",
        "strong",
        "emph",
        "strike",
        "super",
        "sub",
        "symbol",
        "upright",
        "frac",
        "attach",
        "scripts",
        "limits",
        "sqrt",
        "lr",
        "mat",
        "hide",
        "root",
    }
    assert calls & ours >= {"listing", "tbl"}
    assert plain
    assert compile(folder, code).startswith(b"%PDF")


def test_files_and_packages_are_inaccessible(folder: Path) -> None:
    # What would happen if text were code: the compiler sees its folder alone.
    for code in ('read("/etc/passwd")', 'read("../../../etc/passwd")', 'image("/etc/passwd")'):
        with pytest.raises(typst.TypstError):
            compile(folder, code)


def test_plain_text_is_typeset_unchanged(folder: Path) -> None:
    assert compile(folder, plain_typst("\n".join(HOSTILE))).startswith(b"%PDF")


@pytest.mark.parametrize("opening", ["> ", "* ", '{% hint style="info" %}\n'])
def test_documents_of_any_depth_are_typeset(folder: Path, opening: str) -> None:
    ending = "\n{% endhint %}" * 60 if "hint" in opening else ""
    text = (
        "".join(f"{'  ' * n}* x\n" for n in range(60)) if opening == "* " else f"{opening * 60}deep{ending}"
    )
    code = to_typst(read(text), PRINTING).code
    assert "deep" in code or opening == "* "
    assert compile(folder, code).startswith(b"%PDF")


def test_every_kind_of_nesting_is_typeset(folder: Path) -> None:
    inner = Block("paragraph", {}, [Text([Leaf("in the middle")])])
    for _ in range(4):
        for wrap in (
            "blockquote",
            "hint",
            "tabs",
            "stepper",
            "columns",
            "list-unordered",
            "updates",
            "expandable",
        ):
            if wrap == "expandable":
                inner = Block(wrap, {}, [], [Fragment("expandable-body", [inner])])
            elif wrap in ("blockquote", "hint"):
                inner = Block(wrap, {"style": "info"}, [inner])
            else:
                part = {
                    "tabs": "tabs-item",
                    "stepper": "stepper-step",
                    "columns": "column",
                    "updates": "update",
                }
                inner = Block(wrap, {}, [Block(part.get(wrap, "list-item"), {}, [inner])])
    code = to_typst(Document([inner]), PRINTING).code
    assert "in the middle" in code
    assert compile(folder, code).startswith(b"%PDF")


def test_headings_are_the_link_targets_of_a_page() -> None:
    printed = to_typst(
        read('## Où est-ce?\n\n## Où est-ce?\n\n## Named <a href="#n" id="n"></a>\n'), PRINTING
    )
    names = ["où-est-ce", "où-est-ce-1", "n"]
    assert printed.anchors == {place_of("p", name): f"p.{n}" for n, name in enumerate(names, 1)}


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "relative.md", "http://[x"]
)
def test_unsafe_urls_are_printed_as_text(url: str) -> None:
    code = to_typst(
        Document(
            [
                Block(
                    "paragraph",
                    {},
                    [Inline("link", {"ref": {"kind": "url", "url": url}}, [Text([Leaf("x")])])],
                )
            ]
        ),
        PRINTING,
    ).code
    assert "away(" not in code
    assert '"x"' in code


def test_a_missing_image_is_a_box_with_its_alt_text() -> None:
    image = Block("image", {"ref": {"kind": "url", "url": "https://x.example/a.png"}, "alt": "A chart"})
    code = to_typst(Document([Block("images", {}, [image])])).code
    assert 'missing("A chart", false)' in code
    assert "image(" not in stripped(code)


def test_unevaluated_content_is_not_printed() -> None:
    secret = Block("paragraph", {}, [Text([Leaf("secret")])])
    document = Document([Block("if", {"expression": "true"}, [secret])])
    assert "secret" not in to_typst(document).code
