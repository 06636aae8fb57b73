"""Prints typeset and compiled by the separate process: their content, and how failures are handled."""

from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pypdf import PdfReader

from octavo.core.document import containing, typst
from octavo.core.document.page import split_page
from octavo.core.document.reader import read
from octavo.core.document.references import Reference, rewrite
from octavo.core.page_tree import PageTree
from octavo.core.pages import Page
from octavo.errors import NotFound
from octavo.kit.processes import children
from octavo.sites.fonts.built_in import FONTS, printed_files, read_font
from octavo.sites.printing import compiling, print_job
from octavo.sites.printing.fonts import Glyphs, read_folder_coverage
from octavo.sites.printing.inputs import chosen_pages, image_kind
from octavo.sites.printing.order import (
    ContainedFailure,
    LinkedPage,
    OrderLook,
    PrintChapter,
    PrintFace,
    PrintOrder,
    PrintResult,
    StoredFile,
    write_document,
)
from octavo.sites.printing.print_job import compile_order
from octavo.sites.printing.words import find_words


def png(width: int = 4, height: int = 4) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\x40\x80\xc0" * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def order_of(folder: Path, texts: dict[str, str], **fields: Any) -> PrintOrder:
    """Write an order of pages by their paths, with their documents and the files given by name in the folder."""
    images = {name: f"file-{n}" for n, name in enumerate(fields.pop("images", []))}
    pages = {f"{path}.md": f"id{n}" for n, path in enumerate(texts)}

    def resolved(reference: Reference) -> dict[str, Any] | None:
        name, _, anchor = str(reference.ref.get("url")).partition("#")
        if name in images:
            return {"kind": "file", "file": images[name]}
        if name not in pages:
            return None
        return {
            "kind": "anchor" if anchor else "page",
            "page": pages[name],
            **({"anchor": anchor} if anchor else {}),
        }

    for number, text in enumerate(texts.values()):
        write_document(folder, number, rewrite(read(split_page(text)[2]), resolved))
    chapters = [
        PrintChapter(id=pages[f"{path}.md"], kind="document", level=1, title=path.title()) for path in texts
    ]
    places = [LinkedPage(id=chapter.id, title=chapter.title) for chapter in chapters]
    files = [StoredFile(id=id, name=name, image=name, size=9) for name, id in images.items()]
    return PrintOrder(
        **{"title": "Handbook", "chapters": chapters, "places": places, "files": files, **fields}
    )


def code_of(folder: Path) -> str:
    return "\n".join(path.read_text() for path in sorted(folder.glob("p*.typ")))


def test_pages_link_to_each_other(tmp_path: Path) -> None:
    order = order_of(
        tmp_path, {"one": "# One\n\nSee [two](two.md#deep).\n", "two": "# Two\n\n## Deep\n\nText.\n"}
    )
    result = compile_order(order, tmp_path)
    assert (result.plain, result.broken) == ([], [])
    made = (tmp_path / "print.pdf").read_bytes()
    # Cover, contents, and two pages; links from the contents and from the text.
    assert len(re.findall(rb"/Type\s*/Page\b", made)) == 4
    assert made.count(b"/Subtype /Link") >= 3 or made.count(b"/Subtype/Link") >= 3
    known = msgspec.json.decode((tmp_path / "known.json").read_bytes())
    assert known["places"]["id1#deep"] == "id1.1"


@pytest.mark.slow
def test_headings_in_cards_can_link_to_their_page(tmp_path: Path) -> None:
    cards = (
        '<table data-view="cards"><thead><tr><th></th><th data-hidden data-card-target data-type="content-ref"></th>'
        '</tr></thead><tbody><tr><td><h3>Part</h3></td><td><a href="one.md#part">x</a></td></tr>'
        '<tr><td><h3>!</h3></td><td><a href="one.md">x</a></td></tr></tbody></table>\n'
    )
    assert compile_order(order_of(tmp_path, {"one": f"# One\n\n{cards}"}), tmp_path).plain == []


def test_an_unreadable_image_leaves_a_box(tmp_path: Path) -> None:
    (tmp_path / "file0.png").write_bytes(b"\x89PNG\r\n\x1a\nbroken")
    (tmp_path / "file1.png").write_bytes(png())
    order = order_of(
        tmp_path, {"one": "![Chart](file0.png)\n\n![Good](file1.png)\n"}, images=["file0.png", "file1.png"]
    )
    result = compile_order(order, tmp_path)
    assert (result.plain, result.broken) == ([], ["file0.png"])


