"""Embed web pages.

Players for known providers are derived from the URL alone. Any other URL is fetched for its title, with the
guarded fetcher and tight limits; nothing in its response is used as markup.
"""

from __future__ import annotations

import html
import time
from functools import lru_cache
from html.parser import HTMLParser

import msgspec
from msgspec import UNSET, Struct, UnsetType

from octavo.core.document.urls import Player, player, safe_url
from octavo.core.url_parts import host_of, join_address
from octavo.kit.context import Context
from octavo.kit.db.cache import OwnCache
from octavo.kit.net.fetch import Fetched, Fetcher, FetchError, Limits


class LinkEmbed(Struct, tag_field="type", tag="link"):
    title: str
    site: str
    icon: str | UnsetType = UNSET


class RichEmbed(Struct, tag_field="type", tag="rich"):
    title: str
    site: str
    html: str
    icon: str | UnsetType = UNSET


Embed = LinkEmbed | RichEmbed

_LIMITS = Limits(size=1024 * 1024, seconds=5, redirects=3)
_MAX_TEXT = 300
_KEPT_SECONDS, _FAILED_SECONDS = 3600.0, 60.0
_cache: OwnCache[tuple[float, Embed]] = OwnCache("embeds", 1)
_RATIO = {"video": "16 / 9", "page": "4 / 3"}


def find_embed(context: Context, url: str, *, ask: bool = True) -> Embed:
    """Return the embed for an HTTP or HTTPS URL. Responses are cached for an hour, failures for a minute.
    ``ask``: whether to fetch the URL if nothing is cached."""
    if (found := player(url)) is not None:
        return RichEmbed(found.provider, found.provider, _frame(found))
    kept = _cache.of(context.db).get(url)
    moment = time.monotonic()
    if kept is not None and kept[0] > moment:
        return kept[1]
    if not ask:
        return _plain(url)
    try:
        embed, seconds = _ask(_fetcher(context.settings.allow_private_fetch), url), _KEPT_SECONDS
    except FetchError:
        embed, seconds = _plain(url), _FAILED_SECONDS
    _cache.of(context.db).put(url, (moment + seconds, embed), len(url) + 4 * _MAX_TEXT)
    return embed


@lru_cache(maxsize=4)
def _fetcher(allowed: str) -> Fetcher:
    return Fetcher(allowed)


def _frame(found: Player) -> str:
    shape = f"aspect-ratio: {_RATIO[found.ratio]}" if found.ratio in _RATIO else "height: 152px"
    return (
        f'<iframe src="{html.escape(found.src)}" title="{html.escape(found.provider)}" loading="lazy" '
        'sandbox="allow-scripts allow-same-origin allow-popups allow-presentation" allow="fullscreen" '
        f'referrerpolicy="strict-origin-when-cross-origin" style="width: 100%; {shape}; border: 0"></iframe>'
    )


def _site(url: str) -> str:
    return (host_of(url) or url[:_MAX_TEXT]).removeprefix("www.")


def _resolve_href(url: str, href: str) -> str | None:
    """Return the absolute URL of ``href`` on a page at ``url``, or None if it isn't a safe URL."""
    return safe_url(join_address(url, href))


def _plain(url: str) -> Embed:
    return LinkEmbed(url[:_MAX_TEXT], _site(url))


class _Head(HTMLParser):
    """Metadata in the head of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.said: dict[str, str] = {}
        self.icon: str | None = None
        self.oembed: str | None = None
        self._title: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "title" and "title" not in self.said:
            self._title = []
        elif tag == "meta":
            name = (given.get("property") or given.get("name") or "").lower()
            if name and given.get("content"):
                self.said.setdefault(name, given["content"])
        elif tag == "link":
            rel = given.get("rel", "").lower().split()
            if "icon" in rel and self.icon is None:
                self.icon = given.get("href")
            elif given.get("type", "").lower() == "application/json+oembed":
                self.oembed = given.get("href")

    def handle_data(self, data: str) -> None:
        if self._title is not None:
            self._title.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title" and self._title is not None:
            self.said.setdefault("title", "".join(self._title))
            self._title = None

    def first(self, *names: str) -> str | None:
        for name in names:
            if words := " ".join(self.said.get(name, "").split())[:_MAX_TEXT]:
                return words
        return None


def _ask(fetcher: Fetcher, url: str) -> Embed:
    answer = fetcher.fetch(url, headers={"accept": "text/html,*/*;q=0.5"}, limits=_LIMITS)
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if answer.status != 200 or kind not in ("text/html", "application/xhtml+xml"):
        return _plain(url)
    head = _read(answer)
    title = head.first("og:title", "twitter:title")
    site = head.first("og:site_name", "application-name")
    oembed = _resolve_href(answer.url, head.oembed) if title is None and head.oembed else None
    if oembed is not None:
        response = _ask_oembed(fetcher, oembed)
        title, site = response.title[:_MAX_TEXT] or None, site or response.provider_name[:_MAX_TEXT] or None
    icon = _resolve_href(answer.url, head.icon) if head.icon else None
    shown = icon if icon and icon.startswith(("https://", "http://")) else UNSET
    return LinkEmbed(title or head.first("title") or url[:_MAX_TEXT], site or _site(answer.url), shown)


def _read(answer: Fetched) -> _Head:
    head = _Head()
    head.feed(answer.body.decode(answer.headers.encoding or "utf-8", "replace"))
    return head


class _OEmbed(Struct):
    title: str = ""
    provider_name: str = ""


def _ask_oembed(fetcher: Fetcher, url: str) -> _OEmbed:
    try:
        answer = fetcher.fetch(url, headers={"accept": "application/json"}, limits=_LIMITS)
        return msgspec.json.decode(answer.body, type=_OEmbed) if answer.status == 200 else _OEmbed()
    except (FetchError, msgspec.MsgspecError):
        return _OEmbed()
