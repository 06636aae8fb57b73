"""Tests that uploaded documents are imported completely, by counting their elements."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from readers.test_counts import DOCUMENTS, EXPECTED, PAGE, counts_of, documented, open_document
from transfer.bringing_in import PNG, archive


@pytest.mark.parametrize("format", ["html", "docx", "fodt"])
def test_no_content_of_documents_is_lost(imports: Any, format: str) -> None:
    if format == "html":
        data = archive(
            {"p/counts.html": f"<html><body><h1>Counts</h1>{PAGE}</body></html>", "p/img.png": PNG}
        )
        run, expected = imports.files(("p.zip", data)), EXPECTED
    elif format == "docx":
        run, expected = imports.files(("counts.docx", documented())), DOCUMENTS | {"images": 1}
        assert "comments_left_out" in {problem["code"] for problem in run["problems"]}
    else:
        run, expected = imports.files(("counts.fodt", open_document())), DOCUMENTS
    assert counts_of(imports.text("Counts")) == Counter(expected), run["problems"]
