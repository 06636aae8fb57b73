"""Tests of OpenDocument texts as pages: each construct, reported problems, and invalid files."""

import io
import zipfile
from functools import partial

import pytest

from octavo.core.sources import SourceFiles, source_of
from octavo.interchange.readers import converting
from octavo.interchange.readers.scratch import TemporaryFiles
from transfer.bringing_in import PNG, archive

URNS = {
    "office": "office",
    "style": "style",
    "text": "text",
    "table": "table",
    "draw": "drawing",
    "fo": "xsl-fo-compatible",
    "svg": "svg-compatible",
    "meta": "meta",
    "manifest": "manifest",
}
NAMES = " ".join(
    [f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{urn}:1.0"' for name, urn in URNS.items()]
    + [
        'xmlns:xlink="http://www.w3.org/1999/xlink"',
        'xmlns:dc="http://purl.org/dc/elements/1.1/"',
        'xmlns:math="http://www.w3.org/1998/Math/MathML"',
    ]
)
STYLES = """
<style:style style:name="Standard" style:family="paragraph"/>
<style:style style:name="Heading_20_1" style:display-name="Heading 1" style:family="paragraph"/>
<style:style style:name="Caption" style:family="paragraph"/>
<style:style style:name="Figure" style:family="paragraph" style:parent-style-name="Caption"/>
<style:style style:name="Strong_20_Emphasis" style:family="text">
 <style:text-properties fo:font-weight="bold"/></style:style>
"""
AUTOMATIC = """
<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Heading_20_1"/>
<style:style style:name="P2" style:family="paragraph" style:parent-style-name="Standard">
 <style:text-properties style:font-name="Liberation Mono"/></style:style>
<style:style style:name="P3" style:family="paragraph" style:parent-style-name="Standard">
 <style:text-properties fo:font-style="italic"/></style:style>
<style:style style:name="T1" style:family="text" style:parent-style-name="Strong_20_Emphasis">
 <style:text-properties fo:font-style="italic"/></style:style>
<style:style style:name="T2" style:family="text">
 <style:text-properties style:text-line-through-style="solid"/></style:style>
<style:style style:name="T3" style:family="text"><style:text-properties style:text-position="sub 58%"/></style:style>
<style:style style:name="T4" style:family="text"><style:text-properties style:text-position="33% 58%"/></style:style>
<style:style style:name="T5" style:family="text"><style:text-properties style:font-name="Courier New"/></style:style>
<style:style style:name="T6" style:family="text"><style:text-properties fo:font-weight="normal"/></style:style>
<style:style style:name="T7" style:family="text"><style:text-properties text:display="none"/></style:style>
<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1" \
text:start-value="3"/>
 <text:list-level-style-bullet text:level="2" text:bullet-char="•"/></text:list-style>
<text:list-style style:name="L2"><text:list-level-style-bullet text:level="1" text:bullet-char="•"/></text:list-style>
"""


def content(body, root="document-content", before="", kind="text"):
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>{before}<office:{root} {NAMES}>'
        f"{f'<office:styles>{STYLES}</office:styles>' if root == 'document' else ''}"
        f"<office:automatic-styles>{AUTOMATIC}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:{root}>"
    )


def odt(body, title="", **more):
    files = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "content.xml": content(body),
        "styles.xml": f"<office:document-styles {NAMES}><office:styles>{STYLES}</office:styles>"
        # Styles of headers and footers, which may have the same names as others.
        '<office:automatic-styles><style:style style:name="T2" style:family="text"/></office:automatic-styles>'
        "</office:document-styles>",
        "meta.xml": f"<office:document-meta {NAMES}><office:meta><dc:title>{title}</dc:title></office:meta>"
        "</office:document-meta>",
    }
    return archive(files | more)


@pytest.fixture
def read(tmp_path):
    def read(data, name="the-letter.odt"):
        """Return the text of the page for a document, or None if it stays a file, and its problems."""
        file = tmp_path / name
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
        folder = tmp_path / "made"
        folder.mkdir(exist_ok=True)
        source = converting.convert_file(file, TemporaryFiles(folder))
        pages = [source.read(path).decode() for path in source.paths() if path.endswith(".md")]
        return pages[0] if pages else None, [(each.code, each.message) for each in source.problems]

    return read


def p(text, style="Standard"):
    return f'<text:p text:style-name="{style}">{text}</text:p>'


def h(text, level=1, inside=""):
    return f'<text:h text:outline-level="{level}">{inside}{text}</text:h>'


