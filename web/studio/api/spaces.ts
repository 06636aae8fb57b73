import { askAll, operation } from "../../shared/client.ts";
import { resource } from "../state/resource.svelte.ts";

export const deleteCollectionById = operation.DELETE("/collections/{collectionId}");
export const getCollectionById = operation.GET("/collections/{collectionId}");
export const updateCollectionById = operation.PATCH("/collections/{collectionId}");
export const moveCollection = operation.POST("/collections/{collectionId}/move");
export const transferCollection = operation.POST("/collections/{collectionId}/transfer");
export const listCollectionsInOrganizationById = operation.GET("/orgs/{organizationId}/collections");
export const createCollection = operation.POST("/orgs/{organizationId}/collections");
export const listCollectionsForOrganizationMember = operation.GET(
  "/orgs/{organizationId}/members/{userId}/collections",
);
export const listSpacesForOrganizationMember = operation.GET(
  "/orgs/{organizationId}/members/{userId}/spaces",
);
export const listSpacesInOrganizationById = operation.GET("/orgs/{organizationId}/spaces");
export const createSpace = operation.POST("/orgs/{organizationId}/spaces");
export const listDeletedSpaces = operation.GET("/orgs/{organizationId}/trash/spaces");
export const deleteSpaceById = operation.DELETE("/spaces/{spaceId}");
export const getSpaceById = operation.GET("/spaces/{spaceId}");
export const updateSpaceById = operation.PATCH("/spaces/{spaceId}");
export const duplicateSpace = operation.POST("/spaces/{spaceId}/duplicate");
export const tryMergeRulesInSpace = operation.POST("/spaces/{spaceId}/merge-rules/try");
export const moveSpace = operation.POST("/spaces/{spaceId}/move");
export const restoreSpace = operation.POST("/spaces/{spaceId}/restore");
export const transferSpace = operation.POST("/spaces/{spaceId}/transfer");

export const listPagesSeenByUser = operation.GET("/spaces/{spaceId}/permissions/users/{userId}/pages");
export const getPageSeenByUser = operation.GET(
  "/spaces/{spaceId}/permissions/users/{userId}/pages/{pageId}",
);
export const searchSpaceAsUser = operation.GET("/spaces/{spaceId}/permissions/users/{userId}/search");

export const spacesSeenBy = (path: { organizationId: string; userId: string }) =>
  resource(
    `org/${path.organizationId}/member/${path.userId}/spaces`,
    () => askAll((query) => listSpacesForOrganizationMember(path, query)),
  );

export const collectionsSeenBy = (path: { organizationId: string; userId: string }) =>
  resource(
    `org/${path.organizationId}/member/${path.userId}/collections`,
    () => askAll((query) => listCollectionsForOrganizationMember(path, query)),
  );
