/** Operations on the findings of a site, the scans that found them, and its health. */
import { operation } from "../../shared/client.ts";
import type { Schemas } from "../../shared/client.ts";
import { resource } from "../state/resource.svelte.ts";
import type { SitePath } from "./sites.ts";

export type Finding = Schemas["SiteFinding"];
export type Area = Schemas["AreaState"]["area"];

/** Return the person or the team that a finding is assigned to. */
export function assigneeOf({ assignee }: Finding) {
  if (assignee?.kind === "user") {
    return { kind: "user" as const, id: assignee.user.id, title: assignee.user.displayName };
  }
  return assignee && { kind: "team" as const, ...assignee.team };
}

export const listSiteFindings = operation.GET("/orgs/{organizationId}/sites/{siteId}/findings");
export const updateSiteFindingById = operation.PATCH(
  "/orgs/{organizationId}/sites/{siteId}/findings/{siteFindingId}",
);
export const listChangeRequestsForSiteFinding = operation.GET(
  "/orgs/{organizationId}/sites/{siteId}/findings/{siteFindingId}/change-requests",
);
export const listRecordsForSiteFinding = operation.GET(
  "/orgs/{organizationId}/sites/{siteId}/findings/{siteFindingId}/records",
);
export const listPagesForSiteFinding = operation.GET(
  "/orgs/{organizationId}/sites/{siteId}/findings/{siteFindingId}/pages",
);
export const ignoreSiteFindingOnPage = operation.PUT(
  "/orgs/{organizationId}/sites/{siteId}/findings/{siteFindingId}/ignored-pages/{pageId}",
);
export const restoreSiteFindingOnPage = operation.DELETE(
  "/orgs/{organizationId}/sites/{siteId}/findings/{siteFindingId}/ignored-pages/{pageId}",
);
export const fixSiteFindings = operation.POST(
  "/orgs/{organizationId}/sites/{siteId}/findings/change-requests",
);
export const startSiteScan = operation.POST("/orgs/{organizationId}/sites/{siteId}/scans");
export const getSiteHealth = operation.GET("/orgs/{organizationId}/sites/{siteId}/health");

export const getSiteAgentSettingsById = operation.GET(
  "/orgs/{organizationId}/sites/{siteId}/agent-settings",
);
export const updateSiteAgentSettingsById = operation.PUT(
  "/orgs/{organizationId}/sites/{siteId}/agent-settings",
);
export const undoSiteAgentFixes = operation.POST("/orgs/{organizationId}/sites/{siteId}/agent-settings/undo");

export const createSiteStyleguideById = operation.POST("/orgs/{organizationId}/sites/{siteId}/styleguide");
export const createSiteStyleguideRun = operation.POST(
  "/orgs/{organizationId}/sites/{siteId}/styleguide/runs",
);
export const checkSiteTexts = operation.POST("/orgs/{organizationId}/sites/{siteId}/styleguide/checks");
export const importSiteStyleguideRules = operation.POST(
  "/orgs/{organizationId}/sites/{siteId}/styleguide/import",
);
export const listStyleguideTemplates = operation.GET("/orgs/{organizationId}/styleguide-templates");
export const listOrganizationStyleguides = operation.GET("/orgs/{organizationId}/styleguides");

export const styleguideTemplatesOf = (organizationId: string) =>
  resource(
    `organization/${organizationId}/styleguide-templates`,
    () => listStyleguideTemplates({ organizationId }),
  );

export const styleguidesOf = (organizationId: string) =>
  resource(
    `organization/${organizationId}/styleguides`,
    () => listOrganizationStyleguides({ organizationId }),
  );

export const healthOf = (path: SitePath) => resource(`site/${path.siteId}/health`, () => getSiteHealth(path));