def test_paragraphs_headings_and_text_are_read(read):
    text, problems = read(
        odt(
            p("The title", "Title")
            + p("Below it", "Subtitle")
            + h("Part")
            + p("Section", "P1")
            + p(
                "<text:span text:style-name='T1'>both <text:span text:style-name='T6'>one</text:span></text:span>"
                " <text:span text:style-name='T2'>gone</text:span> H<text:span text:style-name='T3'>2</text:span>O"
                " m<text:span text:style-name='T4'>2</text:span> <text:span text:style-name='T5'>x = 1</text:span>"
                " <text:span text:style-name='Emphasis'>so</text:span>"
            )
            + p("all", "P3")
            + p(
                "a<text:line-break/>b<text:tab/>c<text:s text:c='1000000000'/>d *e* &lt;b&gt;<text:soft-page-break/>"
            )
            + p("Said", "Quotations")
            + p("and said", "Quotations")
            + p("def f():", "Preformatted_20_Text")
            + p("<text:s text:c='2'/>return  1<text:line-break/>x", "P2")
            + p("", "Horizontal_20_Line")
            + (
                "<text:table-of-content><text:index-body><text:p>Part "
                "1</text:p></text:index-body></text:table-of-content>"
            )
            + f"<text:section>{p('End')}</text:section>",
            title="Another",
        )
    )
    assert problems == []
    assert text == (
        "# The title\n\n_Below it_\n\n## Part\n\n## Section\n\n_**both**_ _one_ ~~gone~~ H<sub>2</sub>O m<sup>2</sup>"
        " `x = 1` _so_\n\n_all_\n\na\\\nb c d \\*e\\* \\<b>\n\n> Said\n>\n> and said\n\n"
        "```\ndef f():\n  return 1\nx\n```\n\n***\n\nEnd\n"
    )


def test_a_document_without_a_heading_is_titled_by_its_properties_or_name(read):
    assert read(odt(p("Text"), title="A &amp; B – C"))[0] == "# A & B – C\n\nText\n"
    assert read(odt(p("Text")))[0] == "# the letter\n\nText\n"


def item(*parts, start=""):
    return f"<text:list-item{start and f' text:start-value={start!r}'}>{''.join(parts)}</text:list-item>"


def listed(*items, style="", more=""):
    return f"<text:list{style and f' text:style-name={style!r}'} {more}>{''.join(items)}</text:list>"


def test_lists_are_nested_numbered_and_continued(read):
    text, problems = read(
        odt(
            h("Lists")
            + listed(
                item(p("three"), listed(item(p("sign")))), item(p("four")), style="L1", more="xml:id='one'"
            )
            + p("Between")
            + listed(item(p("five")), style="L1", more="text:continue-list='one'")
            + listed(
                item(listed(item(p("deeper")))),
                item(p("six")),
                style="L1",
                more="text:continue-numbering='true'",
            )
            + listed(item(p("nine"), start="9"), style="L1")
            + listed(item(p("dot")), item(p("dot")), style="L2")
            + listed(item(listed(item(h("A chapter", 2)))), style="L1")
        )
    )
    assert problems == []
    assert text == (
        "# Lists\n\n3. three\n   * sign\n4. four\n\nBetween\n\n5. five\n   * deeper\n6. six\n\n"
        "9) nine\n\n* dot\n* dot\n\n"
        "## A chapter\n"
    )


def test_tables_images_and_captions_are_read(read):
    cell = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>"
    covered = "<table:covered-table-cell/>"
    table = (
        "<table:table><table:table-column table:number-columns-repeated='3'/><table:table-header-rows><table:table-row>"
        + "".join(cell.format("", name) for name in "abc")
        + "</table:table-row></table:table-header-rows><table:table-row>"
        + cell.format(" table:number-columns-spanned='2'", "wide")
        + covered
        + cell.format("", "x")
        + "</table:table-row><table:table-row>"
        + cell.format(" table:number-columns-repeated='3'", "same")
        + "</table:table-row></table:table>"
    )
    frame = "<draw:frame><draw:image xlink:href='{}'/><svg:title>{}</svg:title></draw:frame>"
    shown = p(frame.format("Pictures/a.png", "") + "Figure 1: what it shows", "Figure")
    text, problems = read(
        odt(
            h("Things")
            + table
            + p(f"<draw:frame><draw:text-box>{shown}</draw:text-box></draw:frame>")
            + p("Said beside it" + frame.format("Pictures/b.svg", "Words for it"))
            + p(frame.format("file:///C:/x.png", "") + frame.format("https://example.org/x.png", "far")),
            **{"Pictures/a.png": PNG, "Pictures/b.svg": "<svg/>"},
        )
    )
    assert (
        "| a    | b    | c    |\n| ---- | ---- | ---- |\n| wide |      | x    |\n| same | same | same |"
        in text
    )
    assert "<figcaption><p>Figure 1: what it shows</p></figcaption>" in text
    assert "Said beside itWords for it" in text
    assert 'src="https://example.org/x.png" alt="far"' in text
    assert [code for code, _ in problems] == ["image_left_out", "missing_image"]
    assert problems[1][1] == "file:///C:/x.png doesn't exist in the document, under “Things”"


