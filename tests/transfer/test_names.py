"""Tests of file names in a different Unicode normalization than people type."""

from __future__ import annotations

import unicodedata

import pytest

from transfer.bringing_in import PNG, archive

TEXT = '# Home\n\n[r](r\xe9sum\xe9.md) ![i](bilder/gr\xf6\xdfe.png)\n\n{% include ".gitbook/includes/\xfcber.md" %}\n'
FILES = {
    "README.md": TEXT,
    "SUMMARY.md": "* [Home](README.md)\n* [R](r\xe9sum\xe9.md)\n",
    "r\xe9sum\xe9.md": "# R\n\ntext\n",
    "bilder/gr\xf6\xdfe.png": PNG,
    ".gitbook/includes/\xfcber.md": "Included.\n",
}


@pytest.mark.parametrize("names", ["NFC", "NFD"])
@pytest.mark.parametrize("texts", ["NFC", "NFD"])
def test_encodings_of_archive_names_are_detected(imports, names: str, texts: str) -> None:
    """macOS writes names decomposed, and people type them composed."""
    files = {
        f"p/{unicodedata.normalize(names, path)}": unicodedata.normalize(texts, data)
        if isinstance(data, str)
        else data
        for path, data in FILES.items()
    }
    run = imports.files(("mac.zip", archive(files)))
    assert run["problems"] == []
    document = imports.page("Home", "document")["document"]
    refs = [
        node["data"]["ref"]
        for block in document["nodes"]
        for node in [block, *block.get("nodes", [])]
        if "ref" in node.get("data", {})
    ]
    assert {ref["kind"] for ref in refs} == {"page", "file", "reusable-content"}
    assert "r\xe9sum\xe9.md" in imports.exported()
