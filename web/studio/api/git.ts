import { operation } from "../../shared/client.ts";

export const previewCollectionGitSync = operation.POST("/collections/{collectionId}/git/preview");
export const disconnectCollectionGitSync = operation.DELETE("/collections/{collectionId}/git/sync");
export const getCollectionGitSync = operation.GET("/collections/{collectionId}/git/sync");
export const updateCollectionGitSync = operation.PATCH("/collections/{collectionId}/git/sync");
export const connectCollectionGitSync = operation.POST("/collections/{collectionId}/git/sync");
export const rotateCollectionGitSyncSecret = operation.POST(
  "/collections/{collectionId}/git/sync/hook-secret",
);
export const runCollectionGitSync = operation.POST("/collections/{collectionId}/git/sync/run");
export const previewSiteGitSync = operation.POST("/orgs/{organizationId}/sites/{siteId}/git/preview");
export const disconnectSiteGitSync = operation.DELETE("/orgs/{organizationId}/sites/{siteId}/git/sync");
export const getSiteGitSync = operation.GET("/orgs/{organizationId}/sites/{siteId}/git/sync");
export const updateSiteGitSync = operation.PATCH("/orgs/{organizationId}/sites/{siteId}/git/sync");
export const connectSiteGitSync = operation.POST("/orgs/{organizationId}/sites/{siteId}/git/sync");
export const rotateSiteGitSyncSecret = operation.POST(
  "/orgs/{organizationId}/sites/{siteId}/git/sync/hook-secret",
);
export const runSiteGitSync = operation.POST("/orgs/{organizationId}/sites/{siteId}/git/sync/run");
export const finishGitAuthorization = operation.POST("/git/authorizations");
export const createGitInstallation = operation.POST("/git/installations");
export const deleteGitInstallation = operation.DELETE("/git/installations/{installationId}");
export const getGitInstallation = operation.GET("/git/installations/{installationId}");
export const beginGitAuthorization = operation.POST("/git/installations/{installationId}/authorization");
export const listGitHubRepositories = operation.GET("/git/installations/{installationId}/github/repos");
export const listGitHubBranches = operation.GET(
  "/git/installations/{installationId}/github/repos/{accountName}/{repositoryName}/branches",
);
export const listGitLabProjects = operation.GET("/git/installations/{installationId}/gitlab/projects");
export const listGitLabBranches = operation.GET(
  "/git/installations/{installationId}/gitlab/projects/{projectId}/branches",
);
export const listGitProviderApps = operation.GET("/git/providers");
export const pushChangeRequestToGit = operation.POST(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/git/push",
);
export const previewGitSync = operation.POST("/spaces/{spaceId}/git/preview");
export const disconnectGitSync = operation.DELETE("/spaces/{spaceId}/git/sync");
export const getGitSync = operation.GET("/spaces/{spaceId}/git/sync");
export const updateGitSync = operation.PATCH("/spaces/{spaceId}/git/sync");
export const connectGitSync = operation.POST("/spaces/{spaceId}/git/sync");
export const listGitBranches = operation.GET("/spaces/{spaceId}/git/sync/branches");
export const rotateGitSyncSecret = operation.POST("/spaces/{spaceId}/git/sync/hook-secret");
export const runGitSync = operation.POST("/spaces/{spaceId}/git/sync/run");
export const listGitSyncRuns = operation.GET("/spaces/{spaceId}/git/sync/runs");
