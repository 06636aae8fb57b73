import { operation } from "../../shared/client.ts";

export const getRevisionSemanticChanges = operation.GET("/spaces/{spaceId}/revisions/{revisionId}/changes");
export const revertRevision = operation.POST("/spaces/{spaceId}/revisions/{revisionId}/revert");
export const rollBackRevision = operation.POST("/spaces/{spaceId}/revisions/{revisionId}/rollback");
