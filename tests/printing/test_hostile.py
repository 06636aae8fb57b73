"""Prints of hostile content: a PDF of text and links, whatever was written."""

import re
import zlib
from pathlib import Path

import pytest

from hostile import VECTORS, wrapped
from octavo.sites.printing.print_job import compile_order
from printing.test_compiling import order_of

ACTS = rb"/(JavaScript|JS|Launch|OpenAction|AA|SubmitForm|ImportData|GoToR|EmbeddedFile|RichMedia|Movie|XFA|AcroForm)\b"
SCHEMES = ("http", "https", "mailto", "tel")


def inside(pdf: bytes) -> bytes:
    """Return the decompressed objects of a PDF, without the drawings on pages."""
    found = [re.sub(rb"stream\r?\n.*?endstream", b"", pdf, flags=re.DOTALL)]
    for match in re.finditer(rb"<<(?P<head>[^>]*)>>\s*stream\r?\n(?P<data>.*?)endstream", pdf, re.DOTALL):
        if b"/ObjStm" in match["head"]:
            found.append(zlib.decompressobj().decompress(match["data"]))
    return b"\n".join(found)


@pytest.mark.slow
def test_prints_contain_nothing_executable(tmp_path: Path) -> None:
    sent = [vector for vector in VECTORS if len(vector) < 600 and "\ud83d" not in vector]
    texts = {
        f"p{n}": "\n\n".join([f"# {vector.splitlines()[0] if vector.strip() else 'x'}", *wrapped(vector)])
        for n, vector in enumerate(sent)
    }
    result = compile_order(order_of(tmp_path, texts, title=sent[0]), tmp_path)
    assert result.plain == []
    objects = inside((tmp_path / "print.pdf").read_bytes())
    assert b"/URI" in objects
    assert re.findall(ACTS, objects) == []
    for address in re.findall(rb"/URI\s*\(((?:\\.|[^\\)])*)\)", objects):
        assert address.split(b":")[0].decode().lower() in SCHEMES, address
