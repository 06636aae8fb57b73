"""What a User-Agent header says: roughly which device, browser and system, and whether a program reads."""

from __future__ import annotations

import re
from typing import NamedTuple


class Agent(NamedTuple):
    device: str
    browser: str
    os: str


_BOT = re.compile(
    r"bot\b|bot[/;_-]|crawl|spider|slurp|preview|headless|lighthouse|curl/|wget/|python|java/|go-http|okhttp|axios"
    r"|node-fetch|undici|chatgpt|claude|anthropic|perplexity|facebookexternalhit|embedly|monitor|uptime",
    re.I,
)
# The first that fits: browsers name those they descend from behind their own name.
_BROWSERS = (
    ("edge", re.compile(r"Edg(e|A|iOS)?/")),
    ("opera", re.compile(r"OPR/|Opera")),
    ("firefox", re.compile(r"Firefox/|FxiOS/")),
    ("chrome", re.compile(r"Chrome/|CriOS/|Chromium/")),
    ("safari", re.compile(r"Safari/")),
    ("ie", re.compile(r"MSIE |Trident/")),
)
_SYSTEMS = (
    ("ios", re.compile(r"iPhone|iPad|iPod")),
    ("android", re.compile(r"Android")),
    ("windows", re.compile(r"Windows")),
    ("macos", re.compile(r"Mac OS X|Macintosh")),
    ("linux", re.compile(r"Linux|X11|CrOS")),
)
_TABLET = re.compile(r"iPad|Tablet|Android(?!.*Mobile)")
_MOBILE = re.compile(r"Mobile|iPhone|iPod")


def is_bot(user_agent: str) -> bool:
    """Whether a program reads, or nobody says who does."""
    return not user_agent.strip() or _BOT.search(user_agent) is not None


def read_agent(user_agent: str) -> Agent:
    def first(patterns: tuple[tuple[str, re.Pattern[str]], ...]) -> str:
        return next((name for name, pattern in patterns if pattern.search(user_agent)), "unknown")

    os = first(_SYSTEMS)
    if _TABLET.search(user_agent):
        device = "tablet"
    elif _MOBILE.search(user_agent):
        device = "mobile"
    else:
        device = "unknown" if os == "unknown" else "desktop"
    return Agent(device, first(_BROWSERS), os)
