"""Published sites: which spaces they show, and to whom."""

from . import entering as entering
from . import prints as prints
from . import repositories as repositories
from . import sharing as sharing
from . import tables as tables
from . import variants as variants
from .audiences.adaptive import get_schema as get_visitor_schema
from .audiences.schema import admit as admit_claims
from .audiences.share_links import find_link_by_key
from .audiences.visitor_auth import MAX_TOKEN, Other, Signed, accept_key
from .audiences.visitor_auth import read_token as read_visitor_token
from .branding import brand_site
from .creating import create_site
from .customization.colours import colours_of
from .customization.editing import find_customization, get_customization, put_customization
from .customization.looks import ContentLink, ContentRef, Customization, HeaderItem, PutCustomization
from .hostnames import require_shared_host
from .pictures import PICTURES, find_picture
from .previewing import PREVIEW, PREVIEWED, read_preview
from .published import own_url, published_url
from .publishing import may_open, require_opening
from .redirects.editing import create_redirect
from .redirects.importing import lead_old_addresses
from .redirects.leading import find_lead, list_space_redirects
from .redirects.store import list_redirects
from .redirects.wire import CreateRedirect
from .scripts import IntegrationScript, list_scripts, provide_scripts
from .sight import Sight, sight_of
from .store import (
    SiteRow,
    find_site,
    find_site_by_basename,
    find_site_by_docs_source,
    find_site_by_former_name,
    find_site_by_hostname,
    find_site_by_proxy,
    find_site_of_space,
    find_version,
    get_site,
    list_all_sites,
    list_public_sites,
    list_published_sites,
    list_sites_of_space,
    set_published,
    touch_sites,
)
from .structure.arranging import arrange_site, describe_site, find_parts, provide_spaces, require_bounds
from .structure.outline import Outline
from .structure.store import (
    MAX_DEPTH,
    GroupRow,
    SectionRow,
    SiteSpaceRow,
    Structure,
    find_empty_spaces,
    list_former_paths,
    load_structure,
    localize,
)
from .visitor_tokens import make_visitor_token
from .wire import PROXIED, Site, present_site, proxied_path

__all__ = [
    "ContentLink", "ContentRef", "CreateRedirect", "Customization", "GroupRow", "HeaderItem",
    "IntegrationScript", "MAX_DEPTH", "MAX_TOKEN", "Other", "Outline", "PICTURES", "PREVIEW", "PREVIEWED",
    "PROXIED", "PutCustomization", "SectionRow", "Sight", "Signed", "Site", "SiteRow", "SiteSpaceRow",
    "Structure", "accept_key", "admit_claims", "arrange_site", "brand_site", "colours_of", "create_redirect", "create_site",
    "describe_site", "find_customization", "find_empty_spaces", "find_lead", "find_link_by_key", "find_parts",
    "find_picture", "find_site", "find_site_by_basename", "find_site_by_docs_source",
    "find_site_by_former_name", "find_site_by_hostname", "find_site_by_proxy", "find_site_of_space",
    "find_version", "get_customization", "get_site", "get_visitor_schema", "lead_old_addresses",
    "list_all_sites", "list_former_paths", "list_public_sites", "list_published_sites", "list_redirects",
    "list_scripts", "list_sites_of_space", "list_space_redirects", "load_structure", "localize",
    "make_visitor_token", "may_open", "own_url", "present_site", "provide_scripts", "provide_spaces",
    "proxied_path", "published_url", "put_customization", "read_preview", "read_visitor_token",
    "require_bounds", "require_opening", "require_shared_host", "set_published", "sight_of", "touch_sites",
]  # fmt: skip
