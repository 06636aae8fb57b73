"""Benchmark a page of our API reference, compared with Redoc's and Scalar's bundles of the same
specification: bytes, time until it can be read, and script time until then.

``python bench/bench_references.py [FILE]``: without a file, one with 200 operations is generated. Requires
headless Chromium, and ``npm``, which installs the other two into a temporary folder (about 500 MB, several
minutes). The browser gets each file from memory, sizes are those of gzip, and the CPU isn't throttled. Only
figures of one run are comparable. A page can be read when the summary of the first operation is on the
screen. Redoc's static build isn't included, because it loads a script that is in no package.
"""

from __future__ import annotations

import asyncio
import gzip
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from bench_content import ask
from bench_openapi import ENTRY, make_spec
from figures import figure
from msgspec import Struct
from playwright.sync_api import Route, sync_playwright
from playwright.sync_api import TimeoutError as NotReadable

from octavo.content.revisions.bodies import put_bodies
from octavo.delivery.reader.app import reader_edge
from octavo.operations.admin.import_export import import_space
from octavo.operations.installation import close_context, open_context
from octavo.organization.access.accounts import insert_user
from octavo.organization.orgs.creating import create_organization
from octavo.settings import load
from octavo.sites.openapi import store
from octavo.sites.openapi.processing import process_spec

HOST = "http://reference.test"
RUNS = 5
PATIENCE = 120
"""Seconds."""
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
HEAD = '<!doctype html><html><head><meta charset="utf-8"><title>API</title></head><body>'
TYPES = {".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".svg": "image/svg+xml"}
Give = Callable[[str], tuple[bytes, str] | None]
"""Function that returns the file at a path with its type; None if it doesn't exist."""


class Figures(Struct, frozen=True):
    """Compressed bytes, milliseconds until the page can be read, and milliseconds of scripts until then."""

    size: int
    files: int
    readable: float
    scripts: float


def main(names: list[str]) -> None:
    spec = Path(names[0]).read_bytes() if names else make_spec(200)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        give, first, title = publish(folder, spec)
        others = install(folder, spec)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=next(filter(None, map(shutil.which, BROWSERS)), None),
                args=["--no-sandbox"],
            )
            ours: Figures | None = None
            for name, files, path in (("Octavo, a page", give, first), *others):
                figures = measure(browser, files, path, title)
                ours = ours or figures
                print(f"{name}: {told(figures, ours)}", flush=True)
                if figures is not None and ours is not None:
                    tell(name, figures, None if figures is ours else ours)
            browser.close()


def tell(name: str, found: Figures, ours: Figures | None) -> None:
    size, readable, scripts = (ours.size / 1000, ours.readable, ours.scripts) if ours else (None, None, None)
    figure(
        f"{name}: total download size",
        found.size / 1000,
        "KB compressed",
        beside=size,
        most=None if ours else 90,
    )
    figure(f"{name}: time until it is readable", found.readable, "ms", beside=readable)
    figure(f"{name}: script time until it is readable", found.scripts, "ms", beside=scripts)


def publish(folder: Path, spec: bytes) -> tuple[Give, str, str]:
    """Publish our site. Return its files, the path of the first page with operations, and the summary of one of
    these."""
    context = open_context(load({"data": str(folder / "data")}, environ={}))
    with context.db.write() as tx:
        user = insert_user(tx, "bench@example.com", "Bench", verified=True)
        org = create_organization(tx, user.id, "Bench").id
        spec_id = store.insert_spec(tx, org, "api")
        (pending,) = put_bodies(tx, [spec.decode()])
        store.update_spec(tx, spec_id, pending=pending, generation=1)
    process_spec(context, spec_id, 1)
    source = folder / "source"
    source.mkdir()
    (source / "README.md").write_text("# Home\n")
    (source / "SUMMARY.md").write_text(ENTRY.format(slug="api", grouping="by-tag"))
    brought = import_space(context, str(source), organization_id=org, title="api", publish=True)
    assert brought.site_url
    reader = reader_edge(context)
    thread = ThreadPoolExecutor(1)

    def give(path: str) -> tuple[bytes, str] | None:
        try:
            # Playwright has its own event loop in the calling thread.
            body = thread.submit(lambda: asyncio.run(ask(reader, path, "", ""))).result()
        except RuntimeError:
            return None
        return body, TYPES.get(Path(path).suffix, "text/html; charset=utf-8")

    sitemap = give(urlsplit(brought.site_url).path.rstrip("/") + "/sitemap.xml")
    assert sitemap is not None
    for address in re.findall(r"<loc>([^<]*)</loc>", sitemap[0].decode()):
        path = urlsplit(address).path
        page = give(path)
        if page is not None and b'class="openapi-head"' in page[0]:
            data = msgspec.json.decode(spec)
            summaries = [
                o.get("summary") for p in data["paths"].values() for o in p.values() if isinstance(o, dict)
            ]
            title = next(s for s in summaries if s and s.encode() in page[0])
            return give, path, title
    close_context(context)
    raise ValueError("the specification has no operation with a summary")