@pytest.mark.parametrize(
    "target",
    [
        "/etc/passwd",
        "http://127.0.0.1:9/x.png",
        *(
            pytest.param(target, marks=pytest.mark.slow)
            for target in ("file:///etc/passwd", "../order.json", "order.json")
        ),
    ],
)
def test_a_drawing_cannot_read_files(tmp_path: Path, target: str) -> None:
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>x</script><image '
        f'href="{target}" width="9" height="9"/></svg>'
    )
    (tmp_path / "file0.svg").write_text(svg)
    result = compile_order(
        order_of(tmp_path, {"one": "![Drawing](file0.svg)\n"}, images=["file0.svg"]), tmp_path
    )
    assert result.plain == []
    assert b"root:" not in (tmp_path / "print.pdf").read_bytes()


def test_pages_that_typst_refuses_are_printed_as_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = order_of(
        tmp_path,
        {name: f"# {name}\n\n## Part\n\nWords of {name}. [There](c.md#part)\n" for name in "abcdefg"},
    )
    job = compiling.PrintCompiler(tmp_path, order)
    write = job._setting._write_page

    def break_some(number: int, chapter: PrintChapter) -> None:
        write(number, chapter)
        if number in (2, 5):
            (tmp_path / f"p{number}.typ").write_text("#panic()")

    monkeypatch.setattr(job._setting, "_write_page", break_some)
    assert job.run(plain=False).plain == ["id2", "id5"]
    assert "couldn't be laid out" in (tmp_path / "p2.typ").read_text()
    assert "Words of c." in (tmp_path / "p2.typ").read_text()
    assert "couldn't be laid out" not in (tmp_path / "p3.typ").read_text()


def test_pages_that_typst_only_lays_out_without_keeping_titles_are_printed_completely(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.png").write_bytes(png())
    wide = '<img src="a.png" alt="" width="543">'
    page = (
        "{% stepper %}\n{% step %}\n<details>\n\n<summary>Title {wide} {wide}</summary>\n\nInside.\n\n</details>\n"
        "{% endstep %}\n{% endstepper %}\n\nNote[^1].\n\n[^1]: Below.\n"
    ).replace("{wide}", wide)
    job = compiling.PrintCompiler(tmp_path, order_of(tmp_path, {"a": page}, images=["a.png"]))
    compiled = []
    compile = job._compile
    monkeypatch.setattr(job, "_compile", lambda *given: compiled.append(given[1:]) or compile(*given))
    assert job.run(plain=False).plain == []
    assert compiled == [(), ("loose",)]


def test_slow_prints_are_stopped_and_printed_as_plain_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []
    run = print_job._run

    def first_too_long(folder: Path, arguments: list[str]) -> bool:
        ran.append(arguments)
        seconds = 0 if not arguments else 120
        monkeypatch.setattr(print_job, "BOUNDS", print_job.BOUNDS._replace(seconds=seconds))
        return run(folder, arguments)

    monkeypatch.setattr(print_job, "_run", first_too_long)
    compile_order(order_of(tmp_path, {"one": "# One\n\n**Words**\n"}), tmp_path)
    assert ran == [[], ["plain"]]
    assert "strong(" not in code_of(tmp_path)


def test_the_process_has_no_access_to_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def note(command: list[str], **options: Any) -> Any:
        seen.update(options)
        raise children.subprocess.TimeoutExpired(command, 1)

    monkeypatch.setenv("OCTAVO_DATABASE_URL", "postgresql://secret")
    monkeypatch.setattr(children.subprocess, "run", note)
    with pytest.raises(print_job.CannotPrint):
        compile_order(order_of(tmp_path, {"one": "x"}), tmp_path)
    assert not any(name.startswith(("OCTAVO", "AWS")) for name in seen["env"])
    assert seen["cwd"] == tmp_path and seen["timeout"] == print_job.BOUNDS.longest


def test_characters_without_a_font_are_reported(tmp_path: Path) -> None:
    compile_order(order_of(tmp_path, {"one": "# One\n\n日本 and ✅ and 🚀.\n"}), tmp_path)
    assert "U+65E5 U+672C" in (tmp_path / "main.typ").read_text()
    assert "日本 and ✓ and (rocket)." in code_of(tmp_path)


def sfnt(*ranges: tuple[int, int]) -> bytes:
    """Return a font file that only declares its coverage."""
    groups = b"".join(struct.pack(">III", first, last, 1) for first, last in ranges)
    table = (
        struct.pack(">HHHHI", 0, 1, 3, 10, 12)
        + struct.pack(">HHIII", 12, 0, 16 + len(groups), 0, len(ranges))
        + groups
    )
    return (
        struct.pack(">IHHHH", 0x00010000, 1, 0, 0, 0)
        + struct.pack(">4sIII", b"cmap", 0, 28, len(table))
        + table
    )


def test_fonts_in_a_folder_are_used_for_their_characters(tmp_path: Path) -> None:
    (tmp_path / "cjk.ttf").write_bytes(sfnt((0x3000, 0x30FF), (0x4E00, 0x9FFF)))
    (tmp_path / "broken.otf").write_bytes(b"\x00\x01\x00\x00\x00\x09nothing")
    assert list(read_folder_coverage(str(tmp_path))) == [(0x3000, 0x30FF), (0x4E00, 0x9FFF)]
    glyphs = Glyphs(str(tmp_path))
    assert glyphs.shown("日本 한 🚀 👩‍👧 🇩🇪") == "日本 한 (rocket) (woman)(girl) DE"
    assert glyphs.absent == {"한"}


def test_image_types_are_detected_by_content() -> None:
    assert image_kind(png()) == "png"
    assert image_kind(b"<?xml version='1.0'?><svg xmlns='x'/>") == "svg"
    assert image_kind(b"<html><svg/></html>") is None
    assert image_kind(b"%PDF-1.7") is None
    assert image_kind(b"") is None


def pages() -> list[Page]:
    return [
        Page(id="a", slug="a", title="A"),
        Page(id="b", parent="a", slug="b", title="B", hidden=True),
        Page(id="c", parent="b", slug="c", title="C"),
        Page(id="d", slug="d", title="D", condition="visitor.claims.plan == 'paid'"),
        Page(id="e", parent="d", slug="e", title="E"),
        Page(id="f", slug="f", title="F", condition="space.vars.edition == 'full'"),
        Page(id="g", slug="g", title="G", kind="link"),
    ]


def ids(tree: PageTree, page: str | None = None, single: bool = False) -> list[tuple[str, int]]:
    return [(found.id, level) for found, level in chosen_pages(tree, page, single)]


def test_sections_can_be_excluded_from_a_print() -> None:
    every = PageTree(pages())
    tree = every.without(frozenset("d"))
    assert ids(tree) == [("a", 1), ("f", 1)]
    assert ids(every.without(frozenset("df"))) == [("a", 1)]
    assert ids(tree, "b") == [("b", 1), ("c", 2)]
    assert ids(tree, "b", single=True) == [("b", 1)]
    for absent in ("x", "g", "d", "e"):
        with pytest.raises(NotFound):
            chosen_pages(tree, absent, False)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["elsa-guides", "phantasma-phoenix", "example-site"])
