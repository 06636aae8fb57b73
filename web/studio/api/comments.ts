import { operation } from "../../shared/client.ts";

export const postCommentInChangeRequest = operation.POST(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/comments",
);
export const settleSuggestionInChangeRequest = operation.PUT(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/comments/{commentId}/suggestion",
);
export const listCommentsInSpace = operation.GET("/spaces/{spaceId}/comments");
