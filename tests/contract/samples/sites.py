from octavo.organization.access.roles import ORGANIZATION, SPACE, Can
from world import URL, Place, World

from . import Sample

_SITE = "/orgs/{organizationId}/sites/{siteId}"
_BOOLEAN = {"type": "boolean", "description": "Whether they pay"}
_SCHEMA = {"type": "object", "properties": {"paying": _BOOLEAN}, "additionalProperties": False}


def _with_schema(world: World, place: Place) -> None:
    answer = world.call(
        place.admin, "PUT", place.path(f"{_SITE}/adaptive-schema"), json={"jsonSchema": _SCHEMA}
    )
    assert answer.status_code == 200, answer.text


def _published(world: World, place: Place) -> None:
    world.post(place.admin, place.path(f"{_SITE}/publish"))


def _ungrouped(world: World, place: Place) -> None:
    path = place.path(f"{_SITE}/section-groups/{{siteSectionGroupId}}/sections/{{siteSectionId}}")
    world.call(place.admin, "DELETE", path)


def _after(kind: str, key: str, name: str):
    return lambda place: {"position": {"after": {"type": kind, key: place[name]}}}


_LOOK = {
    "title": "Documents",
    "styling": {
        "theme": "bold",
        "primaryColor": {"light": "#123456", "dark": "#abcdef"},
        "tint": {"color": {"light": "#fff", "dark": "#000"}},
        "sidebar": {"background": "filled", "list": "pill"},
    },
    "favicon": {"emoji": "1f4d8"},
    "announcement": {"enabled": True, "message": "New", "style": "info"},
    "header": {
        "preset": "default",
        "links": [{"title": "Home", "to": {"kind": "url", "url": "https://example.org"}, "links": []}],
    },
    "footer": {"groups": [], "copyright": "Us"},
}


def _overridden(world: World, place: Place) -> None:
    path = place.path(f"{_SITE}/site-spaces/{{siteSpaceId}}/customization")
    assert world.call(place.admin, "PATCH", path, json={"title": "Own"}).status_code == 200


_SESSION = {
    "visitorId": "v",
    "sessionId": "s",
    "cookies": {},
    "userAgent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0",
    "language": "en",
    "referrer": None,
}


def _page_view(place: Place) -> dict:
    location = dict.fromkeys(("siteSection", "siteShareKey", "space", "revision"))
    location |= {"url": "https://docs.test/a", "siteSpace": "s", "page": "p"}
    return {"events": [{"type": "page_view", "session": _SESSION, "location": location}]}


def _viewed(world: World, place: Place) -> None:
    _published(world, place)
    world.post(place.admin, place.path(f"{_SITE}/insights/events"), _page_view(place))


def _emptied(world: World, place: Place) -> None:
    with world.context.db.write() as tx:
        for table in ("site_spaces", "site_sections", "site_section_groups", "site_external_links"):
            tx.run(f"DELETE FROM {table} WHERE site_id = :site", site=place["siteId"])


def _named(world: World, place: Place) -> None:
    path, body = place.path(_SITE), {"hostname": place["hostname"]}
    assert world.call(place.admin, "PATCH", path, json=body).status_code == 200


def _named_and_published(world: World, place: Place) -> None:
    _named(world, place)
    _published(world, place)


def _sent_in(world: World, place: Place) -> None:
    world.post(place.admin, place.path(f"{_SITE}/ads"), {"topic": "webdev"})


_LIVE = {"edit": 403, "review": 403}
"""Outcomes of changes to what visitors see. Editors of a site can only change drafts."""

