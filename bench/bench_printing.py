"""Benchmark printing: CPU and wall time of a PDF, from Markdown to bytes, compared with poppler reading the same PDF.

Pass the folder of a documentation repository to print its pages; otherwise pages are generated.
"""

from __future__ import annotations

import posixpath
import re
import resource
import shutil
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from figures import figure

from octavo.core.document.page import read_head, split_page
from octavo.core.document.reader import read
from octavo.core.document.references import Reference, rewrite
from octavo.sites.printing.order import LinkedPage, PrintChapter, PrintOrder, StoredFile, write_document
from octavo.sites.printing.print_job import compile_order

PAGES = 300
_IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp")
MADE_UP = """# Page {n}

Some words with **marks**, `code` and [a link](page-{m}.md#part-one) to elsewhere. {words}

## Part one

* one
* two
  * three

{{% hint style="info" %}}
Worth knowing. {words}
{{% endhint %}}

```python
def answer(question: str) -> int:
    return 42  # page {n}
```

| name | value |
| --- | ---: |
| a | {n} |
| b | {m} |

{words}
"""


def made_up() -> list[tuple[str, str]]:
    words = "The quick brown fox jumps over the lazy dog. " * 12
    return [(f"page-{n}.md", MADE_UP.format(n=n, m=(n * 7) % PAGES, words=words)) for n in range(PAGES)]


def order_of(folder: Path, sources: list[tuple[str, str]], images: dict[str, StoredFile]) -> PrintOrder:
    """Return a print order for these pages, with their documents in the folder and images by path."""
    ids = {path: f"page{n}" for n, (path, _) in enumerate(sources)}

    def resolved(reference: Reference, path: str) -> dict[str, Any] | None:
        name, _, anchor = str(reference.ref.get("url")).partition("#")
        meant = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        if meant in images:
            return {"kind": "file", "file": images[meant].id}
        if meant not in ids:
            return None
        page = {"page": ids[meant]}
        return {"kind": "anchor", "anchor": anchor, **page} if anchor else {"kind": "page", **page}

    chapters, places = [], []
    for n, (path, source) in enumerate(sources):
        title = read_head(source).title or path
        level = min(path.count("/") + 1, 5)
        document = read(split_page(source)[2])
        write_document(folder, n, rewrite(document, partial(resolved, path=path)))
        chapters.append(PrintChapter(id=f"page{n}", kind="document", level=level, title=title))
        places.append(LinkedPage(id=f"page{n}", title=title))
    return PrintOrder(title="Bench", chapters=chapters, places=places, files=list(images.values()))


def measure(name: str, order: PrintOrder, folder: Path) -> None:
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    result = compile_order(order, folder)
    took = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    made = (folder / "print.pdf").read_bytes()
    sheets = len(re.findall(rb"/Type\s*/Page\b", made))
    print(
        f"{name}: {len(order.chapters)} pages on {sheets} sheets, "
        f"{len(made) // 1024} KB, plain {len(result.plain)}, broken {len(result.broken)}"
    )
    figure(f"{name}: {PAGES} pages as a PDF, wall time", PAGES / len(order.chapters) * took, "s")
    figure(f"{name}: {PAGES} pages as a PDF, CPU time", PAGES / len(order.chapters) * cpu, "s of CPU")
    if shutil.which("pdftotext"):
        import subprocess

        started = time.perf_counter()
        subprocess.run(["pdftotext", str(folder / "print.pdf"), "-"], capture_output=True, check=True)
        figure(
            f"{name}: creating the PDF, compared with pdftotext reading it",
            took,
            "s",
            beside=time.perf_counter() - started,
        )


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        measure("generated content", order_of(Path(name), made_up(), {}), Path(name))
    for named in sys.argv[1:]:
        root = Path(named)
        with tempfile.TemporaryDirectory() as name:
            folder, images = Path(name), dict[str, StoredFile]()
            for n, path in enumerate(sorted(p for p in root.rglob("*") if p.suffix.lower() in _IMAGES)):
                kept = f"file{n}{path.suffix.lower()}"
                shutil.copy(path, folder / kept)
                images[str(path.relative_to(root))] = StoredFile(id=f"f{n}", name=path.name, image=kept)
            found = [p for p in sorted(root.rglob("*.md")) if not p.name.startswith("SUMMARY")][:PAGES]
            sources = [(str(p.relative_to(root)), p.read_text()) for p in found]
            measure(root.name, order_of(folder, sources, images), folder)


if __name__ == "__main__":
    main()