def test_corpora_are_printed_without_loss(corpora: Path, tmp_path: Path, name: str) -> None:
    root = corpora / name
    sources = {str(p.relative_to(root))[:-3]: p.read_text() for p in sorted(root.rglob("*.md"))}
    order = order_of(tmp_path, sources)
    result = compile_order(order, tmp_path)
    assert (result.plain, result.broken) == ([], [])
    assert (tmp_path / "print.pdf").read_bytes().startswith(b"%PDF-")


def test_prints_of_several_pages_have_contents_with_page_numbers_and_bookmarks(tmp_path: Path) -> None:
    texts = {"first": "# First\n\n## Inside\n\nText.\n", "second": "# Second\n\nText.\n"}
    assert compile_order(order_of(tmp_path, texts), tmp_path).plain == []
    made = PdfReader(tmp_path / "print.pdf")

    def titles(entries: list[Any]) -> list[str]:
        flat = [titles(entry) if isinstance(entry, list) else [str(entry.title)] for entry in entries]
        return [title for part in flat for title in part]

    marks = titles(made.outline)
    assert [mark for mark in marks if mark in ("First", "Inside", "Second")] == ["First", "Inside", "Second"]
    contents = made.pages[1].extract_text()
    pages = {
        title: next(n for n, page in enumerate(made.pages, 1) if n > 2 and title in page.extract_text())
        for title in ("First", "Second")
    }
    for title, number in pages.items():
        assert re.search(rf"{title}[\s.]*{number}\b", contents), contents


def fonts_of(made: Path) -> set[str]:
    """Return the names of all fonts in a PDF, without subset prefixes."""
    found = set[str]()
    for page in PdfReader(made).pages:
        for font in page["/Resources"].get("/Font", {}).values():  # type: ignore[union-attr]
            found.add(str(font.get_object()["/BaseFont"]).partition("+")[2])
    return found


