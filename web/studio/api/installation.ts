import { operation } from "../../shared/client.ts";
import { resource } from "../state/resource.svelte.ts";

export const getInstallation = operation.GET("/installation");
export const checkInstallation = operation.POST("/installation/check");
export const startBackup = operation.POST("/installation/backups");
export const listInstallationJobs = operation.GET("/installation/jobs");
export const retryInstallationJobs = operation.POST("/installation/jobs/retry");
export const getInstallationJob = operation.GET("/installation/jobs/{jobId}");
export const retryInstallationJob = operation.POST("/installation/jobs/{jobId}/retry");
export const testInstallationMail = operation.POST("/installation/mail-test");
export const listInstallationOrganizations = operation.GET("/installation/organizations");
export const listInstallationUsers = operation.GET("/installation/users");
export const startMaintenance = operation.PUT("/installation/maintenance");
export const endMaintenance = operation.DELETE("/installation/maintenance");
export const setAnnouncement = operation.PUT("/installation/announcement");
export const removeAnnouncement = operation.DELETE("/installation/announcement");
export const updateAccount = operation.PATCH("/installation/users/{userId}");
export const mergeAccount = operation.POST("/installation/users/{userId}/merge");
export const makeOrganizationAdministrator = operation.PUT(
  "/installation/organizations/{organizationId}/administrators/{userId}",
);
export const createAccountSignInLink = operation.POST("/installation/users/{userId}/sign-in-link");
export const resetAccountSecondFactor = operation.DELETE("/installation/users/{userId}/second-factor");
export const endAccountSessions = operation.DELETE("/installation/users/{userId}/sessions");
export const deleteAccount = operation.DELETE("/installation/users/{userId}");
export const foreseeAccountDeletion = operation.GET("/installation/users/{userId}/deletion");

const getOrganizationLimits = operation.GET("/installation/organizations/{organizationId}/limits");
export const setOrganizationLimits = operation.PUT("/installation/organizations/{organizationId}/limits");
const getOrganizationUsage = operation.GET("/orgs/{organizationId}/usage");

export const limitsOf = (organizationId: string) =>
  resource(`limits/${organizationId}`, () => getOrganizationLimits({ organizationId }));

export const usageOf = (organizationId: string) =>
  resource(`usage/${organizationId}`, () => getOrganizationUsage({ organizationId }));

export const jobOf = (id: string) =>
  resource(`installation/jobs/${id}`, () => getInstallationJob({ jobId: id }));

export const installation = () => resource("installation", () => getInstallation({}));