def test_links_notes_and_bookmarks_are_read(read):
    def to(href, words):
        return f"<text:a xlink:href='{href}'>{words}</text:a>"

    text, problems = read(
        odt(
            h("Start")
            + p(
                " ".join(
                    [
                        to("https://example.org/?a=1&amp;b=2", "out"),
                        to("#mark", "mark"),
                        to("#2.Again|outline", "heading"),
                        to("#Table1|table", "table"),
                        to("#gone", "lost"),
                        to("javascript:alert(1)", "bad"),
                        "<text:bookmark-ref text:ref-name='_Ref1'>ref</text:bookmark-ref>",
                    ]
                )
            )
            + h("Again", 2)
            + p("One")
            + h("Again", 2, "<text:bookmark-start text:name='_Ref1'/>")
            + "<table:table table:name='Table1'><table:table-row/></table:table>"
            + p(
                "<text:bookmark text:name='mark'/>A note<text:note text:note-class='footnote'><text:note-citation>i"
                "</text:note-citation><text:note-body><text:p>What it says</text:p></text:note-body></text:note>."
                " <text:date>1 May</text:date> <text:ruby><text:ruby-base>base</text:ruby-base>"
                "<text:ruby-text>above</text:ruby-text></text:ruby>"
            )
        )
    )
    assert text == (
        "# Start\n\n[out](<https://example.org/?a=1\\&b=2>) [mark](#again-2) [heading](#again) "
        "[table](#again-2) lost bad"
        ' [ref](#again-2)\n\n## Again\n\nOne\n\n## Again <a href="#again-2" id="again-2"></a>\n\n'
        "A note[^1]. 1 May base (above)\n\n[^1]: What it says\n"
    )
    assert problems == [("broken_link", "#gone doesn't exist in the document, under “Start”")]


def test_unsupported_content_is_reported(read):
    formula = (
        f"<math:math {NAMES}><math:mi>x</math:mi><math:annotation>x over 2</math:annotation></math:math>"
    )
    text, problems = read(
        odt(
            "<text:tracked-changes><text:changed-region><text:deletion><text:p>Taken away</text:p></text:deletion>"
            "</text:changed-region><text:changed-region><text:insertion/></text:changed-region></text:tracked-changes>"
            + h("Part")
            + p(
                "Kept <text:change/><text:change-start/>new<text:change-end/><office:annotation>"
                "<text:p>Really?</text:p>"
                "</office:annotation> words<text:span text:style-name='T7'>hidden</text:span>"
            )
            + p("<draw:frame><draw:object xlink:href='./Object 1'/></draw:frame>")
            + p(
                "<draw:frame><draw:object xlink:href='./Object 2'/><draw:image "
                "xlink:href='Pictures/a.png'/></draw:frame>"
            )
            + p("<draw:custom-shape><text:p>In a shape</text:p></draw:custom-shape><draw:line/>")
            + "<text:section text:display='none'><text:p>Not shown</text:p></text:section>",
            **{"Object 1/content.xml": formula, "Pictures/a.png": PNG},
        )
    )
    assert text.startswith("# Part\n\nKept new words\n\n`x over 2`\n\n<figure><img")
    assert "Taken" not in text and "Really" not in text and "Not shown" not in text and "In a shape" in text
    assert problems == [
        ("tracked_changes", "insertions were accepted (1), deletions were skipped (1)"),
        ("comments_left_out", "comments were skipped (1)"),
        ("left_out", "hidden text, under “Part”"),
        ("left_out", "a formula, imported as source text, under “Part”"),
        ("left_out", "an embedded object, imported as an image, under “Part”"),
        ("left_out", "a drawing; its text was kept (2 times), under “Part”"),
        ("left_out", "a hidden section, under “Part”"),
    ]


ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"not a zip", "isn't a readable ZIP"),
        (odt(h("A") + p("Text"))[:-40], "isn't a readable ZIP"),
        (archive({"mimetype": "x"}), "doesn't contain a content.xml"),
        (odt("", **{"content.xml": content(p("&b;"), before=ENTITIES)}), "document type"),
        (odt("", **{"content.xml": content(p("Text"))[:-60]}), "can't be read"),
        (odt("", **{"content.xml": "\u2028".join(content("")).encode("utf-16")}), "can't be read"),
        (odt("", **{"content.xml": content("<text:p>" * 300 + "</text:p>" * 300)}), "can't be read"),
        (odt("", **{"content.xml": content("", kind="spreadsheet")}), "isn't a text document"),
        (odt("", **{"META-INF/manifest.xml": f"<manifest:encryption-data {NAMES}/>"}), "password"),
        (odt(p("a" * 5_000_000)), "compressed size"),
    ],
    ids="text cut empty entities open utf-16 deep sheet encrypted bomb".split(),
)
def test_unreadable_documents_are_kept_as_files(read, data, said):
    text, ((code, message),) = read(data)
    assert (text, code) == (None, "not_converted")
    assert said in message


