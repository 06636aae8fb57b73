"""Benchmark reading documents, compared with plain Markdown: the time that ``read`` takes per second that
markdown-it takes to render HTML.

    python bench/document.py FOLDER...

Below 1, it is faster than the bare renderer, which doesn't support tags, HTML tables, icons, or buttons.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from markdown_it import MarkdownIt

from octavo.core.document.reader import read
from octavo.core.document.writing import write

ROUNDS = 5


def seconds(run: Callable[[str], object], texts: list[str]) -> float:
    start = time.process_time()
    for text in texts:
        run(text)
    return time.process_time() - start


def main(folders: list[str]) -> None:
    render = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render
    for folder in folders:
        texts = [path.read_text() for path in sorted(Path(folder).rglob("*.md"))]
        size = sum(map(len, texts)) / 1e6
        bare, nodes, whole = [], [], []
        for _ in range(ROUNDS):
            bare.append(seconds(render, texts))
            nodes.append(seconds(read, texts))
            whole.append(seconds(lambda text: write(read(text)), texts))
        base = statistics.median(bare)
        print(
            f"{Path(folder).name}: {len(texts)} pages, {size:.1f} MB; markdown-it to HTML {size / base:.2f} MB/s; "
            f"read {statistics.median(nodes) / base:.2f}, read and write {statistics.median(whole) / base:.2f}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
