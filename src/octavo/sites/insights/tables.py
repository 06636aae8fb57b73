"""Declare the tables for insights."""

from __future__ import annotations

from typing import get_args

from octavo.kit.db.tables import Table, declare

from .agents import BotKind
from .types import DisplayContext, EventType, PageRating

declare(
    Table(
        name="site_events",
        stays="belongs to the server that counted it, and expires",
        values={
            "type": get_args(EventType),
            "display_context": get_args(DisplayContext),
            "page_rating": get_args(PageRating),
            "bot": get_args(BotKind),
            "llms_variant": ("standard", "full"),
            "markdown_source": ("page-action",),
        },
        json={"claims": dict[str, str], "link_target": dict},
        long=("url", "referrer", "comment"),
    ),
)
