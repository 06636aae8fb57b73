/** Operations on the context sources of a site and their records. */
import { operation } from "../../shared/client.ts";

export const listSiteContextConnections = operation.GET(
  "/orgs/{organizationId}/sites/{siteId}/context-connections",
);
export const createSiteContextConnection = operation.POST(
  "/orgs/{organizationId}/sites/{siteId}/context-connections",
);
export const updateSiteContextConnectionById = operation.PATCH(
  "/orgs/{organizationId}/sites/{siteId}/context-connections/{siteContextConnectionId}",
);
export const deleteSiteContextConnectionById = operation.DELETE(
  "/orgs/{organizationId}/sites/{siteId}/context-connections/{siteContextConnectionId}",
);
export const syncSiteContextConnection = operation.POST(
  "/orgs/{organizationId}/sites/{siteId}/context-connections/{siteContextConnectionId}/sync",
);
export const testSiteContextConnection = operation.POST(
  "/orgs/{organizationId}/sites/{siteId}/context-connections/{siteContextConnectionId}/test",
);
export const listSiteContextRecords = operation.GET("/orgs/{organizationId}/sites/{siteId}/context-records");
