"""Who visits what of a published site: from a request to the proof that its sender may see a site, and a space of it."""

from .admitting import (
    CONNECT_PATH,
    MCP_PATHS,
    METADATA_PATH,
    PREVIEW_COOKIE,
    Admission,
    AgentProof,
    Coming,
    SendOn,
    asks_for_preview,
    public_url,
    read_coming,
    recognize_site_agents,
    signs_visitors_in,
    unfold_query,
)
from .entering import (
    EMBEDDED,
    MadeOf,
    OtherSpaces,
    SiteVisit,
    SpaceVisit,
    enter_site,
    enter_space,
    find_redirect,
    find_site_at,
    list_spaces,
    visit_space,
)

__all__ = [
    "Admission", "AgentProof", "CONNECT_PATH", "Coming", "EMBEDDED", "MCP_PATHS", "METADATA_PATH", "MadeOf",
    "OtherSpaces", "PREVIEW_COOKIE", "SendOn", "SiteVisit", "SpaceVisit", "asks_for_preview", "enter_site",
    "enter_space", "find_redirect", "find_site_at", "list_spaces", "public_url", "read_coming",
    "recognize_site_agents", "signs_visitors_in", "unfold_query", "visit_space",
]  # fmt: skip
