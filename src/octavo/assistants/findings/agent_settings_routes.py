"""Operations on the settings of a site's agent."""

from __future__ import annotations

from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.access.roles import Can

from . import agent_settings_wire as wire
from .agent_settings import read_settings, undo_fixes, write_settings

operation = Area("sites").operation

_SETTINGS = "/orgs/{organizationId}/sites/{siteId}/agent-settings"


@operation("getSiteAgentSettingsById", "GET", _SETTINGS, needs=Can.EDIT)
def get_settings(call: Call, site: SiteAccess) -> wire.SiteAgentSettings:
    """Get the settings of a site's agent, which determine what it can do without approval. By default, it doesn't
    create change requests."""
    with call.db.read() as tx:
        return wire.present_settings(call, site, read_settings(tx, site.site_id))


@operation("updateSiteAgentSettingsById", "PUT", _SETTINGS, needs=Can.ADMIN, errors=(400,))
def update_settings(
    call: Call, site: SiteAccess, body: wire.UpdateSiteAgentSettings
) -> wire.SiteAgentSettings:
    """Replace the settings of a site's agent. With `auto-fixable`, the agent creates draft change requests
    that fix findings after each scan, with your permissions and up to a daily limit. People review and merge
    them."""
    settings = wire.settings_of(body)
    with call.db.write() as tx:
        return wire.present_settings(call, site, write_settings(tx, site, settings))


@operation("undoSiteAgentFixes", "POST", f"{_SETTINGS}/undo", needs=Can.ADMIN)
def undo(call: Call, site: SiteAccess) -> wire.UndoneFixes:
    """Undo the change requests that the site's agent created in the last 24 hours. As far as your permissions
    allow, unmerged change requests are archived, and merged change requests are reverted by new change requests."""
    return wire.UndoneFixes(undo_fixes(call.db, site, call.perform))
