import { operation } from "../../shared/client.ts";

export const listSetAsideTexts = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/pages/{pageId}/live/set-aside",
);
export const deleteSetAsideText = operation.DELETE(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/pages/{pageId}/live/set-aside/{textId}",
);
