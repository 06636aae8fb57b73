"""Parse User-Agent headers: the approximate device, browser, and operating system, and the kind of bot, if
any."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

BotKind = Literal["crawler", "assistant", "coding-agent", "unknown"]
"""Kinds of bots: bots that collect pages, answer a person's question, or work on a person's code."""


class UserAgent(NamedTuple):
    device: str
    browser: str
    os: str


_ANY_BOT = re.compile(
    r"bot\b|bot[/;_-]|crawl|spider|slurp|preview|headless|lighthouse|curl/|wget/|python|java/|go-http|okhttp|axios"
    r"|node-fetch|undici|chatgpt|claude|anthropic|perplexity|facebookexternalhit|embedly|monitor|uptime",
    re.I,
)
_BOT_KINDS: tuple[tuple[BotKind, re.Pattern[str]], ...] = (
    (
        "coding-agent",
        re.compile(
            (
                r"claude-code|codex|cursor|copilot|opencode|windsurf|gemini-cli|\b(cline|aider|devin"
                r"|amp|zed|roo|goose)[/ -]"
            ),
            re.I,
        ),
    ),
    (
        "assistant",
        re.compile(
            r"(chatgpt|claude|perplexity|mistralai|meta-external\w*)-user|claude-web|duckassist", re.I
        ),
    ),
    (
        "crawler",
        re.compile(r"bot\b|bot[/;_-]|crawl|spider|slurp|facebookexternalhit|embedly|externalagent", re.I),
    ),
)
"""Kinds of bots, each with a pattern that matches the names of these bots. The first match is used. Bots with other
names are unknown."""
# The first match wins: browsers list the browsers they are derived from after their own name.
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


@lru_cache(maxsize=512)
def detect_bot(user_agent: str) -> BotKind | None:
    """Return the kind of bot, or None for a person. An empty header means an unknown bot."""
    for kind, names in _BOT_KINDS:
        if names.search(user_agent):
            return kind
    return "unknown" if not user_agent.strip() or _ANY_BOT.search(user_agent) else None


@lru_cache(maxsize=512)
def parse_user_agent(user_agent: str) -> UserAgent:
    def first(patterns: tuple[tuple[str, re.Pattern[str]], ...]) -> str:
        return next((name for name, pattern in patterns if pattern.search(user_agent)), "unknown")

    os = first(_SYSTEMS)
    if _TABLET.search(user_agent):
        device = "tablet"
    elif _MOBILE.search(user_agent):
        device = "mobile"
    else:
        device = "unknown" if os == "unknown" else "desktop"
    return UserAgent(device, first(_BROWSERS), os)
