import { operation } from "../../shared/client.ts";
import { resource } from "../state/resource.svelte.ts";

export const listOpenAPISpecs = operation.GET("/orgs/{organizationId}/openapi");
export const createOpenAPISpec = operation.POST("/orgs/{organizationId}/openapi");
export const deleteOpenAPISpecBySlug = operation.DELETE("/orgs/{organizationId}/openapi/{specSlug}");
export const getOpenAPISpecBySlug = operation.GET("/orgs/{organizationId}/openapi/{specSlug}");
export const updateOpenAPISpecBySlug = operation.PATCH("/orgs/{organizationId}/openapi/{specSlug}");
export const createOrUpdateOpenAPISpecBySlug = operation.PUT("/orgs/{organizationId}/openapi/{specSlug}");
export const checkOpenAPISpecBySlug = operation.POST("/orgs/{organizationId}/openapi/{specSlug}/check");
export const listOpenAPISpecVersions = operation.GET("/orgs/{organizationId}/openapi/{specSlug}/versions");
export const compareOpenAPISpecVersions = operation.GET(
  "/orgs/{organizationId}/openapi/{specSlug}/versions/{versionId}/changes",
);

export const specificationOf = (organization: string, slug: string) =>
  resource(
    `org/${organization}/openapi/${slug}`,
    () => getOpenAPISpecBySlug({ organizationId: organization, specSlug: slug }),
  );

export const changesOf = (organization: string, slug: string, version: string) =>
  resource(
    `org/${organization}/openapi/${slug}/changes/${version}`,
    () => compareOpenAPISpecVersions({ organizationId: organization, specSlug: slug, versionId: version }),
  );