def faces_of(folder: Path, name: str, kind: str) -> list[PrintFace]:
    faces = []
    for number, (file, weights, group, italic) in enumerate(printed_files(FONTS[name])):
        (folder / f"{kind}{number}.font").write_bytes(read_font(file))
        face = PrintFace(
            file=f"{kind}{number}.font", family=f"{kind} {group}", weights=list(weights), italic=italic
        )
        faces.append(face)
    return faces


def test_a_print_uses_the_fonts_of_its_site(tmp_path: Path) -> None:
    (tmp_path / "logo.png").write_bytes(png(40, 10))
    look = OrderLook(
        site="Kettle",
        address="https://docs.example.com/",
        logo="logo.png",
        colors={"accent": (0.5, 0.1, 150.0)},
        text=faces_of(tmp_path, "RobotoSlab", "text"),
        mono=faces_of(tmp_path, "JetBrainsMono", "mono"),
    )
    text = "# One\n\nWords, **bold** ones, ώρα, 水.\n\n```\ncode ✓\n```\n"
    order = order_of(tmp_path, {"one": text}, look=look, about="How to boil water.")
    assert compile_order(order, tmp_path).plain == []
    made = tmp_path / "print.pdf"
    fonts = fonts_of(made)
    assert {"text-0-400", "text-0-700", "text-3-400", "mono-0-400"} <= fonts
    # Text that the site's fonts don't cover uses those of every print.
    assert any("DejaVu" in font for font in fonts)
    # Scripts that the text doesn't use are left out.
    assert not any(font.startswith(("text-1", "text-2")) for font in fonts)
    cover = PdfReader(made).pages[0]
    assert "How to boil water." in cover.extract_text() and "docs.example.com" in cover.extract_text()
    assert len(cover.images) == 1


@pytest.mark.slow
def test_an_invalid_font_falls_back_to_the_default_font(tmp_path: Path) -> None:
    broken = read_font("inter-latin-wght-normal.woff2")[:20_000]
    (tmp_path / "a.font").write_bytes(broken)
    (tmp_path / "b.font").write_bytes(b"")
    faces = [PrintFace(file=name, family="text 0", weights=[400]) for name in ("a.font", "b.font")]
    order = order_of(tmp_path, {"one": "# One\n\nWords.\n"}, look=OrderLook(text=faces, logo=None))
    assert compile_order(order, tmp_path).plain == []
    assert any("Libertinus" in font for font in fonts_of(tmp_path / "print.pdf"))


def test_labels_of_a_print_are_in_the_language_of_its_space(tmp_path: Path) -> None:
    language, words = find_words("de-AT")
    order = order_of(
        tmp_path, {"one": '# Eins\n\n{% hint style="warning" %}\nHeiß.\n{% endhint %}\n'}, words=words
    )
    compile_order(order, tmp_path)
    told = "".join(page.extract_text() for page in PdfReader(tmp_path / "print.pdf").pages)
    assert language == "de" and "Inhalt" in told and "WARNUNG" in told and "Contents" not in told


def test_failing_blocks_are_reported_to_the_operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(printer: object, block: object) -> None:
        raise KeyError("color")

    monkeypatch.setitem(typst._BLOCKS, "hint", fail)
    monkeypatch.setattr(containing, "_reports", [])
    text = (
        '# One\n\n{% hint style="info" %}\nA.\n{% endhint %}\n\n{% hint style="info" %}\nB.\n{% endhint %}\n'
    )
    order = order_of(tmp_path, {"one": text})
    (tmp_path / "order.json").write_bytes(msgspec.json.encode(order))
    compiling.main([str(tmp_path)])
    result = msgspec.json.decode((tmp_path / "result.json").read_bytes(), type=PrintResult)
    assert result.contained == [ContainedFailure("typst", "KeyError('color')", 2)]


def test_code_in_a_right_to_left_print_runs_from_left_to_right(tmp_path: Path) -> None:
    text = (
        "# عنوان\n\nنص عربي طويل بما يكفي ليملأ السطر، وبعده `f(a, b)` هنا.\n\n```python\ndef f(a):\n"
        "    return [a]\n```\n"
    )
    language, words = find_words("ar")
    compile_order(order_of(tmp_path, {"one": text}, words=words, language=language), tmp_path)
    found: dict[str, float] = {}

    def note(said: str, matrix: list[float], *_: Any) -> None:
        found[said.strip()] = matrix[4]

    for page in PdfReader(tmp_path / "print.pdf").pages:
        page.extract_text(visitor_text=note)
    # Lines start at the left edge of the code block, the second one indented.
    assert 70 < found["def"] < found["return"] < 120
    assert found["def"] < found["f"] < found["return"] + 20
