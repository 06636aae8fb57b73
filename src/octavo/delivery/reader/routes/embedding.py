"""A site in a frame of another one."""

from __future__ import annotations

import msgspec

from octavo.delivery.visits.authorization import EMBEDDED, SiteVisit, visit_space
from octavo.errors import NotFound
from octavo.kit.http.edge import Answer

from ..answers import redirect, same, with_query
from ..drawing import embed_script
from ..sites import look_of
from ..table import View, route
from ..views import Labels


@route("leadToEmbedded", "~gitbook/embed")
def lead_to_embedded(view: View, visit: SiteVisit) -> Answer:
    """Where the public embed package has frames begin."""
    if not view.context.settings.embed_origins or visit.site.visibility == "visitor-auth":
        raise NotFound("This site is not shown in frames.")
    return redirect(with_query(view, f"{visit.base}{EMBEDDED}"))


@route("readEmbedScript", "~embed/script.js", kept=True)
@route("readEmbedScript", "~gitbook/embed/script.js", kept=True)
def read_embed_script(view: View, visit: SiteVisit) -> Answer:
    """The script that shows the site in a window of another one."""
    if not view.context.settings.embed_origins or visit.site.visibility == "visitor-auth":
        raise NotFound("This site is not shown in frames.")
    shown = next(iter(visit.outline.site_spaces()), None)
    look = look_of(view.tx, visit_space(view.tx, visit, shown)) if shown is not None else None
    script = embed_script(look.labels if look is not None else Labels())
    answer = same(script.content, script.media_type)
    headers = {**answer.headers, "cross-origin-resource-policy": "cross-origin"}
    return msgspec.structs.replace(answer, headers=headers)