def test_a_damaged_part_is_reported(read):
    shown = p("Text<draw:frame><draw:image xlink:href='Pictures/a.png'/></draw:frame>")
    whole = odt(h("A") + shown, **{"Pictures/a.png": PNG})
    at = whole.index(b"Pictures/a.png") + 20
    text, ((code, _),) = read(whole[:at] + b"\0\0\0\0" + whole[at + 4 :])
    assert (text, code) == ("# A\n\nText\n", "image_left_out")
    at = whole.index(b"content.xml") + 40
    text, ((code, _),) = read(whole[:at] + b"\0\0\0\0\0\0" + whole[at + 6 :])
    assert (text, code) == (None, "not_converted")


def test_repetitions_are_limited(read, monkeypatch):
    table = "<table:table><table:table-row{}><table:table-cell table:number-columns-repeated='1000000'>{}"
    table += "</table:table-cell></table:table-row></table:table>"
    text, problems = read(odt(h("A") + table.format("", p("x"))))
    assert text.count("<td>x</td>") == 60
    said = "repetitions of a cell in a table after the first 60, under “A”"
    assert problems == [("left_out", said)]
    monkeypatch.setattr(converting, "MAX_PAGE", 100_000)
    within = p("x" * 1000)
    for _ in range(5):
        within = table.format("", within)
    for body in (table.format(" table:number-rows-repeated='1000000000'", p("x")), within):
        assert read(odt(body)) == (
            None,
            [("not_converted", "the page was kept as a file: the document has too much content")],
        )


def test_repeated_empty_content_is_limited(read, monkeypatch):
    monkeypatch.setattr(converting, "MAX_PAGE", 400_000)
    silent = "<text:bookmark/>" * 10_000
    row = "<table:table-row table:number-rows-repeated='1000'><table:table-cell table:number-columns-repeated='60'>"
    noisy = (
        p("Text")
        + f"<table:table>{row}<text:p>{silent}</text:p></table:table-cell></table:table-row></table:table>"
    )
    text, problems = read(content(noisy, "document"), "a.fodt")
    assert (text, problems) == (
        None,
        [("not_converted", "the page was kept as a file: the document has too much content")],
    )


def test_parts_of_a_document_are_limited(read, monkeypatch):
    data = odt(p("Text"))
    size = sum(info.file_size for info in zipfile.ZipFile(io.BytesIO(data)).infolist())
    monkeypatch.setattr(converting, "MAX_UNPACKED", size)
    assert read(data)[1] == []
    monkeypatch.setattr(converting, "MAX_UNPACKED", size - 1)
    assert "unpacked file" in read(data)[1][0][1]
    monkeypatch.setattr(converting, "MAX_PAGE", 500)
    assert "of text" in read(content(p("Text"), "document"), "a.fodt")[1][0][1]


def test_links_next_to_a_document_target_its_page(tmp_path):
    whole = (
        f'<office:document {NAMES} office:mimetype="application/vnd.oasis.opendocument.text">'
        f"<office:body><office:text>{h('Part')}</office:text></office:body></office:document>"
    )
    raw = SourceFiles("x")
    for path, data in {
        "README.md": "# Home\n\n[it](in/it.fodt#part) [sheet](a.ods)\n",
        "in/it.fodt": whole,
        "a.ods": "PK",
    }.items():
        raw.add(path, len(data), partial(io.BytesIO, data.encode()))
    made = converting.read_files(source_of(raw), TemporaryFiles(tmp_path))
    assert made.problems == ()
    assert made.read("README.md").decode() == "# Home\n\n[it](in/it.md#part) [sheet](a.ods)\n"
