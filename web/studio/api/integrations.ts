import { askAll, operation } from "../../shared/client.ts";
import type { SitePath } from "../state/site.svelte.ts";
import { resource } from "../state/resource.svelte.ts";

export const unpublishIntegration = operation.DELETE("/integrations/{integrationName}");
export const getIntegrationByName = operation.GET("/integrations/{integrationName}");
export const publishIntegration = operation.POST("/integrations/{integrationName}");
export const listIntegrationEvents = operation.GET("/integrations/{integrationName}/events");
export const getIntegrationEvent = operation.GET("/integrations/{integrationName}/events/{eventId}");
export const redeliverIntegrationEvent = operation.POST(
  "/integrations/{integrationName}/events/{eventId}/redeliver",
);
export const installIntegration = operation.POST("/integrations/{integrationName}/installations");
export const uninstallIntegration = operation.DELETE(
  "/integrations/{integrationName}/installations/{installationId}",
);
export const updateIntegrationInstallation = operation.PATCH(
  "/integrations/{integrationName}/installations/{installationId}",
);
export const renderIntegrationUIWithPost = operation.POST("/integrations/{integrationName}/render");
export const listBuiltinIntegrations = operation.GET("/orgs/{organizationId}/builtin-integrations");
export const installBuiltinIntegration = operation.POST("/orgs/{organizationId}/builtin-integrations");
export const listOrganizationInstallations = operation.GET("/orgs/{organizationId}/installations");
export const listOrganizationIntegrations = operation.GET("/orgs/{organizationId}/integrations");
export const listSiteIntegrations = operation.GET("/orgs/{organizationId}/sites/{siteId}/integrations");
export const listIntegrationInstallationSpaces = operation.GET(
  "/integrations/{integrationName}/installations/{installationId}/spaces",
);
export const installIntegrationOnSpace = operation.POST(
  "/integrations/{integrationName}/installations/{installationId}/spaces",
);
export const updateIntegrationSpaceInstallation = operation.PATCH(
  "/integrations/{integrationName}/installations/{installationId}/spaces/{spaceId}",
);
export const uninstallIntegrationFromSpace = operation.DELETE(
  "/integrations/{integrationName}/installations/{installationId}/spaces/{spaceId}",
);
export const listIntegrationInstallationSites = operation.GET(
  "/integrations/{integrationName}/installations/{installationId}/sites",
);
export const installIntegrationOnSite = operation.POST(
  "/integrations/{integrationName}/installations/{installationId}/sites",
);
export const updateIntegrationSiteInstallation = operation.PATCH(
  "/integrations/{integrationName}/installations/{installationId}/sites/{siteId}",
);
export const uninstallIntegrationFromSite = operation.DELETE(
  "/integrations/{integrationName}/installations/{installationId}/sites/{siteId}",
);

/** Load all installed integrations at once; there are few. */
export const installationsOf = (organization: string) =>
  resource(
    `org/${organization}/installations`,
    () => askAll((query) => listOrganizationInstallations({ organizationId: organization }, query)),
  );

export const builtinOf = (organization: string) =>
  resource(
    `org/${organization}/builtin-integrations`,
    () => listBuiltinIntegrations({ organizationId: organization }),
  );

export const integrationOf = (name: string) =>
  resource(`integration/${name}`, () => getIntegrationByName({ integrationName: name }));

export const integrationsOf = (path: SitePath) =>
  resource(`site/${path.siteId}/integrations`, () => listSiteIntegrations(path));
