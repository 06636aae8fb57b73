"""Connector that reads the pages of another website as records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from octavo.core.sources import SourceError
from octavo.kit.net.fetch import Fetcher
from octavo.kit.temporary import TemporaryFolder

from ..types import SourceBatch, SourceFailure, SourceRecord, SourceSetup

_MOST = 1_000
"""Maximum number of pages to read from a website."""
_HEADING = re.compile(r"^# +(.+?) *#*$", re.M)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.S)
_BATCH = 100


class Website:
    """Connector for a website. It reads the pages under a URL that the site's robots.txt allows."""

    name = "builtin:website"
    fields: tuple[str, ...] = ("url",)
    secrets: tuple[str, ...] = ()
    complete = True

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def test(self, setup: SourceSetup) -> None:
        self._crawl(setup, 1)

    def read(self, setup: SourceSetup) -> Iterator[SourceBatch]:
        records = self._crawl(setup, _MOST)
        for start in range(0, len(records), _BATCH):
            yield SourceBatch(records[start : start + _BATCH], "")

    def _crawl(self, setup: SourceSetup, pages: int) -> list[SourceRecord]:
        # The import code is loaded only when needed.
        from octavo.interchange.readers.scratch import TemporaryFiles
        from octavo.interchange.transfer.website import CrawlLimits, crawl

        limits = CrawlLimits(pages=pages, images=0, bytes=200 * 1024**2, seconds=600)
        with TemporaryFolder("source") as folder:
            try:
                found = crawl(
                    setup.values["url"], self._fetcher, TemporaryFiles(Path(folder)), setup.tick, limits
                )
            except SourceError as error:
                raise SourceFailure("misconfigured", f"{setup.values['url']}: {error}") from None
            records = []
            for path, url in found.urls.items():
                if not path:
                    # The page has no content.
                    continue
                text = _FRONT_MATTER.sub("", found.source.files.read(path).decode("utf-8", "replace"))
                heading = _HEADING.search(text)
                title = heading[1] if heading else url
                records.append(SourceRecord(id=url, type="document", title=title, body=text, url=url))
            return records
