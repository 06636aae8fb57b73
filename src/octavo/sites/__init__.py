"""Published sites: which spaces they show, and to whom."""

from . import tables as tables
from .creating import create_site
from .store import (
    SiteRow,
    SiteSpaceRow,
    find_site_by_basename,
    find_site_by_hostname,
    find_site_of_space,
    get_site,
    list_site_spaces,
    set_published,
)
from .wire import Site, present_site, published_url

__all__ = [
    "Site", "SiteRow", "SiteSpaceRow", "create_site", "find_site_by_basename", "find_site_by_hostname",
    "find_site_of_space", "get_site", "list_site_spaces", "present_site", "published_url", "set_published",
    "tables",
]  # fmt: skip
