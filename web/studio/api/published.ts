/** Operations on sites that every page needs: where a space is published, and how often it is read. */
import { operation } from "../../shared/client.ts";

export const listSites = operation.GET("/orgs/{organizationId}/sites");
export const listSiteSpaces = operation.GET("/orgs/{organizationId}/sites/{siteId}/site-spaces");
export const aggregateSiteEvents = operation.POST(
  "/orgs/{organizationId}/sites/{siteId}/insights/events/aggregate",
);
