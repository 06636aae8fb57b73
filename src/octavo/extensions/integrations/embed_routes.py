"""Operation that returns the embed for a URL in a space: an integration block or, by default, the metadata of the
page at the URL."""

from __future__ import annotations

from octavo.content.pages.embedding import LinkEmbed, RichEmbed, find_embed
from octavo.content.pages.wire import EmbedQuery
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import SpaceAccess, VisitedSpace
from octavo.organization.access.roles import Can

from .active import list_active_in_space
from .blocks import find_unfurling
from .wire import IntegrationEmbed

operation = Area("content").operation


@operation(
    "getEmbedByUrlInSpace", "GET", "/spaces/{spaceId}/embed", needs=Can.VIEW, errors=(400,), visitors=True
)
def get_embed(
    call: Call, space: SpaceAccess | VisitedSpace, query: EmbedQuery
) -> LinkEmbed | RichEmbed | IntegrationEmbed:
    """Get the embed for a URL in a space: an integration block that supports the URL or, by default, the metadata
    of the page at the URL. For a URL that can't be reached, a plain link is returned."""
    with call.db.read() as tx:
        rows = list_active_in_space(tx, space.organization_id, space.space_id)
    found = find_unfurling(rows, query.url)
    if found is not None:
        row, block = found
        return IntegrationEmbed(block.title, row.title, row.name, block)
    # Anonymous callers can't make this server send requests to other servers.
    return find_embed(call.context, query.url, ask=isinstance(space, SpaceAccess))