SAMPLES = {
    "adsListSites": Sample(before=_sent_in),
    "adsUpdateSite": Sample(body={"status": "live", "zoneId": "zone", "reportingId": "report"}),
    "getPublishedContentByUrl": Sample(before=_named_and_published, query={"url": "https://docs.home.test/"}),
    "resolvePublishedContentByUrl": Sample(
        before=_named_and_published,
        body={
            "url": "https://docs.home.test/",
            "redirectOnError": False,
            "visitor": {"unsignedClaims": {"beta": True}},
        },
    ),
    "listSites": Sample(),
    "listSitesForOrganizationMember": Sample(path={"userId": "scimUserId"}, like=(ORGANIZATION, Can.ADMIN)),
    "createSite": Sample(body=lambda place: {"title": "Second", "spaces": [place["spaceId"]]}),
    "getSiteById": Sample(),
    "updateSiteById": Sample(
        body=lambda place: {
            "title": "Documents",
            "visibility": "unlisted",
            "basename": "documents",
            "adaptiveContent": {"enabled": True},
            "agentsContext": "excluded",
            "defaultSiteSpace": place["siteSpaceId"],
            "defaultSiteSection": place["siteSectionId"],
            "proxy": "example.org/docs",
        }
    ),
    "deleteSiteById": Sample(),
    "publishSite": Sample(),
    "unpublishSite": Sample(),
    "getSiteStructure": Sample(before=_published),
    "sortSiteStructure": Sample(
        body=lambda place: {
            "item": {"type": "site-section", "id": place["otherSiteSectionId"]},
            "position": {"before": {"type": "site-section-group", "id": place["siteSectionGroupId"]}},
        }
    ),
    "listSiteSections": Sample(before=_published),
    "addSectionToSite": Sample(
        body=lambda place: {"spaceId": place["spaceId"], "title": "More", "icon": "gear"}, outcomes=_LIVE
    ),
    "updateSiteSectionById": Sample(
        body=lambda place: {
            "title": "Manual",
            "path": "manual",
            "defaultSiteSpace": place["siteSpaceId"],
            "condition": "visitor.claims.paying",
            "icon": "gear",
            "description": "All of it",
        },
        outcomes=_LIVE,
    ),
    "deleteSiteSectionById": Sample(outcomes=_LIVE),
    "moveSiteSection": Sample(
        body=_after("site-section", "siteSection", "otherSiteSectionId"),
    ),
    "listSiteSectionGroups": Sample(before=_published),
    "addSectionGroupToSite": Sample(
        body=lambda place: {
            "title": "Guides",
            "icon": "gear",
            "sections": [place["siteSectionId"]],
            "parent": place["siteSectionGroupId"],
        },
        outcomes=_LIVE,
    ),
    "updateSiteSectionGroupById": Sample(body={"title": "Products", "icon": None}, outcomes=_LIVE),
    "deleteSiteSectionGroupById": Sample(outcomes=_LIVE),
    "moveSiteSectionGroup": Sample(
        body=lambda place: {
            "position": {"before": {"type": "site-section", "id": place["otherSiteSectionId"]}}
        }
    ),
    "addSectionToGroup": Sample(before=_ungrouped, body=lambda place: {"sectionId": place["siteSectionId"]}),
    "removeSectionFromGroup": Sample(),
    "listSiteSpaces": Sample(before=_published),
    "addSpaceToSite": Sample(
        body=lambda place: {"spaceId": place["spaceId"], "sectionId": place["otherSiteSectionId"]},
        outcomes=_LIVE,
    ),
    "updateSiteSpaceById": Sample(
        body=lambda place: {"path": "v1", "condition": None, "spaceId": place["spaceId"]}, outcomes=_LIVE
    ),
    "deleteSiteSpaceById": Sample(outcomes=_LIVE),
    "moveSiteSpace": Sample(body=_after("site-space", "siteSpace", "otherSiteSpaceId")),
    "applyTemplateToSite": Sample(before=_emptied),
    "duplicateSiteSpace": Sample(body={"draft": True}),
    "addExternalLinkToSite": Sample(
        body=lambda place: {
            "title": "Forum",
            "url": "https://forum.example.org/",
            "localizedTitle": {"de": "Forum"},
            "icon": "comments",
            "parent": place["siteSectionGroupId"],
            "draft": True,
            "condition": "visitor.claims.paying",
        }
    ),
    "updateSiteExternalLinkById": Sample(
        body=lambda place: {
            "title": "Community",
            "parent": place["siteSectionGroupId"],
            "description": "Ask others",
        }
    ),
    "deleteSiteExternalLinkById": Sample(),
    "listSiteDrafts": Sample(),
    "listSuggestedSiteRedirects": Sample(),
    "publishSiteDrafts": Sample(
        body=lambda place: {
            "items": [place["siteExternalLinkId"], place["siteSectionId"], place["siteRedirectId"]]
        }
    ),
    "listSiteShareLinks": Sample(before=_published),
    "createSiteShareLink": Sample(body={"name": "Partners"}),
    "updateSiteShareLinkById": Sample(body={"name": "Press", "active": False}),
    "deleteSiteShareLinkById": Sample(),
    "getSitePublishingAuthById": Sample(),
    "updateSitePublishingAuthById": Sample(
        body={"backend": "custom", "fallbackURL": "https://example.org/sign-in"}
    ),
    "regenerateSitePublishingAuthById": Sample(),
    "getSitePublishingPreviewById": Sample(query={"claims": '{"paying": true}'}),
    "listSitePreviewContent": Sample(
        before=_with_schema,
        query=lambda place: {"claims": '{"paying": true}', "siteSpace": place["siteSpaceId"]},
    ),
    "getSiteAdaptiveSchema": Sample(before=_with_schema),
    "updateSiteAdaptiveSchema": Sample(body={"jsonSchema": _SCHEMA}),
    "listSiteAdaptiveTemplateConditions": Sample(before=_with_schema),
    "listSiteRedirects": Sample(),
    "createSiteRedirect": Sample(
        body=lambda place: {
            "source": "/older",
            "destination": {
                "kind": "site-page",
                "siteSpaceId": place["siteSpaceId"],
                "pageId": place["pageId"],
            },
        },
        outcomes=_LIVE,
    ),
    "updateSiteRedirectById": Sample(
        body=lambda place: {
            "source": "/oldest",
            "destination": {"kind": "site-section", "siteSectionId": place["siteSectionId"]},
        },
        outcomes=_LIVE,
    ),
    "bulkUpsertSiteRedirects": Sample(
        # Foreign ids are reported for each redirect: tests/site/test_redirects.py.
        body={
            "redirects": [
                {
                    "source": "/older/*",
                    "intent": "draft",
                    "captureWildcard": True,
                    "destination": {"kind": "external", "url": "https://example.org/"},
                },
                {"source": "/older/*", "intent": "publish"},
                {"source": "/old", "destination": None},
                {"source": "/nowhere", "destination": None},
            ]
        },
        outcomes=_LIVE,
    ),
    "deleteSiteRedirectById": Sample(outcomes=_LIVE),
    "getSiteRedirectBySource": Sample(query={"source": "/Old"}),
    "getSiteCustomizationById": Sample(),
    "previewSiteCustomization": Sample(
        body=lambda place: {
            "customization": {"styling": {"theme": "bold"}},
            "siteSpace": place["siteSpaceId"],
            "theme": "dark",
        }
    ),
    "updateSiteCustomizationById": Sample(
        body=lambda place: {
            **_LOOK,
            "footer": {
                "groups": [
                    {
                        "title": "More",
                        "links": [{"title": "Space", "to": {"kind": "space", "space": place["spaceId"]}}],
                    }
                ]
            },
        }
    ),
    "getSiteSpaceCustomizationById": Sample(before=_overridden),
    "overrideSiteSpaceCustomizationById": Sample(body={**_LOOK, "pdf": {"enabled": False}, "title": None}),
    "deleteSiteSpaceCustomizationById": Sample(before=_overridden),
    "getPublishedContentSite": Sample(before=_published),
    "prewarmSiteSearch": Sample(),
    "searchSiteContent": Sample(
        body=lambda place: {
            "query": "install",
            "scope": {"mode": "specific", "siteSpaceIds": [place["siteSpaceId"]]},
        }
    ),
    "listSiteIntegrationScripts": Sample(),
    "updateSiteAdsById": Sample(body={"status": "disabled", "topic": "webdev"}),
    "getSubdomain": Sample(),
    "listSiteMcpServers": Sample(),
    "createSiteMcpServer": Sample(
        body={"name": "Wiki", "url": "https://wiki.test/mcp", "headers": {"x-key": "secret"}}
    ),
    "getSiteMcpServerById": Sample(),
    "updateSiteMcpServerById": Sample(body={"name": "Tasks"}),
    "deleteSiteMcpServerById": Sample(),
    "trackEventsInSiteById": Sample(before=_published, body=_page_view),
    "submitAgentFeedbackToSite": Sample(
        before=_published,
        body={
            "subject": {"kind": "mcp-tool", "toolName": "search"},
            "feedback": {
                "category": "reliability",
                "severity": "low",
                "summary": "The first search timed out.",
            },
        },
    ),
    "submitSiteAgentFeedback": Sample(
        before=_published,
        body=lambda place: {
            "feedback": "The example is outdated.",
            "url": "https://docs.test/a",
            "spaceId": place["spaceId"],
            "pageId": place["pageId"],
        },
    ),
    "aggregateSiteEvents": Sample(
        before=_viewed,
        body={
            "select": [{"column": "eventsCount"}, {"column": "pageFeedbackRating"}],
            "groupBy": [{"column": "datetime", "interval": "day"}, {"column": "eventType"}],
            "where": [{"column": "eventType", "values": ["page_view"]}],
            "order": {"by": {"column": "eventsCount"}, "direction": "desc"},
            "range": "last7Days",
        },
    ),
    "listSiteVisitorSegments": Sample(before=_viewed),
    "getContentByUrl": Sample(
        query=lambda place: {"url": f"{URL}/s/{place['spaceId']}/{place['pagePath']}"},
        like=(SPACE, Can.VIEW),
    ),
    "getEmbedByUrl": Sample(query={"url": "https://www.youtube.com/watch?v=dQw4w9WgXcQ"}),
    "getCustomHostname": Sample(before=_named),
    "dnsRevalidateCustomHostname": Sample(before=_named),
    "removeCustomHostname": Sample(before=_named),
    "importSiteRedirects": Sample(
        body={"csv": "source,destination\n/a,https://example.org/\n/old,\n"}, outcomes=_LIVE
    ),
}
