"""Benchmark the CPU time of scans of a site: the first one, one after few changes, and one after none.

    python bench/bench_findings.py [FOLDER] [PAGES]

The pages are copies of those in a folder of Markdown (default: the manual), each with its own sentence, so that no
two texts are the same.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

from figures import figure

from octavo.assistants.findings.scanning import scan_site
from octavo.assistants.findings.store import insert_scan, list_open
from octavo.kit.context import Context
from octavo.kit.processes.page_checking import checker
from octavo.operations.admin.import_export import import_space
from octavo.operations.installation import close_context, open_context
from octavo.organization.access.accounts import insert_user
from octavo.organization.orgs.creating import create_organization
from octavo.settings import load
from octavo.sites.site.store import find_site_of_space

MOST_SECONDS = 20
"""Maximum CPU seconds of the first scan of 1,000 pages."""


def write_pages(source: Path, folder: Path, count: int, edited: int = 0) -> None:
    """Write ``count`` pages. ``edited``: how many of them have another sentence than before."""
    texts = [path.read_text() for path in sorted(source.rglob("*.md")) if path.name != "SUMMARY.md"]
    folder.mkdir(exist_ok=True)
    for number in range(count):
        more = "It was edited." if number < edited else "It is a copy."
        body = texts[number % len(texts)]
        (folder / f"page-{number}.md").write_text(f"{body}\n\nThis is page number {number}. {more}\n")


def scan(context: Context, site_id: str, organization_id: str) -> float:
    """Return the CPU seconds of a scan, including the process that checks pages."""
    with context.db.write() as tx:
        made = insert_scan(tx, site_id, "manual")
    start = _spent()
    scan_site(context, site_id, organization_id, made.id)
    checker.close()
    return _spent() - start


def _spent() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def main() -> None:
    source = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs")
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    with tempfile.TemporaryDirectory() as temporary:
        data, pages = Path(temporary) / "data", Path(temporary) / "pages"
        context = open_context(load({"data": str(data)}))
        try:
            with context.db.write() as tx:
                user = insert_user(tx, "ines@example.org", "Ines", verified=True)
                organization = create_organization(tx, user.id, "Tidewater").id
            write_pages(source, pages, count)
            made = import_space(
                context, str(pages), organization_id=organization, title="Manual", publish=True
            )
            with context.db.read() as tx:
                site = find_site_of_space(tx, made.outcome.space)
            assert site is not None
            first = scan(context, site, organization)
            figure(f"first scan of {count:,} pages", first, "s", most=MOST_SECONDS * count / 1000)
            few = max(1, count // 100)
            write_pages(source, pages, count, few)
            import_space(
                context, str(pages), organization_id=organization, space_id=made.outcome.space, whole=True
            )
            figure(f"scan after {few:,} pages changed", scan(context, site, organization), "s")
            figure("scan without changes", scan(context, site, organization), "s")
            with context.db.read() as tx:
                print(f"{len(list_open(tx, site))} open findings")
        finally:
            close_context(context)


if __name__ == "__main__":
    main()
