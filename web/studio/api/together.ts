import { operation } from "../../shared/client.ts";

export const listSetAsideTexts = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/pages/{pageId}/live/set-aside",
);
export const listSetAsideTextsInMain = operation.GET("/spaces/{spaceId}/pages/{pageId}/live/set-aside");
export const deleteSetAsideTextInMain = operation.DELETE(
  "/spaces/{spaceId}/pages/{pageId}/live/set-aside/{textId}",
);
export const deleteSetAsideText = operation.DELETE(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/pages/{pageId}/live/set-aside/{textId}",
);
