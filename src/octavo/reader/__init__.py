"""What visitors see: published sites."""

from .api_reference import reference_routes
from .app import icon_route, reader_edge
from .audiences import Admission, Coming, SendOn
from .resolving import (
    MadeOf,
    SiteVisit,
    SpaceVisit,
    enter_site,
    enter_space,
    find_redirect,
    list_spaces,
)

__all__ = [
    "Admission", "Coming", "MadeOf", "SendOn", "SiteVisit", "SpaceVisit",
    "enter_site", "enter_space", "find_redirect", "icon_route", "list_spaces", "reader_edge",
    "reference_routes",
]  # fmt: skip
