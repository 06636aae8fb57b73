"""Scripts that integrations add to a site's pages, and the sources that the Content-Security-Policy allows
for them.

A script can do anything that pages on its origin can. Therefore, scripts run only on sites with a custom
domain, because all other sites share an origin with other people's sites."""

from __future__ import annotations

import re
from functools import lru_cache

from octavo.delivery.visits.authorization import SiteVisit
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.sites.site.customization.model import Customization
from octavo.sites.site.scripts import list_scripts

from .views import ScriptView

_HOST = r"(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::(?:\d{1,5}|\*))?(?:/[\w.~%/+@=&!$*-]*)?"
_CODE = re.compile(rf"(?:https?://)?{_HOST}", re.IGNORECASE)
_OTHERS = re.compile(rf"(?:(?:https?|wss?)://)?{_HOST}|(?:data|blob|https|wss):", re.IGNORECASE)
_SOURCES = {
    "script-src": _CODE,
    "script-src-elem": _CODE,
    "style-src": _CODE,
    "style-src-elem": _CODE,
    "frame-src": _CODE,
    "connect-src": _OTHERS,
    "font-src": _OTHERS,
    "img-src": _OTHERS,
    "media-src": _OTHERS,
}
"""Directives that an integration can extend, and the sources that it can add: code from listed hosts, never inline or
evaluated code."""
_MOST = 100
"""Maximum number of sources per directive, because proxies limit the size of headers."""
_SAME_AS = {"script-src-elem": "script-src", "style-src-elem": "style-src"}

Sources = tuple[tuple[str, tuple[str, ...]], ...]
"""Policy directives, each with the sources to add."""


def scripts_of(
    tx: Transaction, context: Context, visit: SiteVisit, customization: Customization
) -> tuple[tuple[ScriptView, ...], Sources]:
    """Return the scripts of a site's pages and the sources that its policy allows for them. A script that can
    set cookies loads only after the visitor consents. On a site with a privacy policy, this applies to all
    scripts."""
    if not visit.own_host or visit.admission.preview:
        return (), ()
    asks = isinstance(customization.privacy_policy.url, str)
    found = list_scripts(tx, context, visit.site.id)
    scripts = tuple(ScriptView(src=one.script, waits=one.cookies or asks) for one in found)
    policies = tuple(
        one.content_security_policy for one in found if isinstance(one.content_security_policy, str)
    )
    return scripts, read_sources(tuple(script.src for script in scripts), policies)


@lru_cache(maxsize=256)
def read_sources(addresses: tuple[str, ...], policies: tuple[str, ...]) -> Sources:
    """Return the sources that scripts with these URLs and policies need. All other parts of a policy are ignored: an
    integration can allow hosts, but it can't weaken the policy for the rest of the page."""
    found: dict[str, dict[str, None]] = {"script-src": dict.fromkeys(addresses)} if addresses else {}
    for policy in policies:
        for part in policy.split(";"):
            name, *sources = part.split() or [""]
            allowed = _SOURCES.get(name.lower())
            if allowed is not None:
                kept = found.setdefault(_SAME_AS.get(name.lower(), name.lower()), {})
                kept.update(dict.fromkeys(one for one in sources if allowed.fullmatch(one)))
    return tuple((name, tuple(sources)[:_MOST]) for name, sources in sorted(found.items()) if sources)
