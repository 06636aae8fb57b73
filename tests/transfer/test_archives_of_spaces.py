"""Tests that a space downloaded as an archive is the same space after an import."""

import io
import zipfile

import pytest

from transfer.bringing_in import PNG, archive

pytestmark = pytest.mark.sqlite_first


def fetch(imports):
    found = imports.world.call("editor", "GET", f"/spaces/{imports.space}/archive")
    assert found.status_code == 200, found.text
    return found


def test_an_archive_contains_the_imported_bytes(imports):
    files = {
        "SUMMARY.md": "# Contents\n\n- [Home](README.md)\n- [Guide](guides/guide.md)\n",
        "README.md": "# Home\n\n-  odd   list\n",
        "guides/guide.md": "# Guide\n\n![A picture](../.gitbook/assets/a.png)\n",
        ".gitbook/assets/a.png": PNG,
    }
    run = imports.files(("docs.zip", archive(files)))
    assert (run["status"], run["problems"]) == ("completed", [])
    found = fetch(imports)
    assert found.headers["content-type"] == "application/zip"
    assert found.headers["content-disposition"].endswith("''empty.zip")
    with zipfile.ZipFile(io.BytesIO(found.content)) as packed:
        assert packed.testzip() is None
        held = {name: packed.read(name) for name in packed.namelist()}
    assert held == {name: text if isinstance(text, bytes) else text.encode() for name, text in files.items()}
    assert fetch(imports).content == found.content