def install(folder: Path, spec: bytes) -> list[tuple[str, Give, str]]:
    """Install the other two as their manuals describe: a page with one script and the specification."""
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("npm is required to install redoc and @scalar/api-reference into a temporary folder.")
    packages = ["redoc", "@scalar/api-reference"]
    options = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
    subprocess.run([npm, "install", *options, *packages], cwd=folder, check=True)
    (folder / "api.json").write_bytes(spec)
    (folder / "redoc.html").write_text(
        HEAD
        + '<redoc spec-url="/api.json"></redoc><script src="/redoc.standalone.js"></script></body></html>'
    )
    (folder / "scalar.html").write_text(
        HEAD + '<script id="api-reference" data-url="/api.json"></script>'
        '<script src="/standalone.js"></script></body></html>'
    )
    modules = folder / "node_modules"
    redoc = modules / "redoc/bundles/redoc.standalone.js"
    scalar = modules / "@scalar/api-reference/dist/browser/standalone.js"

    def give(path: str) -> tuple[bytes, str] | None:
        name = Path(path).name
        file = {"redoc.standalone.js": redoc, "standalone.js": scalar}.get(name, folder / name)
        if name.endswith(".html") or name in ("redoc.standalone.js", "standalone.js", "api.json"):
            return file.read_bytes(), TYPES.get(file.suffix, "text/html; charset=utf-8")
        return None

    return [("Redoc, bundle", give, "/redoc.html"), ("Scalar, bundle", give, "/scalar.html")]


def told(figures: Figures | None, ours: Figures | None) -> str:
    if figures is None or ours is None:
        return f"not readable within {PATIENCE} seconds"

    def times(one: float, other: float) -> str:
        return f"{one:.0f}" if one == other else f"{one:.0f} ({one / other:.1f} times)"

    return (
        f"{times(figures.size / 1000, ours.size / 1000)} KB compressed in {figures.files} files, "
        f"readable after {times(figures.readable, ours.readable)} ms, "
        f"scripts took {times(figures.scripts, ours.scripts)} ms until then"
    )


def measure(browser: Any, give: Give, path: str, title: str) -> Figures | None:
    """Return the median of several runs; None if the page can't be read in time."""
    sent: dict[str, int] = {}
    readable: list[float] = []
    scripts: list[float] = []
    for _ in range(RUNS):
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        page = context.new_page()
        sent.clear()

        def answer(route: Route) -> None:
            found = give(urlsplit(route.request.url).path)
            if found is None:
                route.fulfill(status=404, body="")
                return
            sent[route.request.url] = len(gzip.compress(found[0], 6))
            route.fulfill(
                body=found[0], headers={"content-type": found[1], "access-control-allow-origin": "*"}
            )

        page.route("**/*", answer)
        figures = page.context.new_cdp_session(page)
        figures.send("Performance.enable")
        page.goto(HOST + path, wait_until="commit")
        try:
            # Not in each frame, because polling takes time if everything is on one page.
            page.wait_for_function(
                "title => document.body?.innerText.includes(title)",
                arg=title,
                timeout=1000 * PATIENCE,
                polling=50,
            )
        except NotReadable:
            context.close()
            return None
        readable.append(page.evaluate("performance.now()"))
        metrics = {m["name"]: m["value"] for m in figures.send("Performance.getMetrics")["metrics"]}
        scripts.append(metrics["ScriptDuration"] * 1000)
        context.close()
    return Figures(sum(sent.values()), len(sent), statistics.median(readable), statistics.median(scripts))


if __name__ == "__main__":
    main(sys.argv[1:])
