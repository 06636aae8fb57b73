import { operation } from "../../shared/client.ts";
import { resource } from "../state/resource.svelte.ts";

export const listAuditEvents = operation.GET("/orgs/{organizationId}/audit-events");
export const listInvitations = operation.GET("/orgs/{organizationId}/invites");
export const inviteUsersToOrganization = operation.POST("/orgs/{organizationId}/invites");
export const deleteInvitation = operation.DELETE("/orgs/{organizationId}/invites/{inviteId}");
export const listOrganizationInviteLinks = operation.GET("/orgs/{organizationId}/link-invites");
export const createOrganizationInvite = operation.POST("/orgs/{organizationId}/link-invites");
export const deleteOrganizationInviteById = operation.DELETE(
  "/orgs/{organizationId}/link-invites/{inviteId}",
);
export const updateOrganizationInviteById = operation.PATCH("/orgs/{organizationId}/link-invites/{inviteId}");
export const listSAMLProvidersInOrganizationById = operation.GET("/orgs/{organizationId}/saml");
export const createOrganizationSAMLProvider = operation.POST("/orgs/{organizationId}/saml");
export const deleteOrganizationSAMLProvider = operation.DELETE(
  "/orgs/{organizationId}/saml/{samlProviderId}",
);
export const updateOrganizationSAMLProvider = operation.PATCH("/orgs/{organizationId}/saml/{samlProviderId}");
export const listServiceAccounts = operation.GET("/orgs/{organizationId}/service-accounts");
export const createServiceAccount = operation.POST("/orgs/{organizationId}/service-accounts");
export const deleteServiceAccount = operation.DELETE(
  "/orgs/{organizationId}/service-accounts/{serviceAccountId}",
);
export const listServiceAccountTokens = operation.GET(
  "/orgs/{organizationId}/service-accounts/{serviceAccountId}/tokens",
);
export const createServiceAccountToken = operation.POST(
  "/orgs/{organizationId}/service-accounts/{serviceAccountId}/tokens",
);
export const revokeServiceAccountToken = operation.DELETE(
  "/orgs/{organizationId}/service-accounts/{serviceAccountId}/tokens/{tokenId}",
);
export const listPermissionsAggregateInSpace = operation.GET("/spaces/{spaceId}/permissions/aggregate");

export const peopleOf = (space: string) =>
  resource(
    `space/${space}/people`,
    () => listPermissionsAggregateInSpace({ spaceId: space }, { limit: 200 }),
  );
