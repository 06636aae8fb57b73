"""Benchmark API references: compile, publish, and read specifications page by page.

``python bench/bench_openapi.py [FILE...]``: without files, one with 200 operations of one tag, one of 1 MB,
and one of 10 MB are generated. Prints for each: CPU time and memory of compiling; then, with every page of
its reference requested once, the CPU time of this process (highlighting runs in another one), the slowest
page, and the bytes that browsers receive.
"""

from __future__ import annotations

import asyncio
import gzip
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from bench_content import ask
from figures import figure

from octavo.content.revisions.bodies import put_bodies
from octavo.delivery.reader.app import reader_edge
from octavo.operations.admin.import_export import import_space
from octavo.operations.installation import close_context, open_context
from octavo.organization.access.accounts import insert_user
from octavo.organization.orgs.creating import create_organization
from octavo.settings import load
from octavo.sites.openapi import store
from octavo.sites.openapi.processing import process_spec

ENTRY = """* [Home](README.md)
* ```yaml
  type: builtin:openapi
  props: {{models: true, grouping: {grouping}}}
  dependencies: {{spec: {{ref: {{kind: openapi, spec: {slug}}}}}}}
  ```
"""


def make_spec(operations: int, size: int = 0) -> bytes:
    """Return a description with this many operations of one tag, and about this many bytes."""
    about = "Its purpose, and when to use it. " * max(1, (size // operations - 900) // 41)

    def operation(number: int) -> dict[str, Any]:
        pet = {"$ref": "#/components/schemas/Pet"}
        return {
            "operationId": f"operation{number}",
            "summary": f"Do number {number}",
            "description": about,
            "tags": ["all"],
            "parameters": [
                {"name": name, "in": "query", "description": "Which ones", "schema": {"type": "string"}}
                for name in ("first", "second", "third")
            ],
            "requestBody": {"content": {"application/json": {"schema": pet}}},
            "responses": {
                "200": {"description": "It", "content": {"application/json": {"schema": pet}}},
                "404": {"description": "Not found"},
            },
        }

    fields = {f"field{n}": {"type": "string", "description": f"Number {n}"} for n in range(8)}
    whole = {
        "openapi": "3.1.0",
        "info": {"title": "Made", "version": "1"},
        "servers": [{"url": "https://api.example.com"}],
        "paths": {f"/things/{n}": {"post": operation(n)} for n in range(operations)},
        "components": {"schemas": {"Pet": {"type": "object", "properties": fields}}},
    }
    return msgspec.json.encode(whole)


def measure_compiling(data: bytes) -> str:
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "source").write_bytes(data)
        program = (
            "import resource,sys; from octavo.sites.openapi import compiling; compiling.main(sys.argv[1:]);"
            "u = resource.getrusage(resource.RUSAGE_SELF); print(u.ru_utime + u.ru_stime, u.ru_maxrss)"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, name], capture_output=True, text=True, check=True
        )
        seconds, memory = done.stdout.split()
        errors = msgspec.json.decode((Path(name) / "result.json").read_bytes())["errors"]
    said = f"{len(data) / 1e6:.2f} MB compiled in {float(seconds):.2f} s of CPU, {int(memory) // 1024} MB"
    return f"{said}; refused: {errors[0]['message'][:120]}" if errors else said


def measure_pages(
    context: Any, org: str, name: str, slug: str, data: bytes, grouping: str, folder: Path
) -> None:
    with context.db.write() as tx:
        spec_id = store.insert_spec(tx, org, slug)
        (pending,) = put_bodies(tx, [data.decode()])
        store.update_spec(tx, spec_id, pending=pending, generation=1)
    process_spec(context, spec_id, 1)
    source = folder / slug
    source.mkdir()
    (source / "README.md").write_text("# Home\n")
    (source / "SUMMARY.md").write_text(ENTRY.format(slug=slug, grouping=grouping))
    brought = import_space(context, str(source), organization_id=org, title=slug, publish=True)
    assert brought.site_url
    base = urlsplit(brought.site_url).path
    reader = reader_edge(context)
    sitemap = asyncio.run(ask(reader, f"{base}sitemap.xml", "", "")).decode()
    paths = [urlsplit(url).path for url in re.findall(r"<loc>([^<]*)</loc>", sitemap)]
    took: list[tuple[float, int, str]] = []
    context.db.caches.clear()
    for path in paths:
        begin = time.process_time()
        body = asyncio.run(ask(reader, path, "", ""))
        took.append((time.process_time() - begin, len(gzip.compress(body)), path.removeprefix(base)))
        assert b"<h1" in body, path
    asyncio.run(ask(reader, paths[-1] + ".md", "", ""))
    slowest, heaviest = max(took), max(took, key=lambda t: t[1])
    middle = sorted(took)[len(took) // 2]
    print(
        f"  {len(paths)} pages, {sum(t[0] for t in took):.2f} s of CPU; slowest {slowest[2]}, heaviest {heaviest[2]}"
    )
    what = f"API specification ({name}), grouped {grouping.replace('-', ' ')}"
    figure(f"{what}: first view of a page, median", middle[0] * 1000, "ms of CPU", most=15)
    figure(f"{what}: first view of a page, slowest", slowest[0] * 1000, "ms of CPU")
    figure(f"{what}: size of a page, median", middle[1] / 1000, "KB compressed", most=60)
    figure(f"{what}: size of a page, largest", heaviest[1] / 1000, "KB compressed", most=60)
    reader.close()


def main(names: list[str]) -> None:
    given = [(Path(name).name, Path(name).read_bytes()) for name in names]
    made = [
        ("200 operations", make_spec(200)),
        ("1 MB", make_spec(200, 10**6)),
        ("10 MB", make_spec(2000, 10**7)),
    ]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        context = open_context(load({"data": str(folder / "data")}, environ={}))
        with context.db.write() as tx:
            user = insert_user(tx, "bench@example.com", "Bench", verified=True)
            org = create_organization(tx, user.id, "Bench").id
        for number, (name, data) in enumerate(given or made):
            said = measure_compiling(data)
            print(f"{name}: {said}", flush=True)
            if "refused" not in said:
                for grouping in ("by-tag", "by-operation") if name == "200 operations" else ("by-tag",):
                    measure_pages(context, org, name, f"s{number}-{grouping}", data, grouping, folder)
        close_context(context)


if __name__ == "__main__":
    main(sys.argv[1:])
