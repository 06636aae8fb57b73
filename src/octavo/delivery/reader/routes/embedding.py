"""Embed sites in other websites."""

from __future__ import annotations

import msgspec

from octavo.delivery.visits.authorization import EMBEDDED, SiteVisit, visit_space
from octavo.errors import NotFound
from octavo.kit.http.edge import Answer

from ..answers import redirect, revalidated_answer, with_query
from ..drawing import embed_script
from ..sites import find_look
from ..table import View, route
from ..views import FrameLabels


@route("leadToEmbedded", "~gitbook/embed")
def redirect_to_embedded(view: View, visit: SiteVisit) -> Answer:
    """Redirect the start URL of frames used by the public embed package."""
    if not view.context.settings.embed_origins or visit.site.visibility == "visitor-auth":
        raise NotFound("This site can't be embedded.")
    return redirect(with_query(view, f"{visit.base}{EMBEDDED}"))


@route("readEmbedScript", "~embed/script.js", kept=True)
@route("readEmbedScript", "~gitbook/embed/script.js", kept=True)
def read_embed_script(view: View, visit: SiteVisit) -> Answer:
    """Return the script that embeds the site in another website."""
    if not view.context.settings.embed_origins or visit.site.visibility == "visitor-auth":
        raise NotFound("This site can't be embedded.")
    shown = next(iter(visit.outline.site_spaces()), None)
    look = find_look(view.tx, visit_space(view.tx, visit, shown)) if shown is not None else None
    script = embed_script(look.labels if look is not None else FrameLabels())
    answer = revalidated_answer(script.content, script.media_type)
    headers = {**answer.headers, "cross-origin-resource-policy": "cross-origin"}
    return msgspec.structs.replace(answer, headers=headers)
