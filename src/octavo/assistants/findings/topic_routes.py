"""Operations on the topics of a site's questions, and on their findings."""

from __future__ import annotations

from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.access.roles import Can

from . import topic_wire, topics

operation = Area("ask").operation

_TOPICS = "/orgs/{organizationId}/sites/{siteId}/topics"
_TOPIC = _TOPICS + "/{siteTopicId}"


@operation("listSiteTopics", "GET", _TOPICS, needs=Can.VIEW)
def list_topics(call: Call, site: SiteAccess, query: topic_wire.TopicsQuery) -> topic_wire.SiteTopics:
    """List the topics of a site, which are words that visitors' questions have in common. Topics are found during
    scans. The statistics count the answers between `from` and `to`."""
    with call.db.read() as tx:
        states = topics.list_topics(tx, site, query.filter)
    return topic_wire.SiteTopics(
        [topic_wire.present_topic(call, site.organization_id, state) for state in states]
    )


@operation("getSiteTopicById", "GET", _TOPIC, needs=Can.VIEW, errors=(404,))
def get_topic(call: Call, site: SiteAccess, site_topic_id: str) -> topic_wire.SiteTopic:
    """Get a topic of a site."""
    with call.db.read() as tx:
        return topic_wire.present_topic(call, site.organization_id, topics.get_topic(tx, site, site_topic_id))


@operation("updateSiteTopicById", "PATCH", _TOPIC, needs=Can.EDIT, errors=(404,))
def update_topic(
    call: Call, site: SiteAccess, site_topic_id: str, body: topic_wire.UpdateSiteTopic
) -> topic_wire.SiteTopic:
    """Set whether findings of a topic can become change requests. Octavo stores this setting for agents that use it,
    but never automatically creates change requests for questions."""
    with call.db.write() as tx:
        topics.set_change_requests(tx, site, site_topic_id, body.usage_settings.change_requests)
        return topic_wire.present_topic(call, site.organization_id, topics.get_topic(tx, site, site_topic_id))


@operation("deleteSiteTopicFindings", "DELETE", f"{_TOPIC}/findings", needs=Can.EDIT)
def delete_findings(call: Call, site: SiteAccess, site_topic_id: str) -> bool:
    """Delete the topic's findings that you can see. The next scan restores findings that still apply."""
    with call.db.write() as tx:
        return topics.delete_findings(tx, site, site_topic_id)
