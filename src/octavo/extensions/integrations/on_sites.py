"""Sign visitors in to sites through integrations, and serve the scripts that integrations add to pages."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from octavo.errors import NotFound
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction
from octavo.kit.runtime.process import ScriptAnswer
from octavo.sites.site.audiences.visitor_auth import OtherAuthenticator, register_authenticator
from octavo.sites.site.scripts import IntegrationScript

from . import store
from .event_replies import Failed, ask
from .invoking import Subject, signing_secret
from .policies import policy_text
from .presenting import public_endpoint

SIGN_IN, SIGN_OUT, SCRIPT_FILE = "~sign-in", "~sign-out", "~script.js"
"""Paths that only Octavo itself requests, under the public endpoint of an installation on a site."""
_KEPT_FOR = 300
"""Seconds for which a published script is cached."""
_LARGEST = 1024 * 1024
"""Maximum size of a published script in bytes."""

_scripts: OwnCache[bytes] = OwnCache("site scripts", 4)


class _SignIn(NamedTuple):
    """Integration through which visitors sign in. ``url``: its public endpoint. ``key``: the key that signs
    visitors' tokens."""

    name: str
    url: str
    key: str


def _find_sign_in(tx: Transaction, context: Context, site_id: str) -> _SignIn | None:
    """Return the integration through which a site's visitors sign in. If there are several, the first one that was
    installed on the site is used."""
    for integration, installation, place in store.list_places_with_scope(tx, site_id, "site:visitor:auth"):
        key = (place.installation_id, place.kind, place.place_id)
        endpoint = public_endpoint(context, integration.name, installation.id, "site", site_id)
        return _SignIn(integration.name, endpoint, signing_secret(context, integration, *key))
    return None


def sign_in_address(tx: Transaction, context: Context, site_id: str, path: str) -> str | None:
    """Return the URL at which a visitor starts signing in through an integration; None if there is no such
    integration. ``path``: the visited path, relative to the site's base URL, with a leading slash."""
    found = _find_sign_in(tx, context, site_id)
    return f"{found.url}/{SIGN_IN}?{urlencode({'location': path})}" if found is not None else None


def sign_out_address(tx: Transaction, context: Context, site_id: str) -> str | None:
    """Return the URL to which visitors are redirected after signing out, if they signed in to the site through an
    integration."""
    found = _find_sign_in(tx, context, site_id)
    return f"{found.url}/{SIGN_OUT}" if found is not None else None


def _find_other(tx: Transaction, context: Context, site_id: str) -> OtherAuthenticator | None:
    found = _find_sign_in(tx, context, site_id)
    return OtherAuthenticator(found.name, found.key) if found is not None else None


register_authenticator(_find_other)


def ask_for_sign_in(context: Context, subject: Subject, location: str) -> ScriptAnswer:
    """Return the integration's response to a visitor who has to sign in.

    ``location``: the visited path, relative to the site's URL, which ends with a slash. Raises NotFound if the
    integration doesn't sign visitors in, Failed if the script fails, and Unavailable if it can't run right now."""
    _require_scope(subject, "site:visitor:auth")
    fields = {"location": location.lstrip("/\\")}
    return ask(context, subject, "fetch_visitor_authentication", fields)


def ask_for_sign_out(context: Context, subject: Subject) -> ScriptAnswer:
    """Return the integration's response to a visitor who signed out. Most integrations redirect to the provider,
    which also signs the visitor out.

    Raises NotFound if the integration doesn't sign visitors in, Failed if the script fails, and Unavailable if it
    can't run right now."""
    _require_scope(subject, "site:visitor:auth")
    return ask(context, subject, "fetch_visitor_authentication", {"action": "logout"})


def list_scripts(tx: Transaction, context: Context, site_id: str) -> list[IntegrationScript]:
    """Return the scripts that integrations add to the pages of a site."""
    found = []
    for integration, installation, _ in store.list_places_with_scope(tx, site_id, "site:script:inject"):
        endpoint = public_endpoint(context, integration.name, installation.id, "site", site_id)
        script = IntegrationScript(
            script=f"{endpoint}/{SCRIPT_FILE}", cookies="site:script:cookies" in installation.scopes
        )
        if (policy := policy_text(integration.manifest)) is not None:
            script.content_security_policy = policy
        found.append(script)
    return found


def read_script(context: Context, subject: Subject) -> bytes:
    """Return an integration's script for a site's pages. The script is requested periodically and after every
    change.

    Raises NotFound if the integration doesn't provide a script for pages, Failed if the integration fails, and
    Unavailable if it can't run right now."""
    _require_scope(subject, "site:script:inject")
    integration, installation, place = subject
    assert installation is not None and place is not None, "it has the scope there"
    stamp = max(integration.updated_at, installation.updated_at, place.updated_at)
    key = (installation.id, place.place_id, integration.version, stamp, now() // (_KEPT_FOR * 1000))
    kept = _scripts.of(context.db).get(key)
    if kept is None:
        answer = ask(context, subject, "fetch_published_script", {})
        if answer.status != 200 or len(answer.body) > _LARGEST:
            raise Failed("The integration didn't return a script. See its events for the reason.")
        kept = answer.body
        _scripts.of(context.db).put(key, kept, len(kept) + 200)
    return kept


def _require_scope(subject: Subject, scope: str) -> None:
    integration, installation, place = subject
    active = place is not None and place.kind == "site" and place.status == "active"
    agreed = installation is not None and installation.status == "active" and scope in installation.scopes
    if not (active and agreed and scope in integration.manifest.scopes):
        raise NotFound("There is no page at this URL.")
