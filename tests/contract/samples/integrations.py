import json

from octavo.extensions.integrations.authorization import INSTALLATION, INTEGRATION
from octavo.organization.access.roles import ORGANIZATION, SITE, SPACE, Can

from . import Sample

_PUBLISHED = (INTEGRATION, Can.ADMIN)
_INSTALLED = (INSTALLATION, Can.ADMIN)


def _render(place):
    context = {"type": "document", "theme": "light", "spaceId": place["spaceId"], "editable": False}
    return {"componentId": "note", "props": {"a": 1}, "context": context}


def _park(world, place):
    with world.context.db.write() as tx:
        tx.run("UPDATE deliveries SET status = 'failed' WHERE id = :id", id=place["eventId"])


SAMPLES = {
    "listIntegrations": Sample(),
    "getIntegrationByName": Sample(),
    "publishIntegration": Sample(
        body=lambda place: {
            "title": "Notes",
            "description": "Notes beside pages",
            "organization": place["organizationId"],
            "script": "export default {};",
            "scopes": ["space:content:read", "space:metadata:read"],
            "secrets": {"CLIENT_SECRET": "shh"},
            "categories": ["content"],
            "configurations": {
                "account": {
                    "properties": {"channel": {"type": "string", "enum": ["general"]}},
                    "required": ["channel"],
                },
                "space": {"componentId": "config"},
            },
            "contentSecurityPolicy": {"default-src": "'self'"},
        },
        # Guests can see the organization, so they get 403.
        like=(ORGANIZATION, Can.ADMIN),
    ),
    "unpublishIntegration": Sample(like=_PUBLISHED),
    "listIntegrationInstallations": Sample(),
    "installIntegration": Sample(
        body=lambda place: {"organization": place["organizationId"]}, like=_INSTALLED
    ),
    "listIntegrationSiteInstallations": Sample(),
    "listIntegrationSpaceInstallations": Sample(),
    "uninstallIntegration": Sample(like=_INSTALLED),
    "getIntegrationInstallationById": Sample(),
    "updateIntegrationInstallation": Sample(body={"configuration": {"a": 1}, "externalIds": ["T1"]}),
    "listIntegrationInstallationSites": Sample(),
    "installIntegrationOnSite": Sample(
        body=lambda place: {"siteId": place["siteId"]}, like=(SITE, Can.ADMIN)
    ),
    "uninstallIntegrationFromSite": Sample(),
    "getIntegrationSiteInstallation": Sample(),
    "updateIntegrationSiteInstallation": Sample(body={"configuration": {"a": 1}}),
    "listIntegrationInstallationSpaces": Sample(),
    "installIntegrationOnSpace": Sample(
        body=lambda place: {"space": place["spaceId"]}, like=(SPACE, Can.INSTALL_INTEGRATION)
    ),
    "uninstallIntegrationFromSpace": Sample(),
    "getIntegrationSpaceInstallation": Sample(),
    "updateIntegrationSpaceInstallation": Sample(body={"configuration": {"a": 1}}),
    "createIntegrationInstallationToken": Sample(),
    "renderIntegrationUIWithPost": Sample(body=_render, like=(SPACE, Can.VIEW)),
    "renderIntegrationUIWithGet": Sample(
        query=lambda place: {"request": json.dumps(_render(place))}, like=(SPACE, Can.VIEW)
    ),
    "listIntegrationEvents": Sample(),
    "getIntegrationEvent": Sample(),
    "redeliverIntegrationEvent": Sample(before=_park),
    "queueIntegrationTask": Sample(body={"task": {"do": "it"}, "schedule": 60}),
    "setIntegrationDevelopmentMode": Sample(body={"tunnelUrl": "https://93.184.216.34/"}),
    "disableIntegrationDevelopmentMode": Sample(),
    "listOrganizationInstallations": Sample(),
    "listOrganizationIntegrations": Sample(),
    "listBuiltinIntegrations": Sample(),
    "installBuiltinIntegration": Sample(body={"name": "slack"}),
    "listOrganizationIntegrationsStatus": Sample(),
    "getOrganizationIntegrationStatus": Sample(),
    "listSiteIntegrations": Sample(),
    "listSpaceIntegrations": Sample(),
    "listSpaceIntegrationsBlocks": Sample(),
}
