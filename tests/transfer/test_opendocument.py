"""Tests of OpenDocument texts as pages: each construct, reported problems, and invalid files."""

from readers.test_opendocument import content, h, odt, p
from transfer.bringing_in import PNG, archive


def test_uploads_and_archives_can_contain_opendocument_files(imports):
    frame = (
        '<draw:frame><draw:image xlink:href="Pictures/a.png"/><svg:title>A picture</svg:title></draw:frame>'
    )
    report = odt(
        h("Report") + p("See <text:a xlink:href='../other.odt'>it</text:a>") + p(frame),
        **{"Pictures/a.png": PNG},
    )
    run = imports.files(
        (
            "docs.zip",
            archive({"d/report.odt": report, "d/other.odt": odt(h("Other")), "d/a.html": "<h1>A</h1>"}),
        ),
        ("flat.fodt", content(h("Flat") + p("Words"), "document")),
    )
    assert (run["status"], run["problems"]) == ("completed", [])
    assert "Flat" in imports.tree() and imports.text("Flat") == "# Flat\n\nWords\n"
    (name,) = imports.stored_files()
    text = imports.text("Report")
    assert "See [it](other.md)" in text
    assert f'.gitbook/assets/{name}" alt="A picture"' in text
