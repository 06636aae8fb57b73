"""What a User-Agent header says: roughly which device, browser and system, and which kind of program, if one reads."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

Program = Literal["crawler", "assistant", "coding-agent", "unknown"]
"""What reads for somebody: it collects pages, it answers the question of a person, it works on their code."""


class Agent(NamedTuple):
    device: str
    browser: str
    os: str


_BOT = re.compile(
    r"bot\b|bot[/;_-]|crawl|spider|slurp|preview|headless|lighthouse|curl/|wget/|python|java/|go-http|okhttp|axios"
    r"|node-fetch|undici|chatgpt|claude|anthropic|perplexity|facebookexternalhit|embedly|monitor|uptime",
    re.I,
)
_PROGRAMS: tuple[tuple[Program, re.Pattern[str]], ...] = (
    (
        "coding-agent",
        re.compile(
            r"claude-code|codex|cursor|copilot|opencode|windsurf|gemini-cli|\b(cline|aider|devin|amp|zed|roo|goose)[/ -]",
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
"""The first that fits. Whoever names itself otherwise is unknown."""
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


@lru_cache(maxsize=512)
def read_program(user_agent: str) -> Program | None:
    """What kind of program reads; None for a person. Where nobody says who does, an unknown one."""
    for kind, names in _PROGRAMS:
        if names.search(user_agent):
            return kind
    return "unknown" if not user_agent.strip() or _BOT.search(user_agent) else None


@lru_cache(maxsize=512)
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
