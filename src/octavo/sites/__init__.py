"""Published sites: which spaces they show, and to whom."""

from . import entering as entering
from . import tables as tables
from .audiences.adaptive import get_schema as get_visitor_schema
from .audiences.schema import admit as admit_claims
from .audiences.share_links import find_link_by_key
from .audiences.visitor_auth import MAX_TOKEN, signing_key
from .audiences.visitor_auth import read_token as read_visitor_token
from .creating import create_site
from .customization.editing import look_of
from .previewing import PREVIEW, read_preview
from .redirects.store import match as match_redirect
from .store import (
    SiteRow,
    find_site_by_basename,
    find_site_by_former_name,
    find_site_by_hostname,
    find_site_of_space,
    get_site,
    set_published,
)
from .structure.store import (
    GroupRow,
    SectionRow,
    SiteSpaceRow,
    Structure,
    find_former_path,
    load_structure,
)
from .wire import Site, present_site, published_url

__all__ = [
    "GroupRow", "MAX_TOKEN", "PREVIEW", "SectionRow", "Site", "SiteRow", "SiteSpaceRow", "Structure",
    "admit_claims", "create_site", "entering", "find_former_path", "find_link_by_key",
    "find_site_by_basename", "find_site_by_former_name", "find_site_by_hostname", "find_site_of_space",
    "get_site", "get_visitor_schema", "load_structure", "look_of", "match_redirect", "present_site", "published_url",
    "read_preview", "read_visitor_token", "set_published", "signing_key", "tables",
]  # fmt: skip
