"""Pages of another website as records."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from octavo.core.sources import SourceError
from octavo.interchange.readers.scratch import TemporaryFiles
from octavo.interchange.transfer.website import CrawlLimits, crawl
from octavo.kit.net.fetch import Fetcher

from ..types import SourceBatch, SourceFailure, SourceRecord, SourceSetup

_LIMITS = CrawlLimits(pages=1_000, images=0, bytes=200 * 1024**2, seconds=600)
_ONE = CrawlLimits(pages=1, images=0, bytes=20 * 1024**2, seconds=30)
_HEADING = re.compile(r"^# +(.+?) *#*$", re.M)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.S)
_BATCH = 100


class Website:
    """Connector for a website: its pages below a URL, as its robots.txt allows."""

    name = "builtin:website"
    fields: tuple[str, ...] = ("url",)
    secrets: tuple[str, ...] = ()
    complete = True

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def test(self, setup: SourceSetup) -> None:
        self._crawl(setup, _ONE)

    def read(self, setup: SourceSetup) -> Iterator[SourceBatch]:
        records = self._crawl(setup, _LIMITS)
        for start in range(0, len(records), _BATCH):
            yield SourceBatch(records[start : start + _BATCH], "")

    def _crawl(self, setup: SourceSetup, limits: CrawlLimits) -> list[SourceRecord]:
        with tempfile.TemporaryDirectory(prefix="octavo-source-") as folder:
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
