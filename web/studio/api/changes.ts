import { operation } from "../../shared/client.ts";
import { resource } from "../state/resource.svelte.ts";

export const listChangeRequestsForOrganization = operation.GET("/orgs/{organizationId}/change-requests");
export const listTemplates = operation.GET("/orgs/{organizationId}/templates");
export const listChangeRequestsForSpace = operation.GET("/spaces/{spaceId}/change-requests");
export const createChangeRequest = operation.POST("/spaces/{spaceId}/change-requests");
export const getChangeRequestById = operation.GET("/spaces/{spaceId}/change-requests/{changeRequestId}");
export const updateChangeRequestById = operation.PATCH("/spaces/{spaceId}/change-requests/{changeRequestId}");
export const discardChangeRequest = operation.POST(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/discard",
);
export const listChangeRequestsOfPage = operation.GET(
  "/spaces/{spaceId}/content/page/{pageId}/change-requests",
);
export const suggestReviewersForChangeRequest = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/suggested-reviewers",
);
export const getAccessChangesInChangeRequest = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/access-changes",
);
export const getChangeRequestChanges = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/changes",
);
export const getRevisionOfChangeRequestById = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/content",
);
export const listFilesInChangeRequestById = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/content/files",
);
export const listChangeRequestFileBacklinks = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/content/files/{fileId}/backlinks",
);
export const listChangeRequestPageBacklinks = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/content/page/{pageId}/backlinks",
);
export const getReusableContentInChangeRequestById = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/content/reusable-contents/{reusableContentId}",
);
export const listChangeRequestReusableContentBacklinks = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/content/reusable-contents/{reusableContentId}/backlinks",
);
export const listChangeRequestLinks = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/links",
);
export const checkMergeOfChangeRequest = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/merge",
);
export const mergeChangeRequest = operation.POST("/spaces/{spaceId}/change-requests/{changeRequestId}/merge");
export const getRequestedReviewersByChangeRequestId = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/requested-reviewers",
);
export const requestReviewersForChangeRequest = operation.POST(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/requested-reviewers",
);
export const removeRequestedReviewerFromChangeRequest = operation.DELETE(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/requested-reviewers/{userId}",
);
export const getReviewsByChangeRequestId = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/reviews",
);
export const submitChangeRequestReview = operation.POST(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/reviews",
);
export const listSeenInChangeRequest = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/seen",
);
export const updateChangeRequest = operation.POST(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/update",
);
export const listRevisionsOfPage = operation.GET("/spaces/{spaceId}/content/page/{pageId}/revisions");
export const applyTemplateToSpace = operation.POST("/spaces/{spaceId}/content/template");
export const listRevisionsOfSpace = operation.GET("/spaces/{spaceId}/revisions");
export const markSeenInChangeRequest = operation.PUT(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/seen/{objectId}",
);
export const unmarkSeenInChangeRequest = operation.DELETE(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/seen/{objectId}",
);

export const templatesOf = (organization: string) =>
  resource(
    `org/${organization}/templates`,
    () => listTemplates({ organizationId: organization }, { limit: 100 }),
  );
