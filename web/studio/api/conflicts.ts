import { operation } from "../../shared/client.ts";

export const listConflictsInChangeRequest = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/conflicts",
);
export const reopenConflictInChangeRequest = operation.POST(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/conflicts/{conflictId}/reopen",
);
export const resolveConflictInChangeRequest = operation.POST(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/conflicts/{conflictId}/resolve",
);
