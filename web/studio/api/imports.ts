import { operation } from "../../shared/client.ts";

export const listImportRuns = operation.GET("/org/{organizationId}/imports");
export const startImportRun = operation.POST("/org/{organizationId}/imports");
export const checkImportSource = operation.POST("/org/{organizationId}/imports/check");
export const getImportRun = operation.GET("/org/{organizationId}/imports/{importRunId}");
export const cancelImportRun = operation.POST("/org/{organizationId}/imports/{importRunId}/cancel");
export const generateStorageUploadURL = operation.POST("/orgs/{organizationId}/storage/upload");
