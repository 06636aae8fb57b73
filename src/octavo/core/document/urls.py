"""Decide which URLs a page can contain, and which pages on other hosts it can embed."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, quote

from msgspec import Struct

from ..url_parts import read_address

SCHEMES = frozenset(("http", "https", "mailto", "tel"))
URL_MAX = 8192
_SCHEME = re.compile(r"[^/?#]*?:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029\ufeff]")


def safe_url(url: object) -> str | None:
    """Return ``url`` if it is allowed in an ``href`` or ``src``: http, https, mailto, tel, relative, or
    ``#``.

    For all other URLs, return ``None``. The text before the first colon of the first path segment counts as a scheme,
    so ``java\\tscript:``, ``JaVaScRiPt:``, and unknown schemes are all rejected. URLs that can't be parsed are unsafe,
    too, because callers may parse them.

    >>> safe_url(" https://example.com/a?b=c "), safe_url("../a:b"), safe_url("javascript:alert(1)")
    ('https://example.com/a?b=c', '../a:b', None)
    """
    if not isinstance(url, str) or len(url) > URL_MAX:
        return None
    url = url.strip(" \t\r\n")
    if _CONTROL.search(url):
        return None
    scheme = _SCHEME.match(url)
    if scheme and scheme.group()[:-1].lower() not in SCHEMES:
        return None
    return url if read_address(url) is not None else None


class Player(Struct, frozen=True):
    """Embeddable page on another host. ``ratio``: the class of its aspect ratio: video, audio, or page."""

    provider: str
    src: str
    ratio: str = "video"


def _id(text: str | None) -> str | None:
    return text if text and re.fullmatch(r"[\w-]{1,128}", text, re.ASCII) else None


def _youtube(parts: list[str], query: dict[str, list[str]]) -> str | None:
    video = None
    if parts and parts[0] in ("embed", "shorts", "live", "v"):
        video = parts[1] if len(parts) > 1 else None
    elif parts and parts[0] == "watch":
        video = query.get("v", [""])[0]
    return f"https://www.youtube-nocookie.com/embed/{video}" if _id(video) else None


def player(url: str) -> Player | None:
    """Return the player for a URL of an allowed provider's content, or ``None`` if there is none.

    >>> player("https://youtu.be/dQw4w9WgXcQ").src
    'https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ'
    """
    split = read_address(url)
    if split is None or not split.is_web:
        return None
    parts = [part for part in split.path.split("/") if part]
    last = _id(parts[-1]) if parts else None
    src: str | None = None
    match split.host.removeprefix("www."):
        case "youtube.com" | "m.youtube.com" | "youtube-nocookie.com":
            src = _youtube(parts, parse_qs(split.query))
            return Player("YouTube", src) if src else None
        case "youtu.be":
            return Player("YouTube", f"https://www.youtube-nocookie.com/embed/{last}") if last else None
        case "vimeo.com" | "player.vimeo.com":
            found = next((part for part in parts if part.isascii() and part.isdigit()), None)
            return Player("Vimeo", f"https://player.vimeo.com/video/{found}?dnt=1") if found else None
        case "loom.com":
            return Player("Loom", f"https://www.loom.com/embed/{last}") if last else None
        case "open.spotify.com":
            path = "/".join(parts[-2:])
            if not re.fullmatch(r"(track|album|playlist|episode|show)/\w+", path, re.ASCII):
                return None
            return Player("Spotify", f"https://open.spotify.com/embed/{path}", "audio")
        case "codepen.io":
            if len(parts) >= 3 and _id(parts[0]) and last:
                src = f"https://codepen.io/{parts[0]}/embed/{last}?default-tab=result"
            return Player("CodePen", src, "page") if src else None
        case "codesandbox.io":
            return Player("CodeSandbox", f"https://codesandbox.io/embed/{last}", "page") if last else None
        case "stackblitz.com":
            if len(parts) == 2 and parts[0] == "edit" and last:
                src = f"https://stackblitz.com/edit/{last}?embed=1"
            return Player("StackBlitz", src, "page") if src else None
        case "figma.com":
            src = f"https://www.figma.com/embed?embed_host=octavo&url={quote(url, safe='')}"
            return Player("Figma", src, "page")
        case "app.supademo.com":
            return Player("Supademo", f"https://app.supademo.com/embed/{last}", "page") if last else None
        case "wistia.com" | "fast.wistia.net":
            return Player("Wistia", f"https://fast.wistia.net/embed/iframe/{last}") if last else None
    return None


FRAME_HOSTS = (
    "https://www.youtube-nocookie.com https://player.vimeo.com https://www.loom.com https://open.spotify.com "
    "https://codepen.io https://codesandbox.io https://stackblitz.com https://www.figma.com "
    "https://app.supademo.com https://fast.wistia.net"
).split()
