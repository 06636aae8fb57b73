"""What the reader tells insights of a visitor: of nobody, and without cookies. Everything that is done is done by
somebody else."""

from __future__ import annotations

import secrets
from urllib.parse import quote

from ..core.pages import Page
from ..insights import VisitorLocation, VisitorSession
from ..kit.asgi import Request
from .resolving import SpaceVisit


def session_of(request: Request) -> VisitorSession:
    return VisitorSession(
        visitor_id=secrets.token_hex(8),
        session_id=secrets.token_hex(8),
        cookies={},
        user_agent=request.header(b"user-agent")[:1024],
        language=request.header(b"accept-language").partition(",")[0][:64] or None,
        referrer=None,
    )


def location_of(space: SpaceVisit, page: Page) -> VisitorLocation:
    """Where a visitor is who is at a page."""
    return VisitorLocation(
        url=f"{space.base}{quote(space.view.tree.url_path(page))}",
        site_section=space.site_space.section_id,
        site_space=space.site_space.id,
        site_share_key=space.visit.admission.key or None,
        space=space.site_space.space_id,
        revision=space.view.state.revision_id,
        page=page.id,
    )
