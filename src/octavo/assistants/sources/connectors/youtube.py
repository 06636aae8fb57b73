"""Connector that reads the videos of a YouTube channel as records."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from ..client import SourceApi, read_time
from ..types import SourceBatch, SourceFailure, SourceRecord, SourceSetup
from .service import ServiceConnector

_ID = re.compile(r"UC[\w-]{22}", re.A)
_CHANNEL = re.compile(r"UC[\w-]{22}|@[\w.·-]{1,100}")
_LINKED = re.compile(rb"feeds/videos\.xml\?channel_id=(UC[\w-]{22})")
_NAMES = {
    "atom": "http://www.w3.org/2005/Atom",
    "media": "http://search.yahoo.com/mrss/",
    "yt": "http://www.youtube.com/xml/schemas/2015",
}


class YouTube(ServiceConnector):
    """Connector for videos. It reads the channel's feed, which contains the latest 15 videos and doesn't require a
    key. Records of earlier videos are kept."""

    name = "builtin:youtube"
    service = "YouTube"
    base = "https://www.youtube.com"
    fields: tuple[str, ...] = ("channel_id",)
    secrets: tuple[str, ...] = ()
    patterns = {
        "channel_id": (
            _CHANNEL,
            "The channel is invalid. Enter an ID that starts with UC, or a handle such as @acme.",
        )
    }

    def headers(self, setup: SourceSetup) -> dict[str, str]:
        return {"Accept": "*/*"}

    def test(self, setup: SourceSetup) -> None:
        self._list(setup)

    def read(self, setup: SourceSetup) -> Iterator[SourceBatch]:
        yield SourceBatch(self._list(setup), "")

    def _list(self, setup: SourceSetup) -> list[SourceRecord]:
        api = self.api(setup)
        body = api.read("/feeds/videos.xml", channel_id=_find_channel(api, setup.values["channel_id"]))
        parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
        try:
            feed = etree.fromstring(body, parser)
        except etree.XMLSyntaxError:
            raise SourceFailure(
                "upstream_unavailable", "YouTube returned an invalid response. Try again later."
            ) from None
        return [_video(each) for each in feed.iterfind("atom:entry", _NAMES)]


def _find_channel(api: SourceApi, channel: str) -> str:
    """Return the ID of a channel that is specified by its ID or its handle."""
    if _ID.fullmatch(channel):
        return channel
    hint = "Instead, enter the channel ID, which starts with UC."
    try:
        found = _LINKED.search(api.read(f"/{channel}"))
    except SourceFailure as failure:
        raise SourceFailure(failure.reason, f"{failure.message} {hint}") from None
    if found is None:
        raise SourceFailure("misconfigured", f"YouTube didn't return the ID of the channel {channel}. {hint}")
    return found[1].decode()


def _video(entry: etree._Element) -> SourceRecord:
    def text(path: str) -> str:
        return entry.findtext(path, "", _NAMES) or ""

    id = text("yt:videoId")
    return SourceRecord(
        id=id,
        type="document",
        title=text("atom:title"),
        body=text("media:group/media:description"),
        url=f"https://www.youtube.com/watch?v={id}",
        created_at=read_time(text("atom:published")),
    )
