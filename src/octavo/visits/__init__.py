"""Visits at published sites: from a request to the proof that its sender can see a site, and a space of it."""

from .admitting import PREVIEW_COOKIE, Admission, Coming, SendOn, asks_for_preview, read_coming
from .entering import (
    EMBEDDED,
    MadeOf,
    OtherSpaces,
    SiteVisit,
    SpaceVisit,
    enter_site,
    enter_space,
    find_redirect,
    list_spaces,
    visit_space,
)

__all__ = [
    "Admission", "Coming", "EMBEDDED", "MadeOf", "OtherSpaces", "PREVIEW_COOKIE", "SendOn", "SiteVisit",
    "SpaceVisit", "asks_for_preview", "enter_site", "enter_space", "find_redirect",
    "list_spaces", "read_coming", "visit_space",
]  # fmt: skip
