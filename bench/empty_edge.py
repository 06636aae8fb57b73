"""Serve the files of a folder with Octavo's edge and nothing behind it, to compare with the bare server of
``bench_serving``: ``python bench/empty_edge.py FOLDER PORT``."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from octavo.kit.http.compression import Compressor
from octavo.kit.http.edge import Edge, fixed, text_error
from octavo.kit.http.metrics import Metrics
from octavo.kit.http.serving import PortLimits, PortListener, run_served
from octavo.kit.scheduling.shares import SharedThreads

_LIMITS = PortLimits(connections=100, backlog=100, header_seconds=600, header_limit=65536)


async def serve(folder: Path, port: int) -> None:
    files = [file for file in folder.iterdir() if file.is_file()]
    routes = [
        fixed(f"/{file.name}", file.name, file.read_bytes, "text/html; charset=utf-8") for file in files
    ]
    edge = Edge(
        routes,
        pool=SharedThreads("requests are waiting", 4, "edge"),
        metrics=Metrics(),
        compressor=Compressor(),
        refuse=text_error,
        headers={},
        query_limit=1000,
    )
    await PortListener(edge.application, "127.0.0.1", port, _LIMITS).open()
    await asyncio.sleep(3600)


if __name__ == "__main__":
    run_served(serve(Path(sys.argv[1]), int(sys.argv[2])))
